database:
  salt.state:
    - tgt: 'roles:db'
    - tgt_type: grain
    - sls: guestbook.db

web:
  salt.state:
    - tgt: 'web*'
    - sls: guestbook.web
    - require:
      - salt: database
