package http

import (
	"brine/internal/core/fun"
	"brine/internal/py/value"
)

type urlArg struct {
	_   fun.Arguments
	URL value.Value `arg:"url,required,str" doc:"the URL, http or https"`
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "query", Doc: "Send a request and return the response: body, and if asked for status, headers, dict and text.\nAn unsuccessful response is a mapping of status, error and body; if the server cannot be reached, of error.", Src: "modules/http.py query, utils/http.py query",
		Do: queryRow,
	},
	{
		Name: "wait_for_successful_query", Doc: "Repeat a request until it succeeds, and return the response.", Src: "modules/http.py wait_for_successful_query",
		Of: "http.query", Do: waitRow,
	},
}
