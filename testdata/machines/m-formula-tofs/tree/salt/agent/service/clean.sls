agent-dead:
  service.dead:
    - name: agent-timer.timer
    - enable: False

agent-unit-gone:
  file.absent:
    - names:
      - /etc/systemd/system/agent-timer.service
      - /etc/systemd/system/agent-timer.timer
    - require:
      - service: agent-dead
  cmd.run:
    - name: systemctl daemon-reload
    - onchanges:
      - file: agent-unit-gone
