proxy_config:
  file.managed:
    - name: {{ pillar['home'] }}/proxy.conf
    - contents: listen 80;
    - makedirs: True
