# Values here override nginx/parameters, which override nginx/parameters/defaults.yaml.
nginx:
  config:
    keepalive_timeout: 20
  servers:
    status:
      listen: 8081
      location: /status
  tofs:
    # files/<id>, files/<role> and files/default are searched, in this order.
    files_switch: [id, 'roles:web']
    source_files:
      nginx-config-file-server:
        - server.conf.jinja
