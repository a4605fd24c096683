package shims

import (
	"context"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/cmd"
)

// rbenvSpecs are the functions of rbenv, alphabetically.
var rbenvSpecs = []fun.Spec{
	{
		Name: "default", Doc: "Return the default version of Ruby, or set it.", Src: "modules/rbenv.py default", Do: rbenvDefault,
	},
	{
		Name: "do", Doc: "Run a command with the shims of rbenv.", Src: "modules/rbenv.py do", Do: rbenvDo,
	},
	{
		Name: "do_with_ruby", Doc: "Run a command with a version of Ruby.", Src: "modules/rbenv.py do_with_ruby", Do: rbenvDoWith,
	},
	{
		Name: "install", Doc: "Install rbenv.", Src: "modules/rbenv.py install", Do: rbenvInstall,
	},
	{
		Name: "install_ruby", Doc: "Build and install a version of Ruby.", Src: "modules/rbenv.py install_ruby", Do: rbenvInstallVersion,
	},
	{
		Name: "is_installed", Doc: "Return whether rbenv is installed.", Src: "modules/rbenv.py is_installed", Do: rbenvIsInstalled,
	},
	{
		Name: "list", Doc: "Return the versions of Ruby that can be installed.", Src: "modules/rbenv.py list_", Do: rbenvList,
	},
	{
		Name: "rehash", Doc: "Make the shims of programs that are new.", Src: "modules/rbenv.py rehash", Do: rbenvRehash,
	},
	{
		Name: "uninstall_ruby", Doc: "Remove a version of Ruby.", Src: "modules/rbenv.py uninstall_ruby", Do: rbenvUninstallVersion,
	},
	{
		Name: "update", Doc: "Update rbenv.", Src: "modules/rbenv.py update", Do: rbenvUpdate,
	},
	{
		Name: "versions", Doc: "Return the versions of Ruby that are installed.", Src: "modules/rbenv.py versions", Do: rbenvVersions,
	},
}

// rbenvArgs are the arguments of all functions.
type rbenvArgs struct {
	_     fun.Arguments
	RunAs string `arg:"runas" doc:"account that runs rbenv"`
}

func (a *rbenvArgs) client(c *fun.Call) *Client {
	return &Client{Tool: Rbenv, Env: c.Env, User: a.RunAs}
}

type rbenvDefaultArgs struct {
	Ruby string `arg:"ruby" doc:"version to set"`
	rbenvArgs
}

func rbenvDefault(ctx context.Context, c *fun.Call, a *rbenvDefaultArgs) (fun.Result, error) {
	return defaultVersion(ctx, a.client(c), a.Ruby)
}

type rbenvDoArgs struct {
	Cmdline string `arg:"cmdline,required" doc:"command line; no shell sees it"`
	rbenvArgs
	Env value.Value `arg:"env,list|dict" doc:"environment variables"`
}

func rbenvDo(ctx context.Context, c *fun.Call, a *rbenvDoArgs) (fun.Result, error) {
	env, slip := cmd.ParseEnv(a.Env)
	if slip != "" {
		return fun.Result{}, fun.Errorf("%s", slip)
	}
	return a.client(c).Do(ctx, a.Cmdline, "", env)
}

type rbenvDoWithArgs struct {
	Ruby    string `arg:"ruby,required,str|none" doc:"version; None is the default one"`
	Cmdline string `arg:"cmdline,required" doc:"command line; no shell sees it"`
	rbenvArgs
}

func rbenvDoWith(ctx context.Context, c *fun.Call, a *rbenvDoWithArgs) (fun.Result, error) {
	return a.client(c).Do(ctx, a.Cmdline, a.Ruby, nil)
}

type rbenvPathArgs struct {
	rbenvArgs
	Path string `arg:"path,path" doc:"directory of rbenv; default: the usual one of the account"`
}

func rbenvInstall(ctx context.Context, c *fun.Call, a *rbenvPathArgs) (fun.Result, error) {
	return install(ctx, a.client(c), a.Path)
}

func rbenvUpdate(ctx context.Context, c *fun.Call, a *rbenvPathArgs) (fun.Result, error) {
	return update(ctx, a.client(c), a.Path)
}

type rbenvVersionArgs struct {
	Ruby string `arg:"ruby,required" doc:"version, such as 3.2.2"`
	rbenvArgs
}

func rbenvInstallVersion(ctx context.Context, c *fun.Call, a *rbenvVersionArgs) (fun.Result, error) {
	return installVersion(ctx, a.client(c), a.Ruby)
}

func rbenvUninstallVersion(ctx context.Context, c *fun.Call, a *rbenvVersionArgs) (fun.Result, error) {
	return uninstallVersion(ctx, a.client(c), a.Ruby)
}

func rbenvIsInstalled(ctx context.Context, c *fun.Call, a *rbenvArgs) (fun.Result, error) {
	return isInstalled(ctx, a.client(c))
}

func rbenvList(ctx context.Context, c *fun.Call, a *rbenvArgs) (fun.Result, error) {
	return list(ctx, a.client(c))
}

func rbenvRehash(ctx context.Context, c *fun.Call, a *rbenvArgs) (fun.Result, error) {
	return rehash(ctx, a.client(c))
}

func rbenvVersions(ctx context.Context, c *fun.Call, a *rbenvArgs) (fun.Result, error) {
	return versions(ctx, a.client(c))
}
