base:
  '*':
    - common
  'role:web':
    - match: grain
    - web
  'role:database':
    - match: grain
    - database
  'lb*':
    - balancer
  'demo':
    - database
    - web
    - balancer
