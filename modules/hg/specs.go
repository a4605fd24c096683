package hg

import "brine/internal/core/fun"

type cwd struct {
	_   fun.Arguments
	Cwd string `arg:"cwd,required,path" doc:"directory of the repository"`
}

type tip struct {
	_   fun.Arguments
	Rev string `arg:"rev" default:"tip" doc:"revision: a hash, tag, bookmark or branch"`
}

type user struct {
	_    fun.Arguments
	User string `arg:"user" doc:"account that runs hg"`
}

type opts struct {
	_    fun.Arguments
	Opts string `arg:"opts" doc:"further options for hg"`
}

type key struct {
	_        fun.Arguments
	Identity string `arg:"identity,path" doc:"SSH private key"`
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "archive", Doc: "Write the files of a revision to an archive.", Src: "modules/hg.py archive", Do: archive,
	},
	{
		Name: "clone", Doc: "Clone a repository.", Src: "modules/hg.py clone", Do: clone,
	},
	{
		Name: "describe", Doc: "Return the newest tag before a revision, the number of revisions since, and its hash.", Src: "modules/hg.py describe", Do: describe,
	},
	{
		Name: "pull", Doc: "Pull from another repository.", Src: "modules/hg.py pull", Do: pull,
	},
	{
		Name: "revision", Doc: "Return the hash of a revision.", Src: "modules/hg.py revision", Do: revision,
	},
	{
		Name: "status", Doc: "Return the files that are changed, added, removed, missing or not tracked.", Src: "modules/hg.py status", Do: status,
	},
	{
		Name: "update", Doc: "Check a revision out.", Src: "modules/hg.py update", Do: update,
	},
}
