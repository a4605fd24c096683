// Package notify sends messages about how runs ended: by webhooks, mail, Slack and
// Matrix.
//
// [Parse] reads the destinations from the configuration. A [Message] for each of them is
// a row of a [Store], which keeps it in a database until [Store.Deliver] has sent it:
// what does not arrive is tried again, also by other processes and after a restart. A
// [Guard] refuses addresses of private networks, whatever a name resolves to.
package notify

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"
)

// The events that a destination can ask for.
const (
	Failed      = "failed"      // a run failed
	Interrupted = "interrupted" // a run was stopped, or its process was ended by a signal
	Succeeded   = "succeeded"   // a run succeeded
	Waiting     = "waiting"     // a run waits for a person
	Drift       = "drift"       // hosts deviate from their states
)

// Events returns the events, sorted.
func Events() []string { return []string{Drift, Failed, Interrupted, Succeeded, Waiting} }

// defaultEvents are those of a destination that does not choose.
var defaultEvents = []string{Drift, Failed, Interrupted, Waiting}

// Version is that of the JSON of messages.
const Version = 1

// A Message is what a destination receives. Its texts are masked and bounded.
type Message struct {
	Version    int       `json:"version"`
	Event      string    `json:"event"`
	Kind       string    `json:"kind"` // orchestration, chain, template, plan
	Name       string    `json:"name"`
	JID        string    `json:"jid,omitempty"`
	User       string    `json:"user,omitempty"`
	Controller string    `json:"controller,omitempty"`
	Status     string    `json:"status,omitempty"`
	Step       string    `json:"step,omitempty"`  // that failed or waits
	Cause      string    `json:"cause,omitempty"` // why it failed, or what it waits for
	Started    time.Time `json:"started,omitzero"`
	Ended      time.Time `json:"ended,omitzero"`
	Steps      int       `json:"steps,omitempty"`
	Done       int       `json:"steps_done,omitempty"`
	FailedN    int       `json:"steps_failed,omitempty"`
	Hosts      int       `json:"hosts,omitempty"`
	Link       string    `json:"link,omitempty"` // of the page of the run
}

// Title is a message in one line.
func (m *Message) Title() string {
	what := map[string]string{Waiting: "waits", Drift: "drift"}[m.Event]
	if what == "" {
		what = m.Event
	}
	return fmt.Sprintf("%s %s: %s", m.Kind, m.Name, what)
}

// Text is a message for people: its title, and what is known beside it.
func (m *Message) Text() string {
	lines := []string{m.Title()}
	add := func(name, text string) {
		if text != "" {
			lines = append(lines, name+": "+text)
		}
	}
	add("step", m.Step)
	add("cause", m.Cause)
	if m.Steps > 0 {
		add("steps", fmt.Sprintf("%d of %d done, %d failed", m.Done, m.Steps, m.FailedN))
	}
	add("job", m.JID)
	add("user", m.User)
	add("controller", m.Controller)
	if !m.Ended.IsZero() {
		add("ended", m.Ended.UTC().Format(time.RFC3339))
	}
	add("page", m.Link)
	return strings.Join(lines, "\n")
}

// A Notice is a message for one destination, as it is stored.
type Notice struct {
	ID          string
	Destination string
	Message     *Message
	State       string
	Created     time.Time
	Due         time.Time // of the next attempt
	Ended       time.Time // it was delivered, or given up
	Tries       int
	Error       string // of the last attempt
}

// The states of a notice.
const (
	Pending   = "pending"
	Delivered = "delivered"
	GivenUp   = "given up"
)

// id names a notice: the same message for the same destination is stored once.
func (m *Message) id(destination string) string {
	text, _ := json.Marshal(m) // of strings, numbers and times
	sum := sha256.Sum256(append([]byte(destination+"\x00"), text...))
	return hex.EncodeToString(sum[:16])
}

// subject is what the globs of a destination match.
func (m *Message) subject() string { return m.Kind + "/" + m.Name }

// wants reports whether a destination asks for a message. named are the destinations
// that the definition of what ran names itself.
func (d *Destination) wants(m *Message, named []string) bool {
	if !slices.Contains(d.On, m.Event) {
		return false
	}
	if slices.Contains(named, d.Name) {
		return true
	}
	return slices.ContainsFunc(d.Runs, func(glob string) bool {
		ok, _ := path.Match(strings.ReplaceAll(glob, "/", "\x00"), strings.ReplaceAll(m.subject(), "/", "\x00"))
		return ok
	})
}

// For returns the notices of a message: one for each destination that asks for it.
func (x *Destinations) For(m Message, named []string, now time.Time) []Notice {
	m.Version = Version
	var out []Notice
	for _, d := range x.list {
		if !d.wants(&m, named) {
			continue
		}
		own := m
		if d.Link != "" && m.JID != "" {
			own.Link = d.Link + "/history/" + m.JID
		}
		out = append(out, Notice{ID: own.id(d.Name), Destination: d.Name, Message: &own, State: Pending, Created: now, Due: now})
	}
	return out
}
