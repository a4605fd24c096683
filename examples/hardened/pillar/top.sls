base:
  '*':
    - hardened
