package file

import (
	"fmt"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// A Return is a state's return while it is made.
type Return struct {
	Name     string
	Changes  *value.Map
	Result   fun.Outcome
	Comment  string
	Warnings []string
	Extra    *value.Map // further keys
}

// NewReturn returns a good return without changes.
func NewReturn(name string) *Return {
	return &Return{Name: name, Changes: value.NewMap(0), Result: fun.OK}
}

// Fail sets a failure and its comment.
func (r *Return) Fail(format string, args ...any) *Return {
	r.Result = fun.Failed
	r.Comment = format
	if len(args) > 0 {
		r.Comment = fmt.Sprintf(format, args...)
	}
	return r
}

// Ret returns r as the state system wants it.
func (r *Return) Ret() fun.Ret {
	ret := fun.Ret{Name: r.Name, Changes: r.Changes, Result: r.Result, Comment: r.Comment, Extra: r.Extra}
	if len(r.Warnings) > 0 {
		if ret.Extra == nil {
			ret.Extra = value.NewMap(1)
		}
		ret.Extra.Set("warnings", value.Strings(r.Warnings...))
	}
	return ret
}

// Value returns r as a dict.
func (r *Return) Value() *value.Map {
	return value.MapOf("name", r.Name, "changes", r.Changes, "comment", r.Comment, "result", r.Result.Value())
}
