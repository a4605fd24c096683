nginx:
  lookup:
    webuser: www-data
  config:
    worker_processes: 2
    events: {worker_connections: 256}
    http:
      sendfile: 'on'
      include: [/etc/nginx/mime.types, '/etc/nginx/conf.d/*.conf', '/etc/nginx/sites-enabled/*']
  servers:
    shop:
      enabled: true
      config:
        - listen: 8081
        - server_name: shop.example.org
        - location /:
            - root: /srv/shop
            - try_files: $uri =404
    old:
      enabled: false
      config:
        - listen: 8082
        - return: '410'
