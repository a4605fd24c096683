nope:
  pkg.installed: []
foo:
  pkg.installed:
    - version: 9-9
broken:
  pkg.installed: []
