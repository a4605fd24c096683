{%- from 'lamp/map.jinja' import lamp, conf with context %}

lamp-packages:
  pkg.installed:
    - pkgs: {{ (lamp.packages + conf.packages) | unique | tojson }}
