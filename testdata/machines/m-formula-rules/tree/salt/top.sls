base:
  '*':
    - firewall
