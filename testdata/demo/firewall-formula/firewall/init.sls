firewall_rules:
  file.managed:
    - name: /etc/nftables.conf
    - mode: '0755'
    - contents: |
        #!/usr/sbin/nft -f
        flush ruleset
        table inet filter {
          chain input {
            type filter hook input priority 0; policy drop;
            iif lo accept
            ct state established,related accept
            {%- for port in pillar.firewall.open %}
            tcp dport {{ port }} accept
            {%- endfor %}
          }
        }
    - check_cmd: nft -c -f

firewall_loaded:
  cmd.run:
    - name: nft -f /etc/nftables.conf
    - unless: nft list table inet filter
    - require:
      - file: firewall_rules

firewall_changed:
  cmd.run:
    - name: nft -f /etc/nftables.conf
    - onchanges:
      - file: firewall_rules
