web_ready:
  salt.state:
    - tgt: 'web*'
    - highstate: True
