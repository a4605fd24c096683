base:
  '*':
    - base
