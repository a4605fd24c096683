# -*- coding: utf-8 -*-
# vim: ft=sls

{%- set tplroot = tpldir.split('/')[0] %}
{%- set sls_package_install = tplroot ~ '.package.install' %}
{%- from tplroot ~ "/map.jinja" import webd with context %}
{%- from tplroot ~ "/macros.jinja" import site_id, listen with context %}
{%- set ns = namespace(ports=[], default=none) %}

include:
  - {{ sls_package_install }}

webd-config-file-managed:
  file.managed:
    - name: {{ webd.conf_dir }}/webd.conf
    - source: salt://{{ tplroot }}/files/default/webd.conf.jinja
    - mode: {{ webd.mode | string | yaml_squote }}
    - user: {{ webd.rootuser }}
    - group: {{ webd.rootgroup }}
    - makedirs: True
    - template: jinja
    - require:
      - sls: {{ sls_package_install }}
    - context:
        webd: {{ webd | json }}

{%- for name, site in webd.sites | dictsort %}
{%-   set port = site.get('port', 80 + loop.index0) %}
{%-   do ns.ports.append(port) %}
{%-   if site.default | default(False) and not ns.default %}
{%-     set ns.default = name %}
{%-   endif %}

{{ site_id(name) }}:
  file.managed:
    - name: {{ webd.conf_dir }}/sites/{{ '%03d' | format(loop.index) }}-{{ name | replace('.', '_') }}.conf
    - contents: |
        {{ site | yaml(False) | indent(8) }}
    - defaults:
{%-   call(address) listen(site, port) %}
        address: {{ address }}
        secure: {{ site.tls is defined and site.tls }}
{%-   endcall %}
    - require:
      - file: webd-config-file-managed
{%-   if not loop.first %}
      - file: {{ site_id(loop.previtem[0]) }}
{%-   endif %}
{%- else %}

webd-config-no-sites:
  test.show_notification:
    - text: "no sites on {{ grains['id'] }}"
{%- endfor %}

{%- if ns.ports %}

webd-config-summary:
  test.configurable_test_state:
    - changes: False
    - result: True
    - comment: >-
        {{ ns.ports | sort | join(',') }} default={{ ns.default or 'none' }}
        modules={{ webd.modules.items() | selectattr(1) | map('first') | sort | join(' ') }}
{%- endif %}
