mgr_orchestration_entry_1_upgrade_kernel_package:
  salt.state:
    - tgt: {{ pillar['targets']['entry_1'] }}
    - tgt_type: list
    - pillar:
        param_pkgs:
          kernel-default: 4.4.21-90.1
    - metadata:
        suma-action-id: 1111
    - sls:
      - packages.pkginstall

mgr_orchestration_entry_2_reboot_system:
  salt.function:
    - name: system.reboot
    - arg:
      - 1
    - tgt: {{ pillar['targets']['entry_2'] }}
    - tgt_type: list
    - metadata:
        suma-action-id: 2222
    - require:
      - salt: mgr_orchestration_entry_1_upgrade_kernel_package

mgr_orchestration_entry_2_wait_for_reboots:
  salt.wait_for_event:
    - name: salt/minion/*/start
    - id_list:
{% for minion in pillar['targets']['entry_2'] %}
      - {{ minion }}
{% endfor %}
    - require:
      - salt: mgr_orchestration_entry_2_reboot_system

mgr_orchestration_entry_3_apply_webserver_state:
  salt.state:
    - tgt: {{ pillar['targets']['entry_3'] }}
    - tgt_type: list
    - sls:
      - webserver
    - metadata:
        suma-action-id: 3333
    - require:
      - salt: mgr_orchestration_entry_2_wait_for_reboots
