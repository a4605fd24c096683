base:
  'minion*':
    - data
    - more
