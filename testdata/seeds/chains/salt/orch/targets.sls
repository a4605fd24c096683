apply_highstate:
  salt.state:
    - tgt: {{ pillar.get('target', []) }}
    - tgt_type: list
    - highstate: True
    - metadata:
        chain-action-id: 100
