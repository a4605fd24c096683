sshd_banner:
  file.managed:
    - name: /etc/ssh/banner
    - contents: Only for those who may.
