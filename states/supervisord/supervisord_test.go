package supervisord

import (
	"testing"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/testkit/calltest"
	"brine/modules/supervisord"
)

const status = `web                              RUNNING   pid 11, uptime 0:01:02
db                               STOPPED   Not started
grp:a                            RUNNING   pid 12, uptime 0:01:02
grp:b                            EXITED    Mar 01 10:00 AM
ok:a                             RUNNING   pid 13, uptime 0:01:02
`

func rig(out string, code int) *calltest.Rig {
	h := host.NewFake()
	h.PutFile("/usr/bin/supervisorctl", "", 0o755)
	h.PutFile("/etc/supervisord.conf", "[DEFAULT]\nx=1\n[program:web]\ncommand = /bin/web -p %(x)s ; run\nautostart: True\nnumprocs=2\nenvironment=A=\"%(ENV_B)s\",\n  C=\"100%%\"\n", 0o644)
	h.OnCommand("*supervisorctl*", host.Output{})
	h.OnCommand("*supervisorctl status", host.Output{Stdout: []byte(out), Status: code})
	h.OnCommand("*supervisorctl status web", host.Output{Stdout: []byte("web RUNNING pid 1")})
	h.OnCommand("*supervisorctl status none", host.Output{Stdout: []byte("none: ERROR (no such process)"), Status: 4})
	h.OnCommand("*supervisorctl start db", host.Output{Stdout: []byte("db: started\n")})
	h.OnCommand("*supervisorctl start grp:", host.Output{Stdout: []byte("grp:b: started\n")})
	h.OnCommand("*supervisorctl start bad", host.Output{Stdout: []byte("bad: ERROR (no such process)\n"), Status: 1})
	h.OnCommand("*supervisorctl add bad", host.Output{Stdout: []byte("ERROR: no such process/group: bad\n")})
	h.OnCommand("*supervisorctl stop ok:", host.Output{Stdout: []byte("ok:a: ERROR (spawn)\n"), Status: 1})
	return calltest.New(h,
		fun.Entry{Kind: fun.Exec, Name: "supervisord", Load: supervisord.Module},
		fun.Entry{Kind: fun.State, Name: "supervisord", Load: States})
}

func TestStates(t *testing.T) {
	rig(status, 3).Steps(t, []calltest.Step{
		{"state supervisord.running {name: web}", "True: Not starting already running service: web {}"},
		{"test supervisord.running {name: web}", "True: Service web is already running {}"},
		{"state supervisord.running {name: web, restart: true}", "True: Restarting service: web {'web': 'Restarting service: web'}"},
		{"test supervisord.running {name: web, restart: true}", "None: Restarting service: web {}"},
		{"state supervisord.running {name: db}", "True: Starting service: db {'db': 'Starting service: db'}"},
		{"test supervisord.running {name: db}", "None: Service db will be started {}"},
		{"state supervisord.running {name: 'grp:*'}", "True: Starting group: grp: {'grp:': 'Starting group: grp:'}"},
		{"test supervisord.running {name: 'grp:'}", "None: The following services will be started: grp:b {}"},
		{"test supervisord.running {name: 'ok:'}", "True: All services in group 'ok:' are already running {}"},
		{"test supervisord.running {name: new}", "None: Service new will be added and started {}"},
		{"test supervisord.running {name: 'new:'}", "None: Group 'new:' will be added and started {}"},
		{"state supervisord.running {name: new}", "True: Starting: new {'new': 'Adding service: new Starting: new'}"},
		{"state supervisord.running {name: bad}", "False: bad: ERROR (no such process) {}"},
		{"state supervisord.running {name: web, update: true}", "True: Not starting already running service: web {}"},
		{"watch supervisord.running {name: web}", "True: Restarting service: web {'web': 'Restarting service: web'}"},
		{"watch supervisord.running {name: web, restart: false}", "True: Not starting already running service: web {}"},
		{"state supervisord.dead {name: web}", "True: Stopping service: web {'web': 'Stopping service: web'}"},
		{"test supervisord.dead {name: web}", "None: Service web is set to be stopped {}"},
		{"state supervisord.dead {name: db}", "True: Service db is not running {}"},
		{"state supervisord.dead {name: none}", "True: Service none doesn't exist {}"},
		{"state supervisord.dead {name: 'ok:'}", "False: ok:a: ERROR (spawn) {}"},
		{"call supervisord.status_bool [web, RUNNING]", "True"},
		{"call supervisord.status_bool [web, STOPPED]", "False"},
		{"call supervisord.status_bool [none]", "False"},
		{"call supervisord.status [web]", "{'web': {'state': 'RUNNING', 'reason': 'pid 1'}}"},
		{"call supervisord.options [web]", "{'x': 1, 'command': '/bin/web -p 1', 'autostart': True, 'numprocs': 2, 'environment': 'A=\"%(ENV_B)s\",\\nC=\"100%\"'}"},
		{"call supervisord.options [db]", "error: Process 'db' not found"},
		{"call supervisord.start [-x]", "error: invalid name of a process: -x"},
		{"call supervisord.start {name: web, user: nobody_zz}", "error: User 'nobody_zz' is not available"},
		{"call supervisord.start {name: web, bin_env: /etc}", "error: Could not find a `supervisorctl` binary"},
		{"call supervisord.restart [all]", "''"},
	})
	// Where the machine may change before, a dry run cannot know that supervisord
	// does not answer.
	mute := rig("unix:///var/run/supervisor.sock no such file\n", 4)
	mute.Steps(t, []calltest.Step{
		{"state supervisord.running {name: web}", "False: ERROR: unix:///var/run/supervisor.sock no such file {}"},
		{"test supervisord.running {name: web}", "None: Service web will be added and started {}"},
		{"state supervisord.dead {name: web}", "False: ERROR: unix:///var/run/supervisor.sock no such file {}"},
		{"test supervisord.dead {name: web}", "None: Service web is set to be stopped {}"},
	})
	mute.Env.Opts.Set("test", true)
	mute.Add(&fun.Chunk{State: "supervisord", Fun: "running", ID: "web", Name: "web"})
	mute.Steps(t, []calltest.Step{
		{"test supervisord.running {name: web}", "False: ERROR: unix:///var/run/supervisor.sock no such file {}"},
	})
}
