ping:
  salt.function:
    - name: test.ping
    - tgt: {{ pillar['targets']['web'] }}
    - tgt_type: list
