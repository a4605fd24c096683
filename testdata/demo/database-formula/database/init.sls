{% set db = pillar.database %}
database_package:
  pkg.installed:
    - name: sqlite3

database_user:
  user.present:
    - name: {{ db.user }}
    - system: True
    - home: {{ db.dir }}
    - createhome: False

database_dir:
  file.directory:
    - name: {{ db.dir }}
    - user: {{ db.user }}
    - mode: '0700'
    - require:
      - user: database_user

database_schema:
  file.managed:
    - name: {{ db.dir }}/schema.sql
    - user: {{ db.user }}
    - mode: '0600'
    - contents: CREATE TABLE guests (name TEXT PRIMARY KEY);
    - require:
      - file: database_dir

database_file:
  cmd.run:
    - name: sqlite3 {{ db.dir }}/guests.db <{{ db.dir }}/schema.sql
    - runas: {{ db.user }}
    - creates: {{ db.dir }}/guests.db
    - require:
      - pkg: database_package
      - file: database_schema
