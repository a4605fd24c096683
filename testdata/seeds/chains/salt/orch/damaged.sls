entry1:
  salt.state:
    - tgt: ["box1", "box2"]
    - tgt_type: list
    - sls
      - prepare
