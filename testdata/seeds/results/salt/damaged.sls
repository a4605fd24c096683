good_step:
  salt.state:
    - tgt: box
    - sls:
    - succeeds
