lamp:
  server_name: shop.example.org
  aliases: [www.shop.example.org]
  document_root: /srv/www/shop

  # Packages of your own, installed together with the others.
  packages: []

  database:
    name: shop
    user: shop
    # Use a renderer such as gpg for real passwords: see docs/guide/configuration.md.
    password: change-me
    backup: {hour: 3, minute: 30, keep: 14}

  app:
    user: shop
    port: 8000
    greeting: Welcome to the shop
