# Which data which machine gets.
base:
  '*':
    - common
