good_step:
  salt.state:
    - tgt: box
    - sls:
      - succeeds

bad_step:
  salt.state:
    - tgt: box
    - sls:
      - fails

probe.answer:
  salt.function:
    - tgt: box

probe.answer_false:
  salt.function:
    - tgt: box
