{%- set tplroot = tpldir.split('/')[0] %}
{%- set sls_package_install = tplroot ~ '.package.install' %}
{%- from tplroot ~ "/map.jinja" import mapdata as nginx with context %}
{%- from tplroot ~ "/libtofs.jinja" import files_switch with context %}

include:
  - {{ sls_package_install }}

nginx-config-file-main:
  file.managed:
    - name: {{ nginx.confdir }}/00-tuning.conf
    - source:
      {{- files_switch(['tuning.conf.jinja'], lookup='nginx-config-file-main') }}
    - mode: 644
    - user: root
    - group: {{ nginx.rootgroup }}
    - makedirs: True
    - template: jinja
    - require:
      - sls: {{ sls_package_install }}
    - context:
        nginx: {{ nginx | json }}

{%- for name, server in nginx.servers | dictsort %}

nginx-config-file-server-{{ name }}:
  file.managed:
    - name: {{ nginx.confdir }}/{{ name }}.conf
    - source:
      {{- files_switch(['default.conf.jinja'], lookup='nginx-config-file-server') }}
    - mode: 644
    - user: root
    - group: {{ nginx.rootgroup }}
    - template: jinja
    - require:
      - sls: {{ sls_package_install }}
    - context:
        name: {{ name }}
        server: {{ server | json }}
{%- endfor %}
