{% from tpldir ~ '/map.jinja' import openssh with context %}
include:
  - openssh.banner
  - openssh.known_hosts

sshd_config:
  file.managed:
    - name: {{ openssh.dir }}/sshd_config
    - source: salt://{{ slspath }}/files/sshd_config
    - template: jinja
    - mode: 600
    - backup: minion
    - check_cmd: /usr/sbin/sshd -t -f

run-sshd:
  file.directory:
    - name: /run/sshd
    - require_in: [{file: sshd_config}]

ssh_config:
  file.managed:
    - name: {{ openssh.dir }}/ssh_config
    - source: salt://{{ slspath }}/files/ssh_config
    - template: jinja

sshd:
  service.running:
    - name: {{ openssh.service }}
    - enable: True
    - watch:
      - file: sshd_config
      - file: sshd_banner

moduli:
  cmd.run:
    - name: awk '$5 >= 3071' /etc/ssh/moduli > /etc/ssh/moduli.new && mv /etc/ssh/moduli.new /etc/ssh/moduli
    - onlyif: test -s /etc/ssh/moduli && awk '$5 < 3071 && !/^#/ {n++} END {exit n == 0}' /etc/ssh/moduli

login.defs:
  file.keyvalue:
    - name: /etc/login.defs
    - key_values: {UMASK: '027', PASS_MAX_DAYS: '180'}
    - separator: "\t"
    - uncomment: '#'
    - append_if_not_found: True
    - search_only: False
