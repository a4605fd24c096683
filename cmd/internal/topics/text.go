package topics

var environment = Topic{
	Name: "environment", Title: "Environment variables", Section: "ENVIRONMENT", Head: "variable",
	Short: "environment variables that brine reads",
	Intro: "brine reads these variables. A flag overrides the variable of the same purpose. What a target runs sees the environment of the login on that target, not this one.",
	Parts: []Part{
		{"Configuration", []Row{
			{"BRINE_CONFIG_DIR", "directory of the configuration, if -c is not given"},
			{"SALT_CONFIG_DIR", "the same, if BRINE_CONFIG_DIR is not set"},
			{"SALT_SALTFILE", "the Saltfile, if --saltfile is not given"},
			{"SALT_MINION_CONFIG", "configuration file of brine call, if no directory is named"},
			{"SALT_MASTER_CONFIG", "configuration file of all other commands, if no directory is named"},
			{"BRINE_CACHE_DIR", "directory of the cache, if the configuration has no cachedir; an absolute path"},
			{"BRINE_RUN_DIR", "directory of the sockets by which the runs of a user find each other, instead of /run/brine or /tmp/brine-<uid>"},
			{"XDG_CACHE_HOME", "the cache of an ordinary user is in its directory brine (default: ~/.cache)"},
			{"XDG_DATA_HOME", "agents that 'brine agent build' made are in its directory brine/agents (default: ~/.local/share)"},
			{"HOME", "home directory, for ~ in paths and for ~/.ssh"},
			{"PATH", "where brine looks for programs"},
			{"TMPDIR", "directory of temporary files (default: /tmp)"},
		}},
		{"Output", []Row{
			{"BRINE_PROGRESS", "what --progress is by default: auto, live, plain, json or none"},
			{"NO_COLOR", "if it is not empty, no colours"},
			{"TERM", "with dumb, no colours and no live view"},
			{"CI", "if it is not empty, progress is in lines instead of the live view"},
			{"COLUMNS", "width of the help and of 'brine docs', if stdout is not a terminal"},
			{"PAGER", "program that shows the pages of 'brine docs' on a terminal (default: less)"},
			{"VISUAL", "editor of 'brine chain edit'"},
			{"EDITOR", "the same, if VISUAL is not set (default: vi)"},
		}},
		{"SSH and passwords", []Row{
			{"SSH_AUTH_SOCK", "socket of ssh-agent"},
			{"XDG_RUNTIME_DIR", "sockets of kept connections are in its directory brine/ssh, if it is your own"},
			{"SSH_ASKPASS", "program that asks for passwords on a desktop"},
			{"SSH_ASKPASS_REQUIRE", "when it is used: force, prefer or never"},
			{"DISPLAY", "there is a desktop: SSH_ASKPASS may be used, and --open starts a browser"},
			{"WAYLAND_DISPLAY", "the same"},
			{"SSH_CONNECTION", "on macOS, if it is set, 'brine docs PAGE' prints text instead of serving the page to a browser"},
		}},
		{"Buckets", []Row{
			{"AWS_EC2_METADATA_SERVICE_ENDPOINT", "who gives s3fs and ext_pillar s3 the credentials of an instance's role (default: http://169.254.169.254)"},
		}},
		{"Stopping", []Row{
			{"BRINE_TERM_GRACE", "how long running steps may go on after SIGTERM, such as 30s or 5m; 0s stops them at once"},
		}},
		{"Traces", []Row{
			{"OTEL_EXPORTER_OTLP_ENDPOINT", "where traces of runs are sent; the other variables OTEL_EXPORTER_OTLP_* with headers, protocol, timeout and certificates are read as well"},
			{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "the same, for traces alone"},
			{"OTEL_SDK_DISABLED", "with true, no traces"},
			{"OTEL_TRACES_EXPORTER", "with none, no traces"},
			{"OTEL_TRACES_SAMPLER", "with always_off, no traces"},
			{"OTEL_SERVICE_NAME", "name of the service in traces (default: brine)"},
			{"OTEL_RESOURCE_ATTRIBUTES", "attributes of the resource in traces"},
			{"TRACEPARENT", "the trace that a run belongs to"},
		}},
		{"Set by brine", []Row{
			{"BRINE_ON_HOSTS", "globs, separated by commas, for the hosts that a run for a user of 'brine ui' may reach"},
			{"BRINE_ON_BEHALF_OF", "user of 'brine ui' for whom a run is started; nobody is asked on the terminal then"},
		}},
	},
}

var files = Topic{
	Name: "files", Title: "Files", Section: "FILES", Head: "path",
	Short: "files that brine reads and writes",
	Intro: "None of these files has to exist. 'brine call' reads the file minion of the configuration, all other commands read master; if the one is missing, the other is used.",
	Parts: []Part{
		{"Configuration", []Row{
			{"Saltfile", "options of commands, in the working directory or above it; 'brine init' writes one"},
			{"~/.salt/Saltfile", "the same, if there is no other one"},
			{"/etc/brine", "the configuration, if it has master, minion, master.d/*.conf or minion.d/*.conf"},
			{"/etc/salt", "the configuration otherwise"},
			{"minion, minion.d/*.conf", "configuration of 'brine call'"},
			{"master, master.d/*.conf", "configuration of all other commands"},
			{"roster", "targets of 'brine ssh' and of orchestrations; --roster-file names another file"},
			{"grains", "grains of this machine"},
		}},
		{"Trees", []Row{
			{"/srv/salt", "states, if file_roots does not say otherwise"},
			{"/srv/pillar", "pillar, if pillar_roots does not say otherwise"},
			{"formulas.yaml, formulas.lock", "formulas of a tree and their versions; 'brine formula' writes them"},
		}},
		{"Cache and records", []Row{
			{"/var/cache/brine", "job cache, mine, cached files and records of root; cachedir changes it"},
			{"~/.cache/brine", "the same for an ordinary user, in $XDG_CACHE_HOME"},
			{"~/.cache/brine/plan.key", "key that plans are signed with, also for root in its own home directory"},
			{"/run/brine", "sockets by which runs of root find each other"},
			{"/tmp/brine-<uid>", "the same for an ordinary user"},
		}},
		{"SSH", []Row{
			{"~/.ssh/config, /etc/ssh/ssh_config", "options of connections, as for ssh"},
			{"~/.ssh/known_hosts", "keys of hosts"},
			{"$XDG_RUNTIME_DIR/brine/ssh, ~/.cache/brine/ssh/kept", "sockets of kept connections"},
			{"~/.local/share/brine/agents", "agents for other platforms that 'brine agent build' made"},
		}},
		{"On a target", []Row{
			{"~/.cache/brine/agent", "the agent: brine's copy of itself. --wipe removes it after the run"},
			{"/var/tmp/.brine-<uid>, /dev/shm/.brine-<uid>, /tmp/.brine-<uid>", "the same, if the home directory cannot be written or forbids to run programs"},
		}},
	},
}

var statuses = Topic{
	Name: "exit-status", Title: "Exit statuses", Section: "EXIT STATUS", Head: "status",
	Short: "what the exit status of a command says",
	Intro: "brine never exits with 0 if something failed. The help of each command has the statuses of that command.",
	Parts: []Part{{"", []Row{
		{"0", "success; plan --detailed-exitcode: nothing would change"},
		{"1", "a state or step failed, an SLS or the configuration is invalid, the function failed, or no target matched; lint and check found something; plan: a state is certain to fail, or a target was not reached"},
		{"2", "call --retcode-passthrough: states failed; plan --detailed-exitcode: changes are due, or something is not known yet or may fail; run drift.report: a host deviates"},
		{"5", "call --retcode-passthrough: the pillar failed to render"},
		{"11", "ssh: the agent could not be copied to a target"},
		{"20", "ssh: a target failed or could not be reached"},
		{"64", "usage error: nothing was run"},
		{"75", "a run of a queue cannot begin yet"},
		{"76", "a run of a queue waits for a lock that another run has"},
		{"77", "a run of a queue was stopped before its end"},
		{"78", "a run of a queue waits for an approval"},
		{"79", "a run was refused by a person"},
		{"130", "interrupted, such as by Ctrl-C"},
		{"255", "there is no such function"},
	}}},
	Outro: "With call --retcode-passthrough, the status is that of the command that the function ran.",
}
