grp:
  pkg.group_installed: []
