{%- from 'nginx/map.jinja' import nginx with context %}
include:
  - .pkg

nginx-conf:
  file.managed:
    - name: {{ nginx.conf_file }}
    - source: salt://nginx/files/nginx.conf.jinja
    - template: jinja
    - user: root
    - group: {{ nginx.group }}
    - mode: '0640'
    - context:
        config: {{ nginx.config | json }}
        user: {{ nginx.webuser }}
    - require:
      - pkg: nginx-pkg
    - watch_in:
      - service: nginx-service
