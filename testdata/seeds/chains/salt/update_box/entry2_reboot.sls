# Stands for "shutdown -r +1": after a moment, the event of a machine that is
# back.
{%- set id = grains['id'] %}
reboot_box:
  cmd.run:
    - name: "sleep 0.5; brine call --id {{ id }} event.send salt/minion/{{ id }}/start '{id: {{ id }}}'"
    - bg: True
