package salt

import (
	"fmt"
	"slices"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// conflicts refuses what has no meaning for a step that nobody waits for.
func conflicts(a *jobArgs) error {
	if !a.Asynchronous {
		return nil
	}
	for _, other := range [...]struct {
		name  string
		given bool
	}{{"batch", a.Batch != nil}, {"subset", a.Subset.Given}, {"waves", a.Waves != nil}, {"max_failures", a.MaxFailures != nil}} {
		if other.given {
			return fun.Errorf("asynchronous conflicts with %s: they cannot be used at the same time", other.name)
		}
	}
	return nil
}

// submitted makes the return of a step that nobody waits for: what is "State" or
// "Function". Targets on which it could not be started make it fail.
// Salt: salt/states/saltmod.py state, function (asynchronous).
func submitted(c *fun.Call, a *jobArgs, what string, rets *returns, extra *value.Map) fun.Ret {
	if rets.sum.JID == "" {
		return fun.Ret{Comment: what + " failed to run.", Extra: extra}
	}
	extra.Set("__jid__", rets.sum.JID)
	ret := fun.Ret{Result: fun.OK, Changes: value.MapOf("jid", rets.sum.JID), Comment: what + " submitted successfully.", Extra: extra, Order: retOrder()}
	ret.Comment = lines(value.Str(ret.Comment), rets.noteOutside(extra))
	tolerated, _ := failMinions(a.FailMinions)
	warnSilent(c, rets.all)
	var failed []string
	for _, r := range rets.all {
		if !tolerated[r.ID] {
			failed = append(failed, r.ID)
		}
	}
	slices.Sort(failed)
	if len(failed) > 0 {
		ret.Result = fun.Failed
		ret.Comment = fmt.Sprintf("%s failed to run. It was not started on: %s", what, strings.Join(failed, ", "))
	}
	return ret
}
