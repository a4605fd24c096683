base: {'*': [colour]}
