brine-svc:
  pkg.installed: []
  service.enabled:
    - require:
      - pkg: brine-svc

# What lies in /run is gone after a boot.
/run/before-the-reboot:
  file.managed:
    - contents: {{ grains.id }}
