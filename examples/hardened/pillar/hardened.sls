hardened:
  timezone: Etc/UTC

  packages:
    installed: [openssh-server, sudo, nftables, cron, procps, acl]
    removed: [telnetd, rsh-server, nis]

  # Who may log in. ops may use sudo.
  admins:
    alice:
      uid: 2001
      groups: [ops]
      keys:
        - ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIP10WRIUyQlYtrSPHFQPbsd9fyU9Vm/dTHvYQlB8YYmT alice@example.org
    bob:
      uid: 2002
      groups: []
      keys:
        - ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIH6BYGTSN8T2OxBBGZCZ6Bp/cFvLVtWmO3iSgHFZg+TY bob@example.org
  former: [mallory]

  sshd:
    PermitRootLogin: prohibit-password
    PasswordAuthentication: 'no'
    X11Forwarding: 'no'
    MaxAuthTries: 3
    ClientAliveInterval: 300

  sysctl:
    net.ipv4.conf.all.accept_redirects: 0
    net.ipv4.conf.all.send_redirects: 0
    net.ipv4.conf.all.rp_filter: 1
    net.ipv4.icmp_echo_ignore_broadcasts: 1
    net.ipv6.conf.all.accept_redirects: 0

  services:
    running: [ssh, cron]
    masked: [debug-shell]

  modules_denied: [dccp, sctp, rds, tipc]
  open_ports: [22]
  umask: '027'
  password_days: 365
