sshd_config:
  Port: [22, 2222]
  PermitRootLogin: 'no'
  PasswordAuthentication: false
  Banner: /etc/ssh/banner
  AllowGroups: ops wheel root
  matches:
    sftp:
      type: {Group: sftponly}
      options: {ChrootDirectory: /srv/sftp/%u, ForceCommand: internal-sftp}
ssh_config:
  Hosts:
    '*': {HashKnownHosts: true, SendEnv: LANG LC_*}
openssh:
  known_hosts:
    git.example.org: ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGmF3Wc8ZQ6tXr1p9i7gq2m0y0wWbW0k0z8z8z8z8z8z
