package session

import (
	"cmp"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"brine/cmd/app"
	"brine/internal/core/fun"
	"brine/internal/core/printable"
	"brine/internal/py/source"
	"brine/internal/py/value"
)

// SayTest says of an orchestration in test mode that its comments, which are
// Salt's, tell of nothing that was done.
func (s *Session) SayTest(name string, in fun.Args) {
	if IsOrchestrate(name) && in.Kw.Has("test") && value.Truth(app.Typed(value.Str(in.Kw.At("test")))) {
		s.Note("test mode: nothing was changed; the results are what would happen")
	}
}

// SayKey names the key of the pillar that was most likely meant, where pillar.get
// or pillar.item was asked for one that does not exist and no default was given.
func (s *Session) SayKey(env *fun.Env, name string, in fun.Args) {
	if name != "pillar.get" && name != "pillar.item" || len(in.Pos) == 0 || name == "pillar.get" && len(in.Pos) > 1 || in.Kw.Has("default") || s.Level > slog.LevelWarn {
		return
	}
	for _, v := range in.Pos {
		key := value.Str(v)
		if near := nearKey(env.Pillar, key); near != "" {
			fmt.Fprintf(s.App.Err, "hint: the pillar has no %s; did you mean %s?\n", printable.Line(key), printable.Line(near))
		}
	}
}

// nearKey returns the path of a pillar that is like key, "" where key exists or
// nothing is like it.
func nearKey(pillar value.Mapping, key string) string {
	if pillar == nil {
		return ""
	}
	parts := strings.Split(key, value.DefaultDelim)
	var at value.Value = pillar
	for i, part := range parts {
		m, ok := at.(value.Mapping)
		if !ok {
			return ""
		}
		if next, ok := m.Get(part); ok {
			at = next
			continue
		}
		var names []string
		for _, k := range m.Keys() {
			names = append(names, value.Str(k))
		}
		near, ok := source.Nearest(part, names)
		if !ok {
			return ""
		}
		return strings.Join(append(slices.Clone(parts[:i]), near), value.DefaultDelim)
	}
	return ""
}

// SayResume says how an orchestration that was interrupted goes on.
func (s *Session) SayResume(name, jid string) {
	if IsOrchestrate(name) && (s.App.Intr.Draining() || s.LockLost() != "") && s.Jobs != nil && s.Level <= slog.LevelWarn {
		fmt.Fprintf(s.App.Err, "brine: to go on with the steps that did not succeed: %s --resume %s\n", cmp.Or(s.Again, "brine orchestrate"), jid)
	}
}
