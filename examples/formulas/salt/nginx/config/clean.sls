{%- set tplroot = tpldir.split('/')[0] %}
{%- set sls_service_clean = tplroot ~ '.service.clean' %}
{%- from tplroot ~ "/map.jinja" import mapdata as nginx with context %}

include:
  - {{ sls_service_clean }}

nginx-config-clean-file-absent:
  file.absent:
    - names:
      - {{ nginx.confdir }}/00-tuning.conf
      {%- for name in nginx.servers | sort %}
      - {{ nginx.confdir }}/{{ name }}.conf
      {%- endfor %}
    - require:
      - sls: {{ sls_service_clean }}
