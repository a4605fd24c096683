accounts:
  defaults:
    shell: /bin/bash
    groups: [staff]
  users:
    deploy:
      fullname: Deployment
      uid: 3001
      home: /srv/deploy
      groups: [staff, www-data]
      sudo: ['ALL=(root) NOPASSWD: /usr/bin/systemctl reload nginx']
      ssh_auth:
        - ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIP10WRIUyQlYtrSPHFQPbsd9fyU9Vm/dTHvYQlB8YYmT deploy@example.org
      files:
        .bashrc: "umask 027\n"
    reporter:
      uid: 3002
      shell: /usr/sbin/nologin
    gone:
      absent: true
