package beacon

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"brine/internal/core/event"
	"brine/internal/core/host"
	"brine/internal/py/value"
)

// Limits of a spool, and of what it hands over at once.
const (
	MaxEvents   = 10000   // events that wait
	MaxBytes    = 8 << 20 // bytes of them
	maxEvent    = 256 << 10
	batchEvents = 500
	batchBytes  = 1 << 20
)

// A Spool keeps events until somebody has collected them, in a file below the cache
// directory. What is too much pushes the oldest out, which are counted.
type Spool struct {
	Host host.Host
	Dir  string
	// Warn is called with what is wrong with the file; the events that it has lost count.
	Warn func(error)
}

// NewSpool returns the spool of a cache directory.
func NewSpool(h host.Host, cacheDir string, warn func(error)) *Spool {
	return &Spool{Host: h, Dir: filepath.Join(cacheDir, "beacons"), Warn: warn}
}

func (s *Spool) path() string { return filepath.Join(s.Dir, "spool.jsonl") }

// A content is what the file of a spool has.
type content struct {
	name   string // of this spool: batches of another one are not its
	next   int64  // the number of the next event
	lost   int64  // events that were pushed out and nobody was told of
	lostAt string // when that was last
	events []numbered
}

// A numbered is an event of a spool.
type numbered struct {
	n    int64
	text []byte // a line
	Event
}

// A Batch is what a spool hands over. Whoever has taken it says so by its name.
type Batch struct {
	Name   string
	Events []Event
	Left   int // events that wait besides
}

// LostTag is the end of the tag of the event that says how many were pushed out.
const LostTag = "spool/lost"

// Add puts events into the spool.
func (s *Spool) Add(events []Event) error {
	return s.change(func(c *content) error {
		for _, e := range events {
			line := encodeLine(c.next, e)
			if len(line) > maxEvent {
				return fmt.Errorf("the event %.100s has %d bytes, more than %d", e.Tag, len(line), maxEvent)
			}
			c.events = append(c.events, numbered{n: c.next, text: line, Event: e})
			c.next++
		}
		size := 0
		for _, e := range c.events {
			size += len(e.text)
		}
		drop := max(0, len(c.events)-MaxEvents)
		for _, e := range c.events[:drop] {
			size -= len(e.text)
		}
		for ; size > MaxBytes; drop++ {
			size -= len(c.events[drop].text)
		}
		c.lose(drop, s.Host.Now())
		c.events = c.events[drop:]
		return nil
	})
}

// lose counts events that nobody will have.
func (c *content) lose(n int, now time.Time) {
	if n > 0 {
		c.lost += int64(n)
		c.lostAt = now.UTC().Format(event.StampFormat)
	}
}

// Take returns the oldest events, which stay until Done. id is that of the machine.
func (s *Spool) Take(id string) (*Batch, error) {
	b := &Batch{}
	err := s.change(func(c *content) error {
		if c.lost > 0 {
			b.Events = append(b.Events, Event{
				Tag:  "salt/beacon/" + id + "/" + LostTag,
				Data: value.MapOf("id", id, "lost", c.lost, "_stamp", c.lostAt),
			})
		}
		last, size, n := int64(-1), 0, 0
		for _, e := range c.events {
			if n == batchEvents || n > 0 && size+len(e.text) > batchBytes {
				break
			}
			n, size, last = n+1, size+len(e.text), e.n
			b.Events = append(b.Events, e.Event)
		}
		b.Left = len(c.events) - n
		if len(b.Events) > 0 {
			b.Name = fmt.Sprintf("%s-%d-%d", c.name, last, c.lost)
		}
		return errUnchanged
	})
	return b, err
}

// batchName is the name of a batch: that of its spool, the number of its last event, and
// how many lost ones it tells of.
var batchName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([0-9a-f]{16})-(-1|[0-9]{1,18})-([0-9]{1,18})$`) })

// ValidBatch reports whether a text is the name of a batch.
func ValidBatch(name string) bool { return batchName().MatchString(name) }

// Done removes batches that somebody has taken, and returns how many events these were.
// Names of batches of other spools have no effect, so that all machines can get the same list.
func (s *Spool) Done(names []string) (removed int, err error) {
	for _, name := range names {
		if !ValidBatch(name) {
			return 0, fmt.Errorf("%.100q is not the name of a batch", name)
		}
	}
	err = s.change(func(c *content) error {
		before, lost := len(c.events), c.lost
		for _, name := range names {
			m := batchName().FindStringSubmatch(name)
			if m[1] != c.name {
				continue
			}
			last, _ := strconv.ParseInt(m[2], 10, 64)
			told, _ := strconv.ParseInt(m[3], 10, 64)
			for len(c.events) > 0 && c.events[0].n <= last {
				c.events = c.events[1:]
			}
			c.lost = max(0, c.lost-told)
		}
		removed = before - len(c.events)
		if removed == 0 && c.lost == lost {
			return errUnchanged
		}
		return nil
	})
	return removed, err
}

// errUnchanged says that the file of a spool stays as it is.
var errUnchanged = errors.New("unchanged")

// change reads the spool, has do change it, and writes it, while nobody else can.
func (s *Spool) change(do func(*content) error) error {
	unlock, err := lock(s.Host, s.Dir, "spool.lock")
	if err != nil {
		return err
	}
	defer unlock()
	c, err := s.read()
	if err != nil {
		return err
	}
	switch err := do(c); {
	case errors.Is(err, errUnchanged):
		return nil
	case err != nil:
		return err
	}
	return writeOwn(s.Host, s.path(), c.encode())
}

// read reads the file. Lines that are not those of a spool count as lost events.
func (s *Spool) read() (*content, error) {
	text, err := readOwn(s.Host, s.path(), 4*MaxBytes)
	if err != nil {
		return nil, err
	}
	head, rest, _ := bytes.Cut(text, []byte("\n"))
	c := &content{}
	if !c.decodeHead(head) {
		*c = content{name: newName()}
		rest = text
	}
	bad := 0
	for line := range bytes.Lines(rest) {
		e, ok := decodeLine(line)
		if !ok || len(c.events) > 0 && e.n <= c.events[len(c.events)-1].n {
			bad++
			continue
		}
		c.events = append(c.events, e)
		c.next = max(c.next, e.n+1)
	}
	if bad > 0 {
		c.lose(bad, s.Host.Now())
		s.Warn(fmt.Errorf("%s: %d lines are not events, and are left out", s.path(), bad))
	}
	return c, nil
}

// newName returns a name that no other spool has.
func newName() string {
	b := make([]byte, 8)
	_, _ = rand.Read(b) // it does not fail
	return hex.EncodeToString(b)
}

func (c *content) decodeHead(line []byte) bool {
	v, err := value.ParseJSON(string(line))
	m, ok := v.(*value.Map)
	if err != nil || !ok || !ValidBatch(m.Str("spool")+"-0-0") {
		return false
	}
	c.name, c.lostAt = m.Str("spool"), m.Str("lost_at")
	c.next, _ = value.AsInt(m.At("next"))
	c.lost, _ = value.AsInt(m.At("lost"))
	return c.next >= 0 && c.lost >= 0
}

func (c *content) encode() []byte {
	out := value.EncodeJSON(value.MapOf("spool", c.name, "next", c.next, "lost", c.lost, "lost_at", c.lostAt))
	out = append(out, '\n')
	for _, e := range c.events {
		out = append(out, e.text...)
	}
	return out
}

func encodeLine(n int64, e Event) []byte {
	return append(value.EncodeJSON(value.MapOf("n", n, "tag", e.Tag, "data", e.Data)), '\n')
}

func decodeLine(line []byte) (e numbered, ok bool) {
	if len(line) > maxEvent || !bytes.HasSuffix(line, []byte("\n")) {
		return e, false
	}
	v, _, err := value.ParseJSONWithin(string(line), 32*maxEvent)
	m, isMap := v.(*value.Map)
	if err != nil || !isMap || m.Map("data") == nil || !strings.HasPrefix(m.Str("tag"), "salt/beacon/") {
		return e, false
	}
	n, isInt := m.At("n").(int64)
	if !isInt || n < 0 {
		return e, false
	}
	return numbered{n: n, text: bytes.Clone(line), Event: Event{Tag: m.Str("tag"), Data: m.Map("data")}}, true
}

// Encode writes a batch of a machine for whoever collects it.
func (b *Batch) Encode(id string) []byte {
	list := value.NewList()
	for _, e := range b.Events {
		list.Append(value.MapOf("tag", e.Tag, "data", e.Data))
	}
	return value.EncodeJSON(value.MapOf("id", id, "batch", b.Name, "events", list, "left", int64(b.Left)))
}

// maxBatch bounds what a machine hands over, in bytes.
const maxBatch = batchBytes + 2*maxEvent

// A Refusal says which events of a machine are not taken.
type Refusal struct {
	N   int
	Why string // of the first
}

// Decode reads the batch of a machine, which is not trusted. The events become those of
// the machine with this id, as the controller knows it: whatever it calls itself, it
// cannot speak for another one. Events that do not begin with the tag of its own beacons
// are refused.
func Decode(text, id string) (*Batch, Refusal, error) {
	var no Refusal
	if len(text) > maxBatch {
		return nil, no, fmt.Errorf("it has %d bytes, more than %d", len(text), maxBatch)
	}
	v, _, err := value.ParseJSONWithin(text, 32*maxBatch)
	m, ok := v.(*value.Map)
	if err != nil || !ok {
		return nil, no, fmt.Errorf("it is not a batch of events: %.100q", text)
	}
	b := &Batch{Name: m.Str("batch")}
	left, _ := value.AsInt(m.At("left"))
	b.Left = int(min(max(left, 0), MaxEvents))
	list := m.List("events").Elems()
	if len(list) > batchEvents+1 {
		return nil, no, fmt.Errorf("it has %d events, more than %d", len(list), batchEvents+1)
	}
	if len(list) > 0 && !ValidBatch(b.Name) {
		return nil, no, fmt.Errorf("%.100q is not the name of a batch", b.Name)
	}
	for _, x := range list {
		e, _ := x.(*value.Map)
		taken, why := adopt(e.Str("tag"), e.Map("data"), m.Str("id"), id)
		if why != "" {
			if no.N++; no.N == 1 {
				no.Why = why
			}
			continue
		}
		b.Events = append(b.Events, taken)
	}
	return b, no, nil
}

// maxTag bounds a tag, in bytes.
const maxTag = 1024

// adopt makes an event of a machine that calls itself own one of the machine id; why says
// why it is refused.
func adopt(tag string, data *value.Map, own, id string) (e Event, why string) {
	rest, ok := strings.CutPrefix(tag, "salt/beacon/"+own+"/")
	switch {
	case own == "" || strings.Contains(own, "/"):
		return e, fmt.Sprintf("%.100q is not the id of a machine", own)
	case !ok || !strings.Contains(rest, "/"):
		return e, fmt.Sprintf("the tag %.100q is not one of its beacons: these begin with salt/beacon/%.100s/", tag, own)
	case len(tag) > maxTag || !plain(tag):
		return e, fmt.Sprintf("the tag %.100q is too long, or is not plain text", tag)
	case data == nil:
		return e, fmt.Sprintf("%.100q has no data", tag)
	}
	if _, err := time.Parse(event.StampFormat, data.Str("_stamp")); err != nil {
		return e, fmt.Sprintf("%.100q has no _stamp, the time at which it was made", tag)
	}
	data = data.Copy()
	data.Set("id", id)
	data.Delete(event.CauseKey) // which reactions led to an event is known here alone
	return Event{Tag: "salt/beacon/" + id + "/" + rest, Data: data}, ""
}

// plain reports whether a tag has no characters that are not seen.
func plain(tag string) bool {
	return strings.ToValidUTF8(tag, "") == tag && !strings.ContainsFunc(tag, func(r rune) bool { return r < ' ' || r == 0x7f })
}
