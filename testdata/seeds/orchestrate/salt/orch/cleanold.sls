cmd.run:
  salt.function:
    - tgt: '*'
    - arg:
      - rm -rf {{ opts['cachedir'] }}/old
