settings: {name: x, nested: {on: true, list: [1, 2.5, 'three'], none: null}}
