package lint

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"brine/internal/py/source"
	"brine/internal/py/value"
	"brine/runner/reactor"
)

// reactsText matches the text of an SLS that says what reacts to an event: its template has
// the variables tag and data.
var reactsText = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^[ \t]+['"]?((local|runner|wheel|caller)\.[\w{]|cmd\.\w+\.)`)
})

// kindsOf reports whether the data of an SLS has states of a reactor, and of a Thorium.
func kindsOf(data *value.Map) (reacts, thorium bool) {
	for _, body := range data.All() {
		m, ok := body.(*value.Map)
		if !ok {
			continue
		}
		for k := range m.All() {
			switch kind, rest, _ := strings.Cut(value.Str(k), "."); kind {
			case "local", "runner", "wheel", "caller":
				reacts = true
			case "cmd": // the old name of local: the function has a dot, that of a state has none
				reacts = reacts || strings.Contains(rest, ".")
			case "reg", "check", "status":
				thorium = true
			}
		}
	}
	return reacts, thorium
}

// reactions checks the SLS of a reactor, by what it rendered to. It reports whether it is
// one, or one of a Thorium. Neither has states.
func (r *run) reactions(ctx context.Context, path string, v value.Value) bool {
	data, ok := v.(*value.Map)
	if !ok {
		return false
	}
	reacts, thorium := kindsOf(data)
	if !reacts {
		if thorium {
			r.unjudged(source.Pos{File: path, Line: 1, Col: 1}, "brine has no Thorium")
		}
		return thorium
	}
	all, err := reactor.OfFile(r.env, path, data)
	for _, f := range source.Faults(err) {
		if isUnknown(f.Error()) {
			r.unjudgedFaults(path, f)
			continue
		}
		r.add(Finding{Rule: badReaction, Pos: f.Pos, Message: f.Err.Error(), Hint: f.Hint})
	}
	k := &reacting{real: r.env, env: r.env}
	for _, x := range all {
		r.function(x.Table(), x.Fun, x.Pos)
		if mod, spec, err := k.find(x); err == nil && (x.Kind != reactor.Local || r.env.Opts.At("fleets") == nil) {
			k.arguments(x, mod, spec)
		}
		if x.Kind == reactor.Local {
			k.targets(ctx, x, func(hint, format string, args ...any) {
				k.wrong = append(k.wrong, &source.Error{Pos: x.Pos, Err: fmt.Errorf("reaction "+clean(x.ID)+": "+format, args...), Hint: hint})
			})
		}
		names, saltenv := slsOf(x)
		for _, name := range names {
			if !isUnknown(name) && !isUnknown(saltenv) {
				r.absentSLS(ctx, saltenv, name, x.Pos)
			}
		}
	}
	for _, f := range k.wrong {
		r.add(Finding{Rule: badReaction, Pos: f.Pos, Message: f.Err.Error(), Hint: f.Hint})
	}
	return true
}
