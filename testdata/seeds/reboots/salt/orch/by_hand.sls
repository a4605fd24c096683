# Somebody reboots the machines.
look:
  salt.function:
    - name: test.ping
    - tgt: {{ pillar['targets'] }}
    - tgt_type: list

wait:
  salt.wait_for_event:
    - name: salt/minion/*/start
    - id_list: {{ pillar['targets'] }}
    - timeout: {{ pillar.get('timeout', 60) }}
    - require:
      - salt: look

go_on:
  salt.state:
    - tgt: {{ pillar['targets'] }}
    - tgt_type: list
    - sls:
      - site
    - require:
      - salt: wait
