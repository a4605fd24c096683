package composer

import (
	"brine/internal/fun"
	"brine/internal/value"
)

type program struct {
	_ fun.Arguments
	_ string `arg:"composer,path" doc:"path of composer.phar; default: the program composer"`
}

type php struct {
	_ fun.Arguments
	_ string `arg:"php,path" doc:"PHP that runs composer.phar"`
}

type runas struct {
	_ fun.Arguments
	_ string `arg:"runas" doc:"account that runs composer"`
}

type quiet struct {
	_ fun.Arguments
	_ bool `arg:"quiet" default:"False" doc:"return True instead of what composer prints"`
}

type home struct {
	_ fun.Arguments
	_ string `arg:"composer_home,path" default:"/root" doc:"directory of composer's own files"`
}

type of struct {
	Directory string `arg:"directory,required,path" doc:"directory of composer.json"`
	program
	php
	runas
	_ bool `arg:"prefer_source" doc:"get packages from their repositories"`
	_ bool `arg:"prefer_dist" doc:"get packages as archives"`
	_ bool `arg:"no_scripts" doc:"do not run the scripts of composer.json"`
	_ bool `arg:"no_plugins" doc:"do not use plugins"`
	_ bool `arg:"optimize" doc:"make a fast autoloader"`
	_ bool `arg:"no_dev" doc:"leave out what only development needs"`
	quiet
	home
	_ value.Value `arg:"env,list|dict" doc:"environment variables"`
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
