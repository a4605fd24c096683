package shims

import (
	"context"

	"brine/internal/fun"
	"brine/modules/cmd"
	"brine/modules/machine"
)

// RbenvModule returns the execution module "rbenv".
func RbenvModule() fun.Module {
	return fun.Module{Name: "rbenv", Kind: fun.Exec, Doc: "Manage versions of Ruby with rbenv.", Specs: rbenvSpecs}
}

// PyenvModule returns the execution module "pyenv".
func PyenvModule() fun.Module {
	return fun.Module{Name: "pyenv", Kind: fun.Exec, Doc: "Manage versions of Python with pyenv.", Specs: pyenvSpecs}
}

func client(c *fun.Call, runas string) *Client {
	t := Rbenv
	if c.Mod.Name == Pyenv.Name {
		t = Pyenv
	}
	return &Client{Tool: t, Env: c.Env, User: runas}
}

func install(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return machine.Bool(client(c, c.Str("runas")).Install(ctx, c.Str("path")))
}

func update(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return machine.Bool(client(c, c.Str("runas")).Update(ctx, c.Str("path")))
}

func isInstalled(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return machine.Bool(client(c, c.Str("runas")).Installed(ctx), nil)
}

// version returns the argument that is named after the language.
func version(c *fun.Call) string { return c.Str(client(c, c.Str("runas")).Language) }

func installVersion(ctx context.Context, c *fun.Call) (fun.Result, error) {
	said, ok, err := client(c, c.Str("runas")).InstallVersion(ctx, version(c))
	if !ok {
		return fun.Result{Value: false}, err
	}
	return fun.Result{Value: said}, err
}

func uninstallVersion(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return machine.Bool(client(c, c.Str("runas")).UninstallVersion(ctx, version(c)))
}

func versions(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return machine.Strings(client(c, c.Str("runas")).Versions(ctx))
}

func defaultVersion(ctx context.Context, c *fun.Call) (fun.Result, error) {
	if v := version(c); v != "" {
		return machine.Bool(client(c, c.Str("runas")).SetDefault(ctx, v))
	}
	v, err := client(c, c.Str("runas")).Default(ctx)
	return fun.Result{Value: v}, err
}

func list(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return machine.Strings(client(c, c.Str("runas")).List(ctx))
}

func rehash(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return machine.Bool(true, client(c, c.Str("runas")).Rehash(ctx))
}

func do(ctx context.Context, c *fun.Call) (fun.Result, error) {
	if !c.Declares("env") {
		return client(c, c.Str("runas")).Do(ctx, c.Str("cmdline"), "", nil)
	}
	env, slip := cmd.ParseEnv(c.Value("env"))
	if slip != "" {
		return fun.Result{}, fun.Errorf("%s", slip)
	}
	return client(c, c.Str("runas")).Do(ctx, c.Str("cmdline"), "", env)
}

func doWith(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return client(c, c.Str("runas")).Do(ctx, c.Str("cmdline"), version(c), nil)
}
