# Installs a package on all machines, reboots them, waits until they are back, and
# goes on with what has to be true after the boot.
packages:
  salt.state:
    - tgt: '*'
    - sls: packages

reboot:
  salt.function:
    - name: system.reboot
    - tgt: '*'
    - require:
      - salt: packages

back:
  salt.wait_for_event:
    - name: salt/minion/*/start
    - id_list: {{ pillar.targets | tojson }}
    - timeout: 120
    - require:
      - salt: reboot

check:
  salt.state:
    - tgt: '*'
    - sls: check
    - require:
      - salt: back
