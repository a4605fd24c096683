# Which states which machine gets when state.apply or highstate is run.
base:
  '*':
    - hello
