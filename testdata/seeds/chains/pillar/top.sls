base:
  '*':
    - home
