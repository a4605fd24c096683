# Upgrade, reboot, wait until all are back, go on. The pillar has the targets
# and may have: when (the argument of system.reboot), nap (seconds between the
# reboot and the wait), timeout (of the wait).
chain_entry_1_upgrade_kernel:
  salt.state:
    - tgt: {{ pillar['targets'] }}
    - tgt_type: list
    - pillar:
        param_pkgs:
          kernel: 4.4.21-90.1
    - sls:
      - packages

chain_entry_2_reboot:
  salt.function:
    - name: system.reboot
{%- if pillar.get('when', 1) %}
    - arg:
      - {{ pillar.get('when', 1) }}
{%- endif %}
    - tgt: {{ pillar['targets'] }}
    - tgt_type: list
    - require:
      - salt: chain_entry_1_upgrade_kernel

{%- if 'nap' in pillar %}

nap:
  salt.runner:
    - name: test.sleep
    - s_time: {{ pillar['nap'] }}
    - require_in:
      - salt: chain_entry_2_wait_for_reboots
{%- endif %}

chain_entry_2_wait_for_reboots:
  salt.wait_for_event:
    - name: salt/minion/*/start
    - id_list:
{% for minion in pillar['targets'] %}
      - {{ minion }}
{% endfor %}
    - timeout: {{ pillar.get('timeout', 60) }}
    - require:
      - salt: chain_entry_2_reboot

chain_entry_3_site:
  salt.state:
    - tgt: {{ pillar['targets'] }}
    - tgt_type: list
    - sls:
      - site
    - require:
      - salt: chain_entry_2_wait_for_reboots
