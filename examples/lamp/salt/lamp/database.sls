{%- from 'lamp/map.jinja' import lamp, conf with context %}
{%- set db = conf.database %}

include:
  - lamp.packages

database-conf:
  file.managed:
    - name: {{ lamp.database.conf }}/99-shop.cnf
    - contents: |
        [mysqld]
        bind-address = 127.0.0.1
        character-set-server = utf8mb4
    - require:
      - sls: lamp.packages

database-service:
  service.running:
    - name: {{ lamp.database.service }}
    - enable: True
    - watch:
      - file: database-conf

# Root logs in to MariaDB through its socket, without a password.
{%- macro connection() %}
    - connection_user: root
    - connection_unix_socket: {{ lamp.database.socket }}
{%- endmacro %}

shop-database:
  mysql_database.present:
    - name: {{ db.name }}
    - character_set: utf8mb4
    - collate: utf8mb4_general_ci
    {{- connection() }}
    - require:
      - service: database-service

shop-user:
  mysql_user.present:
    - name: {{ db.user }}
    - host: localhost
    - password: {{ db.password | yaml_dquote }}
    {{- connection() }}
    - require:
      - service: database-service

shop-grants:
  mysql_grants.present:
    - grant: select,insert,update,delete
    - database: {{ db.name }}.*
    - user: {{ db.user }}
    - host: localhost
    {{- connection() }}
    - require:
      - mysql_database: shop-database
      - mysql_user: shop-user
