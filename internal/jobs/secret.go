package jobs

import (
	"fmt"
	"strings"

	"brine/internal/fun"
	"brine/internal/value"
)

// Hidden stands for a secret in what is recorded, as in the changes of Salt's
// user states.
const Hidden = "XXX-REDACTED-XXX"

// secretNames are the ends of the names of arguments that hold secrets.
var secretNames = [...]string{"password", "passwd", "passphrase", "secret", "token", "api_key", "apikey", "private_key", "secret_key", "connection_pass"}

// isSecret reports whether an argument of a name holds a secret, such as
// password, db_password and Bind-Password.
func isSecret(name string) bool {
	name = strings.ReplaceAll(strings.ToLower(name), "-", "_")
	for _, s := range secretNames {
		if before, ok := strings.CutSuffix(name, s); ok && (before == "" || strings.HasSuffix(before, "_")) {
			return true
		}
	}
	return false
}

// hide is what is recorded of an argument with a name, and whether that is
// another thing. Flags, such as enforce_password, and None tell nothing.
func hide(name string, v value.Value) (value.Value, bool) {
	if !isSecret(name) {
		return hideIn(v)
	}
	switch x := v.(type) {
	case nil, bool:
		return v, false
	case string:
		if x == "" {
			return v, false
		}
	}
	return Hidden, true
}

// Hide returns v with [Hidden] in the place of each secret in its dicts: the
// values of keys such as password, passphrase, token, api_key and private_key. v
// stays as it is.
func Hide(v value.Value) value.Value {
	v, _ = hideIn(v)
	return v
}

func hideIn(v value.Value) (value.Value, bool) {
	switch v := v.(type) {
	case *value.Map:
		var out *value.Map
		for k, x := range v.All() {
			if y, changed := hide(value.Str(k), x); changed {
				if out == nil {
					out = v.Copy()
				}
				out.Set(k, y)
			}
		}
		if out != nil {
			return out, true
		}
	case *value.List:
		if v == nil {
			return v, false
		}
		var out *value.List
		for i, x := range v.Items {
			if y, changed := hideIn(x); changed {
				if out == nil {
					out = v.Copy(0)
				}
				out.Items[i] = y
			}
		}
		if out != nil {
			return out, true
		}
	}
	return v, false
}

// argName is the name of a positional argument; "" where it is not known.
func argName(spec *fun.Spec, i int) string {
	if spec == nil || i >= len(spec.Args) {
		return ""
	}
	return spec.Args[i].Name
}

// FunOf is the function of a job as events and reports show it: of several, a
// list.
func FunOf(name string) value.Value {
	if names := strings.Split(name, ","); len(names) > 1 {
		return value.Strings(names...)
	}
	return name
}

// ArgsOf are the arguments of a job as [SafeArgs] gives them: of several
// functions, a list for each.
func ArgsOf(t *fun.Table, job fun.Job) *value.List {
	calls := job.Compound()
	if calls == nil {
		return SafeArgs(t.Spec(fun.Exec, job.Fun), job.Args.Pos, job.Args.Kw)
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
		return LeftOut(t.Spec(fun.Exec, job.Fun), job.Args.Pos, job.Args.Kw)
	}
	var out []string
	for _, call := range calls {
		out = append(out, LeftOutOf(t, call)...)
	}
	return out
}

// LeftOut names the arguments of a call that [SafeArgs] leaves out or hides.
func LeftOut(spec *fun.Spec, pos []value.Value, kw *value.Map) []string {
	var out []string
	for i, v := range pos {
		if _, hidden := hide(argName(spec, i), v); hidden {
			name := argName(spec, i)
			if name == "" {
				name = fmt.Sprintf("argument %d", i+1)
			}
			out = append(out, name)
		}
	}
	for k, v := range kw.All() {
		name := value.Str(k)
		if strings.HasPrefix(name, "__") {
			continue
		}
		if _, hidden := hide(name, v); hidden || name == "pillar" {
			out = append(out, name)
		}
	}
	return out
}

// SafeArgs are the arguments of a job as records keep them. The pillar that was
// handed over is left out, since it may hold secrets; [Hidden] stands for what
// is one by its name. The names of positional arguments are those of spec; nil
// is a function that nobody knows here.
func SafeArgs(spec *fun.Spec, pos []value.Value, kw *value.Map) *value.List {
	l := value.NewList()
	for i, v := range pos {
		v, _ = hide(argName(spec, i), v)
		l.Append(v)
	}
	if kw.Len() == 0 {
		return l
	}
	m := value.MapOf("__kwarg__", true)
	for k, v := range kw.All() {
		name := value.Str(k)
		if name == "pillar" || strings.HasPrefix(name, "__") {
			continue
		}
		v, _ = hide(name, v)
		m.Set(k, v)
	}
	if m.Len() > 1 {
		l.Append(m)
	}
	return l
}
