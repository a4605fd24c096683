base:
  '*':
    - settings
