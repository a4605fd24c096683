package shims

import "brine/internal/fun"

// pyenvSpecs are the functions of pyenv, alphabetically.
var pyenvSpecs = []fun.Spec{
	{
		Name: "absent", Doc: "Make sure that a version of Python is not installed.", Src: "states/pyenv.py absent", State: absent,
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Required: true, Doc: "version, such as 3.12.4 or python-3.12.4"},
			{Name: "user", Type: fun.Str, Doc: "account that runs pyenv"},
		},
	},
	{
		Name: "install_pyenv", Doc: "Make sure that pyenv is installed.", Src: "states/pyenv.py install_pyenv", State: installTool,
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Required: true, Doc: "any text; it has no effect"},
			{Name: "user", Type: fun.Str, Doc: "account that runs pyenv"},
		},
	},
	{
		Name: "installed", Doc: "Make sure that a version of Python is installed, and pyenv with it.", Src: "states/pyenv.py installed", State: installed,
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Required: true, Doc: "version, such as 3.12.4 or python-3.12.4"},
			{Name: "default", Type: fun.Bool, Default: false, Doc: "make it the default version"},
			{Name: "user", Type: fun.Str, Doc: "account that runs pyenv"},
		},
	},
}

// rbenvSpecs are the functions of rbenv, alphabetically.
var rbenvSpecs = []fun.Spec{
	{
		Name: "absent", Doc: "Make sure that a version of Ruby is not installed.", Src: "states/rbenv.py absent", State: absent,
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Required: true, Doc: "version, such as 3.2.2 or ruby-3.2.2"},
			{Name: "user", Type: fun.Str, Doc: "account that runs rbenv"},
		},
	},
	{
		Name: "install_rbenv", Doc: "Make sure that rbenv is installed.", Src: "states/rbenv.py install_rbenv", State: installTool,
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Required: true, Doc: "any text; it has no effect"},
			{Name: "user", Type: fun.Str, Doc: "account that runs rbenv"},
		},
	},
	{
		Name: "installed", Doc: "Make sure that a version of Ruby is installed, and rbenv with it.", Src: "states/rbenv.py installed", State: installed,
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Required: true, Doc: "version, such as 3.2.2 or ruby-3.2.2"},
			{Name: "default", Type: fun.Bool, Default: false, Doc: "make it the default version"},
			{Name: "user", Type: fun.Str, Doc: "account that runs rbenv"},
		},
	},
}
