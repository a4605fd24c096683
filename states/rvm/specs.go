package rvm

import "brine/internal/core/fun"

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "gemset_present", Doc: "Make sure that a set of gems exists.", Src: "states/rvm.py gemset_present", Do: gemsetPresent,
	},
	{
		Name: "installed", Doc: "Make sure that a version of Ruby is installed, and RVM with it.", Src: "states/rvm.py installed", Do: installed,
	},
}
