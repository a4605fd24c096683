package ui

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"brine/internal/core/dispatch"
	"brine/internal/fleet/facts"
	"brine/internal/fleet/kept"
	"brine/internal/py/value"
	"brine/internal/view/chain"
	"brine/internal/view/orchestration"
)

// What people do with hosts that they have selected in the list: ask them for an answer or
// for their facts, run a function on them, add a step on them to a chain.

// Bounds of a selection.
const (
	maxSelected = 96 << 10 // bytes of IDs: they become one argument of a process
	maxPicked   = 16 << 10 // bytes of IDs in the address of the form of a step
	maxCall     = 32 << 10 // bytes of arguments
)

// The scopes of a selection.
const (
	scopeAll    = "all"    // all hosts that match the expression
	scopeTicked = "ticked" // those of them that are ticked
)

// A selection is hosts that somebody has selected.
type selection struct {
	IDs  []string
	Text string // which they are, in words
	Expr string // a target expression for them
}

// selected returns the hosts that the form of a request has: one host, or some of those that
// match an expression. They are as many as who sent the form has seen.
func (s *Server) selected(r *http.Request) (*selection, error) {
	f := r.PostForm
	host := f.Get("host")
	if host != "" {
		if err := s.back(r.Context()).limits.within([]string{host}); err != nil { // else it is just not found
			return nil, err
		}
		r.Form.Set("expr", "L@"+host)
	}
	expr, ids, note, err := s.matching(r)
	if err != nil {
		return nil, err
	}
	if host != "" && !slices.Equal(ids, []string{host}) {
		return nil, fmt.Errorf("host %s: %w in the roster", host, ErrNotFound)
	}
	out, left := &selection{IDs: ids, Text: hostCount(len(ids)) + " that match " + expr, Expr: expr}, ""
	switch f.Get("scope") {
	case scopeTicked:
		out.IDs = f["id"]
		if len(out.IDs) == 0 {
			return nil, onField("scope", "no host is ticked: tick hosts, or choose all that match")
		}
		for _, id := range out.IDs {
			if !slices.Contains(ids, id) {
				return nil, fmt.Errorf("%s does not match %s any more. Load the list again", id, expr)
			}
		}
		out.Text, out.Expr = hostCount(len(out.IDs)), "L@"+strings.Join(out.IDs, ",")
	case scopeAll:
		if n, err := strconv.Atoi(f.Get("count")); err != nil || n != len(ids) {
			return nil, fmt.Errorf("%s match %s now, and not as many as the list had. Load the list again", hostCount(len(ids)), expr)
		}
		switch { // the run has this name: nobody is to take it for one on all that are meant
		case f.Get("by") == byFacts:
			left = ", by what is kept of them"
		case len(s.back(r.Context()).limits.Hosts) > 0: // the note is that there may be others
			left = ", of those that the limits allow"
		case note != "":
			left = ", without those that could not be asked"
		}
	default:
		if host == "" {
			return nil, onField("scope", "choose whether the hosts that are ticked are meant, or all that match")
		}
	}
	if len(out.IDs) == 0 {
		return nil, errors.New("nothing matches " + expr)
	}
	if len(out.IDs) == 1 {
		out.Text = out.IDs[0]
	}
	out.Text += left
	if limits := s.back(r.Context()).limits; len(limits.Hosts) > 0 {
		out.Expr = "L@" + strings.Join(out.IDs, ",") // not who else matches
		if err := limits.within(out.IDs); err != nil {
			return nil, err
		}
	}
	if err := plainIDs(out.IDs); err != nil {
		return nil, err
	}
	size := 0
	for _, id := range out.IDs {
		size += len(id) + 1
	}
	if size > maxSelected {
		return nil, fmt.Errorf("%s are too many for one run from this list. Select fewer, or add a step with the expression to a chain", hostCount(len(out.IDs)))
	}
	out.IDs = slices.Clone(out.IDs)
	return out, nil
}

// onSelected starts a run on the hosts of a request.
func (s *Server) onSelected(w http.ResponseWriter, r *http.Request, v *visit, spec func(*selection) (runSpec, error)) {
	sel, err := s.selected(r)
	var x *run
	if err == nil {
		var run runSpec
		if run, err = spec(sel); err == nil {
			if r.PostForm.Has("once") {
				run.Once = versionOf([]byte(r.URL.Path + "?" + r.PostForm.Encode()))
			}
			x, err = s.start(r.Context(), run, v)
		}
	}
	if err != nil {
		s.rejectSelection(w, r, err)
		return
	}
	see(w, r, "runs", x.ID)
}

// rejectSelection shows the list of hosts again, or the page of the host that is meant, with
// why the form was not taken.
func (s *Server) rejectSelection(w http.ResponseWriter, r *http.Request, err error) {
	if host := r.PostForm.Get("host"); host != "" {
		s.fault(w, r, err)
		return
	}
	s.reject(w, r, "GET /hosts", "act", err)
}

// asks reports whether the visitor may run a function that operators may run, and acts whether
// there is something to do with hosts.
func (p page) asks(name string) bool { return p.may(Operator) || p.Who.calls(name) }

func (p page) acts() bool { return p.may(Operator) || len(p.Who.callsSome()) > 0 }

// pingHosts asks hosts whether they answer.
func (s *Server) pingHosts(w http.ResponseWriter, r *http.Request, v *visit) {
	s.onSelected(w, r, v, func(sel *selection) (runSpec, error) {
		return runSpec{Spec: kept.Spec{Kind: kept.Hosts, Name: sel.Text, Hosts: sel.IDs}}, nil
	})
}

// factsOfHosts asks hosts for their facts, which are kept.
func (s *Server) factsOfHosts(w http.ResponseWriter, r *http.Request, v *visit) {
	s.onSelected(w, r, v, func(sel *selection) (runSpec, error) {
		return runSpec{Spec: kept.Spec{Kind: kept.Functions, Name: facts.Function + " on " + sel.Text, Hosts: sel.IDs}}, nil
	})
}

// runOnHosts runs a function on hosts.
func (s *Server) runOnHosts(w http.ResponseWriter, r *http.Request, v *visit) {
	s.onSelected(w, r, v, func(sel *selection) (runSpec, error) {
		name, call, test, err := formCall(r.PostForm)
		if err != nil {
			return runSpec{}, err
		}
		return runSpec{Spec: kept.Spec{Kind: kept.Functions, Name: name + " on " + sel.Text, Hosts: sel.IDs, Test: test, AdHoc: true}, Answers: call}, nil
	})
}

// formCall is the function that a form has, with its arguments, a line each, and whether it
// is in test mode.
func formCall(f url.Values) (name string, call *value.Map, test bool, err error) {
	name = strings.TrimSpace(f.Get("function"))
	switch {
	case name == "":
		return "", nil, false, onField("function", "name a function, such as state.apply or cmd.run")
	case !functionName().MatchString(name):
		return "", nil, false, OnField("function", fmt.Errorf("%q is not the name of a function, such as state.apply", name))
	case len(f.Get("arguments")) > maxCall:
		return "", nil, false, OnField("arguments", fmt.Errorf("the arguments have %d bytes, and at most %d are taken", len(f.Get("arguments")), maxCall))
	}
	var args []string
	for line := range strings.Lines(strings.ReplaceAll(f.Get("arguments"), "\r\n", "\n")) {
		if arg := strings.TrimSpace(line); arg != "" {
			args = append(args, arg)
		}
	}
	if test = f.Get("test") == "yes"; test {
		args = append(args, "test=True")
	} else if f.Get("confirm") != "yes" {
		return "", nil, false, onField("confirm-act", "nothing was run: confirm that the function is to run, or choose the test mode")
	}
	in := dispatch.ParseInput(args, nil)
	call = value.MapOf("arg", value.NewList(in.Pos...), "kwarg", in.Kw)
	if why := orchestration.Evaluated(call); why != "" {
		return "", nil, false, onField("arguments", "nothing was run: "+why)
	}
	return name, call, test, nil
}

// chainOnHosts leads to the form of a step on the selected hosts, of an existing chain or
// of a new one.
func (s *Server) chainOnHosts(w http.ResponseWriter, r *http.Request, _ *visit) {
	sel, err := s.selected(r)
	name, fresh := r.PostForm.Get("chain"), strings.TrimSpace(r.PostForm.Get("name"))
	switch {
	case err != nil:
	case len(sel.Expr) > maxPicked:
		err = errors.New("the ticked hosts are too many for a step. Write an expression, and choose all that match")
	case stepFields[r.PostForm.Get("action")] == nil:
		err = errors.New("choose what the step does")
	case name == "" && fresh == "":
		err = onField("act-name", "choose a chain, or name a new one")
	case fresh != "":
		name = fresh
		var text []byte
		if text, err = chain.New(""); err == nil {
			err = OnField("act-name", s.create(r, name, text))
		}
	}
	if err != nil {
		s.rejectSelection(w, r, err)
		return
	}
	http.Redirect(w, r, path("chains", name, "step")+"?"+url.Values{"action": {r.PostForm.Get("action")}, "targets": {sel.Expr}}.Encode(), http.StatusSeeOther)
}

// selectionDetails say for the audit record which hosts a form has, and what they are to do.
// Arguments are in the record of the job, without secrets.
func selectionDetails(f url.Values) []string {
	var parts []string
	switch {
	case f.Get("host") != "":
		parts = append(parts, "host "+f.Get("host"))
	case f.Get("scope") == scopeTicked:
		parts = append(parts, "hosts "+strings.Join(f["id"], ","))
	default:
		parts = append(parts, "targets "+f.Get("expr"))
	}
	if name := f.Get("function"); functionName().MatchString(name) {
		parts = append(parts, "function "+name)
	}
	if f.Get("test") == "yes" {
		parts = append(parts, "test mode")
	}
	if name := f.Get("name"); name != "" {
		parts = append(parts, "new chain "+name)
	} else if name := f.Get("chain"); name != "" {
		parts = append(parts, "chain "+name)
	}
	return parts
}
