{%- set tplroot = tpldir.split('/')[0] %}
{%- from tplroot ~ "/map.jinja" import webd with context %}

include:
  - {{ tplroot }}.config.file

webd-service-running:
  service.running:
    - name: {{ webd.service.name }}
    - enable: {{ webd.service.enable }}
    {%- if grains.init | default('unknown') == 'systemd' %}
    - unmask: true
    {%- endif %}
    - watch:
      - file: webd-config-file-managed
      {%- for name in webd.sites %}
      - file: {{ tplroot }}-site-{{ name | regex_replace('[^a-z0-9]+', '-', ignorecase=True) }}
      {%- endfor %}
