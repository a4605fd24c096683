/etc/logrotate.d/jobs:
  file.managed:
    - source: salt://timers/rotate.jinja
    - template: jinja

{% for log in ['backup', 'report'] %}
log-of-{{ log }}:
  file.accumulated:
    - name: logs
    - filename: /etc/logrotate.d/jobs
    - text: /var/log/jobs/{{ log }}.log
    - require_in:
      - file: /etc/logrotate.d/jobs
{% endfor %}

/var/log/jobs:
  file.directory:
    - user: root
    - group: adm
    - mode: 2750

at-daemon:
  service.running:
    - names: [cron, atd]
    - enable: True
