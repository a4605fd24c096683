foo:
  pkg.installed:
    - pkg_verify: True
