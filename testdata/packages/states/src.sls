loc:
  pkg.installed:
    - sources:
      - local: /srv/rpm/files/local-1.0-1.noarch.rpm
