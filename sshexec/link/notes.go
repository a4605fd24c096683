package link

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"time"

	"brine/internal/core/fun"
	"brine/internal/core/printable"
	"brine/internal/py/source"
	"brine/internal/py/value"
)

// What a target may say without being asked: so many messages and bytes at
// once, and so many a second from then on.
const (
	burstNotes = 4000
	burstBytes = 8 << 20
	rateNotes  = 400
	rateBytes  = 512 << 10
	// Lines for the user, warnings and faults, are fewer.
	burstLines = 200
	rateLines  = 2
	maxTag     = 1024
	maxEvent   = 256 << 10
	maxWarning = 4 << 10
	// Secrets of a target, for the whole connection.
	maxSecrets     = 4000
	maxSecretBytes = 1 << 20
)

// An allowance is what a target may still say. It is refilled by time.
type allowance struct {
	mu     sync.Mutex
	notes  float64
	bytes  float64
	lines  float64
	last   time.Time
	warned bool // that something was dropped
}

// take reports whether n more bytes may come; first is true at the first that
// may not.
func (a *allowance) take(n int, line bool, now time.Time) (ok, first bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.last.IsZero() {
		a.notes, a.bytes, a.lines = burstNotes, burstBytes, burstLines
	} else if d := now.Sub(a.last).Seconds(); d > 0 {
		a.notes = min(burstNotes, a.notes+d*rateNotes)
		a.bytes = min(burstBytes, a.bytes+d*rateBytes)
		a.lines = min(burstLines, a.lines+d*rateLines)
	}
	a.last = now
	if a.notes < 1 || a.bytes < float64(n) || line && a.lines < 1 {
		first, a.warned = !a.warned, true
		return false, first
	}
	a.notes--
	if line {
		a.lines--
	}
	a.bytes -= float64(n)
	return true, false
}

// note takes a message of the agent.
func (c *Conn) note(name string, v value.Value, size int) {
	m, ok := v.(*value.Map)
	if !ok {
		return
	}
	if name == "secret" {
		c.secret(m.Str("text"))
		return
	}
	ok, first := c.allowed.take(size, name == "warn" || name == "fault", time.Now())
	if !ok {
		if first && c.o.Log != nil {
			c.o.Log.Warn("the target says too much: some of its events and warnings are dropped", "id", c.id())
		}
		return
	}
	switch name {
	case "event":
		c.event(m)
	case "warn":
		if c.o.Warn != nil {
			c.o.Warn(c.id(), fun.Warning{Where: shownLine(m.Str("where")), Text: shown(m.Str("text"))})
		}
	case "fault":
		if c.o.Fault != nil {
			c.o.Fault(c.id(), shown(m.Str("text")), placed(m.Map("fault")))
		}
	}
}

// secret takes a value that the target declares secret. If it exceeds the
// limits, a warning says that records may contain it.
func (c *Conn) secret(text string) {
	if c.o.Secret == nil || text == "" {
		return
	}
	c.secrets.Lock()
	defer c.secrets.Unlock()
	c.secrets.count++
	c.secrets.bytes += len(text)
	if c.secrets.count <= maxSecrets && c.secrets.bytes <= maxSecretBytes {
		c.o.Secret(c.id(), text)
		return
	}
	if !c.secrets.warned && c.o.Warn != nil {
		c.secrets.warned = true
		c.o.Warn(c.id(), fun.Warning{Text: fmt.Sprintf("more than %d secrets, or %d KiB of them: records may have those that came later", maxSecrets, maxSecretBytes>>10)})
	}
}

// placed reads a fault that a target found, nil where there is none.
func placed(m *value.Map) *source.Error {
	if m == nil {
		return nil
	}
	number := func(key string) int {
		n, _ := value.AsInt(m.At(key))
		return int(min(max(n, 0), math.MaxInt32))
	}
	return &source.Error{
		Pos:  source.Pos{File: shownLine(m.Str("file")), Line: number("line"), Col: number("col")},
		Hint: shown(m.Str("hint")), Salt: cut(m.Str("salt")), Err: errors.New(shown(m.Str("msg"))),
	}
}

// event puts an event of the target on the bus. Its id is the target's,
// whatever it says, and tags that speak for other targets or for the
// controller are dropped.
func (c *Conn) event(m *value.Map) {
	tag, id := m.Str("tag"), c.id()
	data := m.Map("data")
	if c.o.Bus == nil || id == "" || tag == "" || len(tag) > maxTag {
		return
	}
	if printable.Line(tag) != tag || !ownTag(tag, id) {
		if c.o.Log != nil {
			c.o.Log.Warn("an event that is not the target's to fire is dropped", "id", id, "tag", tag)
		}
		return
	}
	if data == nil {
		data = value.NewMap(1)
	}
	data.Set("id", id)
	sent := data.Str("cmd") == "_minion_event"
	if sent {
		data.Set("tag", tag)
	}
	c.o.Bus.Fire(tag, data)
	if sent && c.o.Forward != nil {
		c.o.Forward(tag, data)
	}
}

// ownTag reports whether a target may fire a tag: any but those of salt/ that
// are about other targets, about returns or about the controller's own work.
func ownTag(tag, id string) bool {
	rest, ok := strings.CutPrefix(tag, "salt/")
	if !ok {
		// A bare jid is the tag of the event at the start of a job.
		return len(tag) != 20 || strings.Trim(tag, "0123456789") != ""
	}
	parts := strings.Split(rest, "/")
	switch parts[0] {
	case "minion", "beacon", "presence":
		return len(parts) > 1 && parts[1] == id
	case "state_result":
		return len(parts) > 2 && parts[2] == id
	case "job":
		return len(parts) > 3 && parts[2] == "prog" && parts[3] == id
	case "auth", "key", "run", "wheel", "cloud", "stats", "netapi", "engines", "fileserver", "master", "event":
		return false
	}
	return true
}

// shown returns a message of a target for the user's terminal, of bounded
// length: what is on a further line cannot pass for a message of its own.
func shown(s string) string { return printable.Block(cut(s)) }

// shownLine is shown of what is one line.
func shownLine(s string) string { return printable.Line(cut(s)) }

func cut(s string) string {
	if len(s) > maxWarning {
		s = s[:maxWarning] + "..."
	}
	return s
}
