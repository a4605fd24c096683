{% if salt['file.file_exists']('/run/before-the-reboot') %}
not-rebooted:
  test.fail_without_changes: []
{% endif %}

# It was enabled, so the boot has started it.
brine-svc:
  service.running:
    - enable: True

/root/after-the-reboot:
  file.managed:
    - contents: {{ salt['pkg.version']('brine-svc') }}
