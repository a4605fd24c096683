{%- set tplroot = tpldir.split('/')[0] %}
{%- from tplroot ~ "/libtofs.jinja" import files_switch with context %}
{%- set conf = salt['config.get']('tofsd:conf', '/etc/tofsd.conf') %}

tofsd-config:
  file.managed:
    - name: {{ conf }}
    - source: {{ files_switch(['tofsd.conf.jinja', 'tofsd.conf'], lookup='tofsd-config') }}
    - template: jinja
    - context:
        tplroot: {{ tplroot }}

tofsd-motd:
  file.managed:
    - name: /etc/motd
    - source: {{ files_switch(
                    source_files=['/etc/motd'],
                    default_files_switch=['id', 'roles', 'osfinger', 'os', 'os_family'],
                    indent_width=8
                 ) }}
