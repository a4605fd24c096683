package sshknownhosts

import "brine/internal/core/fun"

type nameArg struct {
	_ fun.Arguments
	_ string `arg:"name,required" doc:"name or address of the host"`
}

type userArg struct {
	_    fun.Arguments
	User string `arg:"user" doc:"user whose known hosts they are; default: those of the system"`
}

type configArg struct {
	_      fun.Arguments
	Config string `arg:"config,path" doc:"file of the known hosts; default: .ssh/known_hosts in the home directory of user, else /etc/ssh/ssh_known_hosts"`
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "absent", Do: absent, Src: "states/ssh_known_hosts.py absent",
		Doc: "Remove a host from the known hosts.",
	},
	{
		Name: "present", Do: present, Src: "states/ssh_known_hosts.py present",
		Doc: "Make a host known.\nWith key, that is its key. Else the host is asked for its keys, and with fingerprint one of them has to have it.",
	},
}
