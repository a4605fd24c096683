package saltutil

import (
	"brine/internal/core/fun"
	"brine/internal/py/value"
)

type jidArg struct {
	_   fun.Arguments
	JID string `arg:"jid,required" doc:"the job ID"`
}

type saltenvArg struct {
	_ fun.Arguments
	_ string `arg:"saltenv" doc:"environment to search"`
}

type listsArgs struct {
	_ fun.Arguments
	_ value.Value `arg:"extmod_whitelist,str|list|dict" doc:"accepted"`
	_ value.Value `arg:"extmod_blacklist,str|list|dict" doc:"accepted"`
}

type syncArgs struct {
	saltenvArg
	_ bool `arg:"refresh" default:"True" doc:"accepted; every run looks for modules"`
	listsArgs
}

type syncSDBArgs struct {
	saltenvArg
	listsArgs
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "cmd", Doc: "Run a function on targets and return the results by ID.", Src: "modules/saltutil.py cmd",
		Do: cmd,
	},
	{Name: "find_job", Doc: "Return the data of a job that runs on this machine.", Src: "modules/saltutil.py find_job", Do: findJob},
	{
		Name: "is_running", Doc: "Return the jobs on this machine whose function matches a glob.", Src: "modules/saltutil.py is_running",
		Do: isRunning,
	},
	{Name: "kill_job", Doc: "Send SIGKILL to the process of a job.", Src: "modules/saltutil.py kill_job", Do: killJob},
	{Name: "list_extmods", Doc: "List the custom modules by kind.", Src: "modules/saltutil.py list_extmods", Do: listExtmods},
	{
		Name: "pillar_refresh", Doc: "Return True: every job renders the pillar, so there is nothing to refresh.\nThe same as refresh_pillar.", Src: "modules/saltutil.py pillar_refresh",
		Do: refreshPillar,
	},
	{
		Name: "refresh_grains", Doc: "Return True: every job reads the grains, so there is nothing to refresh.", Src: "modules/saltutil.py refresh_grains",
		Do: refreshGrains,
	},
	{
		Name: "refresh_modules", Doc: "Return True: every job loads the functions, so there is nothing to refresh.", Src: "modules/saltutil.py refresh_modules",
		Do: refreshModules,
	},
	{
		Name: "refresh_pillar", Doc: "Return True: every job renders the pillar, so there is nothing to refresh.", Src: "modules/saltutil.py refresh_pillar",
		Do: refreshPillar,
	},
	{
		Name: "runner", Doc: "Run a runner function.\nFurther arguments are those of the function.", Src: "modules/saltutil.py runner",
		Hands: true, Do: runner,
	},
	{Name: "running", Doc: "Return the jobs that run on this machine.", Src: "modules/saltutil.py running", Do: running},
	{
		Name: "signal_job", Doc: "Send a signal to the process of a job.", Src: "modules/saltutil.py signal_job",
		Do: signalJob,
	},
	{Name: "sync_all", Doc: "List all custom modules that are in use, by kind.", Src: "modules/saltutil.py sync_all", Do: syncAll},
	{Name: "sync_beacons", Doc: "List the custom beacons that are in use.", Src: "modules/saltutil.py sync_beacons", Do: sync},
	{Name: "sync_clouds", Doc: "List the custom clouds that are in use.", Src: "modules/saltutil.py sync_clouds", Do: sync},
	{Name: "sync_engines", Doc: "List the custom engines that are in use.", Src: "modules/saltutil.py sync_engines", Do: sync},
	{Name: "sync_executors", Doc: "List the custom executors that are in use.", Src: "modules/saltutil.py sync_executors", Do: sync},
	{Name: "sync_grains", Doc: "List the custom grains that are in use.", Src: "modules/saltutil.py sync_grains", Do: sync},
	{Name: "sync_log_handlers", Doc: "List the custom log handlers that are in use.", Src: "modules/saltutil.py sync_log_handlers", Do: sync},
	{Name: "sync_matchers", Doc: "List the custom matchers that are in use.", Src: "modules/saltutil.py sync_matchers", Do: sync},
	{Name: "sync_modules", Doc: "List the custom modules that are in use.", Src: "modules/saltutil.py sync_modules", Do: sync},
	{Name: "sync_output", Doc: "List the custom outputters that are in use.", Src: "modules/saltutil.py sync_output", Do: sync},
	{Name: "sync_outputters", Doc: "List the custom outputters that are in use.\nThe same as sync_output.", Src: "modules/saltutil.py sync_outputters", Do: sync},
	{Name: "sync_pillar", Doc: "List the custom pillar modules that are in use.", Src: "modules/saltutil.py sync_pillar", Do: sync},
	{Name: "sync_proxymodules", Doc: "List the custom proxy modules that are in use.", Src: "modules/saltutil.py sync_proxymodules", Do: sync},
	{Name: "sync_renderers", Doc: "List the custom renderers that are in use.", Src: "modules/saltutil.py sync_renderers", Do: sync},
	{Name: "sync_returners", Doc: "List the custom returners that are in use.", Src: "modules/saltutil.py sync_returners", Do: sync},
	{Name: "sync_runners", Doc: "List the custom runners that are in use.", Src: "modules/saltutil.py sync_runners", Do: sync},
	{Name: "sync_sdb", Doc: "List the custom sdb modules that are in use.", Src: "modules/saltutil.py sync_sdb", Do: syncSDB},
	{Name: "sync_serializers", Doc: "List the custom serializers that are in use.", Src: "modules/saltutil.py sync_serializers", Do: sync},
	{Name: "sync_states", Doc: "List the custom states that are in use.", Src: "modules/saltutil.py sync_states", Do: sync},
	{Name: "sync_thorium", Doc: "List the custom thorium modules that are in use.", Src: "modules/saltutil.py sync_thorium", Do: sync},
	{Name: "sync_utils", Doc: "List the custom utility modules that are in use.", Src: "modules/saltutil.py sync_utils", Do: sync},
	{Name: "term_job", Doc: "Send SIGTERM to the process of a job.", Src: "modules/saltutil.py term_job", Do: termJob},
	{
		Name: "wheel", Doc: "Run a wheel function.\nFurther arguments are those of the function.", Src: "modules/saltutil.py wheel",
		Hands: true, Do: wheel,
	},
}
