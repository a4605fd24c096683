# Stands for "shutdown -r +1": the event of a machine that is back.
reboot_box:
  cmd.run:
    - name: brine call --id {{ grains['id'] }} event.send salt/minion/{{ grains['id'] }}/start '{id: {{ grains['id'] }}}'
    - bg: True
