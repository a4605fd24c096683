{%- from 'nginx/map.jinja' import nginx with context %}
{%- for dir in (nginx.available, nginx.enabled) %}
nginx-dir-{{ loop.index }}:
  file.directory:
    - name: {{ dir }}
    - makedirs: true
{%- endfor %}

nginx-default-site:
  file.absent:
    - name: {{ nginx.enabled }}/default

{%- for name, server in nginx.servers.items() %}
{%- set path = nginx.available ~ '/' ~ name %}
nginx-server-{{ name }}:
  file.managed:
    - name: {{ path }}
    - source: salt://nginx/files/server.jinja
    - template: jinja
    - context: {{ {'name': name, 'config': server.config} | json }}
    - require:
      - file: nginx-dir-1
    - watch_in:
      - service: nginx-service

nginx-server-{{ name }}-enabled:
{%- if server.get('enabled') %}
  file.symlink:
    - target: {{ path }}
{%- else %}
  file.absent:
{%- endif %}
    - name: {{ salt['file.join'](nginx.enabled, name) }}
    - require:
      - file: nginx-server-{{ name }}
      - file: nginx-dir-2
    - watch_in:
      - service: nginx-service
{%- endfor %}

shop-page:
  file.managed:
    - name: /srv/shop/index.html
    - makedirs: true
    - contents: |
        <p>shop of {{ grains.id }}</p>
