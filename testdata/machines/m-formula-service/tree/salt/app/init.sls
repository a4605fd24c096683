{%- from slspath ~ "/map.jinja" import app with context %}
app-user:
  group.present:
    - name: {{ app.user }}
    - system: true
  user.present:
    - name: {{ app.user }}
    - gid: {{ app.user }}
    - system: true
    - home: {{ app.prefix }}
    - createhome: false
    - shell: /usr/sbin/nologin
    - require:
      - group: app-user

app-release:
  archive.extracted:
    - name: {{ app.release }}
    - source: salt://app/app-{{ app.version }}.tar.gz
    - source_hash: salt://app/SHA256SUMS
    - enforce_toplevel: false
    - options: --strip-components=1
    - if_missing: {{ app.release }}/bin/serve
    - user: root
    - group: {{ app.user }}
    - require:
      - user: app-user

app-current:
  file.symlink:
    - name: {{ app.current }}
    - target: {{ app.release }}
    - require:
      - archive: app-release

app-dirs:
  file.directory:
    - names:
      - {{ app.etc }}
      - /var/lib/app:
        - mode: '0700'
      - /var/log/app
    - user: {{ app.user }}
    - group: {{ app.user }}
    - mode: '0750'
    - require:
      - user: app-user

app-env:
  file.managed:
    - name: {{ app.etc }}/env
    - mode: '0640'
    - group: {{ app.user }}
    - contents: |
        {%- for k, v in app.env | dictsort %}
        {{ k }}={{ v | tojson if v is string else v | lower }}
        {%- endfor %}
    - require:
      - file: app-dirs

app-settings:
  file.serialize:
    - name: {{ app.etc }}/settings.json
    - dataset: {{ {'env': app.env, 'paths': [app.prefix, app.etc]} | json }}
    - serializer: json
    - serializer_opts: [{indent: 2}, {sort_keys: true}]
    - require:
      - file: app-dirs

app-unit:
  file.managed:
    - name: /etc/systemd/system/app.service
    - source: salt://app/app.service
    - template: jinja
    - defaults: {user: root}
    - context: {{ app | json }}
  module.run:
    - name: service.systemctl_reload
    - onchanges:
      - file: app-unit

app-service:
  service.running:
    - name: app
    - enable: true
    - watch:
      - file: app-env
      - file: app-settings
      - file: app-unit
      - file: app-current
    - require:
      - module: app-unit

app-answers:
  cmd.run:
    - name: test "$(cat /var/log/app/started)" = '{{ app.version }}'
    - retry: {attempts: 20, interval: 1}
    - unless: test -e /var/lib/app/checked && test ! {{ app.etc }}/env -nt /var/lib/app/checked
    - require:
      - service: app-service

app-checked:
  file.touch:
    - name: /var/lib/app/checked
    - onchanges:
      - cmd: app-answers
