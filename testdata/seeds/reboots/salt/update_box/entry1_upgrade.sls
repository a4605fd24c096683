upgrade_to_latest:
  file.managed:
    - name: {{ pillar['home'] }}/packages/agent
    - contents: latest
    - makedirs: True
