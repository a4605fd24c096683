package ui

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"

	"brine/internal/fleet/kept"
	"brine/internal/py/value"
	"brine/internal/view/orchestration"
)

// startFunction asks for an execution function on hosts.
type startFunction struct {
	Function  string            `json:"function" doc:"An execution function, such as test.ping or state.apply."`
	Target    string            `json:"target" doc:"A target expression, such as web* or G@os:Debian."`
	Arguments []json.RawMessage `json:"arguments,omitempty" doc:"Positional arguments: any JSON values. As in Salt, a text such as key=value is a keyword argument."`
	Keywords  json.RawMessage   `json:"keywords,omitempty" object:"yes" doc:"Keyword arguments."`
}

// form has what the audit record says; arguments may be secrets, which the record of the
// job leaves out by their names.
func (x startFunction) form() url.Values {
	return url.Values{"function": {x.Function}, "expr": {x.Target}}
}

// functionName is what an execution function is called.
var functionName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*\.[A-Za-z_][A-Za-z0-9_]*$`) })

func (s *Server) apiStartFunction(c *apiCall, in *startFunction) (*RunDetail, error) {
	call, err := callOf(in.Function, in.Arguments, in.Keywords)
	if err != nil {
		return nil, err
	}
	x, err := s.callOn(c.r.Context(), in.Function, in.Target, call)
	if err != nil {
		return nil, err
	}
	return c.begin(s, x)
}

// callOf are the arguments of a function, as a run gets them.
func callOf(name string, positional []json.RawMessage, keywords json.RawMessage) (*value.Map, error) {
	if !functionName().MatchString(name) {
		return nil, &apiError{kind: badAnswers, detail: fmt.Sprintf("%q is not the name of an execution function such as test.ping.", name), fields: []FieldProblem{{Path: "function", Detail: "It must be MODULE.FUNCTION."}}}
	}
	args, kwargs := value.NewList(), value.NewMap(0)
	for i, text := range positional {
		v, err := argument(fmt.Sprintf("arguments:%d", i), text)
		if err != nil {
			return nil, err
		}
		args.Append(v)
	}
	if len(keywords) > 0 && string(keywords) != "null" {
		v, err := argument("keywords", keywords)
		if err != nil {
			return nil, err
		}
		m, ok := v.(*value.Map)
		if !ok {
			return nil, &apiError{kind: badBody, detail: "keywords must be a JSON object."}
		}
		kwargs = m
	}
	return value.MapOf("arg", args, "kwarg", kwargs), nil
}

// argument reads a JSON value of a call. What the controller would evaluate is refused.
func argument(path string, text json.RawMessage) (value.Value, error) {
	v, _, err := value.ParseJSONWithin(string(text), 32*maxBody)
	if err != nil {
		return nil, &apiError{kind: badBody, detail: path + ": " + err.Error() + "."}
	}
	if why := orchestration.Evaluated(v); why != "" {
		return nil, &apiError{kind: badAnswers, detail: "Nothing was run: see errors.", fields: []FieldProblem{{Path: path, Detail: why}}}
	}
	return v, nil
}

// callOn is the run of a function on the hosts that an expression means now.
func (s *Server) callOn(ctx context.Context, name, expr string, call *value.Map) (runSpec, error) {
	ids, err := s.back(ctx).matchToRun(ctx, expr)
	if err == nil && len(ids) == 0 {
		err = errors.New("nothing matches " + expr)
	}
	if err == nil {
		err = plainIDs(ids)
	}
	if e, ok := errors.AsType[*apiError](err); ok {
		return runSpec{}, e
	}
	if err != nil {
		return runSpec{}, &apiError{kind: badAnswers, detail: "Nothing was run: see errors.", fields: []FieldProblem{{Path: "target", Detail: err.Error()}}}
	}
	return runSpec{Spec: kept.Spec{Kind: kept.Functions, Name: name + " on " + expr, Hosts: ids, AdHoc: true}, Answers: call}, nil
}

// plainIDs refuses hosts that cannot be in a list of one argument.
func plainIDs(ids []string) error {
	if i := slices.IndexFunc(ids, func(id string) bool { return strings.HasPrefix(id, "-") || strings.Contains(id, ",") }); i >= 0 {
		return fmt.Errorf("the host %q cannot be asked from here, because of its name", ids[i])
	}
	return nil
}
