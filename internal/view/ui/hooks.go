package ui

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"brine/internal/fleet/notify"
	"brine/internal/fleet/queue"
	"brine/internal/py/source"
	"brine/internal/py/value"
)

// The kinds of hooks: how a delivery is signed.
const (
	GitHubHook = "github" // X-Hub-Signature-256 has the HMAC-SHA256 of the body
	GitLabHook = "gitlab" // X-Gitlab-Token has the key itself
	HMACHook   = "hmac"   // the HMAC-SHA256 of a time and the body, as brine's own notifications
)

// HookKinds returns the kinds.
func HookKinds() []string { return []string{GitHubHook, GitLabHook, HMACHook} }

// A Hook is what another program may start with a signed request, and nothing else: a line
// of a file of hooks, such as
//
//	deploy kind=github queue=ops orchestration=deploy only=ref:refs/heads/main pillar=commit:after created=... key=...
type Hook struct {
	Name, Kind, Queue    string
	Chain, Orchestration string // one of them, or
	Template             string // with the label of kept answers: NAME@LABEL
	// Only are values that fields of the payload must have, else nothing is started, and
	// Pillar are the fields that become values of the pillar.
	Only, Pillar []HookField
	Created      time.Time
	Key          string
}

// A HookField is a name and the place of a field, or a place and its value.
type HookField struct{ Name, Text string }

// eventField is the place that stands for the header with the name of the event.
const eventField = "@event"

// Starts says what the hook starts.
func (x *Hook) Starts() string {
	if x.Chain != "" {
		return "chain " + x.Chain
	}
	if x.Template != "" {
		return "template " + x.Template
	}
	return "orchestration " + x.Orchestration
}

// ParseHookField reads NAME:TEXT.
func ParseHookField(text string) (HookField, error) {
	name, rest, ok := strings.Cut(text, ":")
	if !ok || name == "" || rest == "" || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r == ',' || r == 0x7f }) {
		return HookField{}, fmt.Errorf("%q is not two words with a colon between them, without spaces and commas", text)
	}
	return HookField{name, rest}, nil
}

// Check returns an error if no hook can be like this.
func (x *Hook) Check() error {
	switch {
	case CheckToken(x.Name) != nil || !queue.ValidName(x.Name):
		return fmt.Errorf("invalid hook name %q: letters, digits and . _ - are allowed, 64 at most", x.Name)
	case !slices.Contains(HookKinds(), x.Kind):
		return fmt.Errorf("kind: %q is none of %s%s", x.Kind, strings.Join(HookKinds(), ", "), source.DidYouMean(x.Kind, HookKinds()))
	case !queue.ValidName(x.Queue):
		return fmt.Errorf("queue: invalid name %q: letters, digits and . _ - are allowed, 64 at most", x.Queue)
	case x.started() != 1:
		return errors.New("a hook starts one chain, one orchestration or one template")
	case strings.ContainsFunc(x.Chain+x.Orchestration+x.Template, func(r rune) bool { return r <= ' ' || r == 0x7f }):
		return errors.New("what a hook starts has no spaces in its name")
	case x.Orchestration == "" && len(x.Pillar) > 0:
		return errors.New("pillar: a chain or a template takes no values; an orchestration does")
	case len(x.Key) < minHookKey || strings.ContainsFunc(x.Key, func(r rune) bool { return r <= ' ' || r >= 0x7f }):
		return fmt.Errorf("key: a key has at least %d printable ASCII characters and no spaces", minHookKey)
	}
	return nil
}

// started is how many things the hook starts.
func (x *Hook) started() (n int) {
	for _, name := range []string{x.Chain, x.Orchestration, x.Template} {
		if name != "" {
			n++
		}
	}
	return n
}

// minHookKey is how long a key is at least: it must not be guessed.
const minHookKey = 16

// NewHookKey returns a new key.
func NewHookKey() string { return secret() }

// joined are fields as lines have them.
func joined(fields []HookField) string {
	out := make([]string, len(fields))
	for i, f := range fields {
		out[i] = f.Name + ":" + f.Text
	}
	return strings.Join(out, ",")
}

// String is the line of the hook.
func (x *Hook) String() string { return x.Line(x.Key) }

// Line is the line of the hook with another text for the key.
func (x *Hook) Line(key string) string {
	words := []string{x.Name, "kind=" + x.Kind, "queue=" + x.Queue}
	for _, w := range [][2]string{{"chain", x.Chain}, {"orchestration", x.Orchestration}, {"template", x.Template}, {"only", joined(x.Only)}, {"pillar", joined(x.Pillar)}} {
		if w[1] != "" {
			words = append(words, w[0]+"="+w[1])
		}
	}
	return strings.Join(append(words, "created="+x.Created.UTC().Format(time.RFC3339), "key="+key), " ")
}

// Hooks are those of a file.
type Hooks struct{ all []*Hook }

// All returns the hooks, in the order of the file.
func (t *Hooks) All() []*Hook { return t.all }

// Find returns the hook with a name; nil if there is none.
func (t *Hooks) Find(name string) *Hook {
	for _, x := range t.all {
		if x.Name == name {
			return x
		}
	}
	return nil
}

// ParseHooks reads a file of hooks. All faults are returned together, as source.Errors.
func ParseHooks(file string, text []byte) (*Hooks, error) {
	t := &Hooks{}
	var faults source.Errors
	sc := bufio.NewScanner(bytes.NewReader(text))
	for n := 1; sc.Scan(); n++ {
		line := strings.TrimSpace(sc.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		x, err := parseHook(line)
		if err == nil && t.Find(x.Name) != nil {
			err = fmt.Errorf("hook %q is in the file twice", x.Name)
		}
		if err != nil {
			faults = append(faults, &source.Error{Pos: source.Pos{File: file, Line: n}, Err: err})
			continue
		}
		t.all = append(t.all, x)
	}
	if err := sc.Err(); err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	if len(faults) > 0 {
		return nil, faults
	}
	return t, nil
}

// hookKeys are the keys that a line may have.
var hookKeys = []string{"kind", "queue", "chain", "orchestration", "template", "only", "pillar", "created", "key"}

// parseHook reads a line. What it does not know is an error: it may be a limit.
func parseHook(line string) (*Hook, error) {
	words := strings.Fields(line)
	x := &Hook{Name: words[0]}
	seen := map[string]bool{}
	for _, w := range words[1:] {
		key, text, ok := strings.Cut(w, "=")
		switch {
		case !ok || !slices.Contains(hookKeys, key):
			return nil, fmt.Errorf("unknown word %q%s; 'brine ui hook add' makes a line", key, source.DidYouMean(key, hookKeys))
		case seen[key]:
			return nil, fmt.Errorf("%s is given twice", key)
		}
		seen[key] = true
		if err := x.set(key, text); err != nil {
			return nil, err
		}
	}
	return x, x.Check()
}

// set takes a word of a line.
func (x *Hook) set(key, text string) (err error) {
	switch key {
	case "created":
		if x.Created, err = time.Parse(time.RFC3339, text); err != nil {
			err = fmt.Errorf("created: %q is not a time such as 2026-12-01T00:00:00Z", text)
		}
	case "only", "pillar":
		to := map[string]*[]HookField{"only": &x.Only, "pillar": &x.Pillar}[key]
		for part := range strings.SplitSeq(text, ",") {
			f, err := ParseHookField(part)
			if err != nil {
				return fmt.Errorf("%s: %w", key, err)
			}
			*to = append(*to, f)
		}
	default:
		*map[string]*string{"kind": &x.Kind, "queue": &x.Queue, "chain": &x.Chain, "orchestration": &x.Orchestration, "template": &x.Template, "key": &x.Key}[key] = text
	}
	return err
}

// AddHook returns the text of a file of hooks with a further one.
func AddHook(text []byte, x *Hook) []byte {
	out := strings.TrimRight(string(text), "\n")
	return []byte(cmp.Or(out, "# Hooks of brine ui: 'brine ui hook' changes this file.") + "\n" + x.String() + "\n")
}

// hookWindow is how far the time of a signature may be from that of the server.
const hookWindow = 5 * time.Minute

// equal compares texts in a time that tells nothing of them.
func equal(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}

// only returns the value of a header that occurs once.
func only(h http.Header, name string) string {
	if v := h.Values(name); len(v) == 1 {
		return v[0]
	}
	return ""
}

// signed reports whether a delivery has the signature of the hook, and returns what no
// other delivery has. Who sends a signed body again with another id is refused, too: the id
// is not signed.
func (x *Hook) signed(h http.Header, body []byte, now time.Time) (ids []string, ok bool) {
	sum := sha256.Sum256(body)
	switch x.Kind {
	case GitHubHook:
		m := hmac.New(sha256.New, []byte(x.Key))
		m.Write(body)
		ok = equal("sha256="+hex.EncodeToString(m.Sum(nil)), only(h, "X-Hub-Signature-256"))
		return []string{"id " + only(h, "X-GitHub-Delivery"), "body " + hex.EncodeToString(sum[:])}, ok
	case GitLabHook:
		ok = equal(x.Key, only(h, "X-Gitlab-Token"))
		return []string{"id " + only(h, "X-Gitlab-Event-UUID")}, ok
	}
	at := only(h, notify.TimestampHeader)
	seconds, err := strconv.ParseInt(at, 10, 64)
	given := only(h, notify.SignatureHeader)
	ok = equal(notify.Sign(x.Key, at, body), given)
	if age := now.Sub(time.Unix(seconds, 0)); err != nil || age > hookWindow || age < -hookWindow {
		ok = false
	}
	ids = []string{"signature " + given}
	if id := only(h, notify.DeliveryHeader); id != "" {
		ids = append(ids, "id "+id)
	}
	return ids, ok
}

// event is the name of the event of a delivery.
func (x *Hook) event(h http.Header) string {
	return only(h, map[string]string{GitHubHook: "X-GitHub-Event", GitLabHook: "X-Gitlab-Event", HMACHook: notify.EventHeader}[x.Kind])
}

// maxHookValue bounds a value that a payload gives the pillar, in bytes.
const maxHookValue = 1000

// field returns a field of a payload as text, by its keys with dots between them. ok is
// false for what is not there, and for what is not a text, a number or a boolean.
func (x *Hook) field(h http.Header, payload *value.Map, place string) (v value.Value, ok bool) {
	if place == eventField {
		name := x.event(h)
		return name, name != ""
	}
	v = payload
	for key := range strings.SplitSeq(place, ".") {
		switch at := v.(type) {
		case *value.Map:
			if v, ok = at.Get(key); !ok {
				return nil, false
			}
		case *value.List:
			n, err := strconv.Atoi(key)
			if err != nil || n < 0 || n >= at.Len() {
				return nil, false
			}
			v = at.Items[n]
		default:
			return nil, false
		}
	}
	switch v := v.(type) {
	case string:
		return v, len(v) <= maxHookValue
	case bool, int64, float64:
		return v, true
	}
	return nil, false
}

// ignores says why a delivery starts nothing; "" is that it does.
func (x *Hook) ignores(h http.Header, payload *value.Map) string {
	for _, f := range x.Only {
		v, ok := x.field(h, payload, f.Name)
		if text := value.Str(v); !ok || text != f.Text {
			return "The hook is only for deliveries whose " + f.Name + " is " + f.Text + "."
		}
	}
	return ""
}

// values are the fields that become values of the pillar.
func (x *Hook) values(h http.Header, payload *value.Map) (*value.Map, error) {
	out := value.NewMap(len(x.Pillar))
	for _, f := range x.Pillar {
		v, ok := x.field(h, payload, f.Text)
		if !ok {
			return nil, &apiError{kind: unworkable, detail: fmt.Sprintf("The payload has no %s, or it is not a string of at most %d bytes, a number or a boolean.", f.Text, maxHookValue)}
		}
		out.Set(f.Name, v)
	}
	return out, nil
}
