{%- set conf = pillar.hardened %}

include:
  - hardened.packages

ops:
  group.present:
    - system: True

ops-sudo:
  file.managed:
    - name: /etc/sudoers.d/ops
    - contents: '%ops ALL=(ALL:ALL) ALL'
    - mode: '0440'
    - check_cmd: /usr/sbin/visudo -c -f
    - require:
      - group: ops
      - sls: hardened.packages

{%- for name, admin in conf.admins | dictsort %}

{{ name }}:
  user.present:
    - uid: {{ admin.uid }}
    - shell: /bin/bash
    - groups: {{ admin.groups | tojson }}
    - mindays: 1
    - maxdays: {{ conf.password_days }}
    - require:
      - group: ops
  {%- if admin['keys'] %}
  ssh_auth.manage:
    - user: {{ name }}
    - ssh_keys: {{ admin['keys'] | tojson }}
    - require:
      - user: {{ name }}
  {%- endif %}
  file.directory:
    - name: /home/{{ name }}
    - mode: '0750'
    - require:
      - user: {{ name }}
{%- endfor %}

{%- for name in conf.former %}

{{ name }}:
  user.absent:
    - purge: False
{%- endfor %}

login-defaults:
  file.keyvalue:
    - name: /etc/login.defs
    - key_values: {{ {'UMASK': conf.umask, 'PASS_MAX_DAYS': conf.password_days} | tojson }}
    - separator: "\t"
    - key_ignore_case: False
    - uncomment: '#'
    - append_if_not_found: True

cron-allow:
  file.managed:
    - name: /etc/cron.allow
    - contents: [root]
    - mode: '0640'
