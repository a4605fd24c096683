{%- set firewall = salt['pillar.get']('firewall', {}) %}
site-chain:
  iptables.chain_present:
    - name: SITE
    - table: filter
    - family: ipv4

loopback:
  iptables.append:
    - table: filter
    - chain: INPUT
    - jump: ACCEPT
    - in-interface: lo
    - save: true

established:
  iptables.append:
    - table: filter
    - chain: INPUT
    - jump: ACCEPT
    - match: conntrack
    - ctstate: 'RELATED,ESTABLISHED'
    - save: true

to-site:
  iptables.append:
    - table: filter
    - chain: INPUT
    - jump: SITE
    - require: [{iptables: site-chain}]

{%- for name, service in firewall.services | dictsort %}
{%- for proto in service.get('protos', ['tcp']) %}
{%- for ip in service.get('ips_allow', ['0.0.0.0/0']) %}
allow-{{ name }}-{{ proto }}-{{ ip }}:
  iptables.append:
    - table: filter
    - chain: SITE
    - jump: ACCEPT
    {%- if ip != '0.0.0.0/0' %}
    - source: {{ ip }}
    {%- endif %}
    - proto: {{ proto }}
    - dport: {{ service.get('port', 22) }}
    - comment: "{{ name }}"
    - save: true
    - require: [{iptables: site-chain}]
{%- endfor %}
{%- endfor %}
{%- endfor %}

no-telnet:
  iptables.delete:
    - table: filter
    - chain: INPUT
    - proto: tcp
    - dport: 23
    - jump: ACCEPT

{%- if firewall.get('strict') %}
policy:
  iptables.set_policy:
    - table: filter
    - chain: INPUT
    - policy: DROP
    - order: last
    - require:
      - iptables: established
      - iptables: loopback
{%- endif %}
