base_ready:
  file.managed:
    - name: {{ pillar['home'] }}/base
    - contents: ready
    - makedirs: True
