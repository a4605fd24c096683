foo:
  pkg.installed:
    - version: 1.1-1
    - hold: True
held:
  pkg.held:
    - name: epo
