package cron

import (
	"brine/internal/core/fun"
	"brine/internal/py/value"
)

type userArg struct {
	_    fun.Arguments
	User string `arg:"user" default:"root" doc:"user whose crontab it is"`
}

type identifierArg struct {
	_          fun.Arguments
	Identifier value.Value `arg:"identifier,str|bool" default:"False" doc:"identifier of the job, which stays when its command changes; default: the command"`
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "absent", Do: absent, Files: true, Src: "states/cron.py absent",
		Doc: "Remove a job from a crontab.\nThe job is found by its identifier, whether its time is special or not.",
	},
	{
		Name: "env_absent", Do: envAbsent, Files: true, Src: "states/cron.py env_absent",
		Doc: "Remove an environment variable from a crontab.",
	},
	{
		Name: "env_present", Do: envPresent, Files: true, Src: "states/cron.py env_present",
		Doc: "Set an environment variable in a crontab.",
	},
	{
		Name: "file", Do: file, Files: true, Src: "states/cron.py file",
		Doc: "Make a file the crontab of a user.",
	},
	{
		Name: "present", Do: present, Files: true, Src: "states/cron.py present",
		Doc: "Put a job into a crontab.\nThe job is found by its identifier. A time may be random, or low:high for a random number between two, which stays once it is chosen.",
	},
}
