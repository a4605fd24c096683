// Package http is Salt's execution module http: requests to web servers.
//
// Salt: salt/modules/http.py, salt/utils/http.py.
package http

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"brine/internal/fun"
	"brine/internal/source"
	"brine/internal/value"
)

// Module returns the execution module http.
func Module() fun.Module {
	url := fun.Arg{Name: "url", Type: fun.Str, Required: true, Doc: "the URL, http or https"}
	return fun.Module{
		Name: "http", Kind: fun.Exec, Doc: "Requests to web servers.",
		Specs: []fun.Spec{
			{
				Name: "query", Src: "modules/http.py query, utils/http.py query", Fn: queryRow, VarKw: true,
				Doc: "Send a request and return the answer: body, and what is asked for of status, headers, dict, text.\n" +
					"An answer that is no success is a dict of status, error and body; a server that is not reached one of error.",
				Args: append([]fun.Arg{url}, queryArgs()...),
			},
			{
				Name: "wait_for_successful_query", Src: "modules/http.py wait_for_successful_query", Fn: waitRow, VarKw: true, Hands: true,
				Doc: "Send a request again until it succeeds, and return the answer.",
				Args: []fun.Arg{
					url,
					{Name: "wait_for", Type: fun.Float, Default: int64(300), Unit: "s", Doc: "how long to try"},
					{Name: "request_interval", Type: fun.Float, Default: 0.0, Unit: "s", Doc: "how long to wait between two requests; at least 0.1"},
				},
			},
		},
	}
}

func queryArgs() []fun.Arg {
	return []fun.Arg{
		{Name: "method", Type: fun.Str, Default: "GET", Doc: "the method"},
		{Name: "params", Doc: "a dict, or a list of pairs: what is added to the query of the URL"},
		{Name: "data", Doc: "the body: text, or a dict that is sent as a form"},
		{Name: "data_file", Type: fun.Str, Doc: "a file with the body"},
		{Name: "header_dict", Type: fun.Dict, Doc: "headers"},
		{Name: "header_list", Type: fun.List, Doc: "headers, as texts with a colon"},
		{Name: "header_file", Type: fun.Str, Doc: "a file of headers, one in a line"},
		{Name: "username", Type: fun.Str, Doc: "the user for basic authentication"},
		{Name: "password", Type: fun.Str, Doc: "its password"},
		{Name: "auth", Type: fun.List, Doc: "user and password, as a list"},
		{Name: "decode", Type: fun.Bool, Default: false, Doc: "read the body as data, and return it as dict"},
		{Name: "decode_type", Type: fun.Str, Default: "auto", Doc: "json, xml, yaml, plain; auto goes by the header Content-Type"},
		{Name: "status", Type: fun.Bool, Default: false, Doc: "return the status"},
		{Name: "headers", Type: fun.Bool, Default: false, Doc: "return the headers"},
		{Name: "text", Type: fun.Bool, Default: false, Doc: "return the body as text too"},
		{Name: "test", Type: fun.Bool, Default: false, Doc: "send nothing but to test_url"},
		{Name: "test_url", Type: fun.Str, Doc: "the URL to use instead where test is set"},
		{Name: "opts", Type: fun.Dict, Doc: "options that differ from the configuration: those below, and http_request_timeout, http_connect_timeout, http_max_body, proxy_host, proxy_port, proxy_username, proxy_password, no_proxy"},
		{Name: "ca_bundle", Type: fun.Str, Doc: "a file with the certificates of authorities to trust; default: the option of that name, else the system's"},
		{Name: "verify_ssl", Doc: "whether certificates are verified; default: the option of that name, else True"},
		{Name: "cert", Doc: "a file with the client's certificate and key, or a list of both files; default: the option of that name"},
		{Name: "text_out", Type: fun.Str, Doc: "a file to write the body to"},
		{Name: "decode_out", Type: fun.Str, Doc: "a file to write the body to where it is decoded"},
		{Name: "agent", Type: fun.Str, Doc: "the header User-agent; default: Salt and its version"},
		{Name: "hide_fields", Type: fun.List, Doc: "accepted; the query of a URL is never logged"},
		{Name: "raise_error", Type: fun.Bool, Default: true, Doc: "treat an answer that is no success as an error"},
		{Name: "decode_body", Type: fun.Bool, Default: true, Doc: "return the body as text; False: as bytes"},
		{Name: "timeout", Type: fun.Float, Unit: "s", Doc: "how long the request may take; default: the option http_request_timeout, else an hour"},
		{Name: "backend", Type: fun.Str, Doc: "accepted; there is one"},
		{Name: "node", Type: fun.Str, Doc: "accepted"},
		{Name: "port", Doc: "accepted; the port stands in the URL"},
	}
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
			return &fun.InvocationError{Msg: "http.query: the argument '" + name + "' is not there: no cookies and sessions, rendered files, streams and forms of several parts"}
		}
	}
	return nil
}

// slipKey is an argument that was warned of in this run.
type slipKey string

// warnOfSlips names arguments that are surely slips: Salt takes any in silence.
func warnOfSlips(c *fun.Call) {
	if c.Env.Warn == nil || c.Kw.Len() == 0 {
		return
	}
	names := []string{"request_interval"}
	for i := range c.Spec.Args {
		names = append(names, c.Spec.Args[i].Name)
	}
	for k := range c.Kw.All() {
		name := value.Str(k)
		near := source.DidYouMean(name, names)
		if near == "" || slices.Contains(names, name) || slices.Contains(absent[:], name) {
			continue
		}
		if _, said := c.Env.Memo.Load(slipKey(name)); !said {
			c.Env.Memo.Store(slipKey(name), true)
			c.Env.Warn(fun.Warning{Text: fmt.Sprintf("http.query has no argument %q%s", name, near)})
		}
	}
}

func queryRow(ctx context.Context, c *fun.Call) (fun.Result, error) {
	if err := checkAbsent(c); err != nil {
		return fun.Result{}, err
	}
	warnOfSlips(c)
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
