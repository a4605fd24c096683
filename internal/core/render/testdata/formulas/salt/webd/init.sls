# -*- coding: utf-8 -*-
# vim: ft=sls

{#- Get the `tplroot` from `tpldir` #}
{%- set tplroot = tpldir.split('/')[0] %}
{%- from tplroot ~ "/map.jinja" import webd with context %}

include:
  - .package
  - .config
{%- if webd.service.enable %}
  - .service
{%- endif %}
