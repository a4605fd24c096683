package composer

import (
	"brine/internal/fun"
	"brine/internal/value"
)

// of are the arguments that both functions have before always_check.
type of struct {
	_    fun.Arguments
	Name string `arg:"name,required,path" doc:"directory of composer.json"`
	_    string `arg:"composer,path" doc:"path of composer.phar; default: the program composer"`
	_    string `arg:"php,path" doc:"PHP that runs composer.phar"`
	_    string `arg:"user" doc:"account that runs composer"`
	_    bool   `arg:"prefer_source" doc:"get packages from their repositories"`
	_    bool   `arg:"prefer_dist" doc:"get packages as archives"`
	_    bool   `arg:"no_scripts" doc:"do not run the scripts of composer.json"`
	_    bool   `arg:"no_plugins" doc:"do not use plugins"`
	_    bool   `arg:"optimize" doc:"make a fast autoloader"`
	_    bool   `arg:"no_dev" doc:"leave out what only development needs"`
	_    bool   `arg:"quiet" default:"False" doc:"do not report what composer prints as changes"`
	_    string `arg:"composer_home,path" default:"/root" doc:"directory of composer's own files"`
}

type env struct {
	_ fun.Arguments
	_ value.Value `arg:"env,list|dict" doc:"environment variables"`
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
