web:
  workers: 4
  pages:
    index: Welcome
    help: How to order
    terms: Terms of sale
