# -*- coding: utf-8 -*-
# vim: ft=sls

{%- set tplroot = tpldir.split('/')[0] %}
{%- from tplroot ~ "/map.jinja" import webd with context %}
{%- set pkgs = [webd.pkg.name] + webd.pkg.extras %}

webd-package-install:
  pkg.installed:
    - pkgs: {{ pkgs | yaml }}
    {%- if 'version' in webd.pkg and webd.pkg.version %}
    - version: {{ webd.pkg.version | yaml_dquote }}
    {%- endif %}
    - refresh: {{ grains.get('os_family', '') in ('Debian', 'Alpine') }}
    - reload_modules: {{ (webd.pkg.extras | length) > 0 }}

{%- if grains['os_family'] == 'Debian' and webd.conf_avail | default(false) %}

webd-package-debconf:
  debconf.set:
    - name: {{ webd.pkg.name }}
    - data: {{ {webd.pkg.name ~ '/enable': {'type': 'boolean', 'value': True}} | json }}
    - require_in:
      - pkg: webd-package-install
{%- endif %}
