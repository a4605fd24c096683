package rvm

import "brine/internal/fun"

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "gemset_present", Doc: "Make sure that a set of gems exists.", Src: "states/rvm.py gemset_present", State: gemsetPresent,
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Required: true, Doc: "name of the set, with RUBY@ before it for a version of Ruby"},
			{Name: "ruby", Type: fun.Str, Default: "default", Doc: "version of Ruby"},
			{Name: "user", Type: fun.Str, Doc: "account that runs rvm"},
		},
	},
	{
		Name: "installed", Doc: "Make sure that a version of Ruby is installed, and RVM with it.", Src: "states/rvm.py installed", State: installed,
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Required: true, Doc: "version of Ruby, such as 3.2.2 or jruby-9.4"},
			{Name: "default", Type: fun.Bool, Default: false, Doc: "make it the default version"},
			{Name: "user", Type: fun.Str, Doc: "account that runs rvm"},
			{Name: "opts", Type: fun.Strs, Doc: "options for rvm install"},
			{Name: "env", Type: fun.Dict | fun.List, Doc: "environment variables for rvm install"},
		},
	},
}
