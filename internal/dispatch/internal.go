package dispatch

import (
	"strings"

	"brine/internal/source"
)

// requisiteNames are the global state arguments that users write; a misspelt
// one is looked for among them.
var requisiteNames = []string{
	"require", "require_any", "require_in", "watch", "watch_any", "watch_in",
	"onchanges", "onchanges_any", "onchanges_in", "onfail", "onfail_any", "onfail_all", "onfail_in", "onfail_stop",
	"prereq", "prereq_in", "use", "use_in", "listen", "listen_in",
	"onlyif", "unless", "creates", "check_cmd", "failhard", "retry", "parallel", "order", "names", "aggregate",
	"fire_event", "reload_modules", "reload_grains", "reload_pillar", "runas", "runas_password", "umask",
}

// internalNames are the other keys of a low chunk that belong to the state
// system and never to a function.
// Salt: salt/state.py STATE_INTERNAL_KEYWORDS.
var internalNames = []string{
	"state", "fun", "name", "__id__", "__sls__", "__env__", "__pub_user", "__pub_arg", "__pub_jid",
	"__pub_fun", "__pub_tgt", "__pub_ret", "__pub_pid", "__pub_tgt_type", "__prereq__", "__prerequired__",
	"__reqs__", "__agg__", "__umask__", "prerequired", "name_order", "order", "require_all", "watch_all",
	"onchanges_all", "saltenv", "sfun", "__run_num__", "__orchestration_jid__",
}

// Internal reports whether name is an argument that the state system reads and
// keeps from the state function, unless the function declares it.
func Internal(name string) bool {
	if strings.HasPrefix(name, "__") {
		return true
	}
	for _, n := range requisiteNames {
		if n == name {
			return true
		}
	}
	for _, n := range internalNames {
		if n == name {
			return true
		}
	}
	return false
}

func nearest(name string, names []string) string { return source.DidYouMean(name, names) }
