package shims

import (
	"context"

	"brine/internal/core/fun"
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

func install(ctx context.Context, t *Client, dir string) (fun.Result, error) {
	return machine.Bool(t.Install(ctx, dir))
}

func update(ctx context.Context, t *Client, dir string) (fun.Result, error) {
	return machine.Bool(t.Update(ctx, dir))
}

func isInstalled(ctx context.Context, t *Client) (fun.Result, error) {
	return machine.Bool(t.Installed(ctx), nil)
}

func installVersion(ctx context.Context, t *Client, version string) (fun.Result, error) {
	said, ok, err := t.InstallVersion(ctx, version)
	if !ok {
		return fun.Result{Value: false}, err
	}
	return fun.Result{Value: said}, err
}

func uninstallVersion(ctx context.Context, t *Client, version string) (fun.Result, error) {
	return machine.Bool(t.UninstallVersion(ctx, version))
}

func versions(ctx context.Context, t *Client) (fun.Result, error) {
	return machine.Strings(t.Versions(ctx))
}

func defaultVersion(ctx context.Context, t *Client, version string) (fun.Result, error) {
	if version != "" {
		return machine.Bool(t.SetDefault(ctx, version))
	}
	v, err := t.Default(ctx)
	return fun.Result{Value: v}, err
}

func list(ctx context.Context, t *Client) (fun.Result, error) {
	return machine.Strings(t.List(ctx))
}

func rehash(ctx context.Context, t *Client) (fun.Result, error) {
	return machine.Bool(true, t.Rehash(ctx))
}
