//go:build !slim

// Package vault is Salt's execution module "vault": secrets of HashiCorp Vault. The server
// is that of the option vault.
package vault

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/sdb"
	"brine/internal/py/value"
)

// Module returns the execution module "vault".
func Module() fun.Module {
	return fun.Module{Name: "vault", Kind: fun.Exec, Doc: "Read and write secrets of HashiCorp Vault.", Specs: specs}
}

// open logs in to the server, and returns where it has a secret: Salt's paths may begin
// and end with a slash.
func open(ctx context.Context, c *fun.Call, path string) (*sdb.Vault, sdb.Place, error) {
	path = strings.Trim(path, "/")
	if !sdb.IsPath(path) {
		return nil, sdb.Place{}, fun.Errorf("%q is not a path of Vault", path)
	}
	v, err := sdb.OpenVault(ctx, c.Env)
	if err != nil {
		return nil, sdb.Place{}, err
	}
	at, err := v.Where(ctx, path)
	return v, at, err
}

// refused is the error of a status that is none of the wanted ones.
func refused(status int64, wanted ...int64) error {
	if slices.Contains(wanted, status) {
		return nil
	}
	return fun.Errorf("Vault answered with status %d (%s)", status, http.StatusText(int(status)))
}

// none is the error of a secret, or a key of one, that does not exist.
type none string

func (n none) Error() string { return string(n) }

// readFrom returns what a path has under "data".
func readFrom(ctx context.Context, v *sdb.Vault, method, path string) (*value.Map, error) {
	answer, status, err := v.Ask(ctx, method, path, nil)
	switch {
	case err != nil:
		return nil, err
	case status == http.StatusNotFound:
		return nil, none("Vault answered with status 404 (Not Found)")
	}
	if err := refused(status, 200); err != nil {
		return nil, err
	}
	if data, ok := answer.At("data").(*value.Map); ok {
		return data, nil
	}
	return value.NewMap(0), nil
}

func readSecret(ctx context.Context, c *fun.Call, a *readArgs) (fun.Result, error) {
	v, err := secretOf(ctx, c, a)
	if err != nil {
		return a.instead("read secret", err)
	}
	return fun.Result{Value: v}, nil
}

// secretOf returns a secret, or one value of it.
func secretOf(ctx context.Context, c *fun.Call, a *readArgs) (value.Value, error) {
	v, at, err := open(ctx, c, a.Path)
	if err != nil {
		return nil, err
	}
	all, err := readFrom(ctx, v, "GET", at.Data)
	if err != nil {
		return nil, err
	}
	data := all
	if at.V2 {
		if data, _ = all.At("data").(*value.Map); data == nil {
			return nil, none(a.Path + " has no data: it was deleted")
		}
	}
	switch {
	case a.Key != nil:
		x, ok := data.Get(a.Key)
		if !ok {
			return nil, none(a.Path + " has no key " + value.Repr(a.Key))
		}
		return x, nil
	case a.Metadata:
		return all, nil
	}
	return data, nil
}

// instead returns the argument default for what does not exist, where it was given. A
// server that is away, or refuses, is an error in any case: with Salt it is the default, so
// that a pillar has that in the place of each secret.
func (a *defaultArg) instead(what string, err error) (fun.Result, error) {
	if n := none(""); errors.As(err, &n) && a.Default != "<Constant.NOT_SET>" {
		return fun.Result{Value: a.Default}, nil
	}
	return fun.Result{}, fun.Errorf("Failed to %s! %v", what, err)
}

func listSecrets(ctx context.Context, c *fun.Call, a *listArgs) (fun.Result, error) {
	v, at, err := open(ctx, c, a.Path)
	var data *value.Map
	if err == nil {
		data, err = readFrom(ctx, v, "LIST", at.Metadata)
	}
	if err != nil {
		return a.instead("list secrets", err)
	}
	return fun.Result{Value: data}, nil
}

// Salt: salt/modules/vault.py write_secret. Difference: what fails is an error; Salt logs
// it and returns False.
func writeSecret(ctx context.Context, c *fun.Call, a *writeArgs) (fun.Result, error) {
	m := value.NewMap(a.Data.Len())
	for k, x := range a.Data.All() {
		if !strings.HasPrefix(value.Str(k), "__") {
			m.Set(k, x)
		}
	}
	return write(ctx, c, a.Path, m)
}

// Salt: salt/modules/vault.py write_raw. Difference: what fails is an error; Salt logs it
// and returns False.
func writeRaw(ctx context.Context, c *fun.Call, a *rawArgs) (fun.Result, error) {
	return write(ctx, c, a.Path, a.Raw)
}

func write(ctx context.Context, c *fun.Call, path string, data *value.Map) (fun.Result, error) {
	v, at, err := open(ctx, c, path)
	if err != nil {
		return failed("write", err)
	}
	if at.V2 {
		data = value.MapOf("data", data)
	}
	answer, status, err := v.Ask(ctx, "POST", at.Data, data)
	if err == nil {
		err = refused(status, 200, 204)
	}
	if err != nil {
		return failed("write", err)
	}
	if status == 200 {
		return fun.Result{Value: answer.At("data")}, nil
	}
	return fun.Result{Value: true}, nil
}

func failed(what string, err error) (fun.Result, error) {
	return fun.Result{}, fun.Errorf("Failed to %s secret! %v", what, err)
}

// Salt: salt/modules/vault.py delete_secret. Difference: what fails is an error; Salt logs
// it and returns False.
func deleteSecret(ctx context.Context, c *fun.Call, a *pathArgs) (fun.Result, error) {
	v, at, err := open(ctx, c, a.Path)
	if err == nil {
		err = change(ctx, v, "DELETE", at.Data, nil)
	}
	if err != nil {
		return failed("delete", err)
	}
	return fun.Result{Value: true}, nil
}

// change sends a request that is answered with nothing.
func change(ctx context.Context, v *sdb.Vault, method, path string, body *value.Map) error {
	_, status, err := v.Ask(ctx, method, path, body)
	if err != nil {
		return err
	}
	return refused(status, 204)
}

// Salt: salt/modules/vault.py destroy_secret. Difference: what fails is an error; Salt logs
// it and returns False.
func destroySecret(ctx context.Context, c *fun.Call, a *destroyArgs) (fun.Result, error) {
	if len(a.Versions) == 0 {
		return failed("destroy", fun.Errorf("it needs the numbers of versions"))
	}
	v, at, err := open(ctx, c, a.Path)
	if err == nil && !at.V2 {
		err = fun.Errorf("only version 2 of KV has versions of secrets")
	}
	if err == nil {
		err = change(ctx, v, "POST", at.Destroy, value.MapOf("versions", value.NewList(a.Versions...)))
	}
	if err != nil {
		return failed("destroy", err)
	}
	return fun.Result{Value: true}, nil
}

// A Policy is one of the server, which may not exist yet.
type Policy struct {
	Rules  string
	Exists bool
	vault  *sdb.Vault
	path   string
}

// OpenPolicy reads a policy.
func OpenPolicy(ctx context.Context, c *fun.Call, name string) (*Policy, error) {
	if !sdb.IsPath(name) {
		return nil, fun.Errorf("%q is not a name of a policy", name)
	}
	p := &Policy{path: "sys/policy/" + name}
	var err error
	if p.vault, err = sdb.OpenVault(ctx, c.Env); err != nil {
		return nil, err
	}
	answer, status, err := p.vault.Ask(ctx, "GET", p.path, nil)
	if err == nil {
		err = refused(status, 200, 404)
	}
	if err != nil || status == 404 {
		return p, err
	}
	if p.Rules, p.Exists = answer.At("rules").(string); !p.Exists {
		return nil, fun.Errorf("the answer has no rules")
	}
	return p, nil
}

// Write makes or changes the policy.
func (p *Policy) Write(ctx context.Context, rules string) error {
	_, status, err := p.vault.Ask(ctx, "PUT", p.path, value.MapOf("rules", rules))
	if err != nil {
		return err
	}
	return refused(status, 200, 204)
}
