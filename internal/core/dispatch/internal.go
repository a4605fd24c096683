package dispatch

import (
	"slices"
	"strings"
	"sync"
)

// requisiteNames are the global state arguments that users write; a misspelt
// one is looked for among them.
var requisiteNames = []string{
	"require", "require_any", "require_in", "watch", "watch_any", "watch_in",
	"onchanges", "onchanges_any", "onchanges_in", "onfail", "onfail_any", "onfail_all", "onfail_in", "onfail_stop",
	"prereq", "prereq_in", "use", "use_in", "listen", "listen_in",
	"onlyif", "unless", "creates", "check_cmd", "failhard", "retry", "parallel", "order", "names", "aggregate",
	"fire_event", "provider", "reload_modules", "reload_grains", "reload_pillar", "runas", "runas_password", "umask",
}

// internalNames are the other keys of a low chunk that belong to the state
// system and never to a function.
// Salt: salt/state.py STATE_INTERNAL_KEYWORDS.
var internalNames = []string{
	"state", "fun", "name", "__id__", "__sls__", "__env__", "__pub_user", "__pub_arg", "__pub_jid",
	"__pub_fun", "__pub_tgt", "__pub_ret", "__pub_pid", "__pub_tgt_type", "__prereq__", "__prerequired__",
	"__reqs__", "__agg__", "__umask__", "prerequired", "name_order", "order", "require_all", "watch_all", "cmd_opts_exclude", "providers", "force_reload_modules",
	"onchanges_all", "saltenv", "sfun", "__run_num__", "__orchestration_jid__",
}

// internal is the set of both.
var internal = sync.OnceValue(func() map[string]bool {
	set := make(map[string]bool, len(requisiteNames)+len(internalNames))
	for _, n := range slices.Concat(requisiteNames, internalNames) {
		set[n] = true
	}
	return set
})

// Internal reports whether name is an argument that the state system reads and
// keeps from the state function, unless the function declares it.
func Internal(name string) bool { return strings.HasPrefix(name, "__") || internal()[name] }
