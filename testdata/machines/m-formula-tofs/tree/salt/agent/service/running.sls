{%- set sls_config_file = 'agent.config.file' %}
include:
  - {{ sls_config_file }}

agent-unit:
  file.managed:
    - names:
      - /etc/systemd/system/agent-timer.service:
        - contents: |
            [Service]
            Type=oneshot
            ExecStart=/bin/sh -c 'date +%%s >> /run/agent'
      - /etc/systemd/system/agent-timer.timer:
        - contents: |
            [Timer]
            OnCalendar=*-*-* 04:00:00
            [Install]
            WantedBy=timers.target
  cmd.run:
    - name: systemctl daemon-reload
    - onchanges:
      - file: agent-unit

agent-running:
  service.running:
    - name: agent-timer.timer
    - enable: True
    - watch:
      - file: agent-unit
    - require:
      - sls: {{ sls_config_file }}
