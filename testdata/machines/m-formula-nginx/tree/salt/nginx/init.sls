include:
  - .pkg
  - .config
  - .servers
  - .service
