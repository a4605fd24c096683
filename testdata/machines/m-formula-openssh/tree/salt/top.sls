base:
  '*':
    - openssh
