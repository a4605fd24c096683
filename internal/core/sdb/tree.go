package sdb

import (
	"context"

	"brine/internal/core/python"
	"brine/internal/py/value"
)

// A treeDriver is a module of _sdb: its functions get, set and delete get the profile
// as well.
type treeDriver struct {
	mod  *python.Module
	conf *value.Map
}

func (d treeDriver) call(ctx context.Context, function string, args ...value.Value) (value.Value, error) {
	if !d.mod.Has(function) {
		return nil, errUnsupported
	}
	return d.mod.Call(ctx, function, value.NewList(args...), value.MapOf("profile", d.conf))
}

func (d treeDriver) get(ctx context.Context, key string) (value.Value, error) {
	return d.call(ctx, "get", key)
}

func (d treeDriver) set(ctx context.Context, key string, v value.Value) error {
	_, err := d.call(ctx, "set", key, v)
	return err
}

func (d treeDriver) delete(ctx context.Context, key string) error {
	_, err := d.call(ctx, "delete", key)
	return err
}
