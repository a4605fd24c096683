package composer

import (
	"brine/internal/core/fun"
	"brine/internal/py/value"
)

type runas struct {
	_     fun.Arguments
	Runas string `arg:"runas" doc:"account that runs the program"`
}

type quiet struct {
	_     fun.Arguments
	Quiet bool `arg:"quiet" default:"False" doc:"return True instead of what composer prints"`
}

type of struct {
	Directory string `arg:"directory,required,path" doc:"directory of composer.json"`
	Program
	runas
	Flags
	quiet
	Home
	Env value.Value `arg:"env,list|dict" doc:"environment variables"`
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "did_composer_install", Doc: "Return whether a directory has dependencies that were installed.", Src: "modules/composer.py did_composer_install", Do: didComposerInstall,
	},
	{
		Name: "install", Doc: "Install the dependencies of a project.", Src: "modules/composer.py install", Do: install,
	},
	{
		Name: "selfupdate", Doc: "Update composer itself.", Src: "modules/composer.py selfupdate", Do: selfupdate,
	},
	{
		Name: "update", Doc: "Update the dependencies of a project, or install them.", Src: "modules/composer.py update", Do: update,
	},
}
