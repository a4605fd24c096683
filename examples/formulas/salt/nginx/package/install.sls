{%- set tplroot = tpldir.split('/')[0] %}
{%- from tplroot ~ "/map.jinja" import mapdata as nginx with context %}

nginx-package-install-pkg-installed:
  pkg.installed:
    - pkgs: {{ ([nginx.pkg.name] + nginx.pkg.extra) | tojson }}
