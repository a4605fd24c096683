package shims

import (
	"context"

	"brine/internal/core/fun"
)

// pyenvSpecs are the functions of pyenv, alphabetically.
var pyenvSpecs = []fun.Spec{
	{
		Name: "default", Doc: "Return the default version of Python, or set it.", Src: "modules/pyenv.py default", Do: pyenvDefault,
	},
	{
		Name: "do", Doc: "Run a command with the shims of pyenv.", Src: "modules/pyenv.py do", Do: pyenvDo,
	},
	{
		Name: "do_with_python", Doc: "Run a command with a version of Python.", Src: "modules/pyenv.py do_with_python", Do: pyenvDoWith,
	},
	{
		Name: "install", Doc: "Install pyenv.", Src: "modules/pyenv.py install", Do: pyenvInstall,
	},
	{
		Name: "install_python", Doc: "Build and install a version of Python.", Src: "modules/pyenv.py install_python", Do: pyenvInstallVersion,
	},
	{
		Name: "is_installed", Doc: "Return whether pyenv is installed.", Src: "modules/pyenv.py is_installed", Do: pyenvIsInstalled,
	},
	{
		Name: "list", Doc: "Return the versions of Python that can be installed.", Src: "modules/pyenv.py list_", Do: pyenvList,
	},
	{
		Name: "rehash", Doc: "Make the shims of programs that are new.", Src: "modules/pyenv.py rehash", Do: pyenvRehash,
	},
	{
		Name: "uninstall_python", Doc: "Remove a version of Python.", Src: "modules/pyenv.py uninstall_python", Do: pyenvUninstallVersion,
	},
	{
		Name: "update", Doc: "Update pyenv.", Src: "modules/pyenv.py update", Do: pyenvUpdate,
	},
	{
		Name: "versions", Doc: "Return the versions of Python that are installed.", Src: "modules/pyenv.py versions", Do: pyenvVersions,
	},
}

// pyenvArgs are the arguments of all functions.
type pyenvArgs struct {
	_     fun.Arguments
	RunAs string `arg:"runas" doc:"account that runs pyenv"`
}

func (a *pyenvArgs) client(c *fun.Call) *Client {
	return &Client{Tool: Pyenv, Env: c.Env, User: a.RunAs}
}

type pyenvDefaultArgs struct {
	Python string `arg:"python" doc:"version to set"`
	pyenvArgs
}

func pyenvDefault(ctx context.Context, c *fun.Call, a *pyenvDefaultArgs) (fun.Result, error) {
	return defaultVersion(ctx, a.client(c), a.Python)
}

type pyenvDoArgs struct {
	Cmdline string `arg:"cmdline,required" doc:"command line; no shell sees it"`
	pyenvArgs
}

func pyenvDo(ctx context.Context, c *fun.Call, a *pyenvDoArgs) (fun.Result, error) {
	return a.client(c).Do(ctx, a.Cmdline, "", nil)
}

type pyenvDoWithArgs struct {
	Python  string `arg:"python,required,str|none" doc:"version; None is the default one"`
	Cmdline string `arg:"cmdline,required" doc:"command line; no shell sees it"`
	pyenvArgs
}

func pyenvDoWith(ctx context.Context, c *fun.Call, a *pyenvDoWithArgs) (fun.Result, error) {
	return a.client(c).Do(ctx, a.Cmdline, a.Python, nil)
}

type pyenvPathArgs struct {
	pyenvArgs
	Path string `arg:"path,path" doc:"directory of pyenv; default: the usual one of the account"`
}

func pyenvInstall(ctx context.Context, c *fun.Call, a *pyenvPathArgs) (fun.Result, error) {
	return install(ctx, a.client(c), a.Path)
}

func pyenvUpdate(ctx context.Context, c *fun.Call, a *pyenvPathArgs) (fun.Result, error) {
	return update(ctx, a.client(c), a.Path)
}

type pyenvVersionArgs struct {
	Python string `arg:"python,required" doc:"version, such as 3.12.4"`
	pyenvArgs
}

func pyenvInstallVersion(ctx context.Context, c *fun.Call, a *pyenvVersionArgs) (fun.Result, error) {
	return installVersion(ctx, a.client(c), a.Python)
}

func pyenvUninstallVersion(ctx context.Context, c *fun.Call, a *pyenvVersionArgs) (fun.Result, error) {
	return uninstallVersion(ctx, a.client(c), a.Python)
}

func pyenvIsInstalled(ctx context.Context, c *fun.Call, a *pyenvArgs) (fun.Result, error) {
	return isInstalled(ctx, a.client(c))
}

func pyenvList(ctx context.Context, c *fun.Call, a *pyenvArgs) (fun.Result, error) {
	return list(ctx, a.client(c))
}

func pyenvRehash(ctx context.Context, c *fun.Call, a *pyenvArgs) (fun.Result, error) {
	return rehash(ctx, a.client(c))
}

func pyenvVersions(ctx context.Context, c *fun.Call, a *pyenvArgs) (fun.Result, error) {
	return versions(ctx, a.client(c))
}
