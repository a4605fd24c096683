package http

import (
	"brine/internal/fun"
)

var urlArg = fun.Arg{Name: "url", Type: fun.Str, Required: true, Doc: "the URL, http or https"}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "query", Doc: "Send a request and return the response: body, and if asked for status, headers, dict and text.\nAn unsuccessful response is a mapping of status, error and body; if the server cannot be reached, of error.", Src: "modules/http.py query, utils/http.py query",
		VarKw: true, Fn: queryRow,
		Args: []fun.Arg{
			urlArg,
			{Name: "method", Type: fun.Str, Default: "GET", Doc: "the method"},
			{Name: "params", Type: fun.Str | fun.Dict | fun.List, Doc: "added to the query of the URL: a mapping, or a list of pairs"},
			{Name: "data", Doc: "the body: text, or a mapping that is sent as a form"},
			{Name: "data_file", Type: fun.Path, Doc: "a file with the body"},
			{Name: "header_dict", Type: fun.Dict, Doc: "headers"},
			{Name: "header_list", Type: fun.Strs, Doc: "headers, as strings with a colon"},
			{Name: "header_file", Type: fun.Path, Doc: "a file of headers, one per line"},
			{Name: "username", Type: fun.Str, Doc: "user for basic authentication"},
			{Name: "password", Type: fun.Str, Doc: "its password", Secret: true},
			{Name: "auth", Type: fun.List, Doc: "a list of user and password", Secret: true},
			{Name: "decode", Type: fun.Bool, Default: false, Doc: "decode the body and return it as dict"},
			{Name: "decode_type", Type: fun.Str, Default: "auto", Doc: "json, xml, yaml, plain; auto uses the header Content-Type"},
			{Name: "status", Type: fun.Bool, Default: false, Doc: "return the status"},
			{Name: "headers", Type: fun.Bool, Default: false, Doc: "return the headers"},
			{Name: "text", Type: fun.Bool, Default: false, Doc: "also return the body as text"},
			{Name: "test", Type: fun.Bool, Default: false, Doc: "send requests only to test_url"},
			{Name: "test_url", Type: fun.Str, Doc: "the URL to use instead if test is set"},
			{Name: "opts", Type: fun.Dict, Doc: "options that differ from the configuration: ca_bundle, verify_ssl, cert, http_request_timeout, http_connect_timeout, http_max_body, proxy_host, proxy_port, proxy_username, proxy_password, no_proxy"},
			{Name: "ca_bundle", Type: fun.Path, Doc: "a file with the certificates of trusted authorities; default: the option of that name, else the system's"},
			{Name: "verify_ssl", Type: fun.Bool, Doc: "verify certificates; default: the option of that name, else True"},
			{Name: "cert", Type: fun.Str | fun.Strs, Doc: "a file with the client's certificate and key, or a list of both files; default: the option of that name"},
			{Name: "text_out", Type: fun.Path, Doc: "a file to write the body to"},
			{Name: "decode_out", Type: fun.Path, Doc: "a file to write the body to if it is decoded"},
			{Name: "agent", Type: fun.Str, Doc: "the header User-agent; default: Salt and its version"},
			{Name: "hide_fields", Type: fun.Strs, Doc: "accepted; the query of a URL is never logged"},
			{Name: "raise_error", Type: fun.Bool, Default: true, Doc: "treat an unsuccessful response as an error"},
			{Name: "decode_body", Type: fun.Bool, Default: true, Doc: "return the body as text; False: as bytes"},
			{Name: "timeout", Type: fun.Duration, Unit: "s", Doc: "timeout of the request; default: the option http_request_timeout, else an hour"},
			{Name: "backend", Type: fun.Str, Doc: "accepted; there is one"},
			{Name: "node", Type: fun.Str, Doc: "accepted"},
			{Name: "port", Type: fun.Int, Doc: "accepted; the port is part of the URL"},
		},
	},
	{
		Name: "wait_for_successful_query", Doc: "Repeat a request until it succeeds, and return the response.", Src: "modules/http.py wait_for_successful_query",
		VarKw: true, Hands: true, Fn: waitRow,
		Args: []fun.Arg{
			urlArg,
			{Name: "wait_for", Type: fun.Duration, Default: int64(300), Unit: "s", Doc: "how long to try"},
			{Name: "request_interval", Type: fun.Duration, Default: float64(0.0), Unit: "s", Doc: "pause between two requests; at least 0.1"},
		},
	},
}
