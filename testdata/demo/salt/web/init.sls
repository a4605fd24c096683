{%- set root = pillar['site']['root'] %}

include:
  - common

docroot:
  file.directory:
    - name: {{ root }}/srv/www
    - makedirs: True

# One page for each entry of the pillar.
{%- for page, title in pillar['web']['pages'].items() %}
page_{{ page }}:
  file.managed:
    - name: {{ root }}/srv/www/{{ page }}.html
    - source: salt://web/files/page.html
    - template: jinja
    - context:
        title: {{ title }}
    - require:
      - file: docroot
{%- endfor %}

web_config:
  file.managed:
    - name: {{ root }}/etc/nginx.conf
    - source: salt://web/files/nginx.conf
    - template: jinja
    - require:
      - file: docroot
      - file: motd

# Stands for "nginx -t && nginx -s reload".
web_reload:
  cmd.run:
    - name: grep worker_processes nginx.conf
    - cwd: {{ root }}/etc
    - onchanges:
      - file: web_config
