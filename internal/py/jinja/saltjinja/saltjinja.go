// Package saltjinja has what Salt 3006 adds to Jinja2: filters, tests, globals,
// tags, and the way dicts print. [New] returns it as data for the engine.
package saltjinja

import (
	"maps"
	"sync"

	"brine/internal/py/jinja"
	"brine/internal/py/value"
)

// Options are what Salt's filters need from outside of templates.
type Options struct {
	// Host answers filters that ask for files, users or addresses. Without it
	// they fail.
	Host HostOps
	// Query is the filter http_query. Without it the filter fails.
	Query jinja.Func
	// Unknown, where set, answers filters that ask for files, users or addresses, by
	// what they ask.
	Unknown func(call string) value.Value
}

// New returns Salt's extension of Jinja2.
func New(o Options) jinja.Extension {
	t := shared()
	filters := maps.Clone(t.filters)
	asking := machine{o.Host, o.Query}.filters()
	for name := range asking {
		if o.Unknown == nil || name == "strftime" || name == "date_format" || name == "http_query" {
			continue
		}
		asking[name] = func(c *jinja.Call) (value.Value, error) {
			return o.Unknown(name + value.Repr(value.NewList(c.Args...))), nil
		}
	}
	maps.Copy(filters, asking)
	return jinja.Extension{Filters: filters, Tests: t.tests, Globals: t.globals, Tags: t.tags, Finalize: finalize}
}

// tables are the parts that all environments share.
type tables struct {
	filters, tests map[string]jinja.Func
	globals        map[string]value.Value
	tags           map[string]jinja.Tag
}

// shared makes the tables when they are first needed.
var shared = sync.OnceValue(func() tables {
	t := tables{filters: map[string]jinja.Func{}, tests: tests(), globals: globals(), tags: tags()}
	for _, more := range []map[string]jinja.Func{dataFilters(), textFilters(), listFilters(), dictFilters(), netFilters()} {
		maps.Copy(t.filters, more)
	}
	return t
})

// tags returns Salt's tags, those of its SerializerExtension.
// Salt: salt/utils/jinja.py SerializerExtension.
func tags() map[string]jinja.Tag {
	return map[string]jinja.Tag{
		"load_json":   {Kind: jinja.CaptureTag, End: "endload", Filter: "load_json"},
		"load_text":   {Kind: jinja.CaptureTag, End: "endload", Filter: "load_text"},
		"load_yaml":   {Kind: jinja.CaptureTag, End: "endload", Filter: "load_yaml"},
		"import_json": {Kind: jinja.ImportTag, Filter: "load_json"},
		"import_text": {Kind: jinja.ImportTag, Filter: "load_text"},
		"import_yaml": {Kind: jinja.ImportTag, Filter: "load_yaml"},
		"profile":     {Kind: jinja.ProfileTag, End: "endprofile"},
	}
}
