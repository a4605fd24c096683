base:
  '*':
    - agent
