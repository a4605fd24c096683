{% set web = pillar.webserver %}
webserver_package:
  pkg.installed:
    - name: lighttpd

webserver_root:
  file.directory:
    - name: {{ web.root }}
    - user: www-data
    - mode: '0750'

webserver_config:
  file.managed:
    - name: /etc/lighttpd/lighttpd.conf
    - source: salt://webserver/files/lighttpd.conf
    - template: jinja
    - mode: '0640'
    - require:
      - pkg: webserver_package

webserver_service:
  service.running:
    - name: lighttpd
    - enable: True
    - watch:
      - file: webserver_config
