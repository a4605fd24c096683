groups:
  ops: {gid: 7001}
  web: {gid: 7002, members: [www-data]}
users:
  anna:
    fullname: Anna Example
    uid: 7101
    groups: [ops, web]
    shell: /bin/bash
    sudo: ['ALL=(ALL) NOPASSWD: /usr/bin/systemctl']
    keys:
      - ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ1vFcKJaxVx2r9Y8uX4m6sY2m0xY0wWbW0k0z8z8z8z anna@desk
    lines: ['alias ll="ls -l"', 'export EDITOR=vi']
  bert:
    uid: 7102
    prime: web
    home: /srv/bert
    password: '$6$rounds=5000$saltsalt$0VfZxlSr3zYqYbO9HbR0t2o9Z5Tz2o2n6nCqk8J1b0n3T6y7mQj3QGqfF5c3Y5m5Jt0cN0c1sYq3b1Z9v0q1f/'
    keys_absent: [ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ1vFcKJaxVx2r9Y8uX4m6sY2m0xY0wWbW0k0z8z8z8z]
  carl:
    absent: true
    purge: true
