chain_entry_1:
  salt.state:
    - tgt: {{ pillar['entry_1']['targets'] }}
    - tgt_type: list
    - sls: packages.install
    - pillar:
        action_id: 1234
        chain_pillar: True
