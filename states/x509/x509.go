// Package x509 has Salt's two state modules "x509": the one of M2Crypto, which
// serves by default, and x509_v2.
package x509

import (
	"context"
	"slices"
	"time"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/x509"
)

// States returns the state module "x509" that serves by default.
func States() fun.Module {
	return fun.Module{Name: "x509", Kind: fun.State, Doc: "Manage X.509 certificates, keys, requests and revocation lists.", Avail: x509.V1, Specs: specs}
}

// StatesV2 returns the state module "x509_v2", which serves as "x509".
func StatesV2() fun.Module {
	return fun.Module{Name: "x509", Kind: fun.State, Doc: "Manage X.509 certificates, keys, requests and revocation lists.", Avail: x509.V2, Specs: specsV2}
}

// fileArgs are the arguments of file.managed that the states take; the older
// module takes the first nine.
var fileArgs = []string{"user", "group", "mode", "makedirs", "dir_mode", "backup", "create", "follow_symlinks", "check_cmd", "attrs", "tmp_dir", "tmp_ext", "selinux", "encoding_errors"}

// split divides the arguments that are not None into those of file.managed and
// others, but the name.
func split(c *fun.Call, known []string) (file, rest *value.Map) {
	all := value.NewMap(c.Args.Len() + c.Kw.Len())
	all.Update(c.Args)
	all.Update(c.Kw)
	all.Delete("name")
	file, rest = value.NewMap(4), value.NewMap(8)
	for k, v := range all.All() {
		if v == nil {
			continue
		}
		if slices.Contains(known, value.Str(k)) {
			file.Set(k, v)
		} else {
			rest.Set(k, v)
		}
	}
	return file, rest
}

// fileManaged runs file.managed as a part of the state.
func fileManaged(ctx context.Context, c *fun.Call, args *value.Map, test bool) fun.Ret {
	kw := args.Copy()
	kw.Set("name", c.Name)
	mod, spec, err := c.Env.Find(fun.State, "file.managed")
	if err != nil {
		return fun.Raise(err)
	}
	call, err := c.Env.Invoker.Bind(mod, spec, fun.Args{Kw: kw})
	if err != nil {
		return fun.Raise(err)
	}
	call.Test = test
	if c.Low != nil {
		low := *c.Low
		low.State, low.Fun, low.Name = "file", "managed", c.Name
		call.Low = &low
	}
	return spec.State(ctx, call)
}

func changesOf(r fun.Ret) *value.Map {
	if m, ok := r.Changes.(*value.Map); ok && m != nil {
		return m
	}
	return value.NewMap(0)
}

// A state collects what a state of x509_v2 finds out.
type state struct {
	c       *fun.Call
	began   time.Time
	file    *value.Map // arguments of file.managed
	changes *value.Map
	subs    *value.List
	exists  bool // the file is there
	real    string
	planned fun.Ret // what file.managed would do
	replace bool
}

func begin(c *fun.Call) (*state, *value.Map) {
	file, rest := split(c, fileArgs)
	file.Set("show_changes", false)
	return &state{c: c, began: c.Env.Host.Now(), file: file, changes: value.NewMap(2), subs: value.NewList(), real: c.Name}, rest
}

// add notes a run of file.managed, which is reported beside the state.
func (s *state) add(r fun.Ret) {
	id := s.c.Name
	if s.c.Low != nil {
		id = s.c.Low.ID
	}
	now := s.c.Env.Host.Now()
	comment := r.Comment
	if r.Err != nil {
		comment = r.Err.Error()
	}
	s.subs.Append(value.MapOf(
		"name", s.c.Name, "changes", changesOf(r), "result", r.Result.Value(),
		"duration", float64(now.Sub(s.began).Microseconds())/1000, "start_time", s.began.Format("15:04:05.000000"), "comment", comment,
		"low", value.MapOf("name", s.c.Name, "state", "file", "__id__", id, "fun", "managed"),
	))
}

// ret returns the return of the state.
func (s *state) ret(result fun.Outcome, comment string, changes *value.Map) fun.Ret {
	r := fun.Ret{Name: s.c.Name, Changes: changes, Result: result, Comment: comment}
	if s.subs.Len() > 0 {
		r.Extra = value.MapOf("sub_state_run", s.subs)
	}
	return r
}

// fail returns the return of a state that cannot do its work.
func (s *state) fail(err error) fun.Ret {
	return s.ret(fun.Failed, err.Error(), value.NewMap(0))
}
