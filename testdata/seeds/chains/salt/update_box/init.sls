entry1_upgrade:
  salt.state:
    - tgt: {{ pillar['targets']['target1'] }}
    - tgt_type: list
    - sls:
      - update_box.entry1_upgrade

entry1_upgrade_ssh:
  salt.state:
    - tgt: {{ pillar['targets']['target1_ssh'] }}
    - tgt_type: list
    - ssh: True
    - sls:
      - update_box.entry1_upgrade

entry2_reboot:
  salt.state:
    - tgt: {{ pillar['targets']['target1'] }}
    - tgt_type: list
    - sls:
      - update_box.entry2_reboot
    - require:
      - salt: entry1_upgrade
      - salt: entry1_upgrade_ssh

entry2_wait_for_reboots:
  salt.wait_for_event:
    - name: salt/minion/*/start
    - id_list:
{% for minion in pillar['targets']['target1'] %}
      - {{ minion }}
{% endfor %}
    - require:
      - salt: entry2_reboot
