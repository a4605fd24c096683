reboot_box:
  cmd.run:
    - name: "shutdown -r +1"
