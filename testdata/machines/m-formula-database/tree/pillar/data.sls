mysql:
  database: [shop, {name: wiki, character_set: latin1, collate: latin1_swedish_ci}]
  schema:
    shop: {load: true, source: 'salt://db/shop.sql'}
  user:
    shop:
      password: 'p@ss word'
      hosts: [localhost, 10.0.0.%]
      databases:
        - {database: shop, grants: [select, insert, update]}
        - {database: wiki, grants: [all privileges]}
    gone: {absent: true, host: localhost}
