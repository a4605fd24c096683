orch_entry1_upgrade_salt:
  salt.state:
    - tgt: {{ pillar['targets']['target1'] }}
    - tgt_type: list
    - sls:
      - entry1_update_salt

orch_entry1_upgrade_salt_ssh:
  salt.state:
    - tgt: {{ pillar['targets']['target1_ssh'] }}
    - tgt_type: list
    - ssh: True
    - sls:
      - entry1_update_salt

orch_entry2_reboot_systems:
  salt.state:
    - tgt: {{ pillar['targets']['target1'] }}
    - tgt_type: list
    - sls:
      - entry2_reboot_system
    - require:
      - salt: orch_entry1_upgrade_salt
      - salt: orch_entry1_upgrade_salt_ssh

orch_entry_2_wait_for_reboots:
  salt.wait_for_event:
    - name: salt/minion/*/start
    - id_list:
{% for minion in pillar['targets']['target1'] %}
      - {{ minion }}
{% endfor %}
    - require:
      - salt: orch_entry2_reboot_systems
