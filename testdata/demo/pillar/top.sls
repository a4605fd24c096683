base:
  '*':
    - site
  'web* or demo':
    - match: compound
    - web
  'role:balancer':
    - match: grain
    - balancer
  'role:database':
    - match: grain
    - database
  'demo':
    - balancer
    - database
