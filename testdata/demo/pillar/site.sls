site:
  name: shop.example
  release: '1.4'
  # Where this machine's files go: a directory of its own in the scratch
  # directory, so that the demo touches nothing else.
  root: {{ opts['cachedir'] }}/machines/{{ grains['id'] }}
  servers:
    web1:
      address: 10.0.0.11
      weight: 2
    web2:
      address: 10.0.0.12
      weight: 1
