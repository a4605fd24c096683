{%- from 'nginx/map.jinja' import nginx with context %}
nginx-valid:
  cmd.run:
    - name: nginx -t -q
    - onchanges:
      - file: nginx-conf
    - require:
      - sls: nginx.servers

nginx-service:
  service.running:
    - name: {{ nginx.service }}
    - enable: true
    - reload: true
    - require:
      - cmd: nginx-valid
