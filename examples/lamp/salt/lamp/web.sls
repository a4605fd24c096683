{%- from 'lamp/map.jinja' import lamp, conf with context %}

include:
  - lamp.packages
  - lamp.app

stock-site:
  file.absent:
    - name: {{ lamp.web.stock_site }}
    - require:
      - sls: lamp.packages

shop-site:
  file.managed:
    - name: {{ lamp.web.sites }}/shop.conf
    - source: salt://lamp/files/site.conf.j2
    - template: jinja
    - context: {conf: {{ conf | tojson }}}
    - require:
      - sls: lamp.packages

web-service:
  service.running:
    - name: {{ lamp.web.service }}
    - enable: True
    - reload: True
    - watch:
      - file: stock-site
      - file: shop-site

shop-hosts:
  host.present:
    - ip: 127.0.0.1
    - names: {{ ([conf.server_name] + conf.aliases) | tojson }}

# The last step looks at the result: the page comes through the web server.
shop-answers:
  http.query:
    - name: http://{{ conf.server_name }}/
    - status: 200
    - match: {{ conf.app.greeting | yaml_dquote }}
    - retry: {attempts: 20, interval: 1}
    - require:
      - service: web-service
      - service: app-service
      - host: shop-hosts
