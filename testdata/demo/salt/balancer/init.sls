{%- set root = pillar['site']['root'] %}

include:
  - common

balancer_config:
  file.managed:
    - name: {{ root }}/etc/haproxy.cfg
    - source: salt://balancer/files/haproxy.cfg
    - template: jinja
    - require:
      - file: motd
