include:
  - .service.clean
  - .config.clean
  - .package.clean
