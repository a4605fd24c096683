package out

import (
	"brine/internal/core/fun"
)

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{Name: "out_format", Doc: "Return data as an outputter prints it.", Src: "modules/out.py out_format", Do: format},
	{Name: "string_format", Doc: "Return data as an outputter prints it, without colours.", Src: "modules/out.py string_format", Do: format},
}
