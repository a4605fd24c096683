include:
  - .running
