hosts:
  10.0.0.1: [gate.example.org, gate]
  10.0.0.2: [db.example.org]
motd: 'Welcome to {{ grains.id }}'
limits: [['*', soft, nofile, 4096]]
