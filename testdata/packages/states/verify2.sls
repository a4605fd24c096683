foo:
  pkg.installed:
    - pkg_verify:
      - ignore_types: [config]
