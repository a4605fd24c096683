// Package http is Salt's execution module http: requests to web servers.
//
// Salt: salt/modules/http.py, salt/utils/http.py.
package http

import (
	"context"
	"errors"
	"time"

	"brine/internal/core/fun"
	"brine/internal/py/value"
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
func checkAbsent(rest fun.Kwargs) error {
	for _, name := range absent {
		if value.Truth(rest.At(name)) {
			return &fun.InvocationError{Msg: "http.query: the argument '" + name + "' is not supported: no cookies and sessions, rendered files, streams and forms of several parts"}
		}
	}
	return nil
}

type queryRowArgs struct {
	urlArg
	Method     string          `arg:"method" default:"GET" doc:"the method"`
	Params     value.Value     `arg:"params,str|list|dict" doc:"added to the query of the URL: a mapping, or a list of pairs"`
	Data       value.Value     `arg:"data" doc:"the body: text, or a mapping that is sent as a form"`
	DataFile   string          `arg:"data_file,path" doc:"a file with the body"`
	HeaderDict *value.Map      `arg:"header_dict" doc:"headers"`
	HeaderList []string        `arg:"header_list" doc:"headers, as strings with a colon"`
	HeaderFile string          `arg:"header_file,path" doc:"a file of headers, one per line"`
	Username   value.Value     `arg:"username,str" doc:"user for basic authentication"`
	Password   value.Value     `arg:"password,secret,str" doc:"its password"`
	Auth       []value.Value   `arg:"auth,secret" doc:"a list of user and password"`
	Decode     bool            `arg:"decode" default:"False" doc:"decode the body and return it as dict"`
	DecodeType string          `arg:"decode_type" default:"auto" doc:"json, xml, yaml, plain; auto uses the header Content-Type"`
	Status     bool            `arg:"status" default:"False" doc:"return the status"`
	Headers    bool            `arg:"headers" default:"False" doc:"return the headers"`
	Text       bool            `arg:"text" default:"False" doc:"also return the body as text"`
	Test       bool            `arg:"test" default:"False" doc:"send requests only to test_url"`
	TestURL    fun.Opt[string] `arg:"test_url" doc:"the URL to use instead if test is set"`
	Opts       *value.Map      `arg:"opts" doc:"options that differ from the configuration: ca_bundle, verify_ssl, cert, http_request_timeout, http_connect_timeout, http_max_body, proxy_host, proxy_port, proxy_username, proxy_password, no_proxy"`
	CaBundle   value.Value     `arg:"ca_bundle,path" doc:"a file with the certificates of trusted authorities; default: the option of that name, else the system's"`
	VerifySSL  value.Value     `arg:"verify_ssl,bool" doc:"verify certificates; default: the option of that name, else True"`
	Cert       value.Value     `arg:"cert,str|list[str]" doc:"a file with the client's certificate and key, or a list of both files; default: the option of that name"`
	TextOut    string          `arg:"text_out,path" doc:"a file to write the body to"`
	DecodeOut  string          `arg:"decode_out,path" doc:"a file to write the body to if it is decoded"`
	Agent      string          `arg:"agent" doc:"the header User-agent; default: Salt and its version"`
	_          value.Value     `arg:"hide_fields,list[str]" doc:"accepted; the query of a URL is never logged"`
	RaiseError bool            `arg:"raise_error" default:"True" doc:"treat an unsuccessful response as an error"`
	DecodeBody bool            `arg:"decode_body" default:"True" doc:"return the body as text; False: as bytes"`
	Timeout    time.Duration   `arg:"timeout" unit:"s" doc:"timeout of the request; default: the option http_request_timeout, else an hour"`
	_          string          `arg:"backend" doc:"accepted; there is one"`
	_          string          `arg:"node" doc:"accepted"`
	_          int64           `arg:"port" doc:"accepted; the port is part of the URL"`
	Rest       fun.Kwargs
}

func queryRow(ctx context.Context, c *fun.Call, a *queryRowArgs) (fun.Result, error) {
	if err := checkAbsent(a.Rest); err != nil {
		return fun.Result{}, err
	}
	ret, err := query(ctx, c, a)
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(ret)
}

// MinInterval is the shortest pause between two requests of wait_for_successful_query.
const MinInterval = 100 * time.Millisecond

// Refused reports whether err is about the arguments of a call: a further call
// would do no better.
func Refused(err error) bool {
	var (
		wrong  *fun.ArgError
		absent *fun.InvocationError
	)
	return errors.As(err, &wrong) || errors.As(err, &absent)
}

type waitRowArgs struct {
	urlArg
	WaitFor         time.Duration `arg:"wait_for" default:"300" unit:"s" doc:"how long to try"`
	RequestInterval time.Duration `arg:"request_interval" default:"0.0" unit:"s" doc:"pause between two requests; at least 0.1"`
	Rest            fun.Kwargs
}

func waitRow(ctx context.Context, c *fun.Call, a *waitRowArgs) (fun.Result, error) {
	end, interval := c.Env.Host.Now().Add(a.WaitFor), max(a.RequestInterval, MinInterval)
	for {
		res, err := c.Env.Invoker.Invoke(ctx, fun.Exec, "http.query", fun.Args{Pos: []value.Value{a.URL}, Kw: a.Rest.Map})
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
