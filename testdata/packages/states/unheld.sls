foo:
  pkg.unheld: []
epo:
  pkg.unheld: []
