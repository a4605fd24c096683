base:
  '*':
    - timers
