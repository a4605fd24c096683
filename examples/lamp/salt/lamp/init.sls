include:
  - lamp.packages
  - lamp.database
  - lamp.app
  - lamp.web
  - lamp.backup
