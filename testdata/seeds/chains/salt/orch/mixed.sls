entry1:
  salt.state:
    - tgt: ["box1", "box2"]
    - tgt_type: list
    - sls:
      - prepare

entry1_ssh:
  salt.state:
    - tgt: ["ssh-box1", "ssh-box2"]
    - tgt_type: list
    - ssh: True
    - sls:
      - prepare

entry2:
  salt.state:
    - tgt: ["box3"]
    - tgt_type: list
    - pillar:
        param_pkgs:
          kernel: 4.4.21-90.1
    - sls:
      - packages.install
    - require:
      - salt: entry1
      - salt: entry1_ssh
