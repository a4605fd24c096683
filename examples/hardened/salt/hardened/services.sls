{%- set services = pillar.hardened.services %}

include:
  - hardened.packages
{%- for name in services.running %}

{{ name }}-runs:
  service.running:
    - name: {{ name }}
    - enable: True
    - require:
      - sls: hardened.packages
{%- endfor %}
{%- for name in services.masked %}

{{ name }}-masked:
  service.masked:
    - name: {{ name }}
{%- endfor %}

journald:
  service.running:
    - name: systemd-journald
    - watch:
      - ini: journal
