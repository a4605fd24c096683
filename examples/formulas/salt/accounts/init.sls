# vim: sts=2 ts=2 sw=2 et ai
{% from "accounts/map.jinja" import accounts, users, defaults with context %}
{% from "accounts/libaccounts.jinja" import setting with context %}
{% set with_sudo = [] %}
{% for name, user in users.items() if user.get('sudo') %}{% do with_sudo.append(name) %}{% endfor %}

{% if with_sudo %}
include:
  - accounts.sudo
{% endif %}

{% for name, user in users.items() if not user.get('absent') %}
{%- set home = user.get('home', '/home/%s' % name) -%}

{% for group in user.get('groups', defaults.get('groups', [])) %}
accounts_{{ name }}_{{ group }}_group:
  group.present:
    - name: {{ group }}
    - require_in:
      - user: accounts_{{ name }}_user
{% endfor %}

accounts_{{ name }}_user:
  group.present:
    - name: {{ name }}
    - gid: {{ user.uid }}
  user.present:
    - name: {{ name }}
    - home: {{ home }}
    - shell: {{ setting(user, 'shell', '/bin/sh') }}
    - uid: {{ user.uid }}
    - gid: {{ user.uid }}
    {% if 'fullname' in user %}
    - fullname: {{ user.fullname }}
    {% endif %}
    - groups: {{ user.get('groups', defaults.get('groups', [])) | yaml }}
    - require:
      - group: accounts_{{ name }}_user
  file.directory:
    - name: {{ home }}
    - user: {{ name }}
    - group: {{ name }}
    - mode: {{ user.get('home_mode', '0750') }}
    - require:
      - user: accounts_{{ name }}_user

{% for key in user.get('ssh_auth', []) %}
accounts_{{ name }}_key_{{ loop.index0 }}:
  ssh_auth.present:
    - user: {{ name }}
    - name: {{ key }}
    - require:
      - file: accounts_{{ name }}_user
{% endfor %}

{% for file, text in user.get('files', {}).items() %}
accounts_{{ name }}_file_{{ file }}:
  file.managed:
    - name: {{ home }}/{{ file }}
    - user: {{ name }}
    - group: {{ name }}
    - contents_pillar: accounts:users:{{ name }}:files:{{ file }}
    - require:
      - file: accounts_{{ name }}_user
{% endfor %}

{% set rules = user.get('sudo', []) %}
accounts_{{ name }}_sudoers:
{% if rules %}
  file.managed:
    - name: {{ accounts.sudoers_dir }}/{{ name | replace('.', '_') }}
    - contents: |
        {%- for rule in rules %}
        {{ name }} {{ rule }}
        {%- endfor %}
    - user: root
    - group: {{ accounts.rootgroup }}
    - mode: '0440'
    - check_cmd: {{ accounts.visudo }} -c -f
    - require:
      - sls: accounts.sudo
{% else %}
  file.absent:
    - name: {{ accounts.sudoers_dir }}/{{ name | replace('.', '_') }}
{% endif %}
{% endfor %}

{% for name, user in users.items() if user.get('absent') %}
accounts_{{ name }}_absent:
  user.absent:
    - name: {{ name }}
    - purge: {{ user.get('purge', False) }}
    - force: {{ user.get('force', False) }}
{% endfor %}
