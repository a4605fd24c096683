foo:
  pkg.installed:
    - version: 1.0-1
many:
  pkg.installed:
    - pkgs:
      - bar
      - epo: 2.0-1
      - foo: '>=1.0'
