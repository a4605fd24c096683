base:
  '*':
    - paths
