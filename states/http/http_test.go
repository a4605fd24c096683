package http_test

import (
	"context"
	"testing"

	"brine/internal/core/dispatch"
	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/internal/py/yamlsalt"
	"brine/states/http"
)

// TestStates has what the states say of an answer.
//
// Salt: salt/states/http.py.
func TestStates(t *testing.T) {
	t.Parallel()
	const ok = "{body: hello world, status: 200, text: hello world}"
	for _, tt := range []struct {
		name, fun, args, answer string
		test                    bool
		result                  value.Value
		comment                 string
		sent                    string // what the function was given
	}{
		{"neither", "query", "{}", ok, false, false, " Either match text (match) or a status code (status) is required.", ""},
		{"match", "query", "{match: o w}", ok, false, true, `Match text "o w" was found.`, "{decode: false, text: true, status: true}"},
		{"no match", "query", "{match: zz}", ok, false, false, `Match text "zz" was not found.`, "{decode: false, text: true, status: true}"},
		{"number", "query", "{match: 20, status: 200}", "{text: '1203', status: 200}", false, true, `Match text "20" was found. Status 200 was found.`, "{decode: false, text: true, status: true}"},
		{"pattern", "query", "{match: '^h.*d$', match_type: pcre, decode: true, method: POST}", ok, false, true, `Match pattern "^h.*d$" was found.`, "{decode: true, method: POST, text: true, status: true}"},
		{"no pattern", "query", "{match: '^w', match_type: pcre}", ok, false, false, `Match pattern "^w" was not found.`, "{decode: false, text: true, status: true}"},
		{"status", "query", "{status: '200'}", ok, false, true, "Status 200 was found.", "{decode: false, text: true, status: true}"},
		{"other status", "query", "{status: 404, match: hello}", ok, false, false, `Match text "hello" was found. Status 404 was not found.`, "{decode: false, text: true, status: true}"},
		{"no undoing", "query", "{status: 200, match: zz}", ok, false, false, `Match text "zz" was not found. Status 200 was found.`, "{decode: false, text: true, status: true}"},
		{"list", "query", "{status: [200, 201], status_type: list}", ok, false, true, "Status 200 was found.", "{decode: false, text: true, status: true}"},
		{"not in list", "query", "{status: [301, 302], status_type: list}", ok, false, false, "Statuses [301, 302] were not found.", "{decode: false, text: true, status: true}"},
		{"status pattern", "query", "{status: '^2', status_type: pcre}", ok, false, true, `Status pattern "^2" was found.`, "{decode: false, text: true, status: true}"},
		{"no status pattern", "query", "{status: '^3', status_type: pcre}", ok, false, false, `Status pattern "^3" was not found.`, "{decode: false, text: true, status: true}"},
		{"no server", "query", "{status: 200, match: x}", "{error: refused}", false, false, `Match text "x" was not found. Status 200 was not found.`, "{decode: false, text: true, status: true}"},
		{"unknown type", "query", "{status: 200, status_type: lits}", ok, false, nil, "", "{decode: false, text: true, status: true}"},
		{"wait", "query", "{status: 200, wait_for: 5}", ok, false, true, "Status 200 was found.", "{decode: false, text: true, status: true, wait_for: 5.0}"},
		{"test", "query", "{status: 200}", "{}", true, nil, "Status 200 was not found. (TEST MODE)", "{decode: false, text: true, status: true, test: true}"},
		{"test url", "query", "{status: 200, test_url: 'http://t'}", ok, true, nil, "Status 200 was found. (TEST MODE, TEST URL WAS: http://t)", "{decode: false, test_url: 'http://t', text: true, status: true, test: true}"},
		{"until", "wait_for_successful_query", "{status: 200, request_interval: 1}", ok, false, true, "Status 200 was found.", "{decode: false, text: true, status: true}"},
		{"never", "wait_for_successful_query", "{status: 201, wait_for: 3}", ok, false, false, "Status 201 was not found.", "{decode: false, text: true, status: true}"},
		{"test does not wait", "wait_for_successful_query", "{status: 201}", "{}", true, nil, "Status 201 was not found. (TEST MODE)", "{decode: false, text: true, status: true, test: true}"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			load := func(s string) *value.Map {
				v, err := yamlsalt.LoadString(s)
				if err != nil {
					t.Fatal(err)
				}
				return v.(*value.Map)
			}
			var sent *value.Map
			called := "none"
			exec := func() fun.Module {
				m := fun.Module{Name: "http", Kind: fun.Exec}
				for _, name := range []string{"query", "wait_for_successful_query"} {
					m.Specs = append(m.Specs, fun.Spec{
						Name: name, VarKw: true, Args: []fun.Arg{{Name: "url", Type: fun.Str, Required: true}},
						Fn: func(_ context.Context, c *fun.Call) (fun.Result, error) {
							sent, called = c.Kw, name
							return fun.Result{Value: load(tt.answer)}, nil
						},
					})
				}
				return m
			}
			env := &fun.Env{Machine: fun.Machine{Host: host.NewFake()}, Functions: fun.Functions{Table: fun.NewTable([]fun.Entry{{Kind: fun.State, Name: "http", Load: http.States}, {Kind: fun.Exec, Name: "http", Load: exec}})}}
			env.Invoker = dispatch.New(env)
			mod, spec, ok := env.Table.Lookup(fun.State, "http."+tt.fun)
			if !ok {
				t.Fatalf("no http.%s", tt.fun)
			}
			c := &fun.Call{Mod: mod, Spec: spec, Name: "http://x", Args: value.NewMap(0), Kw: value.NewMap(0), Test: tt.test, Env: env}
			given := load(tt.args)
			for _, a := range spec.Args {
				c.Args.Set(a.Name, a.Default)
			}
			c.Args.Set("name", c.Name)
			for k, v := range given.All() {
				if c.Args.Has(k) {
					c.Args.Set(k, v)
				} else {
					c.Kw.Set(k, v)
				}
			}
			ret := spec.State(t.Context(), c)
			if ret.Err != nil {
				t.Fatal(ret.Err)
			}
			if ret.Result.Value() != tt.result || ret.Comment != tt.comment {
				t.Errorf("%v %q, want %v %q", ret.Result.Value(), ret.Comment, tt.result, tt.comment)
			}
			if tt.sent == "" {
				if called != "none" {
					t.Errorf("%s was called", called)
				}
				return
			}
			if want := load(tt.sent); !value.Equal(sent, want) {
				t.Errorf("sent %s, want %s", value.Repr(sent), value.Repr(want))
			}
			if data, _ := ret.Extra.Get("data"); !value.Equal(data, load(tt.answer)) {
				t.Errorf("data %s", value.Repr(data))
			}
		})
	}
}
