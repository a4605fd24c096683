// Package http is Salt's execution module http: requests to web servers.
//
// Salt: salt/modules/http.py, salt/utils/http.py.
package http

import (
	"context"
	"errors"
	"time"

	"brine/internal/fun"
	"brine/internal/value"
)

// Module returns the execution module "http".
func Module() fun.Module {
	return fun.Module{Name: "http", Kind: fun.Exec, Doc: "Send requests to web servers.", Specs: specs}
}

// absent are the arguments of Salt's function that are not here: what they ask
// for would be missed where they were ignored.
var absent = [...]string{
	"cookies", "cookie_jar", "persist_session", "session_cookie_jar", "data_render", "header_render", "headers_out",
	"stream", "streaming_callback", "header_callback", "handle", "formdata", "formdata_fieldname", "formdata_filename",
}

// checkAbsent fails where one of them is given.
func checkAbsent(c *fun.Call) error {
	for _, name := range absent {
		if value.Truth(c.Kw.At(name)) {
			return &fun.InvocationError{Msg: "http.query: the argument '" + name + "' is not supported: no cookies and sessions, rendered files, streams and forms of several parts"}
		}
	}
	return nil
}

func queryRow(ctx context.Context, c *fun.Call) (fun.Result, error) {
	if err := checkAbsent(c); err != nil {
		return fun.Result{}, err
	}
	ret, err := query(ctx, c)
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(ret)
}

// Waits reads the times of wait_for_successful_query: how long it tries, and how
// long it waits between two requests, which is 0.1 s at least.
func Waits(c *fun.Call) (wait, interval time.Duration) {
	return c.Seconds("wait_for"), max(c.Seconds("request_interval"), 100*time.Millisecond)
}

// Refused reports whether err is about the arguments of a call: a further call
// would do no better.
func Refused(err error) bool {
	var (
		wrong  *fun.ArgError
		absent *fun.InvocationError
	)
	return errors.As(err, &wrong) || errors.As(err, &absent)
}

func waitRow(ctx context.Context, c *fun.Call) (fun.Result, error) {
	wait, interval := Waits(c)
	end := c.Env.Host.Now().Add(wait)
	for {
		res, err := c.Env.Invoker.Invoke(ctx, fun.Exec, "http.query", fun.Args{Pos: []value.Value{c.Value("url")}, Kw: c.Kw})
		if ctx.Err() != nil {
			return fun.Result{}, ctx.Err()
		}
		if Refused(err) {
			return fun.Result{}, err
		}
		if m, ok := res.Value.(*value.Map); ok && err == nil && !value.Truth(m.At("error")) {
			return res, nil
		}
		if c.Env.Host.Now().After(end) {
			return res, err
		}
		if err := c.Env.Host.Sleep(ctx, interval); err != nil {
			return fun.Result{}, err
		}
	}
}
