package http

import "brine/internal/fun"

var (
	wantArgs = []fun.Arg{
		{Name: "name", Type: fun.Str, Required: true, Doc: "URL"},
		{Name: "match", Type: fun.Str, Doc: "text that the response must contain"},
		{Name: "match_type", Type: fun.Str, Default: "string", Doc: "kind of match: string, or pcre for a regular expression"},
		{Name: "status", Type: fun.Str | fun.Int | fun.List, Doc: "status that the response must have"},
		{Name: "status_type", Type: fun.Str, Default: "string", Doc: "kind of status: string, pcre for a regular expression, or list"},
	}
	queryArgs = []fun.Arg{
		{Name: "wait_for", Type: fun.Duration, Unit: "s", Doc: "how long to retry until the server responds with success"},
	}
	waitArgs = []fun.Arg{
		{Name: "wait_for", Type: fun.Duration, Default: int64(300), Unit: "s", Doc: "how long to retry until the response matches"},
		{Name: "request_interval", Type: fun.Duration, Default: 0.0, Unit: "s", Doc: "pause between two requests; at least 0.1"},
	}
)

var specs = []fun.Spec{
	{
		Name: "query", Always: true, VarKw: true, Hands: true, State: query, Src: "states/http.py query",
		Doc:    "Send a request and check the response.\nFurther arguments are passed to the function http.query.",
		Shared: [][]fun.Arg{wantArgs, queryArgs},
	},
	{
		Name: "wait_for_successful_query", Always: true, VarKw: true, Hands: true, State: waitFor, Src: "states/http.py wait_for_successful_query",
		Doc:    "Repeat a request until the response matches.\nFurther arguments are passed to the function http.query.",
		Shared: [][]fun.Arg{wantArgs, waitArgs},
	},
}
