foo:
  pkg.removed: []
x:
  pkg.purged:
    - pkgs: [epo, local, nope]
