{%- set root = pillar['site']['root'] %}
{%- set db = pillar['database'] %}

include:
  - common

database_config:
  file.managed:
    - name: {{ root }}/etc/database.conf
    - mode: '0600'
    - contents: |
        database = {{ db['name'] }}
        user = {{ db['user'] }}
        password = {{ db['password'] }}
    - require:
      - file: motd

schema:
  file.managed:
    - name: {{ root }}/var/schema.sql
    - source: salt://database/files/schema.sql
    - template: jinja
    - makedirs: True

# Stands for loading the schema into the server, once.
load_schema:
  cmd.run:
    - name: cp schema.sql {{ db['name'] }}.db
    - cwd: {{ root }}/var
    - creates: {{ root }}/var/{{ db['name'] }}.db
    - require:
      - file: schema
      - file: database_config
