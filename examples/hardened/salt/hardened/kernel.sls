{%- set conf = pillar.hardened %}
{%- for name, val in conf.sysctl | dictsort %}

{{ name }}:
  sysctl.present:
    - value: {{ val }}
    - config: /etc/sysctl.d/60-hardened.conf
{%- endfor %}

modules-denied:
  file.managed:
    - name: /etc/modprobe.d/hardened.conf
    - contents:
      {%- for m in conf.modules_denied %}
      - install {{ m }} /bin/true
      {%- endfor %}

no-core-dumps:
  file.managed:
    - name: /etc/security/limits.d/10-hardened.conf
    - contents: '* hard core 0'

timezone:
  timezone.system:
    - name: {{ conf.timezone }}
    - utc: True
