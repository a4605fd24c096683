base:
  '*':
    - lamp
