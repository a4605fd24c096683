# -*- coding: utf-8 -*-
# vim: ft=sls
{%- set tplroot = tpldir.split('/')[0] %}
{%- from tplroot ~ "/map.jinja" import stackd with context %}
{%- from './macros.jinja' import each, pair with context %}

stackd-packages:
  pkg.installed:
    - pkgs: {{ stackd.pkgs.wanted | unique | list | json }}

{%- call(item, index) each(stackd.limits) %}

stackd-limit-{{ index }}:
  test.nop:
    - name: {{ item.split('=') | first }}
    - value: {{ item.split('=') | last | yaml_encode }}
{%- endcall %}

{%- for family, net in stackd.net | dictsort(reverse=true) if net.enabled %}

stackd-{{ family }}:
  test.nop:
    - hosts:
{%-   for h in stackd | traverse('net:' ~ family ~ ':hosts', []) %}
      - {{ pair(h, loop.index, sep=' # ') }}
{%-   else %}
      []
{%-   endfor %}
{%- endfor %}

stackd-config:
  file.serialize:
    - name: {{ stackd.conf.path }}
    - serializer: yaml
    - dataset: {{ stackd | json(sort_keys=True, indent=None) }}

{{ pair(*['stackd', 'service'], sep='-') }}:
  service.{{ 'running' if stackd | traverse('service:running') else 'dead' }}:
    - name: {{ stackd.service.name }}
    - onchanges:
      - file: stackd-config

{% include './tail.jinja' %}
