db-service:
  service.running:
    - name: mariadb
    - enable: true

{%- for entry in salt['pillar.get']('mysql:database', []) %}
{%- set name = entry if entry is string else entry.name %}
db-{{ name }}:
  mysql_database.present:
    - name: {{ name }}
    {%- if entry is mapping %}
    - character_set: {{ entry.character_set }}
    - collate: {{ entry.collate }}
    {%- endif %}
    - require: [{service: db-service}]
{%- if salt['pillar.get']('mysql:schema:%s:load' | format(name), False) %}
schema-{{ name }}:
  file.managed:
    - name: /etc/mysql/{{ name }}.schema
    - source: {{ salt['pillar.get']('mysql:schema:' ~ name ~ ':source') }}
  cmd.wait:
    - name: mysql {{ name }} < /etc/mysql/{{ name }}.schema
    - watch:
      - mysql_database: db-{{ name }}
    - require:
      - file: schema-{{ name }}
{%- endif %}
{%- endfor %}

{%- for name, user in pillar.mysql.user.items() %}
{%- for host in user.get('hosts', [user.get('host', 'localhost')]) %}
user-{{ name }}-{{ host }}:
  mysql_user.{{ 'absent' if user.get('absent') else 'present' }}:
    - name: {{ name }}
    - host: '{{ host }}'
    {%- if user.password is defined %}
    - password: '{{ user.password }}'
    {%- endif %}
    - require: [{service: db-service}]
{%- for db in user.get('databases', []) %}
grants-{{ name }}-{{ host }}-{{ db.database }}:
  mysql_grants.present:
    - grant: {{ db.grants | join(',') }}
    - database: '{{ db.database }}.*'
    - user: {{ name }}
    - host: '{{ host }}'
    - require:
      - mysql_user: user-{{ name }}-{{ host }}
      - mysql_database: db-{{ db.database }}
{%- endfor %}
{%- endfor %}
{%- endfor %}
