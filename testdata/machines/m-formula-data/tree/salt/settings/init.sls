dir:
  file.directory:
    - name: /etc/settings
    - mode: '0755'

{% for format in ['json', 'yaml', 'python'] %}
as-{{ format }}:
  file.serialize:
    - name: /etc/settings/data.{{ format }}
    - dataset_pillar: settings
    - serializer: {{ format }}
    - require: [{file: dir}]
{% endfor %}

merged:
  file.serialize:
    - name: /etc/settings/merged.json
    - dataset: {b: 2, nested: {y: 2}}
    - serializer: json
    - merge_if_exists: true

as-ini:
  file.serialize:
    - name: /etc/settings/data.ini
    - serializer: configparser
    - dataset:
        main: {name: x, size: 3}
        other: {active: 'yes'}

plain:
  file.managed:
    - name: /etc/settings/plain
    - user: daemon
    - group: daemon
    - mode: '0600'
    - contents: one

also-plain:
  file.managed:
    - name: /etc/settings/also
    - contents: two
    - use:
      - file: plain

copied:
  file.copy:
    - name: /etc/settings/copied
    - source: /etc/settings/plain
    - preserve: true
    - require: [{file: plain}]

cache-mount:
  mount.mounted:
    - name: /mnt/cache
    - device: tmpfs
    - fstype: tmpfs
    - opts: [size=1m, mode=0755]
    - mkmnt: true
    - persist: true

readers:
  acl.present:
    - name: /etc/settings/plain
    - acl_type: user
    - acl_name: www-data
    - perms: r
    - require: [{file: plain}]

read-back:
  file.managed:
    - name: /etc/settings/report
    - template: jinja
    - source: salt://settings/report.jinja
    - order: last

listener:
  cmd.run:
    - name: echo heard >> /etc/settings/heard
    - onchanges_any:
      - file: plain
      - file: also-plain

{% set more = salt['cmd.run_stdout']('printf "%s" words', python_shell=True) %}
said:
  test.configurable_test_state:
    - changes: False
    - result: True
    - comment: {{ more }}
