chain_entry_1_upgrade_kernel:
  salt.state:
    - tgt: {{ pillar['targets']['entry_1'] }}
    - tgt_type: list
    - pillar:
        param_pkgs:
          kernel: 4.4.21-90.1
    - metadata:
        chain-action-id: 1111
    - sls:
      - packages.install

chain_entry_2_reboot:
  salt.function:
    - name: machine.reboot
    - arg:
      - 1
    - tgt: {{ pillar['targets']['entry_2'] }}
    - tgt_type: list
    - metadata:
        chain-action-id: 2222
    - require:
      - salt: chain_entry_1_upgrade_kernel

chain_entry_2_wait_for_reboots:
  salt.wait_for_event:
    - name: salt/minion/*/start
    - id_list:
{% for minion in pillar['targets']['entry_2'] %}
      - {{ minion }}
{% endfor %}
    - require:
      - salt: chain_entry_2_reboot

chain_entry_3_site:
  salt.state:
    - tgt: {{ pillar['targets']['entry_3'] }}
    - tgt_type: list
    - sls:
      - site
    - metadata:
        chain-action-id: 3333
    - require:
      - salt: chain_entry_2_wait_for_reboots
