foo:
  pkg.latest: []
many:
  pkg.latest:
    - pkgs: [foo, epo]
