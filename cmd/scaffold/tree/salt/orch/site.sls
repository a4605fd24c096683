# An orchestration: steps on several machines, each after the one it requires.
reach_all:
  salt.function:
    - name: test.ping
    - tgt: '*'

database:
  salt.state:
    - tgt: 'role:database'
    - tgt_type: grain
    - highstate: True
    - require:
      - salt: reach_all

web:
  salt.state:
    - tgt: 'role:web'
    - tgt_type: grain
    - sls:
      - hello
    - require:
      - salt: database
