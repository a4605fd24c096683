package manage

import (
	"context"
	"regexp"
	"sync"

	"brine/internal/core/fun"
	"brine/internal/core/pkgversion"
	"brine/internal/py/value"
)

// The labels of manage.versions are Salt's, but for that of targets that respond with
// something else than a version.
const (
	offline  = "Minion offline"
	older    = "Minion requires update"
	upToDate = "Up to date"
	newer    = "Minion newer than master"
	master   = "Master"
	unknown  = "Unknown version"
)

// release matches the versions of Salt, from 0.9 to 3006.0rc1.
var release = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^v?[0-9]{1,6}(\.[0-9]{1,6}){0,3}(rc[0-9]{1,4})?([+.-][0-9a-z.+-]{1,60})?$`)
})

// versions follows salt/runners/manage.py versions.
func versions(ctx context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	const fn = "test.version"
	own, err := c.Env.Invoker.Invoke(ctx, fun.Exec, fn, fun.Args{})
	if err != nil {
		return fun.Result{}, err
	}
	mine := value.Str(own.Value)
	found := map[string]value.Value{}
	sum, err := ask(ctx, c, fun.Job{Tgt: "*", TgtType: "glob", Fun: fn}, func(r fun.Return) error {
		if r.Stage != fun.Returned {
			return nil
		}
		v, err := r.Value()
		if err != nil {
			return err
		}
		found[r.ID] = false
		if text, ok := v.(string); ok && !r.Raised && r.Retcode == 0 && release().MatchString(text) {
			found[r.ID] = text
		}
		return nil
	})
	if err != nil {
		return fun.Result{}, err
	}
	groups := map[string]*value.Map{}
	for _, id := range sum.Targets {
		v, responded := found[id]
		label := labelOf(v, responded, mine)
		if groups[label] == nil {
			groups[label] = value.NewMap(1)
		}
		if !responded {
			v = false
		}
		groups[label].Set(id, v)
	}
	out := value.NewMap(len(groups) + 1)
	for _, label := range []string{offline, unknown, older, upToDate, newer} {
		if g := groups[label]; g != nil {
			out.Set(label, g)
		}
	}
	out.Set(master, mine)
	return fun.Value(out)
}

// labelOf returns the label of a target that responded with a version v or false.
func labelOf(v value.Value, responded bool, mine string) string {
	text, known := v.(string)
	if !responded {
		return offline
	}
	if !known {
		return unknown
	}
	switch n := pkgversion.PEP440(text, mine); {
	case n < 0:
		return older
	case n > 0:
		return newer
	}
	return upToDate
}
