#!jinja|yaml
{% set used = namespace(sudo=False) %}
{% for name, group in pillar.get('groups', {}).items() %}
group-{{ name }}:
  group.present:
    - name: {{ name }}
    - gid: {{ group.gid }}
    {%- if 'members' in group %}
    - addusers: {{ group.members }}
    {%- endif %}
{% endfor %}

{% for name, user in salt['pillar.get']('users', {})|dictsort %}
{% if user.get('absent', False) %}
user-{{ name }}-gone:
  user.absent:
    - name: {{ name }}
    - purge: {{ user.get('purge', False) }}
    - force: True

/etc/sudoers.d/{{ name }}:
  file.absent
{% else %}
{% set home = user.get('home', '/home/' + name) %}
user-{{ name }}:
  user.present:
    - name: {{ name }}
    - uid: {{ user.uid }}
    {%- if user.prime is defined %}
    - gid: {{ user.prime }}
    {%- else %}
    - usergroup: True
    {%- endif %}
    - home: {{ home }}
    - shell: {{ user.get('shell', '/bin/sh') }}
    {%- for key in ('fullname', 'password') if user[key] is defined %}
    - {{ key }}: {{ user[key]|yaml_dquote }}
    {%- endfor %}
    - remove_groups: False
    - groups: {{ user.get('groups', [])|yaml }}
    - require:
    {%- for group in user.get('groups', []) + [user.get('prime')] if group %}
      - group: group-{{ group }}
    {%- else %}
      - group: group-ops
    {%- endfor %}
  file.directory:
    - name: {{ home }}
    - user: {{ name }}
    - mode: '0750'
    - require:
      - user: user-{{ name }}
{% for key in user.get('keys', []) %}
key-{{ name }}-{{ loop.index0 }}:
  ssh_auth.present:
    - user: {{ name }}
    - name: {{ key }}
    - require: [{file: user-{{ name }}}]
{% endfor %}
{% if user.keys_absent is defined %}
keys-{{ name }}-gone:
  ssh_auth.absent:
    - user: {{ name }}
    - names: {{ user.keys_absent | tojson }}
    - require: [{user: user-{{ name }}}]
{% endif %}
{% if user.sudo is defined %}
{% set used.sudo = True %}
sudo-{{ name }}:
  file.managed:
    - name: /etc/sudoers.d/{{ name }}
    - mode: '0440'
    - check_cmd: visudo -c -f
    - contents:
      {%- for rule in user.sudo %}
      - "{{ name }} {{ rule }}"
      {%- endfor %}
    - require: [{file: sudoers-dir}]
{% endif %}
{% if user.get('lines') %}
lines-{{ name }}:
  file.append:
    - name: {{ home }}/.profile
    - text: {{ user.lines | json }}
    - require: [{file: user-{{ name }}}]
{% endif %}
{% endif %}
{% endfor %}
{% if used.sudo %}
sudoers-dir:
  file.directory:
    - name: /etc/sudoers.d
    - mode: '0750'
{% endif %}
