settings: {name: x, nested: {active: true, list: [1, 2.5, 'three'], none: null}}
