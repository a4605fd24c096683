hosts:
  10.0.0.3: [mail.example.org]
limits: [['root', hard, nofile, 65536]]
