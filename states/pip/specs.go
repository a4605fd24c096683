package pip

import "brine/internal/core/fun"

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "installed", Doc: "Make sure that Python packages are installed.", Src: "states/pip_state.py installed", Do: installed,
	},
	{
		Name: "removed", Doc: "Make sure that a Python package is not installed.", Src: "states/pip_state.py removed", Do: removed,
	},
	{
		Name: "uptodate", Doc: "Upgrade all Python packages of an environment.", Src: "states/pip_state.py uptodate", Do: uptodate,
	},
}
