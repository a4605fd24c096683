package service_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"brine/internal/core/cause"
	"brine/internal/core/dispatch"
	"brine/internal/core/fun"
	"brine/internal/core/redact"
	"brine/internal/py/value"
	"brine/internal/testkit/calltest"
	"brine/internal/testkit/systemdtest"
	"brine/modules/systemd"
	"brine/states/service"
)

// machine has a unit of each kind that the states tell apart.
func machine() *systemdtest.Machine {
	return systemdtest.New(map[string]*systemdtest.Unit{
		"down.service":   {},
		"up.service":     {Active: "active", State: "enabled", Reloads: true},
		"lone.service":   {Active: "active"},
		"stuck.service":  {Active: "active", Stuck: true},
		"static.service": {State: "static"},
		"masked.service": {Load: "masked"},
		"bad.service":    {Load: "bad-setting", Refuse: "Failed to start bad.service: Unit bad.service has a bad unit file setting."},
		"dies.service":   {Then: "failed"},
		"once.service":   {Type: "oneshot", Then: "inactive"},
		"slow.service":   {Then: "activating"},
		"new.service":    {Changed: true},
		"t.timer":        {},
	})
}

// A view is the run of states that a state is part of.
type view struct {
	chunks []*fun.Chunk
	rets   map[string]*value.Map
}

func (v *view) Low() []*fun.Chunk            { return v.chunks }
func (v *view) Running() *value.Map          { return value.NewMap(0) }
func (v *view) Return(tag string) *value.Map { return v.rets[tag] }
func (v *view) add(state, fn, name string) *fun.Chunk {
	low := value.MapOf("state", state, "fun", fn, "name", name)
	c := &fun.Chunk{State: state, Fun: fn, ID: name, Name: name, Low: low}
	v.chunks = append(v.chunks, c)
	return c
}

func newEnv(m *systemdtest.Machine, v *view, test bool, warnings *[]string) *fun.Env {
	env := &fun.Env{
		Machine: fun.Machine{Host: m},
		Data:    fun.Data{Memo: &fun.Memo{}, Opts: value.MapOf("test", test), Grains: value.MapOf("kernel", "Linux")},
		UI:      fun.UI{OnWarn: func(w fun.Warning) { *warnings = append(*warnings, w.Text) }},
	}
	if v != nil {
		env.Run = v
	}
	env.Table = fun.NewTable([]fun.Entry{
		{Kind: fun.Exec, Name: "systemd_service", Virtual: "service", Load: systemd.Module},
		{Kind: fun.State, Name: "service", Load: service.States},
	})
	env.Invoker = dispatch.New(env)
	return env
}

// acts are the commands that change something.
func acts(m *systemdtest.Machine) []string {
	var out []string
	for _, s := range m.Commands() {
		if !strings.HasPrefix(s, "systemctl show") && !strings.HasPrefix(s, "systemctl is-") && !strings.HasPrefix(s, "journalctl") {
			out = append(out, s)
		}
	}
	return out
}

func run(t *testing.T, env *fun.Env, fn, args string, c *fun.Chunk, test, watch bool) fun.Ret {
	t.Helper()
	mod, spec, err := env.Find(fun.State, "service."+fn)
	if err != nil {
		t.Fatal(err)
	}
	call, err := env.Invoker.Bind(mod, spec, fun.Args{Kw: calltest.YAML(t, args).(*value.Map)})
	if err != nil {
		t.Fatal(err)
	}
	call.Test, call.Low = test, c
	do := spec.State
	if watch {
		do = mod.Watch
	}
	ret := do(t.Context(), call)
	if ret.Err != nil {
		t.Fatal(ret.Err)
	}
	return ret
}

// The comments and changes are those of salt/states/service.py, or better ones
// where testdata/machines-open.d/service.txt says so.
func TestService(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, fun, args string
		mode            string // test, watch, "test watch"
		want            string
		acts            []string
		warn            string
	}{
		{"start", "running", "{name: down}", "", "{r: true, c: Started service down, x: {down: true}}", []string{"systemctl start down.service"}, ""},
		// The texts yes and None disable the service in Salt.
		{"text none", "running", "{name: up, enable: None}", "", "{r: true, c: The service up is already running, x: {}}", nil, ""},
		{"text yes", "running", "{name: lone, enable: 'yes'}", "test", "{r: null, c: Service lone set to be enabled, x: {}}", nil, ""},
		{"text no", "running", "{name: up, enable: 'No'}", "test", "{r: null, c: Service up set to be disabled, x: {}}", nil, ""},
		{"text nope", "running", "{name: up, enable: nope}", "", "{r: false, c: \"enable must be True, False or None, not 'nope'\", x: {}}", nil, ""},
		{"start test", "running", "{name: down, enable: true}", "test", "{r: null, c: Service down is set to start, x: {}}", nil, ""},
		{
			"start and enable", "running", "{name: down, enable: true}", "", "{r: true, c: 'Service down has been enabled, and is running', x: {down: true}}",
			[]string{"systemctl start down.service", "systemctl enable down.service"},
			"",
		},
		{"runs", "running", "{name: up, enable: true}", "", "{r: true, c: The service up is already running, x: {}}", nil, ""},
		{"runs, enable", "running", "{name: lone, enable: true}", "", "{r: true, c: 'Service lone has been enabled, and is in the desired state', x: {lone: true}}", []string{"systemctl enable lone.service"}, ""},
		{"runs, enable test", "running", "{name: lone, enable: true}", "test", "{r: null, c: Service lone set to be enabled, x: {}}", nil, ""},
		{"runs, disable", "running", "{name: up, enable: false}", "", "{r: true, c: 'Service up has been disabled, and is in the desired state', x: {up: true}}", []string{"systemctl disable up.service"}, ""},
		{"misnamed", "running", "{name: up, enabled: true}", "", `{r: false, c: 'Service up uses non-existent option "enabled".  Perhaps "enable" option was intended?', x: {}}`, nil, "enabled"},
		{"missing", "running", "{name: none}", "", "{r: false, c: The named service none is not available, x: {}}", nil, ""},
		{"missing test", "running", "{name: none}", "test", "{r: false, c: The named service none is not available, x: {}}", nil, ""},
		{"bad", "running", "{name: bad}", "", "{r: false, c: 'Failed to start bad.service: Unit bad.service has a bad unit file setting.', x: {}}", []string{"systemctl start bad.service"}, ""},
		{"dies", "running", "{name: dies, init_delay: 2, enable: true}", "", `{r: false, c: "Service dies has been enabled, and is dead\nDelayed return for 2 seconds", x: {dies: true}}`, []string{"systemctl start dies.service", "systemctl enable dies.service"}, ""},
		{"oneshot", "running", "{name: once}", "", "{r: true, c: 'Service once ran and ended, as a oneshot unit does', x: {once: true}}", []string{"systemctl start once.service"}, ""},
		{
			"oneshot, enable", "running", "{name: once, enable: true}", "",
			`{r: true, c: "Service once ran and ended, as a oneshot unit does\nService once has been enabled, and is in the desired state", x: {once: true}}`,
			[]string{"systemctl start once.service", "systemctl enable once.service"},
			"",
		},
		{"static", "running", "{name: static, enable: true}", "", "{r: true, c: 'Service static is already enabled, and is running', x: {static: true}}", []string{"systemctl start static.service"}, "static unit"},
		{"masked", "running", "{name: masked}", "", "{r: false, c: 'Failed to start masked.service: Unit masked.service is masked.', x: {}}", []string{"systemctl start masked.service"}, ""},
		{"masked test", "running", "{name: masked}", "test", "{r: false, c: 'Failed to start masked.service: Unit masked.service is masked.', x: {}}", nil, ""},
		{
			"unmask", "running", "{name: masked, unmask: true}", "", `{r: true, c: "Started service masked\nService masked was unmasked", x: {masked: true}}`,
			[]string{"systemctl unmask masked.service", "systemctl start masked.service"},
			"",
		},
		{"unmask test", "running", "{name: masked, unmask: true}", "test", `{r: null, c: "Service masked is set to start\nService masked would be unmasked", x: {}}`, nil, ""},
		{"no block", "running", "{name: down, no_block: true}", "", "{r: true, c: Started service down, x: {down: true}}", []string{"systemctl --no-block start down.service"}, ""},
		{"slow", "running", "{name: slow, no_block: true, wait: 1}", "", "{r: false, c: Service slow failed to start, x: {}}", []string{"systemctl --no-block start slow.service"}, ""},
		{"changed file", "running", "{name: new}", "", "{r: true, c: Started service new, x: {new: true}}", []string{"systemctl --system daemon-reload", "systemctl start new.service"}, ""},
		{"timer", "running", "{name: t.timer}", "", "{r: true, c: Started service t.timer, x: {t.timer: true}}", []string{"systemctl start t.timer"}, ""},

		{"stop", "dead", "{name: up}", "", "{r: true, c: Service up was killed, x: {up: false}}", []string{"systemctl stop up.service"}, ""},
		{"stop test", "dead", "{name: up}", "test", "{r: null, c: Service up is set to be killed, x: {}}", nil, ""},
		{"stop and disable", "dead", "{name: up, enable: false}", "", "{r: true, c: 'Service up has been disabled, and is dead', x: {up: true}}", []string{"systemctl stop up.service", "systemctl disable up.service"}, ""},
		{"stopped", "dead", "{name: down, enable: false}", "", "{r: true, c: The service down is already dead, x: {}}", nil, ""},
		{"stuck", "dead", "{name: stuck}", "", "{r: false, c: Service stuck failed to die, x: {}}", []string{"systemctl stop stuck.service"}, ""},
		{"dead, missing", "dead", "{name: none}", "", "{r: true, c: The named service none is not available, x: {}}", nil, ""},
		{"dead, missing test", "dead", "{name: none}", "test", "{r: true, c: The named service none is not available, x: {}}", nil, ""},

		{"enabled", "enabled", "{name: down}", "", "{r: true, c: 'Service down has been enabled, and is in the desired state', x: {down: true}}", []string{"systemctl enable down.service"}, ""},
		{"enabled already", "enabled", "{name: up}", "", "{r: true, c: 'Service up is already enabled, and is in the desired state', x: {}}", nil, ""},
		{
			"enabled, masked", "enabled", "{name: masked}", "",
			`{r: false, c: "Failed when setting service masked to start at boot, but the service was already running. Additional information follows:\n\nFailed to enable unit: Unit file /etc/systemd/system/masked.service is masked.", x: {}}`,
			[]string{"systemctl enable masked.service"},
			"",
		},
		{"enabled, missing", "enabled", "{name: none}", "", "{r: false, c: The named service none is not available, x: {}}", nil, ""},
		{"enabled, missing test", "enabled", "{name: none}", "test", "{r: false, c: The named service none is not available, x: {}}", nil, ""},
		{"disabled", "disabled", "{name: up}", "", "{r: true, c: 'Service up has been disabled, and is in the desired state', x: {up: true}}", []string{"systemctl disable up.service"}, ""},
		{"disabled test", "disabled", "{name: up}", "test", "{r: null, c: Service up set to be disabled, x: {}}", nil, ""},
		{"disabled static", "disabled", "{name: static}", "test", "{r: true, c: 'Service static is static and cannot be disabled, and is in the desired state', x: {}}", nil, ""},
		{"disabled, missing", "disabled", "{name: none}", "", "{r: true, c: The named service none is not available, x: {}}", nil, ""},

		{"mask", "masked", "{name: down}", "", "{r: true, c: Service down was masked, x: {masked: {old: false, new: true}}}", []string{"systemctl mask down.service"}, ""},
		{"mask, runtime", "masked", "{name: down, runtime: true}", "test", "{r: null, c: Service down would be runtime masked, x: {runtime masked: {old: false, new: true}}}", nil, ""},
		{"mask, missing", "masked", "{name: none}", "", "{r: true, c: Service none was masked, x: {masked: {old: false, new: true}}}", []string{"systemctl mask none.service"}, "no unit none yet"},
		{"masked already", "masked", "{name: masked}", "", "{r: true, c: Service masked is already masked, x: {}}", nil, ""},
		{"unmasked", "unmasked", "{name: masked}", "", "{r: true, c: Service masked was unmasked, x: {masked: {old: true, new: false}}}", []string{"systemctl unmask masked.service"}, ""},
		{"unmasked already", "unmasked", "{name: down}", "", "{r: true, c: Service down was already unmasked, x: {}}", nil, ""},

		{"restart", "running", "{name: up}", "watch", "{r: true, c: Service restarted, x: {up: true}}", []string{"systemctl restart up.service"}, ""},
		{"reload", "running", "{name: up, reload: true}", "watch", "{r: true, c: Service reloaded, x: {up: true}}", []string{"systemctl reload up.service"}, ""},
		{"force", "running", "{name: up, reload: true, force: true}", "watch", "{r: true, c: Service forcefully reloaded, x: {up: true}}", []string{"systemctl --no-block force-reload up.service"}, ""},
		{"cannot reload", "running", "{name: lone, reload: true}", "test watch", "{r: null, c: Service is set to be restarted, x: {}}", nil, "cannot reload"},
		{"watch, stopped", "running", "{name: down}", "watch", "{r: true, c: Service started, x: {down: true}}", []string{"systemctl stop down.service", "systemctl start down.service"}, ""},
		{"watch, dead", "dead", "{name: up}", "watch", "{r: true, c: Service stopped, x: {up: true}}", []string{"systemctl stop up.service"}, ""},
		{"watch, dead already", "dead", "{name: down}", "watch", "{r: true, c: Service is already stopped, x: {}}", nil, ""},
		{"watch, stuck", "dead", "{name: stuck}", "watch", "{r: false, c: Failed to stop the service, x: {stuck: false}}", []string{"systemctl stop stuck.service"}, ""},
		{"watch, enabled", "enabled", "{name: up}", "watch", "{r: true, c: 'Service up is already enabled, and is in the desired state', x: {}}", nil, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m, v := machine(), &view{}
			var warnings []string
			test := strings.Contains(tt.mode, "test")
			env := newEnv(m, v, test, &warnings)
			args := calltest.YAML(t, tt.args).(*value.Map)
			ret := run(t, env, tt.fun, tt.args, v.add("service", tt.fun, args.Str("name")), test, strings.Contains(tt.mode, "watch"))
			if ret.Changes == nil {
				ret.Changes = value.NewMap(0)
			}
			got := value.Repr(value.MapOf("r", ret.Result.Value(), "c", ret.Comment, "x", ret.Changes))
			if diff := cmp.Diff(value.Repr(calltest.YAML(t, tt.want)), got); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(tt.acts, acts(m)); diff != "" {
				t.Error(diff)
			}
			if text := strings.Join(warnings, "\n"); (tt.warn == "") != (text == "") || !strings.Contains(text, tt.warn) {
				t.Errorf("warnings %q, want %q", text, tt.warn)
			}
		})
	}
}

// The return of a service that fails says why beside Salt's comment: the exit status of
// this start, and what its processes wrote, else what systemd did.
func TestWhy(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, fun, args, mode string
		unit                  systemdtest.Unit
		want                  string // what cause.Line makes of it
	}{
		{"ends at once", "running", "{name: web}", "", systemdtest.Unit{Then: "failed", Status: 3, Wrote: "reading web.conf\nport 80 is taken\n"}, "exit status 3: Service web failed to start: reading web.conf port 80 is taken"},
		{"systemctl fails", "running", "{name: web}", "", systemdtest.Unit{Refuse: "Job for web.service failed.", Status: 1, Wrote: "error: no such file\n"}, "exit status 1: Job for web.service failed: error: no such file"},
		{"says nothing", "running", "{name: web}", "", systemdtest.Unit{Then: "failed", Status: 4}, "exit status 4: Service web failed to start: it said why"},
		{"fails before its main process", "running", "{name: web}", "", systemdtest.Unit{Refuse: "Job for web.service failed.", Status: 7, Stale: true, Wrote: "no config\n"}, "Job for web.service failed: no config"},
		{"enabled as well", "running", "{name: web, enable: true}", "", systemdtest.Unit{Then: "failed", Status: 3, Wrote: "port 80 is taken\n"}, "exit status 3: Service web has been enabled, and is dead: port 80 is taken"},
		{"restart", "running", "{name: web}", "watch", systemdtest.Unit{Active: "active", Refuse: "Job for web.service failed.", Status: 3, Wrote: "port 80 is taken\n"}, "exit status 3: Job for web.service failed: port 80 is taken"},
		{"does not stop", "dead", "{name: web}", "", systemdtest.Unit{Active: "active", Stuck: true, Wrote: "still busy\n"}, "Service web failed to die: still busy"},
		{"a secret", "running", "{name: web}", "", systemdtest.Unit{Then: "failed", Status: 3, Wrote: strings.Repeat("x", 1<<11) + " hunter2hunter2 " + strings.Repeat("y", 2<<10-12) + "\n"}, "exit status 3: Service web failed to start: ...yyy"},
		{"starts", "running", "{name: web}", "", systemdtest.Unit{Wrote: "all is well\n"}, ""},
		{"dry run", "running", "{name: web}", "test", systemdtest.Unit{Load: "masked", Wrote: "old\n"}, "Failed to start web.service: Unit web.service is masked."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m, v := systemdtest.New(map[string]*systemdtest.Unit{"web.service": &tt.unit}), &view{}
			var warnings []string
			test := tt.mode == "test"
			env := newEnv(m, v, test, &warnings)
			env.Secrets = redact.NewSet()
			env.Secrets.Add("hunter2hunter2")
			ret := run(t, env, tt.fun, tt.args, v.add("service", tt.fun, "web"), test, tt.mode == "watch")
			if ret.Result != fun.Failed {
				if ret.Extra != nil {
					t.Errorf("it did not fail, and has %v", ret.Extra)
				}
				return
			}
			full := value.MapOf("result", false, "comment", ret.Comment, "changes", value.NewMap(0))
			full.Update(ret.Extra)
			got := cause.OfState("", "service_|-web_|-web_|-running", full, cause.Options{}).Why(300)
			if i := strings.Index(got, "yyy"); i >= 0 {
				got = got[:i+3]
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
			if s := value.Repr(full); len(s) > 4<<10 || strings.Contains(s, "2 yyy") {
				t.Errorf("%d bytes: %.200s", len(s), s)
			}
		})
	}
}

// A dry run that cannot know what an earlier state brings does not say that a
// service will be missing.
func TestMayCome(t *testing.T) {
	t.Parallel()
	m, v := machine(), &view{rets: map[string]*value.Map{}}
	var warnings []string
	env := newEnv(m, v, true, &warnings)
	p := v.add("pkg", "installed", "p")
	c := v.add("service", "running", "none")
	const text = "Service none not present; if created in this state run, it would have been started"
	if ret := run(t, env, "running", "{name: none}", c, true, false); ret.Result != fun.WouldChange || ret.Comment != text {
		t.Errorf("before p ran: %+v", ret)
	}
	v.rets[p.Tag()] = value.MapOf("result", nil)
	if ret := run(t, env, "running", "{name: none}", c, true, false); ret.Result != fun.WouldChange || ret.Comment != text {
		t.Errorf("with changes due: %+v", ret)
	}
	v.rets[p.Tag()] = value.MapOf("result", true)
	if ret := run(t, env, "running", "{name: none}", c, true, false); ret.Result != fun.Failed {
		t.Errorf("with nothing due: %+v", ret)
	}
}

// Two processes answer all that a run asks of services that are as they should be.
func TestFewProcesses(t *testing.T) {
	t.Parallel()
	units := map[string]*systemdtest.Unit{}
	v := &view{}
	for i := range 50 {
		name := fmt.Sprintf("u%02d", i)
		units[name+".service"] = &systemdtest.Unit{Active: "active", State: "enabled"}
		v.add("service", "running", name).Low.Set("enable", true)
	}
	m := systemdtest.New(units)
	var warnings []string
	env := newEnv(m, v, false, &warnings)
	for _, c := range v.chunks {
		if ret := run(t, env, "running", "{name: "+c.Name+", enable: true}", c, false, false); ret.Result != fun.OK {
			t.Fatalf("%s: %+v", c.Name, ret)
		}
	}
	if n := len(m.Calls()); n != 2 {
		t.Errorf("%d processes: %v", n, m.Commands())
	}
	// What another program did may have changed any of them.
	if _, err := env.Invoker.Invoke(t.Context(), fun.Exec, "service.stop", fun.Args{Pos: []value.Value{"u07"}}); err != nil {
		t.Fatal(err)
	}
	ret := run(t, env, "running", "{name: u07, enable: true}", v.chunks[7], false, false)
	if ret.Comment != "Service u07 is already enabled, and is running" {
		t.Errorf("after a stop: %+v", ret)
	}
}
