{%- set conf = pillar.hardened %}

include:
  - hardened.packages

sshd-conf:
  file.managed:
    - name: /etc/ssh/sshd_config.d/10-hardened.conf
    - source: salt://hardened/files/sshd.conf.j2
    - template: jinja
    - context: {options: {{ conf.sshd | tojson }}}
    - mode: '0600'
    - check_cmd: /usr/sbin/sshd -t -f
    - require:
      - sls: hardened.packages

sshd:
  service.running:
    - name: ssh
    - enable: True
    - reload: True
    - watch:
      - file: sshd-conf
