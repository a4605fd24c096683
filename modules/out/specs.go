package out

import (
	"brine/internal/fun"
)

var formatArgs = []fun.Arg{
	{Name: "data", Required: true, Doc: "the data"},
	{Name: "out", Type: fun.Str, Default: "nested", Doc: "the outputter"},
	{Name: "opts", Type: fun.Dict, Doc: "settings of the outputter"},
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{Name: "out_format", Doc: "Return data as an outputter prints it.", Src: "modules/out.py out_format", VarKw: true, Args: formatArgs, Fn: format},
	{Name: "string_format", Doc: "Return data as an outputter prints it, without colours.", Src: "modules/out.py string_format", VarKw: true, Args: formatArgs, Fn: format},
}
