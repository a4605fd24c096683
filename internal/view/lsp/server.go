// Package lsp is a language server for SLS trees: diagnostics of all rules of
// lint, completion, documentation, definitions, references and renaming, over the
// language-server protocol. Start with [Serve].
//
// A document is read in two ways. What it shows line by line (outline.go) serves
// while the user types, whatever the text is. What it comes to when it is rendered
// and compiled is lint's: a [lint.Session] of each tree runs in the background
// (tree.go), over the texts of the editor.
package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/sourcegraph/jsonrpc2"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/view/lint"
)

// Bounds of what a client may send.
const (
	maxMessage   = 16 << 20 // bytes of a message
	maxDocument  = 2 << 20  // bytes of a document that is read
	maxDocuments = 1000     // open at once
	maxRunning   = 32       // requests that are answered at once
)

// Options say what a server serves.
type Options struct {
	In      io.Reader
	Out     io.Writer // of the protocol alone
	Log     *slog.Logger
	Version string
	Disk    host.Files
	Table   *fun.Table
	// Tree reads the configuration of the tree in a directory.
	Tree func(dir string) (lint.Options, error)
	// Root is the directory of the only tree; "" looks for the tree of each document.
	Root string
	// Example returns the example of a function; nil: there are none.
	Example func(mod *fun.Module, function string) string
	// DocsURL is where the documentation is, and RulesURL the page of the rules;
	// "" for nowhere.
	DocsURL, RulesURL string
	// Delay is how long the server waits after a change before it checks what is
	// nearby, and Idle how long before it checks the rest. Linger is how long a tree
	// stays when its last document is closed. 0 is the default.
	Delay, Idle, Linger time.Duration
}

// ErrNotShutDown says that the client left without asking to shut down.
var ErrNotShutDown = errors.New("the client ended the connection without a shutdown request")

// Serve answers a client until it leaves. The error is nil if the client asked to
// shut down first.
func Serve(ctx context.Context, o Options) error {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Delay == 0 {
		o.Delay = 150 * time.Millisecond
	}
	if o.Idle == 0 {
		o.Idle = 800 * time.Millisecond
	}
	if o.Linger == 0 {
		o.Linger = time.Minute
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := &server{
		Options: o, over: lint.NewOverlay(o.Disk), docs: map[string]*document{}, trees: map[string]*tree{}, shownWarnings: map[string]bool{},
		cancels: map[jsonrpc2.ID]context.CancelFunc{}, slots: make(chan struct{}, maxRunning), left: make(chan struct{}),
	}
	conn := jsonrpc2.NewConn(ctx, newStream(o.In, o.Out, o.Log), s, jsonrpc2.SetLogger(discard{}))
	s.conn = conn
	close(s.ready())
	select {
	case <-conn.DisconnectNotify():
	case <-s.left:
	case <-ctx.Done():
	}
	s.answered(ctx)
	cancel()
	_ = conn.Close()
	s.work.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.shut {
		return ErrNotShutDown
	}
	return nil
}

// maxLast is how long the last replies may take.
const maxLast = 5 * time.Second

// answered waits until the requests that came are answered.
func (s *server) answered(ctx context.Context) {
	s.mu.Lock()
	s.disconnected = true
	s.mu.Unlock()
	done := make(chan struct{})
	s.work.Go(func() {
		s.answers.Wait()
		close(done)
	})
	select {
	case <-done:
	case <-ctx.Done():
	case <-time.After(maxLast):
	}
}

type discard struct{}

func (discard) Printf(string, ...any) {}

// A server is the state of one connection.
type server struct {
	Options
	conn  *jsonrpc2.Conn
	begin chan struct{} // closed when conn is set
	once  sync.Once
	over  *lint.Overlay
	slots chan struct{}
	work  sync.WaitGroup // requests and trees
	// answers are the requests alone.
	answers sync.WaitGroup
	left    chan struct{} // closed by exit

	publishing sync.Mutex // held by the tree that publishes; taken before mu

	mu            sync.Mutex
	inited        bool
	shut          bool
	disconnected  bool // the client is; no work begins any more
	watches       bool // the client reports changed files if asked to
	folders       []string
	docs          map[string]*document // that are open, by path
	trees         map[string]*tree     // by directory
	shownWarnings map[string]bool      // the warnings that the user was shown
	cancels       map[jsonrpc2.ID]context.CancelFunc
}

func (s *server) ready() chan struct{} {
	s.once.Do(func() { s.begin = make(chan struct{}) })
	return s.begin
}

// The codes of errors of the protocol.
const (
	codeNotInitialized = -32002
	codeCancelled      = -32800
	codeFailed         = -32803
)

// A refusal is a request that cannot be served, with the reason for the user.
type refusal struct{ reason string }

func (r *refusal) Error() string { return r.reason }

// Handle takes one message. Notifications are done in order; requests are answered
// beside each other, from the documents as they are now.
func (s *server) Handle(ctx context.Context, conn *jsonrpc2.Conn, req *jsonrpc2.Request) {
	<-s.ready()
	if req.Notif {
		_ = s.guard(req.Method, func() error { return s.notified(ctx, req) }) // a notification has no reply
		return
	}
	h, err := s.handler(req)
	if err != nil {
		s.reply(ctx, conn, req.ID, nil, err)
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	s.slots <- struct{}{}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.disconnected { // nobody waits for what begins now
		cancel()
		<-s.slots
		return
	}
	s.cancels[req.ID] = cancel
	s.answers.Add(1)
	s.work.Go(func() {
		defer func() {
			s.answers.Done()
			cancel()
			s.mu.Lock()
			delete(s.cancels, req.ID)
			s.mu.Unlock()
			<-s.slots
		}()
		var result any
		err := s.guard(req.Method, func() (err error) {
			if err := ctx.Err(); err != nil {
				return err
			}
			result, err = h(ctx)
			return err
		})
		s.reply(context.WithoutCancel(ctx), conn, req.ID, result, err)
	})
}

// guard turns a panic into an error: one document must not end the server.
func (s *server) guard(method string, do func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			s.Log.Error("the server failed", "method", method, "panic", fmt.Sprint(r), "stack", string(debug.Stack()))
			err = fmt.Errorf("internal error in %s", method)
		}
	}()
	if err := do(); err != nil {
		s.Log.Debug("message failed", "method", method, "err", err)
		return err
	}
	return nil
}

func (s *server) reply(ctx context.Context, conn *jsonrpc2.Conn, id jsonrpc2.ID, result any, err error) {
	if err == nil {
		err = conn.Reply(ctx, id, result)
	} else {
		e := &jsonrpc2.Error{Code: jsonrpc2.CodeInternalError, Message: err.Error()}
		var known *jsonrpc2.Error
		var refused *refusal
		switch {
		case errors.As(err, &known):
			e = known
		case errors.As(err, &refused):
			e.Code = codeFailed
		case errors.Is(err, context.Canceled):
			e.Code, e.Message = codeCancelled, "the request was cancelled"
		}
		err = conn.ReplyWithError(ctx, id, e)
	}
	if err != nil {
		s.Log.Debug("reply not sent", "err", err)
	}
}

// parsed reads the parameters of a message.
func parsed[T any](req *jsonrpc2.Request) (p T, err error) {
	if req.Params == nil {
		return p, nil
	}
	if err := json.Unmarshal(*req.Params, &p); err != nil {
		return p, &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidParams, Message: "invalid parameters: " + err.Error()}
	}
	return p, nil
}

// on makes a handler of a method from its parameters.
func on[P any](req *jsonrpc2.Request, h func(context.Context, P) (any, error)) (func(context.Context) (any, error), error) {
	p, err := parsed[P](req)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) (any, error) { return h(ctx, p) }, nil
}

// handler returns what answers a request.
func (s *server) handler(req *jsonrpc2.Request) (func(context.Context) (any, error), error) {
	s.mu.Lock()
	inited, shut := s.inited, s.shut
	s.mu.Unlock()
	switch {
	case req.Method == "initialize" && !inited:
		p, err := parsed[initializeParams](req)
		if err != nil {
			return nil, err
		}
		return func(context.Context) (any, error) { return s.capabilities(), nil }, s.initialize(p)
	case !inited:
		return nil, &jsonrpc2.Error{Code: codeNotInitialized, Message: "the server is not initialized"}
	case shut || req.Method == "initialize":
		return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidRequest, Message: "invalid request " + req.Method}
	}
	switch req.Method {
	case "shutdown":
		s.mu.Lock()
		s.shut = true
		s.mu.Unlock()
		return func(context.Context) (any, error) { return nil, nil }, nil
	case "textDocument/completion":
		return atDocument(s, req, (*query).completion)
	case "completionItem/resolve":
		return on(req, func(_ context.Context, item completionItem) (any, error) { return s.resolve(item), nil })
	case "textDocument/hover":
		return atDocument(s, req, (*query).hover)
	case "textDocument/definition":
		return atDocument(s, req, (*query).definition)
	case "textDocument/prepareRename":
		return atDocument(s, req, (*query).prepareRename)
	case "textDocument/rename":
		return on(req, func(ctx context.Context, p renameParams) (any, error) {
			q := s.query(ctx, p.TextDocument.URI, p.Position)
			if q == nil {
				return nil, nil
			}
			return q.rename(p.NewName)
		})
	case "textDocument/references":
		return on(req, func(ctx context.Context, p referenceParams) (any, error) {
			q := s.query(ctx, p.TextDocument.URI, p.Position)
			if q == nil {
				return nil, nil
			}
			return q.references(p.Context.IncludeDeclaration)
		})
	case "textDocument/documentSymbol":
		return ofDocument(s, req, (*query).symbols)
	case "textDocument/documentLink":
		return ofDocument(s, req, (*query).links)
	case "textDocument/codeAction":
		return on(req, func(_ context.Context, p actionParams) (any, error) { return s.actions(p), nil })
	}
	return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeMethodNotFound, Message: "unknown method " + req.Method}
}

// atDocument answers a request about a place in a document.
func atDocument(s *server, req *jsonrpc2.Request, h func(*query) (any, error)) (func(context.Context) (any, error), error) {
	p, err := parsed[atParams](req)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) (any, error) {
		if q := s.query(ctx, p.TextDocument.URI, p.Position); q != nil {
			return h(q)
		}
		return nil, nil
	}, nil
}

// ofDocument answers a request about a whole document.
func ofDocument(s *server, req *jsonrpc2.Request, h func(*query) (any, error)) (func(context.Context) (any, error), error) {
	return atDocument(s, req, h)
}

func (s *server) initialize(p initializeParams) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inited = true
	s.watches = p.Capabilities.Workspace.DidChangeWatchedFiles.DynamicRegistration
	for _, f := range p.WorkspaceFolders {
		s.addFolder(pathOf(f.URI))
	}
	if len(s.folders) == 0 {
		if dir := pathOf(p.RootURI); dir != "" {
			s.addFolder(dir)
		} else {
			s.addFolder(p.RootPath)
		}
	}
	return nil
}

func (s *server) addFolder(dir string) {
	if dir != "" && !slices.Contains(s.folders, dir) {
		s.folders = append(s.folders, dir)
	}
}

type object map[string]any

func (s *server) capabilities() any {
	return object{
		"serverInfo": object{"name": "brine", "version": s.Version},
		"capabilities": object{
			"positionEncoding": "utf-16",
			"textDocumentSync": object{"openClose": true, "change": 2, "save": object{"includeText": false}},
			"completionProvider": object{
				"triggerCharacters": []string{".", ":", "/", "'", "\"", "|", " ", "-", "["}, "resolveProvider": true,
			},
			"hoverProvider": true, "definitionProvider": true, "referencesProvider": true, "documentSymbolProvider": true,
			"renameProvider":       object{"prepareProvider": true},
			"documentLinkProvider": object{"resolveProvider": false},
			"codeActionProvider":   object{"codeActionKinds": []string{"quickfix", "source.fixAll"}},
			"workspace":            object{"workspaceFolders": object{"supported": true, "changeNotifications": true}},
		},
	}
}

// notified does what a notification says.
func (s *server) notified(ctx context.Context, req *jsonrpc2.Request) error {
	s.mu.Lock()
	inited, shut := s.inited, s.shut
	s.mu.Unlock()
	switch req.Method {
	case "exit":
		s.mu.Lock()
		defer s.mu.Unlock()
		if !s.disconnected {
			s.disconnected = true
			close(s.left)
		}
		return nil
	case "$/cancelRequest":
		return s.cancel(req)
	}
	if !inited || shut {
		return nil
	}
	switch req.Method {
	case "initialized":
		s.watch(ctx)
	case "textDocument/didOpen":
		p, err := parsed[openParams](req)
		if err != nil {
			return err
		}
		s.opened(ctx, p)
	case "textDocument/didChange":
		p, err := parsed[changeParams](req)
		if err != nil {
			return err
		}
		s.changed(p)
	case "textDocument/didSave", "workspace/didChangeWatchedFiles", "workspace/didChangeConfiguration":
		p, err := parsed[savedParams](req)
		if err != nil {
			return err
		}
		s.saved(ctx, p)
	case "textDocument/didClose":
		p, err := parsed[docParams](req)
		if err != nil {
			return err
		}
		s.closed(p)
	case "workspace/didChangeWorkspaceFolders":
		p, err := parsed[foldersParams](req)
		if err != nil {
			return err
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, f := range p.Event.Removed {
			s.folders = slices.DeleteFunc(s.folders, func(dir string) bool { return dir == pathOf(f.URI) })
		}
		for _, f := range p.Event.Added {
			s.addFolder(pathOf(f.URI))
		}
	}
	return nil
}

// watch asks the client to report changed files.
func (s *server) watch(ctx context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.watches || s.disconnected {
		return
	}
	s.work.Go(func() {
		params := object{"registrations": []object{{
			"id": "files", "method": "workspace/didChangeWatchedFiles",
			"registerOptions": object{"watchers": []object{{"globPattern": "**/*"}}},
		}}}
		ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
		defer cancel()
		if err := s.conn.Call(ctx, "client/registerCapability", params, nil); err != nil {
			s.Log.Debug("the client does not watch files", "err", err)
		}
	})
}

func (s *server) cancel(req *jsonrpc2.Request) error {
	p, err := parsed[struct {
		ID jsonrpc2.ID `json:"id"`
	}](req)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if cancel := s.cancels[p.ID]; cancel != nil {
		cancel()
	}
	return nil
}

func (s *server) opened(ctx context.Context, p openParams) {
	abs := pathOf(p.TextDocument.URI)
	if abs == "" {
		return
	}
	d := newDocument(p.TextDocument.URI, abs, p.TextDocument.Version, p.TextDocument.Text)
	d.open = true
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.disconnected {
		return
	}
	if s.docs[abs] == nil && len(s.docs) >= maxDocuments {
		s.Log.Warn("too many open documents", "uri", d.uri)
		return
	}
	s.docs[abs] = d
	if t := s.treeOf(ctx, abs); t != nil {
		s.put(t, d)
	}
}

// put hands the text of a document to its tree. For one that is too large, the file
// on disk counts.
func (s *server) put(t *tree, d *document) {
	if d.large {
		s.over.Drop(t.real(d.abs))
	} else {
		s.over.Set(t.real(d.abs), []byte(d.text()))
	}
	t.fileChanged(t.real(d.abs), false)
}

func (s *server) changed(p changeParams) {
	abs := pathOf(p.TextDocument.URI)
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.docs[abs]
	if d == nil {
		return
	}
	d = d.edit(p.TextDocument.Version, p.ContentChanges)
	s.docs[abs] = d
	if t := s.treeFor(abs); t != nil {
		s.put(t, d)
	}
}

// saved has all trees look at their files again, and where one is a configuration,
// at that.
func (s *server) saved(ctx context.Context, p savedParams) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.disconnected {
		return
	}
	if isConfig(pathOf(p.TextDocument.URI)) || slices.ContainsFunc(p.Changes, func(c docID) bool { return isConfig(pathOf(c.URI)) }) {
		s.reconfigure(ctx)
		return
	}
	for _, t := range s.trees {
		t.fileChanged("", true)
	}
}

func (s *server) closed(p docParams) {
	abs := pathOf(p.TextDocument.URI)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.docs[abs] == nil {
		return
	}
	delete(s.docs, abs)
	if t := s.treeFor(abs); t != nil {
		s.over.Drop(t.real(abs))
	}
	for _, t := range s.trees { // those around its tree have read the text, too
		if t.has(abs) {
			t.fileChanged(t.real(abs), true)
		}
	}
}
