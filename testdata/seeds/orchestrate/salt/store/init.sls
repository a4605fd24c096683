store_dir:
  file.directory:
    - name: {{ pillar['home'] }}/store
    - makedirs: True
