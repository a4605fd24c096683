prepared:
  file.managed:
    - name: {{ pillar['home'] }}/prepared
    - contents: yes, {{ grains['id'] }} is
    - makedirs: True
