package composer

import (
	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/composer"
)

// of are the arguments that both functions have before always_check.
type of struct {
	Name string `arg:"name,required,path" doc:"directory of composer.json"`
	composer.Program
	User string `arg:"user" doc:"account that runs the program"`
	composer.Flags
	Quiet bool `arg:"quiet" default:"False" doc:"do not report what composer prints as changes"`
	composer.Home
}

type env struct {
	_   fun.Arguments
	Env value.Value `arg:"env,list|dict" doc:"environment variables"`
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "installed", Doc: "Make sure that the dependencies of a PHP project are installed.", Src: "states/composer.py installed", Do: installed,
	},
	{
		Name: "update", Doc: "Make sure that the dependencies of a PHP project are at their newest versions.", Src: "states/composer.py update", Do: update,
	},
}
