package shims

import (
	"context"

	"brine/internal/core/fun"
	"brine/modules/shims"
)

// pyenvSpecs are the functions of pyenv, alphabetically.
var pyenvSpecs = []fun.Spec{
	{
		Name: "absent", Doc: "Make sure that a version of Python is not installed.", Src: "states/pyenv.py absent", Do: pyenvAbsent,
	},
	{
		Name: "install_pyenv", Doc: "Make sure that pyenv is installed.", Src: "states/pyenv.py install_pyenv", Do: pyenvInstallTool,
	},
	{
		Name: "installed", Doc: "Make sure that a version of Python is installed, and pyenv with it.", Src: "states/pyenv.py installed", Do: pyenvInstalled,
	},
}

// rbenvSpecs are the functions of rbenv, alphabetically.
var rbenvSpecs = []fun.Spec{
	{
		Name: "absent", Doc: "Make sure that a version of Ruby is not installed.", Src: "states/rbenv.py absent", Do: rbenvAbsent,
	},
	{
		Name: "install_rbenv", Doc: "Make sure that rbenv is installed.", Src: "states/rbenv.py install_rbenv", Do: rbenvInstallTool,
	},
	{
		Name: "installed", Doc: "Make sure that a version of Ruby is installed, and rbenv with it.", Src: "states/rbenv.py installed", Do: rbenvInstalled,
	},
}

type pyenvAbsentArgs struct {
	_    fun.Arguments
	Name string `arg:"name,required" doc:"version, such as 3.12.4 or python-3.12.4"`
	User string `arg:"user" doc:"account that runs pyenv"`
}

func pyenvAbsent(ctx context.Context, c *fun.Call, a *pyenvAbsentArgs) fun.Ret {
	return absent(ctx, c, newRun(c, shims.Pyenv, a.Name, a.User))
}

type pyenvInstallToolArgs struct {
	_    fun.Arguments
	Name string `arg:"name,required" doc:"any text; it has no effect"`
	User string `arg:"user" doc:"account that runs pyenv"`
}

func pyenvInstallTool(ctx context.Context, c *fun.Call, a *pyenvInstallToolArgs) fun.Ret {
	return installTool(ctx, c, newRun(c, shims.Pyenv, a.Name, a.User))
}

type pyenvInstalledArgs struct {
	_       fun.Arguments
	Name    string `arg:"name,required" doc:"version, such as 3.12.4 or python-3.12.4"`
	Default bool   `arg:"default" default:"False" doc:"make it the default version"`
	User    string `arg:"user" doc:"account that runs pyenv"`
}

func pyenvInstalled(ctx context.Context, c *fun.Call, a *pyenvInstalledArgs) fun.Ret {
	return installed(ctx, c, newRun(c, shims.Pyenv, a.Name, a.User), a.Default)
}

type rbenvAbsentArgs struct {
	_    fun.Arguments
	Name string `arg:"name,required" doc:"version, such as 3.2.2 or ruby-3.2.2"`
	User string `arg:"user" doc:"account that runs rbenv"`
}

func rbenvAbsent(ctx context.Context, c *fun.Call, a *rbenvAbsentArgs) fun.Ret {
	return absent(ctx, c, newRun(c, shims.Rbenv, a.Name, a.User))
}

type rbenvInstallToolArgs struct {
	_    fun.Arguments
	Name string `arg:"name,required" doc:"any text; it has no effect"`
	User string `arg:"user" doc:"account that runs rbenv"`
}

func rbenvInstallTool(ctx context.Context, c *fun.Call, a *rbenvInstallToolArgs) fun.Ret {
	return installTool(ctx, c, newRun(c, shims.Rbenv, a.Name, a.User))
}

type rbenvInstalledArgs struct {
	_       fun.Arguments
	Name    string `arg:"name,required" doc:"version, such as 3.2.2 or ruby-3.2.2"`
	Default bool   `arg:"default" default:"False" doc:"make it the default version"`
	User    string `arg:"user" doc:"account that runs rbenv"`
}

func rbenvInstalled(ctx context.Context, c *fun.Call, a *rbenvInstalledArgs) fun.Ret {
	return installed(ctx, c, newRun(c, shims.Rbenv, a.Name, a.User), a.Default)
}
