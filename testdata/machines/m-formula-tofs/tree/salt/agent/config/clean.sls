{%- set tplroot = tpldir.split('/')[0] %}
{%- set sls_service_clean = tplroot ~ '.service.clean' %}
include:
  - {{ sls_service_clean }}

agent-config-clean:
  file.absent:
    - names: [/etc/agent/agent.yml, /etc/agent/extra.conf, /etc/agent]
    - require:
      - sls: {{ sls_service_clean }}
