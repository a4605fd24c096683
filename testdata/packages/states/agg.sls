foo:
  pkg.installed:
    - aggregate: True
bar:
  pkg.installed:
    - aggregate: True
grp-a.x86_64:
  pkg.installed:
    - aggregate: True
