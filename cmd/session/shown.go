package session

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"brine/cmd/app"
	"brine/cmd/assembly"
	"brine/cmd/internal/summary"
	"brine/internal/core/fun"
	"brine/internal/core/printable"
)

// maxAlso is how many names the line about further targets has, folded ones as one.
const maxAlso = 10

// shown are the warnings and faults that a session showed: each text once, with the
// first target that it is of. What further targets had is one line at the end.
type shown struct {
	seen map[shownKey]*shownText
	also []*shownText // what several targets have, in the order of the second ones
}

// A shownKey is what makes two messages the same, whatever target they are of.
type shownKey struct {
	fault       bool
	where, text string
}

type shownText struct {
	key   shownKey
	ids   map[string]bool
	later []string // all ids but the first one, which was shown
}

// first reports whether a message of a target has to be shown; id is "" for what is of
// none, or of the controller. again says that the same was there before, of the same
// target.
func (x *shown) first(key shownKey, id string) (show, again bool) {
	t := x.seen[key]
	if t == nil {
		if x.seen == nil {
			x.seen = map[shownKey]*shownText{}
		}
		x.seen[key] = &shownText{key: key, ids: map[string]bool{id: true}}
		return true, false
	}
	if t.ids[id] {
		return false, true
	}
	if t.later == nil {
		x.also = append(x.also, t)
	}
	t.ids[id], t.later = true, append(t.later, id)
	return false, false
}

// Faults reports whether a fault was shown.
func (x *shown) Faults() bool {
	for key := range x.seen {
		if key.fault {
			return true
		}
	}
	return false
}

// lines are the messages that further targets had, each with their ids and the first
// line of its text.
func (x *shown) lines(warnings bool) []string {
	var lines []string
	for _, t := range x.also {
		line := "warning: "
		if t.key.fault {
			line = ""
		} else if !warnings {
			continue
		}
		if t.key.where != "" {
			line += printable.Line(t.key.where) + ": "
		}
		text, _, _ := strings.Cut(t.key.text, "\n")
		lines = append(lines, line+"also on "+summary.FoldSome(t.later, maxAlso)+": "+text)
	}
	return lines
}

// Warn shows a mistake once, where the log level does not hide warnings; --strict
// makes the command fail for it.
func (s *Session) Warn(w fun.Warning) { s.warnOf("", w) }

// warnOf is Warn for a mistake that a target found.
func (s *Session) warnOf(id string, w fun.Warning) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.abandoned() {
		return
	}
	show, again := s.Shown.first(shownKey{where: w.Where, text: w.Text}, id)
	if again {
		return
	}
	s.warned++
	if !show || s.hidesWarnings() {
		return
	}
	where := ""
	if w.Where != "" {
		where = printable.Line(w.Where) + ": "
	}
	if id != "" {
		where += id + ": "
	}
	fmt.Fprintf(s.App.Err, "brine: warning: %s%s\n", where, printable.Text(s.Secrets.Text(w.Text)))
}

// hidesWarnings reports whether the log level hides warnings.
func (s *Session) hidesWarnings() bool { return s.Level > slog.LevelWarn && !s.Flags.Strict }

// Fault shows where a fault is that the report only names.
func (s *Session) Fault(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.abandoned() {
		return
	}
	if s.OnFault != nil {
		s.OnFault(err)
	}
	key, id := shownKey{fault: true, text: err.Error()}, ""
	if f, ok := errors.AsType[*assembly.FaultError](err); ok {
		key.text, id = f.Text, f.ID
	}
	if show, _ := s.Shown.first(key, id); show {
		app.PrintError(s.App.Err, err, "")
	}
}

// sayAlso writes at the end which further targets had what was shown of one.
func (s *Session) sayAlso() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, line := range s.Shown.lines(!s.hidesWarnings()) {
		fmt.Fprintf(s.App.Err, "brine: %s\n", printable.Line(s.Secrets.Text(line)))
	}
}
