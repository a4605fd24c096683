{%- set ports = pillar.hardened.open_ports %}

include:
  - hardened.packages

firewall-rules:
  file.managed:
    - name: /etc/nftables.conf
    - source: salt://hardened/files/nftables.conf.j2
    - template: jinja
    - context: {ports: {{ ports | tojson }}}
    - mode: '0755'
    - check_cmd: /usr/sbin/nft --check --file
    - require:
      - sls: hardened.packages

firewall:
  service.running:
    - name: nftables
    - enable: True
    - reload: True
    - watch:
      - file: firewall-rules
