bootstrap_machines:
  salt.function:
    - name: cmd.run
    - tgt: 10.0.0.0/24
    - tgt_type: ipcidr
    - arg:
      - echo bootstrap

store_ready:
  salt.state:
    - tgt: 'role:storage'
    - tgt_type: grain
    - sls: store
    - require:
      - salt: web_ready

web_ready:
  salt.state:
    - tgt: 'web*'
    - highstate: True
