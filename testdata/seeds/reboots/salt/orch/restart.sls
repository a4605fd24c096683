# Upgrade the agent of the controller, restart it, wait until it is back, go on:
# no machine reboots.
update_agent:
  salt.state:
    - tgt: {{ pillar['targets'] }}
    - tgt_type: list
    - pillar:
        param_pkgs:
          agent: latest
    - sls:
      - packages

restart_agent:
  salt.function:
    - name: cmd.run
    - arg:
      - "true # systemctl restart the agent"
    - tgt: {{ pillar['targets'] }}
    - tgt_type: list
    - require:
      - salt: update_agent

wait_for_agents:
  salt.wait_for_event:
    - name: salt/minion/*/start
    - id_list: {{ pillar['targets'] }}
    - timeout: 60
    - require:
      - salt: restart_agent

go_on:
  salt.state:
    - tgt: {{ pillar['targets'] }}
    - tgt_type: list
    - sls:
      - site
    - require:
      - salt: wait_for_agents
