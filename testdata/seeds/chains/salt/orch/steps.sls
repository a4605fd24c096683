bootstrap_boxes:
  salt.function:
    - name: cmd.run
    - tgt: ["box1", "box2"]
    - tgt_type: list
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
    - tgt: 'box*'
    - highstate: True
