# Somebody reboots the machines. The pillar may have: console (a command of the
# controller, between the look and the wait), timeout (of the wait).
look:
  salt.function:
    - name: test.ping
    - tgt: {{ pillar['targets'] }}
    - tgt_type: list

{%- if 'console' in pillar %}

console:
  cmd.run:
    - name: {{ pillar['console'] | yaml_dquote }}
    - require:
      - salt: look
    - require_in:
      - salt: wait
{%- endif %}

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
