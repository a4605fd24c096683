entry1_ssh:
  salt.state:
    - tgt: ["ssh-box1", "ssh-box2"]
    - tgt_type: list
    - ssh: True
    - sls
      - prepare
