# vim: ft=sls
{#- the part of the configuration #}
{%- set tplroot = tpldir.split('/')[0] %}
{%- from tplroot ~ "/map.jinja" import agent with context %}
{%- from tplroot ~ "/libtofs.jinja" import files_switch with context %}

agent-config-file-file-managed:
  file.managed:
    - name: {{ agent.conf }}
    - source: {{ files_switch(['agent.yml'], lookup='agent-config-file') }}
    - mode: 644
    - user: root
    - group: {{ agent.rootgroup }}
    - makedirs: True
    - template: jinja
    - context:
        agent: {{ agent | json }}

agent-config-extra:
  file.managed:
    - name: /etc/agent/extra.conf
    - source: {{ files_switch(['extra.conf']) }}
    - template: jinja
    - require:
      - file: agent-config-file-file-managed
