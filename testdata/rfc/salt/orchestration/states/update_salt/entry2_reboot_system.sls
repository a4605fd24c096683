reboot_system:
  cmd.run:
    - name: "shutdown -r +1"
