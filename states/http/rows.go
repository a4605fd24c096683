package http

import (
	"brine/internal/core/fun"
	"brine/internal/py/value"
)

type wantArgs struct {
	_          fun.Arguments
	_          string      `arg:"name,required" doc:"URL"`
	Match      value.Value `arg:"match,str" doc:"text that the response must contain"`
	MatchType  string      `arg:"match_type" default:"string" doc:"kind of match: string, or pcre for a regular expression"`
	Status     value.Value `arg:"status,str|int|list" doc:"status that the response must have"`
	StatusType string      `arg:"status_type" default:"string" doc:"kind of status: string, pcre for a regular expression, or list"`
}

var specs = []fun.Spec{
	{
		Name: "query", Always: true, Of: "http.query", Do: query, Src: "states/http.py query",
		Doc: "Send a request and check the response.",
	},
	{
		Name: "wait_for_successful_query", Always: true, Of: "http.query", Do: waitFor, Src: "states/http.py wait_for_successful_query",
		Doc: "Repeat a request until the response matches.",
	},
}
