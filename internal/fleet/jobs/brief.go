package jobs

import (
	"iter"
	"strconv"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// A Brief is what listings and reports need of a job: all but its returns.
type Brief struct {
	JID     string
	Load    *value.Map
	State   State
	Killed  int // see Job
	Targets int
	// Bad has, by id, the targets that did not succeed: why, "failed" for those
	// that say so themselves, and "" where nothing is known of one.
	Bad    *value.Map
	Damage string // what is wrong with the record; "" for nothing
}

// failed is the reason of a target that returned a failure.
const failed = "failed"

// Brief sums a job up.
func (j *Job) Brief() *Brief {
	b := &Brief{JID: j.JID, Load: j.Load, State: j.State, Killed: j.Killed, Targets: j.Load.List("Minions").Len(), Bad: value.NewMap(0), Damage: j.Damage}
	for _, id := range j.Failed() {
		why := j.Missing[id]
		if j.Returns.Has(id) {
			why = failed
		}
		b.Bad.Set(id, why)
	}
	return b
}

// Status names how far the job came; see [Job.Status].
func (b *Brief) Status() string { return (&Job{State: b.State, Killed: b.Killed}).Status() }

// kind is the letter that the index has for a job.
func (b *Brief) kind() byte {
	switch {
	case b.State == Detached:
		return kindDetached
	case b.Damage != "":
		return kindDamaged
	case b.State == Complete && b.Bad.Len() == 0:
		return kindSucceeded
	case b.State == Complete:
		return kindFailed
	}
	return kindInterrupted
}

// The letters of jobs in the index.
const (
	kindSucceeded   = 'g'
	kindFailed      = 'b'
	kindInterrupted = 'i'
	kindDetached    = 'a'
	kindDamaged     = 'd'
)

// maxBrief bounds what the index has of one job: more is read from its file.
const maxBrief = 4096

// encode returns b as the index has it: where that is much, without the targets,
// or with nothing but the function.
func (b *Brief) encode() []byte {
	name := b.Load.Str("fun")
	m := value.MapOf("fun", name, "load", b.Load, "state", int64(b.State), "killed", int64(b.Killed), "targets", int64(b.Targets), "bad", b.Bad, "damage", b.Damage)
	out := value.EncodeJSON(m)
	if len(out) > maxBrief {
		load := b.Load.Copy()
		load.Delete("Minions")
		m.Set("load", load)
		m.Delete("bad")
		out = value.EncodeJSON(m)
	}
	if len(out) > maxBrief {
		out = value.EncodeJSON(value.MapOf("fun", name[:min(len(name), maxBrief)]))
	}
	return out
}

// decodeBrief is the reverse of encode; nil where that left out what is asked for:
// the load, and with whole the targets.
func decodeBrief(jid, text string, whole bool) *Brief {
	if !whole {
		if b := decodeShort(jid, text); b != nil {
			return b
		}
	}
	m := decodeText(text)
	if m.Map("load") == nil || whole && !m.Has("bad") {
		return nil
	}
	n := func(key string) int { n, _ := value.AsInt(m.At(key)); return int(n) }
	return &Brief{
		JID: jid, Load: m.Map("load"), State: State(n("state")), Killed: n("killed"), Targets: n("targets"), Bad: m.Map("bad"), Damage: m.Str("damage"),
	}
}

// decodeShort is decodeBrief without the targets, for long listings; nil where the
// text has no load.
func decodeShort(jid, text string) *Brief {
	b := &Brief{JID: jid}
	n := func(text string) int { n, _ := strconv.Atoi(text); return n }
	for key, v := range members(text) {
		switch key {
		case "load":
			b.Load = value.NewMap(12)
			for key, v := range members(v) {
				if key != "Minions" {
					b.Load.Set(key, decodeOne(v))
				}
			}
		case "state":
			b.State = State(n(v))
		case "killed":
			b.Killed = n(v)
		case "targets":
			b.Targets = n(v)
		case "damage":
			b.Damage, _ = decodeOne(v).(string)
		}
	}
	if b.Load.Len() == 0 {
		return nil
	}
	return b
}

// decodeOne decodes a value.
func decodeOne(text string) value.Value {
	if len(text) > 1 && text[0] == '"' && strings.IndexByte(text, '\\') < 0 {
		return text[1 : len(text)-1]
	}
	v, err := value.ParseJSON(text)
	if err != nil {
		return nil
	}
	return v
}

// members returns the keys of a JSON object that this package has written, and the
// texts of their values. It makes nothing of what it passes.
func members(text string) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		rest, ok := strings.CutPrefix(text, "{")
		for ok && rest != "" {
			n := valueLen(rest)
			key := rest[:n]
			if len(key) < 2 || key[0] != '"' || n == len(rest) || rest[n] != ':' {
				return
			}
			rest = rest[n+1:]
			n = valueLen(rest)
			if !yield(key[1:len(key)-1], rest[:n]) {
				return
			}
			rest, ok = strings.CutPrefix(rest[n:], ",")
		}
	}
}

// valueLen returns how long the JSON value at the beginning of a text is.
func valueLen(text string) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
			if depth == 0 {
				return min(i+1, len(text))
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return i
			}
			if depth--; depth == 0 {
				return i + 1
			}
		case ',', ':':
			if depth == 0 {
				return i
			}
		}
	}
	return len(text)
}

// A briefBuilder collects what a Brief needs while the job runs.
type briefBuilder struct {
	load *value.Map
	open map[string]string // targets that did not succeed so far, and why
}

// newBriefBuilder begins with the load as it was recorded: arguments may change later.
func newBriefBuilder(line []byte) *briefBuilder {
	t := &briefBuilder{load: decodeLine(line).Map("load"), open: map[string]string{}}
	ids := t.load.List("Minions")
	for i := range ids.Len() {
		t.open[value.Str(ids.Items[i])] = ""
	}
	return t
}

// add counts a line of a return.
func (t *briefBuilder) add(line *value.Map) {
	id := line.Str("id")
	switch stage := line.Str("stage"); {
	case stage != "":
		t.open[id] = stage
		if why := line.Str("why"); why != "" {
			t.open[id] += ": " + why
		}
	case Succeeded(line):
		delete(t.open, id)
	default:
		t.open[id] = failed
	}
}

// brief returns the Brief of the job, complete.
func (t *briefBuilder) brief(jid string) *Brief {
	b := &Brief{JID: jid, Load: t.load, State: Complete, Targets: t.load.List("Minions").Len(), Bad: value.NewMap(len(t.open))}
	ids := t.load.List("Minions")
	for i := range ids.Len() {
		id := value.Str(ids.Items[i])
		if why, is := t.open[id]; is {
			b.Bad.Set(id, why)
		}
	}
	return b
}

// FormatBrief returns a job as listings show it.
func FormatBrief(b *Brief) *value.Map {
	m := Format(b.JID, b.Load)
	if b.Damage != "" {
		m.Set("Status", "damaged")
		m.Set("Damage", b.Damage)
	}
	return m
}

// lostLine is a return that could not be recorded: who returned, and how.
func lostLine(ret fun.Return, stamp string, why error) *value.Map {
	line := value.MapOf("id", ret.ID, "_stamp", stamp)
	if ret.Stage != fun.Returned {
		line.Set("stage", ret.Stage.String())
		return line
	}
	code, success := ret.Outcome()
	line.Set("retcode", code)
	line.Set("success", success)
	reason := why.Error()
	if i := strings.LastIndex(reason, ": "); i >= 0 {
		reason = reason[i+2:]
	}
	line.Set("lost", reason)
	return line
}
