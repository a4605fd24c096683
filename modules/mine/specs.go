package mine

import "brine/internal/core/fun"

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "delete", Doc: "Remove the data of one function of this machine from the mine.", Src: "modules/mine.py delete", Do: remove,
	},
	{Name: "flush", Doc: "Remove all data of this machine from the mine.", Src: "modules/mine.py flush", Do: flush},
	{
		Name: "get", Src: "modules/mine.py get", Do: get,
		Doc: "Return mine data of machines by ID.\nThe first call of a job has the machines of the run update their data.",
	},
	{
		Name: "send", Src: "modules/mine.py send", Do: send, Hands: true,
		Doc: "Run a function and keep its result in the mine. Further arguments are the function's.",
	},
	{
		Name: "update", Src: "modules/mine.py update", Do: update,
		Doc: "Run the functions of mine_functions and keep their results in the mine.",
	},
	{Name: "valid", Doc: "Return the valid entries of mine_functions.", Src: "modules/mine.py valid", Do: valid},
}
