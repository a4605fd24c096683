package ui

import (
	"context"
	"fmt"
	"mime"
	"net/http"
	"strings"

	"brine/internal/py/value"
)

// A Delivery is what a hook puts into a queue.
type Delivery struct {
	Queue                string
	Chain, Orchestration string // one of them, or
	Template             string // NAME@LABEL
	Pillar               *value.Map
	User                 string
	IDs                  []string // what no other delivery of the hook has
}

// A HookAnswer says what became of a delivery.
type HookAnswer struct {
	State string `json:"state" enum:"queued,ignored"`
	JID   string `json:"jid,omitempty" doc:"The job id of the entry of the queue, and of its first run."`
	Why   string `json:"why,omitempty" doc:"Why nothing is started."`
}

// errHooksOff says that there are no hooks.
var errHooksOff = &apiError{kind: apiOff, detail: "brine ui was started without hooks.", hint: "Start it with --hooks FILE; 'brine ui hook add' makes hooks."}

// noHook is never in a file: deliveries for hooks that do not exist are checked against it,
// so that they take as long as others.
var noHook = Hook{Kind: GitHubHook, Key: secret()}

// apiHook answers a delivery.
func (s *Server) apiHook(c *apiCall, _ *nothing) (*HookAnswer, error) {
	x, ids, err := s.hookOf(c)
	if err != nil {
		return nil, err
	}
	ctx, user := c.r.Context(), hookUser(x.Name)
	payload, err := payloadOf(c)
	if err != nil {
		return nil, err
	}
	if why := x.ignores(c.r.Header, payload); why != "" {
		c.status = http.StatusOK
		return &HookAnswer{State: "ignored", Why: why}, nil
	}
	pillar, err := x.values(c.r.Header, payload)
	if err != nil {
		return nil, err
	}
	entry := Action{User: user, Name: "hook", On: c.r.URL.Path, Details: hookDetails(x, pillar), OK: true}
	if err := s.record(ctx, entry); err != nil {
		return nil, fmt.Errorf("nothing was started, since the audit record cannot be written: %w", err)
	}
	d := Delivery{Queue: x.Queue, Chain: x.Chain, Orchestration: x.Orchestration, Template: x.Template, Pillar: pillar, User: user, IDs: ids}
	jid, known, err := s.enqueue(ctx, d)
	switch {
	case err != nil:
		return nil, err
	case known:
		entry.OK, entry.Details = false, "delivered before, as "+jid
		_ = s.record(ctx, entry)
		return nil, &apiError{kind: conflict, detail: "This was delivered before, and started " + jid + ".", hint: "A delivery starts its hook once."}
	}
	return &HookAnswer{State: "queued", JID: jid}, nil
}

// hookUser is the name of a hook in records. No user can have it.
func hookUser(name string) string { return "hook:" + name }

// hookDetails says for the audit record what a hook starts. The values of the pillar are
// left out.
func hookDetails(x *Hook, pillar *value.Map) string {
	text := x.Starts() + "\nqueue " + x.Queue
	var names []string
	for k := range pillar.All() {
		names = append(names, value.Str(k))
	}
	if len(names) > 0 {
		text += "\npillar " + strings.Join(names, ", ")
	}
	return text
}

// hookOf returns the hook of a delivery, if it is signed by its key, and its ids.
func (s *Server) hookOf(c *apiCall) (*Hook, []string, error) {
	if s.opts.Hooks == nil {
		return nil, nil, errHooksOff
	}
	all, err := s.opts.Hooks()
	if err != nil {
		return nil, nil, &apiError{kind: unavailable, detail: "The file of hooks cannot be read; the terminal of brine ui has the details."}
	}
	x := all.Find(c.r.PathValue("name"))
	checked := x
	if x == nil {
		checked = &noHook
	}
	ids, ok := checked.signed(c.r.Header, c.raw, s.opts.Now())
	if x == nil || !ok {
		return nil, nil, s.badSignature(c.r, x)
	}
	for _, id := range ids {
		if strings.HasSuffix(id, " ") || len(id) > maxKey {
			return nil, nil, &apiError{kind: badParameter, detail: "The delivery has no id: the header " + map[string]string{GitHubHook: "X-GitHub-Delivery", GitLabHook: "X-Gitlab-Event-UUID"}[x.Kind] + " is missing, or too long."}
		}
	}
	return x, ids, nil
}

// badSignature notes that a delivery was refused. Who sends many is not noted each time.
func (s *Server) badSignature(r *http.Request, x *Hook) error {
	refused := &apiError{kind: noToken, detail: "There is no such hook, or the signature is not one of its key, or it is too old."}
	from := "hook from " + addressOf(r)
	if s.access.slowDown(from) {
		return refused
	}
	s.access.failed(from)
	name := "(unknown)"
	if x != nil {
		name = x.Name
	}
	_ = s.record(context.WithoutCancel(r.Context()), Action{User: hookUser(name), Name: "hook", On: r.URL.Path, Details: "from " + addressOf(r), OK: false})
	return refused
}

// maxPayload bounds what a payload takes in memory.
const maxPayload = 32 << 20

// payloadOf reads the JSON of a delivery.
func payloadOf(c *apiCall) (*value.Map, error) {
	kind, _, err := mime.ParseMediaType(c.r.Header.Get("Content-Type"))
	if err != nil || kind != "application/json" {
		return nil, &apiError{kind: wrongType, detail: fmt.Sprintf("The body has the type %q.", c.r.Header.Get("Content-Type")), hint: "Choose application/json as the content type of the webhook."}
	}
	v, _, err := value.ParseJSONWithin(string(c.raw), maxPayload)
	m, ok := v.(*value.Map)
	if err != nil || !ok {
		return nil, &apiError{kind: badBody, detail: "The body is not a JSON object."}
	}
	return m, nil
}
