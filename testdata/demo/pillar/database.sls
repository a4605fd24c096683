# Only database machines get this pillar.
database:
  name: shop
  user: shop
  password: not-a-secret
  tables:
    - customers
    - orders
