entry1_upgrade:
  salt.state:
    - tgt: {{ pillar['targets'] }}
    - tgt_type: list
    - ssh: True
    - sls:
      - update_box.entry1_upgrade

entry2_reboot:
  salt.state:
    - tgt: {{ pillar['targets'] }}
    - tgt_type: list
    - sls:
      - update_box.entry2_reboot
    - require:
      - salt: entry1_upgrade

entry2_wait_for_reboots:
  salt.wait_for_event:
    - name: salt/minion/*/start
    - id_list:
{% for minion in pillar['targets'] %}
      - {{ minion }}
{% endfor %}
    - timeout: {{ pillar.get('timeout', 60) }}
    - require:
      - salt: entry2_reboot

entry3_site:
  salt.state:
    - tgt: {{ pillar['targets'] }}
    - tgt_type: list
    - sls:
      - site
    - require:
      - salt: entry2_wait_for_reboots
