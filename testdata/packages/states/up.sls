up:
  pkg.uptodate:
    - refresh: True
