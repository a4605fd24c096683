gate:
  gatekeeper.open:
    - closed: true
