package check

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"brine/cmd/assembly"
	"brine/cmd/internal/reference"
	"brine/internal/core/absent"
	"brine/internal/py/source"
	"brine/internal/py/value"
	"brine/internal/view/lint"
)

// moduleKinds are the headings of the kinds without functions.
var moduleKinds = map[string]string{
	absent.Renderer: "renderers", absent.Pillar: "external pillars", absent.SDB: "sdb drivers", absent.Roster: "rosters",
	absent.Returner: "returners", absent.Outputter: "outputters", absent.Grains: "grains", absent.Top: "master tops",
	absent.FileServer: "file server backends", absent.Beacon: "beacons", absent.Matcher: "target types",
	absent.Serializer: "serializers", absent.LogHandler: "log handlers", absent.Executor: "executors", absent.Cache: "caches",
	absent.Engine: "engines", absent.Thorium: "thorium modules", absent.Queue: "queues", absent.Auth: "authentication",
	absent.Token: "tokens", absent.NetAPI: "network APIs", absent.Proxy: "proxies",
}

// moduleNeeds are the modules of the kinds without functions that a tree, its pillar
// and its configuration name.
func moduleNeeds(used *lint.Used, opts *value.Map) []need {
	var out []need
	add := func(kind, name string, pos source.Pos) {
		if name != "" && !slices.ContainsFunc(out, func(n need) bool { return n.kind == moduleKinds[kind] && n.name == name }) {
			out = append(out, moduleNeed(used, kind, name, pos))
		}
	}
	for kind, names := range used.Needs {
		for _, name := range slices.Sorted(maps.Keys(names)) {
			add(kind, name, names[name])
		}
	}
	for _, set := range append([]*value.Map{opts}, used.Pillar...) {
		optionNeeds(set, add)
		nestedNeeds(set, add)
	}
	return out
}

// moduleNeed is the need of a module of a kind without functions, which may be one of
// the tree's own.
func moduleNeed(used *lint.Used, kind, name string, pos source.Pos) need {
	n := need{kind: moduleKinds[kind], name: name, status: reference.There, pos: pos}
	switch {
	case used.Modules[kind][name]:
	case !slices.Contains(assembly.Offers(kind), name):
		n.status, n.note = reference.Missing, cmp.Or(absent.Why(kind, name), "Salt does not have it either")
	default:
		if n.note = reference.ModuleDiffers(kind, name); n.note != "" {
			n.status = reference.Different
		}
	}
	return n
}

// A namingOption is an option whose value names modules of a kind: text with commas or
// pipes, a list, or a mapping.
type namingOption struct {
	key, kind string
	inside    string // the setting that names another module than the key
	fixed     string // the module that is used wherever the option is set
}

var namingOptions = []namingOption{
	{key: "fileserver_backend", kind: absent.FileServer},
	{key: "ext_pillar", kind: absent.Pillar},
	{key: "return", kind: absent.Returner},
	{key: "event_return", kind: absent.Returner},
	{key: "ext_job_cache", kind: absent.Returner},
	{key: "master_job_cache", kind: absent.Returner},
	{key: "schedule_returner", kind: absent.Returner},
	{key: "output", kind: absent.Outputter},
	{key: "roster", kind: absent.Roster},
	{key: "master_tops", kind: absent.Top},
	{key: "beacons", kind: absent.Beacon, inside: "beacon_module"},
	{key: "engines", kind: absent.Engine, inside: "engine_module"},
	{key: "external_auth", kind: absent.Auth},
	{key: "cache", kind: absent.Cache},
	{key: "eauth_tokens", kind: absent.Token},
	{key: "module_executors", kind: absent.Executor},
	{key: "renderer", kind: absent.Renderer},
	{key: "decrypt_pillar_default", kind: absent.Renderer},
	{key: "rest_cherrypy", kind: absent.NetAPI, fixed: "rest_cherrypy"},
	{key: "rest_tornado", kind: absent.NetAPI, fixed: "rest_tornado"},
	{key: "rest_wsgi", kind: absent.NetAPI, fixed: "rest_wsgi"},
	{key: "logstash_udp_handler", kind: absent.LogHandler, fixed: "logstash"},
	{key: "logstash_zmq_handler", kind: absent.LogHandler, fixed: "logstash"},
	{key: "sentry_handler", kind: absent.LogHandler, fixed: "sentry"},
	{key: "fluent_handler", kind: absent.LogHandler, fixed: "fluent"},
	{key: "log4mongo_handler", kind: absent.LogHandler, fixed: "mongo"},
}

// optionNeeds adds the modules that options name.
func optionNeeds(opts *value.Map, add func(kind, name string, pos source.Pos)) {
	for _, o := range namingOptions {
		pos := opts.Pos(o.key)
		switch {
		case pos.IsZero(): // a default
		case o.fixed != "":
			add(o.kind, o.fixed, pos)
		default:
			eachNamed(opts, o.key, func(name string, x value.Value, pos source.Pos) {
				if o.inside != "" {
					name = moduleOf(name, x, o.inside)
				}
				for stage := range strings.SplitSeq(name, "|") {
					name, _, _ := strings.Cut(strings.TrimSpace(stage), " ") // a renderer may have arguments
					add(o.kind, name, pos)
				}
			})
		}
	}
}

// nestedNeeds adds the modules that are named inside the values of options.
func nestedNeeds(opts *value.Map, add func(kind, name string, pos source.Pos)) {
	jobs := opts.Map("schedule")
	for job, v := range jobs.All() {
		if m, ok := v.(*value.Map); ok {
			eachNamed(m, "returner", func(name string, _ value.Value, pos source.Pos) {
				if pos.IsZero() {
					pos = jobs.Pos(job)
				}
				add(absent.Returner, name, pos)
			})
		}
	}
	if m := opts.Map("proxy"); m.Has("proxytype") {
		add(absent.Proxy, m.Str("proxytype"), m.Pos("proxytype"))
	}
	if value.Truth(opts.At("metadata_server_grains")) {
		add(absent.Grains, "metadata", opts.Pos("metadata_server_grains"))
	}
	decrypt := opts.List("decrypt_pillar")
	for i, x := range decrypt.Elems() {
		if m, ok := x.(*value.Map); ok && m.Len() > 0 {
			_, renderer := m.Entry(0)
			add(absent.Renderer, value.Str(renderer), decrypt.PosAt(i))
		}
	}
	for k, v := range opts.All() {
		m, _ := v.(*value.Map)
		if name := m.Str("driver"); slices.Contains(assembly.Offers(absent.SDB), name) || absent.Why(absent.SDB, name) != "" {
			add(absent.SDB, name, opts.Pos(k))
		}
	}
}

// eachNamed calls found with each name in an option, which is text with commas, a list of
// names or of mappings with one key, or a mapping, and with what stands behind it.
func eachNamed(opts *value.Map, key string, found func(name string, x value.Value, pos source.Pos)) {
	switch v := opts.At(key).(type) {
	case string:
		for name := range strings.SplitSeq(v, ",") {
			found(strings.TrimSpace(name), nil, opts.Pos(key))
		}
	case *value.List:
		for i, x := range v.Items {
			name := x
			if m, ok := x.(*value.Map); ok && m.Len() > 0 {
				name, x = m.Entry(0)
			}
			found(value.Str(name), x, v.PosAt(i))
		}
	case *value.Map:
		for k, x := range v.All() {
			found(value.Str(k), x, v.Pos(k))
		}
	}
}

// moduleOf returns the module of a beacon or an engine, which a setting may name instead
// of the key; "" where the key is not one.
func moduleOf(name string, v value.Value, setting string) string {
	if name == "enabled" {
		return ""
	}
	settings := []value.Value{v}
	if list, ok := v.(*value.List); ok {
		settings = list.Items
	}
	for _, x := range settings {
		if m, ok := x.(*value.Map); ok && m.Has(setting) {
			return m.Str(setting)
		}
	}
	return name
}
