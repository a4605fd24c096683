app:
  version: '1.2'
  user: app
  env: {LISTEN: '127.0.0.1:9000', WORKERS: 2, DEBUG: false, SECRET: 'a b$c'}
