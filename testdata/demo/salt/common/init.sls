{%- set root = pillar['site']['root'] %}

machine_dir:
  file.directory:
    - name: {{ root }}/etc
    - makedirs: True

motd:
  file.managed:
    - name: {{ root }}/etc/motd
    - contents: |
        {{ grains['id'] }} of {{ pillar['site']['name'] }}
        role {{ grains['role'] }}, managed by states
    - require:
      - file: machine_dir
