package jobs

import (
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/redact"
	"brine/internal/py/value"
)

// FunOf is the function of a job as events and reports show it: of several, a
// list.
func FunOf(name string) value.Value {
	if names := strings.Split(name, ","); len(names) > 1 {
		return value.Strings(names...)
	}
	return name
}

// ArgsOf are the arguments of a job as [redact.Args] gives them: of several
// functions, a list for each.
func ArgsOf(t *fun.Table, job fun.Job) *value.List {
	calls := job.Compound()
	if calls == nil {
		return redact.Args(t.Spec(fun.Exec, job.Fun).ArgNames(), job.Args.Pos, job.Args.Kw, t.Spec(fun.Exec, job.Fun).SecretArgs()...)
	}
	l := value.NewList()
	for _, call := range calls {
		l.Append(ArgsOf(t, call))
	}
	return l
}

// LeftOutOf names the arguments of a job that [ArgsOf] leaves out or hides.
func LeftOutOf(t *fun.Table, job fun.Job) []string {
	calls := job.Compound()
	if calls == nil {
		return redact.LeftOut(t.Spec(fun.Exec, job.Fun).ArgNames(), job.Args.Pos, job.Args.Kw, t.Spec(fun.Exec, job.Fun).SecretArgs()...)
	}
	var out []string
	for _, call := range calls {
		out = append(out, LeftOutOf(t, call)...)
	}
	return out
}
