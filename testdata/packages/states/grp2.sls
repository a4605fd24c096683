Test Tools:
  pkg.group_installed: []
