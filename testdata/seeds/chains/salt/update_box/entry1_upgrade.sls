# Stands for pkg.latest, which needs a package manager and root.
upgrade_to_latest:
  file.managed:
    - name: {{ pillar['home'] }}/packages/agent
    - contents: latest
    - makedirs: True
