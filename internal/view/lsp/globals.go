package lsp

// A global is an argument that every state takes.
type global struct {
	name, kind, doc string
}

// globals are the arguments that the state system reads.
var globals = []global{
	{"require", "list of states", "Run after these states, and only if they succeed."},
	{"require_any", "list of states", "Run after these states, and only if one of them succeeds."},
	{"require_in", "list of states", "These states require this one."},
	{"watch", "list of states", "As `require`; if one of these states has changes, also react to them: a service restarts, a command runs."},
	{"watch_any", "list of states", "As `watch`, but it is enough that one of these states succeeds."},
	{"watch_in", "list of states", "These states watch this one."},
	{"onchanges", "list of states", "Run only if one of these states has changes and none of them fails."},
	{"onchanges_any", "list of states", "Run only if one of these states has changes, even if others fail."},
	{"onchanges_in", "list of states", "These states run only if this one has changes."},
	{"onfail", "list of states", "Run only if one of these states fails."},
	{"onfail_any", "list of states", "Run only if one of these states fails."},
	{"onfail_all", "list of states", "Run only if all of these states fail."},
	{"onfail_in", "list of states", "These states run only if this one fails."},
	{"onfail_stop", "boolean", "False: states that require this one run even though it handles a failure."},
	{"prereq", "list of states", "Run before these states, and only if they are going to make changes."},
	{"prereq_in", "list of states", "This state is a prereq of these: they run before it, if it is going to make changes."},
	{"listen", "list of states", "React to changes of these states at the end of the run."},
	{"listen_in", "list of states", "These states react to changes of this one at the end of the run."},
	{"use", "list of states", "Take the arguments of these states that this one does not have."},
	{"use_in", "list of states", "These states take the arguments of this one."},
	{"onlyif", "command or list", "Run only if all of these commands succeed."},
	{"unless", "command or list", "Run only if one of these commands fails."},
	{"creates", "path or list of paths", "Run only if one of these files does not exist."},
	{"check_cmd", "command or list", "The state fails if one of these commands fails after it."},
	{"retry", "mapping", "Repeat the state until it succeeds: `attempts`, `until`, `interval`, `splay`."},
	{"failhard", "boolean", "End the run if this state fails."},
	{"order", "integer, first or last", "Where the state runs among those without requisites."},
	{"names", "list", "Run the state once for each of these names."},
	{"parallel", "boolean", "Do not wait for this state before the next one starts."},
	{"aggregate", "boolean or list", "Join this state with others of its kind where the module can."},
	{"fire_event", "boolean or string", "Send an event when the state is done."},
	{"provider", "string or list", "Use this execution module instead of the one for the system."},
	{"reload_modules", "boolean", "Look for modules again after this state."},
	{"reload_grains", "boolean", "Read the grains again after this state."},
	{"reload_pillar", "boolean", "Render the pillar again after this state."},
	{"runas", "string", "Run the commands of `onlyif`, `unless` and `check_cmd` as this user."},
	{"umask", "mode", "The umask while the state runs."},
}

// globalOf returns the argument of a name; nil where it is none of every state.
func globalOf(name string) *global {
	for i := range globals {
		if globals[i].name == name {
			return &globals[i]
		}
	}
	return nil
}

// variables are what templates see, with their documentation.
var variables = []global{
	{"grains", "mapping", "What is known of the machine: `grains['os_family']`."},
	{"pillar", "mapping", "The data of the machine: `pillar.get('key', default)` for a top-level key, `salt['pillar.get']('a:b')` for a path."},
	{"salt", "mapping", "Execution functions: `salt['cmd.run']('uptime')`."},
	{"opts", "mapping", "The configuration."},
	{"saltenv", "string", "The environment of the SLS."},
	{"sls", "string", "The name of the SLS."},
	{"slspath", "string", "The directory of the SLS under the roots."},
	{"tplfile", "string", "The path of the template under the roots."},
	{"tpldir", "string", "The directory of the template under the roots."},
	{"tplpath", "string", "The path of the template on disk."},
	{"tpldot", "string", "The directory of the template with dots."},
	{"namespace", "function", "An object whose attributes a loop can set."},
	{"range", "function", "Numbers, as in Python."},
}
