{%- set tplroot = tpldir.split('/')[0] %}
{%- from tplroot ~ "/libtofs.jinja" import files_switch with context %}

tofsd-deep:
  file.recurse:
    - name: /etc/tofsd.d
    - source: {{ files_switch(['d'], use_subpath=True) }}
