package low_test

import "brine/internal/render"

type renderInput = render.Input
