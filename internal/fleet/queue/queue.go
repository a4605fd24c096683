// Package queue keeps orchestrations and events that wait for a worker, in a database
// that controllers share. Start at [Store].
//
// A worker claims an entry for a time, its lease, and renews the claim while it
// runs the orchestration. An orchestration whose lease has ended is claimed by another
// worker, so it runs at least once, and by one worker at a time. What reacts to an event
// cannot go on after what was done: its entry is set aside when its worker dies, so it
// runs at most once. All times are those of the database.
package queue

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"brine/internal/core/printable"
	"brine/internal/fleet/jobs"
	"brine/internal/py/value"
)

// Versions of the entries that this program writes and runs. Older programs, which do not
// know the later ones, leave those alone.
const (
	Version         = 1 // an orchestration
	EventVersion    = 2 // what reacts to an event
	ChainVersion    = 3 // a chain of actions
	TemplateVersion = 4 // a template with kept answers
)

// versions is the condition that an entry is one of these.
var versions = fmt.Sprintf("version IN (%d, %d, %d, %d)", Version, EventVersion, ChainVersion, TemplateVersion)

// States of an entry.
const (
	Queued    = "queued"    // waits, or waits for its next try
	Running   = "running"   // a worker has claimed it
	Done      = "done"      // succeeded
	Failed    = "failed"    // failed as often as it may
	Poisoned  = "poisoned"  // set aside: its workers died
	Refused   = "refused"   // set aside: it is not a valid entry
	Cancelled = "cancelled" // by a person
)

// States returns all states, in the order of an entry's life.
func States() []string {
	return []string{Queued, Running, Done, Failed, Poisoned, Refused, Cancelled}
}

// RequestCancel asks the worker of a running entry to end it before its next step.
const RequestCancel = "cancel"

// Limits of an entry, which may have been written by somebody else.
const (
	MaxPayload = 1 << 20 // bytes
	maxMemory  = 32 << 20
	maxText    = 255
	maxNames   = 1000
	maxRuns    = 20
	maxError   = 2000
)

// An Entry is an orchestration in a queue, or an event that something reacts to.
type Entry struct {
	JID        string // its name, and the job of its first run
	Queue      string
	Version    int
	State      string
	SLS        string // for people: the names of Work, or the tag of its event
	User       string // who queued it
	Controller string // where
	Work       *Work  // nil where only its description was read
	Requested  string // [RequestCancel] or ""

	Created, Due, Started, Ended time.Time // zero where it is not known

	Worker   string   // that has it, or had it last
	Tries    int      // how often it was claimed
	Failures int      // how often it ran to its end and failed
	Runs     []string // jobs of its runs; the last one is that of this claim
	Error    string   // of the last run
	Retcode  int
}

// Crashes is how often a worker ended without an end of the run.
func (e *Entry) Crashes() int { return max(0, e.Tries-e.Failures) }

// Work is what an entry runs: what reacts to an event, a chain of actions, a template, or else
// state.orchestrate with arguments.
type Work struct {
	Event     *Event
	Chain     string
	Template  string // NAME@LABEL: with the answers that are kept under the label
	Args      []value.Value
	Kwargs    *value.Map
	At        []string // pins of git remotes
	SaltEnv   string
	PillarEnv string
}

// Encode writes work as the JSON that a queue has. It fails for data that JSON
// does not keep as it is, and for more than [MaxPayload] bytes.
func (w *Work) Encode() (string, error) {
	if w.Event != nil {
		return w.Event.encode()
	}
	if w.Chain != "" {
		text := string(value.EncodeJSON(value.MapOf("chain", w.Chain)))
		_, err := ParseWork(text)
		return text, err
	}
	if w.Template != "" {
		text := string(value.EncodeJSON(value.MapOf("template", w.Template)))
		_, err := ParseWork(text)
		return text, err
	}
	m := value.MapOf("args", value.NewList(w.Args...), "kwargs", w.Kwargs)
	if len(w.At) > 0 {
		m.Set("at", value.Strings(w.At...))
	}
	if w.SaltEnv != "" {
		m.Set("saltenv", w.SaltEnv)
	}
	if w.PillarEnv != "" {
		m.Set("pillarenv", w.PillarEnv)
	}
	text := string(value.EncodeJSON(m))
	if len(text) > MaxPayload {
		return "", fmt.Errorf("the arguments take %d bytes, and an entry of a queue may have %d", len(text), MaxPayload)
	}
	back, err := ParseWork(text)
	if err != nil {
		return "", err
	}
	if !value.Equal(value.NewList(w.Args...), value.NewList(back.Args...)) || !value.Equal(w.Kwargs, back.Kwargs) {
		return "", errors.New("the arguments have data that a queue cannot keep: keys of mappings must be strings")
	}
	return text, nil
}

// ParseWork reads the JSON of work that somebody else wrote, and checks it.
func ParseWork(text string) (*Work, error) {
	if len(text) > MaxPayload {
		return nil, fmt.Errorf("it has %d bytes, more than %d", len(text), MaxPayload)
	}
	v, _, err := value.ParseJSONWithin(text, maxMemory)
	if err != nil {
		return nil, err
	}
	m, ok := v.(*value.Map)
	if !ok {
		return nil, errors.New("it is not a mapping")
	}
	if ev, ok := m.Get("event"); ok && m.Len() == 1 {
		e, err := parseEvent(ev)
		return &Work{Event: e, Kwargs: value.NewMap(0)}, err
	}
	if name, ok := m.Get("chain"); ok && m.Len() == 1 {
		name, ok := name.(string)
		if !ok || !ValidName(name) {
			return nil, errors.New("invalid name of a chain")
		}
		return &Work{Chain: name, Kwargs: value.NewMap(0)}, nil
	}
	if text, ok := m.Get("template"); ok && m.Len() == 1 {
		text, ok := text.(string)
		if name, label := CutTemplate(text); !ok || !ValidName(name) || !ValidName(label) {
			return nil, errors.New("invalid name of a template and its answers")
		}
		return &Work{Template: text, Kwargs: value.NewMap(0)}, nil
	}
	w := &Work{}
	for k, v := range m.All() {
		var ok bool
		switch value.Str(k) {
		case "args":
			var l *value.List
			if l, ok = v.(*value.List); ok {
				w.Args = l.Items
			}
		case "kwargs":
			w.Kwargs, ok = v.(*value.Map)
		case "at":
			w.At, ok = texts(v)
		case "saltenv":
			w.SaltEnv, ok = text255(v)
		case "pillarenv":
			w.PillarEnv, ok = text255(v)
		default:
			return nil, fmt.Errorf("unknown key %q", value.Str(k))
		}
		if !ok {
			return nil, fmt.Errorf("invalid %s", value.Str(k))
		}
	}
	if w.Kwargs == nil {
		w.Kwargs = value.NewMap(0)
	}
	if _, err := w.SLS(); err != nil {
		return nil, err
	}
	return w, nil
}

// CutTemplate returns the parts of NAME@LABEL.
func CutTemplate(text string) (name, label string) {
	name, label, _ = strings.Cut(text, "@")
	return name, label
}

// SLS returns the names of the SLS files. It fails for names that none can have.
func (w *Work) SLS() ([]string, error) {
	mods := w.Kwargs.At("mods")
	if len(w.Args) > 0 {
		mods = w.Args[0]
	}
	if s, ok := mods.(string); ok {
		mods = value.Strings(strings.Split(s, ",")...)
	}
	names, ok := texts(mods)
	if !ok || len(names) == 0 {
		return nil, errors.New("it names no SLS")
	}
	for i, n := range names {
		if names[i] = strings.TrimSpace(n); names[i] == "" {
			return nil, errors.New("the name of an SLS is empty")
		}
	}
	return names, nil
}

// version is that of an entry with the work.
func (w *Work) version() int {
	switch {
	case w.Event != nil:
		return EventVersion
	case w.Chain != "":
		return ChainVersion
	case w.Template != "":
		return TemplateVersion
	}
	return Version
}

// Names are the names of the SLS files as an entry has them, bounded; of an event, the tag,
// of a chain, its name, and of a template, NAME@LABEL.
func (w *Work) Names() string {
	switch {
	case w.Event != nil:
		return cut(w.Event.Tag, maxError)
	case w.Chain != "":
		return w.Chain
	case w.Template != "":
		return w.Template
	}
	names, _ := w.SLS()
	return cut(strings.Join(names, ","), maxError)
}

// texts returns a list of short strings.
func texts(v value.Value) ([]string, bool) {
	l, ok := v.(*value.List)
	if !ok || l.Len() > maxNames {
		return nil, false
	}
	out := make([]string, l.Len())
	for i, x := range l.Items {
		if out[i], ok = text255(x); !ok {
			return nil, false
		}
	}
	return out, true
}

// text255 returns a short string of one line.
func text255(v value.Value) (string, bool) {
	s, ok := v.(string)
	return s, ok && isShort(s)
}

func isShort(s string) bool { return len(s) <= maxText && printable.Line(s) == s }

// ValidName reports whether a queue may have a name: letters, digits and . _ -, 64
// at most, the first one a letter or digit.
func ValidName(s string) bool {
	if s == "" || len(s) > 64 {
		return false
	}
	for i := range len(s) {
		c := s[i]
		alnum := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !alnum && (i == 0 || !strings.ContainsRune("._-", rune(c))) {
			return false
		}
	}
	return true
}

// check returns an error for an entry that may not run. payload is its text, and
// size how many bytes of it the database has.
func (e *Entry) check(payload string, size int64) error {
	switch {
	case !jobs.IsJID(e.JID):
		return errors.New("its name is not a jid")
	case size > MaxPayload:
		return fmt.Errorf("its arguments take %d bytes, more than %d", size, MaxPayload)
	case e.User == "" || !isShort(e.User):
		return errors.New("its user is not a name")
	}
	for _, jid := range e.Runs {
		if !jobs.IsJID(jid) {
			return errors.New("its runs are not jids")
		}
	}
	var err error
	if e.Work, err = ParseWork(payload); err != nil {
		return fmt.Errorf("its arguments cannot be read: %w", err)
	}
	if e.Work.version() != e.Version {
		return fmt.Errorf("its version is %d, which is that of another kind of entry", e.Version)
	}
	// What people are shown of an entry is what it runs.
	if runs := e.Work.Names(); e.SLS != runs {
		return fmt.Errorf("it is listed as %s, but its arguments run %s", cut(printable.Line(e.SLS), maxText), cut(runs, maxText))
	}
	return nil
}

// cut bounds a text to n bytes, and takes out what PostgreSQL does not hold.
func cut(s string, n int) string {
	s = strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", "\ufffd"), "\ufffd")
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
