{%- from 'lamp/map.jinja' import lamp, conf with context %}
{%- set app = conf.app %}

include:
  - lamp.packages

app-user:
  user.present:
    - name: {{ app.user }}
    - system: True
    - home: {{ conf.document_root }}
    - createhome: False
    - shell: /usr/sbin/nologin

app-directory:
  file.directory:
    - name: {{ conf.document_root }}
    - user: {{ app.user }}
    - group: {{ lamp.web.user }}
    - mode: '0750'
    - makedirs: True
    - require:
      - user: app-user
      - sls: lamp.packages

app-program:
  file.managed:
    - name: {{ conf.document_root }}/app.py
    - source: salt://lamp/files/app.py
    - mode: '0755'
    - require:
      - file: app-directory

app-settings:
  file.serialize:
    - name: {{ conf.document_root }}/settings.json
    - serializer: json
    - user: {{ app.user }}
    - mode: '0400'
    - dataset: {{ {'greeting': app.greeting, 'port': app.port, 'database': conf.database.name} | tojson }}
    - require:
      - file: app-directory

app-unit:
  file.managed:
    - name: /etc/systemd/system/shop.service
    - source: salt://lamp/files/shop.service.j2
    - template: jinja
    - context: {app: {{ app | tojson }}, root: {{ conf.document_root }}}
  module.run:
    - service.systemctl_reload: []
    - onchanges:
      - file: app-unit

app-service:
  service.running:
    - name: shop
    - enable: True
    - watch:
      - file: app-program
      - file: app-settings
      - module: app-unit
