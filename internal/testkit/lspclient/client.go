// Package lspclient is a client of the language-server protocol for tests: it asks
// a server over pipes and waits for its diagnostics.
package lspclient

import (
	"context"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sourcegraph/jsonrpc2"
)

// A Client is connected to a server.
type Client struct {
	t    testing.TB
	conn *jsonrpc2.Conn

	mu      sync.Mutex
	changed chan struct{} // closed when diagnostics or messages come
	diags   map[string][]Diagnostic
	told    []string
}

// A Diagnostic is what a server says of a range.
type Diagnostic struct {
	Range           Range
	Severity        int
	Code            string
	Message         string
	CodeDescription struct{ Href string }
}

// A Position is a place in a document, in UTF-16 code units.
type Position struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

// A Range is a part of a document.
type Range struct {
	Start Position `json:"start"`
	End   Position `json:"end"`
}

// Pos returns a position.
func Pos(line, character int) Position { return Position{line, character} }

// Span returns a range.
func Span(line, character, endLine, endCharacter int) Range {
	return Range{Pos(line, character), Pos(endLine, endCharacter)}
}

// Timeout is how long an answer may take: a loaded machine is slow.
const Timeout = 90 * time.Second

type pipes struct {
	io.Reader
	io.WriteCloser
}

// New returns a client that reads from r and writes to w.
func New(t testing.TB, r io.Reader, w io.WriteCloser) *Client {
	c := &Client{t: t, changed: make(chan struct{}), diags: map[string][]Diagnostic{}}
	c.conn = jsonrpc2.NewConn(context.Background(), jsonrpc2.NewBufferedStream(pipes{r, w}, jsonrpc2.VSCodeObjectCodec{}), c, jsonrpc2.SetLogger(quiet{}))
	t.Cleanup(func() { _ = c.conn.Close() })
	return c
}

type quiet struct{}

func (quiet) Printf(string, ...any) {}

// Handle takes what the server sends.
func (c *Client) Handle(ctx context.Context, conn *jsonrpc2.Conn, req *jsonrpc2.Request) {
	if !req.Notif {
		_ = conn.Reply(ctx, req.ID, nil)
		return
	}
	var p struct {
		URI         string
		Diagnostics []Diagnostic
		Message     string
	}
	if req.Method != "textDocument/publishDiagnostics" && req.Method != "window/showMessage" || json.Unmarshal(*req.Params, &p) != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if p.Message != "" {
		c.told = append(c.told, p.Message)
	} else {
		c.diags[p.URI] = p.Diagnostics
	}
	close(c.changed)
	c.changed = make(chan struct{})
}

// Ask sends a request and reads the result into to, which may be nil.
func (c *Client) Ask(method string, params, to any) {
	c.t.Helper()
	if err := c.Try(method, params, to); err != nil {
		c.t.Fatalf("%s: %v", method, err)
	}
}

// Try sends a request and returns its error.
func (c *Client) Try(method string, params, to any) error {
	ctx, cancel := context.WithTimeout(context.Background(), Timeout)
	defer cancel()
	return c.conn.Call(ctx, method, params, to)
}

// Later sends a request without parameters and does not wait for the reply, whose
// error goes to done.
func (c *Client) Later(method string, done chan<- error) {
	c.t.Helper()
	call, err := c.conn.DispatchCall(context.Background(), method, nil)
	if err != nil {
		c.t.Fatalf("%s: %v", method, err)
	}
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), Timeout)
		defer cancel()
		done <- call.Wait(ctx, nil)
	}()
}

// Tell sends a notification.
func (c *Client) Tell(method string, params any) {
	c.t.Helper()
	if err := c.conn.Notify(context.Background(), method, params); err != nil {
		c.t.Fatalf("%s: %v", method, err)
	}
}

// Wait waits until the diagnostics of a document have these rules, and returns
// them.
func (c *Client) Wait(uri string, rules ...string) []Diagnostic {
	c.t.Helper()
	deadline := time.After(Timeout)
	for {
		c.mu.Lock()
		diags, known := c.diags[uri]
		changed := c.changed
		c.mu.Unlock()
		var have []string
		for _, d := range diags {
			have = append(have, d.Code)
		}
		slices.Sort(have)
		if known && slices.Equal(slices.Compact(have), rules) {
			return diags
		}
		select {
		case <-changed:
		case <-deadline:
			c.t.Fatalf("%s has diagnostics %q, want %q", uri, have, rules)
		}
	}
}

// WaitTold waits until the server has shown the user a message that contains text.
func (c *Client) WaitTold(text string) {
	c.t.Helper()
	deadline := time.After(Timeout)
	for {
		c.mu.Lock()
		told, changed := slices.Clone(c.told), c.changed
		c.mu.Unlock()
		if slices.ContainsFunc(told, func(s string) bool { return strings.Contains(s, text) }) {
			return
		}
		select {
		case <-changed:
		case <-deadline:
			c.t.Fatalf("the server said %q, and nothing with %q", told, text)
		}
	}
}

// M is an object of a message.
type M = map[string]any

// At returns the parameters of a request about a place.
func At(uri string, line, character int) M {
	return M{"textDocument": M{"uri": uri}, "position": Position{line, character}}
}

// Open returns the parameters that open a document.
func Open(uri, text string) M {
	return M{"textDocument": M{"uri": uri, "languageId": "sls", "version": 1, "text": text}}
}
