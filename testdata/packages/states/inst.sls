foo:
  pkg.installed: []
