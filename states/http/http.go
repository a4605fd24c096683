// Package http is Salt's state module "http": what a web server answers.
package http

import (
	"context"
	"strings"
	"time"

	"brine/internal/core/fun"
	"brine/internal/py/pyre"
	"brine/internal/py/value"
	web "brine/modules/http"
)

// States returns the rows of the state module "http".
func States() fun.Module {
	return fun.Module{Name: "http", Kind: fun.State, Doc: "Check responses of web servers.", Specs: specs}
}

type queryGiven struct {
	wantArgs
	WaitFor value.Value `arg:"wait_for,duration" unit:"s" doc:"how long to retry until the server responds with success"`
	Rest    fun.Kwargs
}

func query(ctx context.Context, c *fun.Call, a *queryGiven) fun.Ret {
	ret, err := ask(ctx, c, &a.wantArgs, a.Rest, a.WaitFor)
	if err != nil {
		return fun.Raise(err)
	}
	return ret
}

type waitForArgs struct {
	wantArgs
	WaitFor         time.Duration `arg:"wait_for" default:"300" unit:"s" doc:"how long to retry until the response matches"`
	RequestInterval time.Duration `arg:"request_interval" default:"0.0" unit:"s" doc:"pause between two requests; at least 0.1"`
	Rest            fun.Kwargs
}

func waitFor(ctx context.Context, c *fun.Call, a *waitForArgs) fun.Ret {
	end, interval := c.Env.Host.Now().Add(a.WaitFor), max(a.RequestInterval, web.MinInterval)
	for {
		ret, err := ask(ctx, c, &a.wantArgs, a.Rest, nil)
		switch {
		case ctx.Err() != nil:
			return fun.Raise(ctx.Err())
		case err == nil && ret.Result == fun.OK:
			return ret
		case web.Refused(err):
			return fun.Raise(err)
		case c.Test || c.Env.Host.Now().After(end):
			if err != nil {
				return fun.Raise(err)
			}
			return ret
		}
		if err := c.Env.Host.Sleep(ctx, interval); err != nil {
			return fun.Raise(err)
		}
	}
}

// ask sends one request, or with wait as many as the server needs to answer
// with success, and looks at the answer.
// Salt: salt/states/http.py query.
func ask(ctx context.Context, c *fun.Call, a *wantArgs, rest fun.Kwargs, wait value.Value) (fun.Ret, error) {
	ret := fun.Ret{Extra: value.MapOf("data", value.NewMap(0)), Order: []string{"name", "result", "comment", "changes", "data"}}
	match, status := a.Match, a.Status
	if match == nil && status == nil {
		ret.Comment = " Either match text (match) or a status code (status) is required."
		return ret, nil
	}
	kw := value.NewMap(rest.Len() + 4)
	kw.Set("decode", false)
	kw.Update(rest.Map)
	kw.Set("text", true)
	kw.Set("status", true)
	if c.Test {
		kw.Set("test", true)
	}
	fn := "http.query"
	if value.Truth(wait) {
		fn = "http.wait_for_successful_query"
		kw.Set("wait_for", wait)
	}
	res, err := c.Env.Exec(ctx, fn, kw, c.Name)
	if err != nil {
		return fun.Ret{}, err
	}
	data, ok := res.(*value.Map)
	if !ok {
		data = value.NewMap(0)
	}
	j := &judge{}
	if match != nil {
		if err := j.match(a, value.Str(match), text(data, "text")); err != nil {
			return fun.Ret{}, err
		}
	}
	if status != nil {
		if err := j.status(a, status, text(data, "status")); err != nil {
			return fun.Ret{}, err
		}
	}
	comment := strings.TrimSpace(j.comment.String())
	switch {
	case c.Test:
		ret.Result = fun.WouldChange
		comment += " (TEST MODE"
		if u := rest.At("test_url"); u != nil {
			comment += ", TEST URL WAS: " + value.Str(u)
		}
		comment += ")"
	case j.result == yes:
		ret.Result = fun.OK
	case j.result == unknown:
		ret.Result = fun.WouldChange // a type that there is not judges nothing
	}
	ret.Comment = comment
	ret.Extra.Set("data", data)
	return ret, nil
}

// text is an entry of the answer as text.
func text(data *value.Map, key string) string {
	v, ok := data.Get(key)
	if !ok {
		return ""
	}
	return value.Str(v)
}

// A judge says whether an answer is as wanted.
type judge struct {
	result  verdict
	comment strings.Builder
}

type verdict int

const (
	unknown verdict = iota
	yes
	no
)

// note adds one finding: it does not undo that another one failed.
func (j *judge) note(ok bool, found, not string) {
	if !ok {
		j.comment.WriteString(not)
		j.result = no
		return
	}
	j.comment.WriteString(found)
	if j.result == unknown {
		j.result = yes
	}
}

func (j *judge) match(a *wantArgs, want, have string) error {
	switch a.MatchType {
	case "string":
		j.note(strings.Contains(have, want), ` Match text "`+want+`" was found.`, ` Match text "`+want+`" was not found.`)
	case "pcre":
		ok, err := has(want, have)
		if err != nil {
			return err
		}
		j.note(ok, ` Match pattern "`+want+`" was found.`, ` Match pattern "`+want+`" was not found.`)
	}
	return nil
}

func (j *judge) status(a *wantArgs, status value.Value, have string) error {
	want := value.Str(status)
	switch a.StatusType {
	case "list":
		items, err := value.Items(status)
		if err != nil {
			return err
		}
		for _, x := range items {
			if have == value.Str(x) {
				j.note(true, " Status "+have+" was found.", "")
			}
		}
		if j.result != yes {
			j.note(false, "", " Statuses "+want+" were not found.")
		}
	case "pcre":
		ok, err := has(want, have)
		if err != nil {
			return err
		}
		j.note(ok, ` Status pattern "`+want+`" was found.`, ` Status pattern "`+want+`" was not found.`)
	case "string":
		j.note(have == want, " Status "+want+" was found.", " Status "+want+" was not found.")
	}
	return nil
}

// has reports whether a regular expression of Python's finds anything.
func has(pattern, s string) (bool, error) {
	re, err := pyre.Compile(pattern, 0)
	if err != nil {
		return false, err
	}
	return re.Has(s)
}
