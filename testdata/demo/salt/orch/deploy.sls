# Makes a server and tells who its master is, both from the command line:
#   brine run state.orch orch.deploy pillar='{"servers": "newsystem1", "master": "mymaster"}'
{% set servers = salt['pillar.get']('servers', 'test') %}
{% set master = salt['pillar.get']('master', 'salt') %}
create_instance:
  salt.runner:
    - name: cloud.profile
    - prof: cloud-small
    - provider: demo
    - instances:
      - {{ servers }}
    - opts:
        minion:
          master: {{ master }}
