include:
  - hardened.packages
  - hardened.accounts
  - hardened.sshd
  - hardened.kernel
  - hardened.firewall
  - hardened.files
  - hardened.services
