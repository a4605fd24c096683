one:
  kventry.present:
    - path: {{ pillar['dir'] }}/site.json
    - value: {{ salt['hostinfo.parse']()[0]['size'] }}
parts:
  bundle.files:
    - name: {{ pillar['dir'] }}/parts
    - contents: {a: first, b: {{ grains['role'] }}}
gate:
  gatekeeper.open:
    - require: [kventry: one]
watcher:
  kventry.present:
    - name: two
    - path: {{ pillar['dir'] }}/site.json
    - value: 2
    - watch: [bundle: parts]
