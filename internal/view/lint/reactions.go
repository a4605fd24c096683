package lint

import (
	"regexp"
	"strings"
	"sync"

	"brine/internal/py/source"
	"brine/internal/py/value"
	"brine/runner/high"
	"brine/runner/reactor"
)

// reactsText matches the text of an SLS that says what reacts to an event: its template has
// the variables tag and data.
var reactsText = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^[ \t]+['"]?((local|runner|wheel|caller)\.[\w{]|cmd\.\w+\.)`)
})

// isReactor reports whether the data of an SLS is that of a reactor or of a Thorium, whose
// states are kinds of functions.
func isReactor(data *value.Map) bool {
	reacts, thorium := kindsOf(data)
	return reacts || thorium
}

// kindsOf reports whether the data of an SLS has states of a reactor, and of a Thorium.
func kindsOf(data *value.Map) (reacts, thorium bool) {
	for _, body := range data.All() {
		m, ok := body.(*value.Map)
		if !ok {
			continue
		}
		for k := range m.All() {
			switch kind, _, _ := strings.Cut(value.Str(k), "."); kind {
			case "local", "runner", "wheel", "caller":
				reacts = true
			case "reg", "check", "status":
				thorium = true
			}
		}
	}
	return reacts, thorium
}

// reactions checks the SLS of a reactor.
func (r *run) reactions(h *high.High) {
	var file string
	pos := source.Pos{Line: 1, Col: 1}
	for id := range h.Data.All() {
		if p := h.Pos(value.Str(id)); p.File != "" {
			file, pos.File = p.File, p.File
		}
	}
	if reacts, _ := kindsOf(h.Data); !reacts {
		r.unjudged(pos, "brine has no Thorium")
		return
	}
	all, err := reactor.OfFile(r.env, file, plainIDs(h.Data), h.Pos)
	for _, f := range source.Faults(err) {
		if isUnknown(f.Error()) {
			r.unjudgedFaults(file, f)
			continue
		}
		r.add(Finding{Rule: badReaction, Pos: f.Pos, Message: f.Err.Error(), Hint: f.Hint})
	}
	for _, x := range all {
		r.function(x.Table(), x.Fun, x.Pos)
	}
}

// plainIDs is high data without what is not an ID.
func plainIDs(data *value.Map) *value.Map {
	out := data.Copy()
	for k := range data.All() {
		if id, ok := k.(string); ok && strings.HasPrefix(id, "__") {
			out.Delete(k)
		}
	}
	return out
}
