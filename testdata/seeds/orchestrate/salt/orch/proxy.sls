install_proxy:
  salt.state:
    - tgt: 'web*'
    - sls:
      - proxy
