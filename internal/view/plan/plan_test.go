package plan_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"brine/internal/py/value"
	"brine/internal/py/yamlsalt"
	"brine/internal/testkit"
	"brine/internal/testkit/calltest"
	"brine/internal/view/plan"
)

const answers = `
file_|-conf_|-/etc/x_|-managed: {__id__: conf, __run_num__: 1, __sls__: web, name: /etc/x, result: null, comment: would, changes: {diff: "--- \n+++ \n@@ -1 +1 @@\n-a\n+b\n"}, duration: 1.5}
pkg_|-nginx_|-nginx_|-installed: {__run_num__: 0, result: true, comment: there, changes: {}}
service_|-web_|-web_|-running: {__run_num__: 2, result: null, comment: Service is set to be restarted, changes: {}}
cmd_|-go_|-systemctl reboot_|-run: {__run_num__: 3, result: null, comment: would, changes: {}}
test_|-later_|-later_|-nop: {__run_num__: 4, result: true, comment: not run, changes: {}}
test_|-never_|-never_|-nop: {__run_num__: 5, result: true, comment: not run, changes: {}}
test_|-bad_|-bad_|-fail: {__run_num__: 6, result: false, comment: boo, changes: {}}
`

const chunks = `
- {state: test, __id__: later, name: later, fun: nop, onchanges: [{file: conf}]}
- {state: test, __id__: never, name: never, fun: nop, onchanges: [{pkg: nginx}], require: [{file: conf}]}
`

func TestStates(t *testing.T) {
	t.Parallel()
	states, same := plan.States(calltest.YAML(t, answers).(*value.Map), plan.NewLow(calltest.YAML(t, chunks), plan.Basis{}))
	var got []string
	for _, st := range states {
		got = append(got, fmt.Sprintf("%s %s %s restart=%t reboot=%t %s", st.ID, st.Fun, st.Effect, st.Restart, st.Reboot, st.Unknown))
	}
	want := []string{
		"conf file.managed change restart=false reboot=false ",
		"web service.running change restart=true reboot=false ",
		"go cmd.run change restart=false reboot=true what it does is not known until it runs",
		"later test.nop unknown restart=false reboot=false not known until conf ran: it runs if that changes something",
		"bad test.fail fail restart=false reboot=false ",
	}
	if d := cmp.Diff(want, got); d != "" || same != 2 {
		t.Errorf("States (-want +got), %d same, want 2:\n%s", same, d)
	}
}

// TestListen: what a state does that listens is a state of its own, where that ran.
func TestListen(t *testing.T) {
	t.Parallel()
	states, same := plan.States(calltest.YAML(t, `
file_|-conf_|-/etc/x_|-managed: {__run_num__: 0, result: null, comment: would, changes: {newfile: /etc/x}}
service_|-hears_|-hears_|-running: {__run_num__: 1, result: true, comment: runs, changes: {}}
service_|-deaf_|-deaf_|-running: {__run_num__: 2, result: true, comment: runs, changes: {}}
service_|-listener_hears_|-hears_|-mod_watch: {__run_num__: 3, result: null, comment: Service is set to be restarted, changes: {}}
`).(*value.Map), plan.NewLow(calltest.YAML(t, `
- {state: service, __id__: hears, name: hears, fun: running, listen: [{file: conf}]}
- {state: service, __id__: deaf, name: deaf, fun: running, listen: [{file: conf}]}
`), plan.Basis{}))
	var got []string
	for _, st := range states {
		got = append(got, fmt.Sprintf("%s %s %s", st.ID, st.Effect, st.Unknown))
	}
	want := []string{"conf change ", "deaf unknown not known until conf ran: it runs if that changes something", "listener_hears change "}
	if d := cmp.Diff(want, got); d != "" || same != 1 {
		t.Errorf("States (-want +got), %d same, want 1:\n%s", same, d)
	}
}

// TestNumbers: a plan can be written, and is valid JSON, also where a change is no
// number that JSON has.
func TestNumbers(t *testing.T) {
	t.Parallel()
	ret := calltest.YAML(t, `{test_|-a_|-a_|-x: {__id__: a, __run_num__: 0, name: a, result: null, comment: "", changes: {load: [.nan, .inf, -.inf]}}}`)
	states, _ := plan.States(ret.(*value.Map), plan.NewLow(value.NewList(), plan.Basis{}))
	if len(states) != 1 || string(states[0].Changes) != `{"load":["NaN","Infinity","-Infinity"]}` {
		t.Fatalf("states %+v", states)
	}
	p := sample(t, 1)
	p.Steps = append(p.Steps, &plan.Step{ID: "x", Fun: "salt.state", Targets: []string{"web1"}, Groups: []*plan.Group{{Hosts: []string{"web1"}, States: states}}})
	if data, err := plan.Encode(p, key()); err != nil || !json.Valid(data) {
		t.Errorf("Encode: %v\n%s", err, data)
	}
}

func TestSettled(t *testing.T) {
	t.Parallel()
	other := strings.NewReplacer("duration: 1.5", "duration: 99, start_time: x", "__run_num__: 1", "__run_num__: 9").Replace(answers)
	a, b := plan.Settled(calltest.YAML(t, answers).(*value.Map)), plan.Settled(calltest.YAML(t, other).(*value.Map))
	if !value.Equal(a, b) {
		t.Errorf("answers differ by times and order alone: %s and %s", value.EncodeJSON(a), value.EncodeJSON(b))
	}
}

func key() *plan.Key { return keyOf("k") }

func keyOf(letter string) *plan.Key {
	k, err := plan.NewKey([]byte(strings.Repeat(letter, plan.KeySize)))
	if err != nil {
		panic(err)
	}
	return k
}

// sample is a plan of two steps for n machines.
func sample(t testing.TB, n int) *plan.Plan {
	t.Helper()
	v, err := yamlsalt.LoadString(answers)
	if err != nil {
		t.Fatal(err)
	}
	low, err := yamlsalt.LoadString(chunks)
	if err != nil {
		t.Fatal(err)
	}
	hash := key().Hash([]byte("x"))
	p := &plan.Plan{
		Format: plan.Format, Brine: "1", Made: time.Unix(0, 0).UTC(), User: "ana",
		Command: plan.Command{Kind: plan.Orchestrate, Args: []string{"orch"}, Flags: []plan.Flag{{Name: "config-dir", Value: "/x"}}},
		Inputs: plan.Inputs{
			Tree: map[string]string{"base:a.sls": hash}, Sources: map[string]string{}, Roster: map[string]string{}, Pillar: map[string]string{}, Options: map[string]string{"failhard": hash}, Rendered: hash,
		},
	}
	web := &plan.Step{ID: "web", Fun: "salt.state", Targets: []string{}, Hosts: map[string]plan.Hashes{}}
	states, same := map[string][]*plan.State{}, map[string]int{}
	for i := range n {
		id := fmt.Sprintf("web%d", i+1)
		web.Targets = append(web.Targets, id)
		states[id], same[id] = plan.States(v.(*value.Map), plan.NewLow(low, plan.Basis{}))
		web.Hosts[id] = plan.Hashes{Low: hash, Answer: hash}
		p.Inputs.Roster[id], p.Inputs.Pillar[id] = hash, hash
	}
	web.Groups = plan.Groups(web.Targets, states, same)
	p.Steps = []*plan.Step{
		{ID: "boot", Fun: "salt.function", Name: "system.reboot", Targets: []string{"web1"}, Unknown: "not known", Reboots: true},
		web,
		{ID: "tell", Fun: "salt.runner", Targets: []string{}, Requires: []string{"require: salt: web"}, Unknown: "not known"},
	}
	p.Finish()
	return p
}

func TestGroupsAndTotals(t *testing.T) {
	t.Parallel()
	p := sample(t, 8)
	if g := p.Steps[1].Groups; len(g) != 1 || len(g[0].Hosts) != 8 {
		t.Errorf("8 equal machines are in %d groups", len(g))
	}
	want := plan.Totals{Steps: 3, Hosts: 8, Changes: 24, Restarts: 8, Reboots: 9, Unknown: 10, Failures: 8}
	if d := cmp.Diff(want, p.Totals); d != "" {
		t.Errorf("Totals (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]string{"boot"}, p.Steps[1].After); d != "" {
		t.Errorf("web comes after (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]string{"web"}, p.Steps[2].After); d != "" {
		t.Errorf("tell comes after (-want +got):\n%s", d)
	}
	other := map[string][]*plan.State{"a": p.Steps[1].Groups[0].States, "b": {}, "c": p.Steps[1].Groups[0].States}
	groups := plan.Groups([]string{"a", "b", "c", "gone"}, other, map[string]int{})
	if len(groups) != 2 || len(groups[0].Hosts) != 2 || groups[1].Hosts[0] != "b" {
		t.Errorf("a and c are alike, and b is not: %v", groups)
	}
	p.Steps[1].Faults = []plan.Fault{{Host: "x", Unreached: true}, {Host: "y"}}
	if p.Finish(); p.Complete() || p.Totals.Unreached != 1 || p.Totals.Faults != 1 {
		t.Errorf("a plan without the answers of all: complete %t, %+v", p.Complete(), p.Totals)
	}
}

func TestFile(t *testing.T) {
	t.Parallel()
	data, err := plan.Encode(sample(t, 3), key())
	if err != nil {
		t.Fatal(err)
	}
	testkit.CheckSchema(t, "../../../docs/plan.schema.json", data)
	back, err := plan.Decode(data, key())
	if err != nil {
		t.Fatal(err)
	}
	if changed := plan.Compare(sample(t, 3), back); len(changed) > 0 {
		t.Errorf("a plan differs from its file: %q", changed)
	}
	if again, err := plan.Encode(back, key()); err != nil || string(again) != string(data) {
		t.Errorf("a plan that was read is written differently (%v)", err)
	}
	var version *plan.VersionError
	if _, err := plan.Decode([]byte(strings.Replace(string(data), `"format": 6`, `"format": 1`, 1)), key()); !errors.As(err, &version) || version.Format != 1 {
		t.Errorf("format 1: %v", err)
	}
	for name, bad := range map[string]string{
		"empty": "", "list": "[]", "deep": strings.Repeat("[", 100_000), "no format": "{}", "half": string(data[:len(data)/2]),
		"more":    string(data) + "{}",
		"unknown": strings.Replace(string(data), `"brine":`, `"extra": 1, "brine":`, 1),
		"types":   strings.Replace(string(data), `"steps": [`, `"steps": 5, "x": [`, 1),
	} {
		if _, err := plan.Decode([]byte(bad), key()); err == nil || errors.Is(err, plan.ErrSeal) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := plan.Decode([]byte(strings.Replace(string(data), "system.reboot", "system.halt", 1)), key()); !errors.Is(err, plan.ErrSeal) {
		t.Errorf("a changed file: %v", err)
	}
	if _, err := plan.Decode(data, keyOf("o")); !errors.Is(err, plan.ErrSeal) {
		t.Errorf("another key: %v", err)
	}
	for name, spoil := range map[string]func(*plan.Plan){
		"kind": func(p *plan.Plan) { p.Command.Kind = "run" }, "args": func(p *plan.Plan) { p.Command.Args = nil },
		"step": func(p *plan.Plan) { p.Steps[0] = nil }, "group": func(p *plan.Plan) { p.Steps[1].Groups[0] = nil },
		"state": func(p *plan.Plan) { p.Steps[1].Groups[0].States[0] = nil },
	} {
		p := sample(t, 1)
		spoil(p)
		data, err := plan.Encode(p, key())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := plan.Decode(data, key()); err == nil {
			t.Errorf("%s: a sealed file that is no plan was read", name)
		}
	}
}

// TestHostileHashes: the key of seals is not that of hashes, and neither is the secret that they
// are made of, so that a hash of what somebody chose is no seal of a plan.
func TestHostileHashes(t *testing.T) {
	t.Parallel()
	secret := []byte(strings.Repeat("k", plan.KeySize))
	p := sample(t, 1)
	if _, err := plan.Encode(p, key()); err != nil {
		t.Fatal(err)
	}
	bare := *p
	bare.Seal = ""
	data, err := json.Marshal(&bare)
	if err != nil {
		t.Fatal(err)
	}
	raw := hmac.New(sha256.New, secret)
	raw.Write(data)
	plain := hex.EncodeToString(raw.Sum(nil)[:16])
	hash := key().Hash(data)
	if len(p.Seal) != len(plain) || len(hash) != len(plain) {
		t.Fatalf("seal %q, hash %q", p.Seal, hash)
	}
	if p.Seal == hash || p.Seal == plain || hash == plain {
		t.Errorf("seal %s, hash %s, with the secret itself %s", p.Seal, hash, plain)
	}
	if again := key().Hash(data); again != hash {
		t.Errorf("the hash of the same data is %s and %s", hash, again)
	}
	for _, n := range []int{0, plan.KeySize - 1, plan.KeySize + 1} {
		if k, err := plan.NewKey(make([]byte, n)); err == nil || k != nil {
			t.Errorf("a secret of %d bytes is a key", n)
		}
	}
}

func FuzzDecode(f *testing.F) {
	data, err := plan.Encode(sample(f, 2), key())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte(`{"format": 4, "steps": [null]}`))
	f.Add([]byte(`{"format": 4, "steps": [{"steps": [null]}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if p, err := plan.Decode(data, key()); err == nil && !json.Valid(data) {
			t.Errorf("%+v was read from what is not JSON", p)
		}
	})
}

func TestCompare(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(*plan.Plan)
		want   []string
	}{
		"nothing": {func(*plan.Plan) {}, nil},
		"tree":    {func(p *plan.Plan) { p.Inputs.Tree = map[string]string{"base:b.sls": "1"} }, []string{"file base:a.sls is gone", "file base:b.sls is new"}},
		"inputs": {
			func(p *plan.Plan) {
				p.Inputs.Pillar["web1"], p.Inputs.Roster["web2"], p.Inputs.Rendered = "1", "1", "1"
			},
			[]string{"roster entry web2 changed", "pillar of web1 changed", "the rendered orchestration changed"},
		},
		"targets": {
			func(p *plan.Plan) { p.Steps[1].Targets = []string{"web1", "web9"}; delete(p.Steps[1].Hosts, "web2") },
			[]string{"step web: no longer a target: web2", "step web: a new target: web9"},
		},
		"low": {
			func(p *plan.Plan) {
				p.Steps[1].Hosts["web1"] = plan.Hashes{Low: "1", Answer: p.Steps[1].Hosts["web1"].Answer}
			},
			[]string{"step web: the rendered states of web1 changed"},
		},
		"answer": {
			func(p *plan.Plan) {
				p.Steps[1].Hosts["web2"] = plan.Hashes{Answer: "1"}
				g := p.Steps[1].Groups[0]
				p.Steps[1].Groups = []*plan.Group{{Hosts: []string{"web2"}, States: []*plan.State{{ID: "conf", Fun: "file.managed", Name: "/etc/x"}, {ID: "new", Fun: "test.nop"}}}, {Hosts: []string{"web1"}, States: g.States}}
			},
			[]string{"step web: web2 answers differently: conf (file.managed) would do something else, new (test.nop) is due now, web (service.running) is no longer due, go (cmd.run) is no longer due, later (test.nop) is no longer due, bad (test.fail) is no longer due"},
		},
		"steps": {func(p *plan.Plan) { p.Steps = p.Steps[1:] }, []string{"step boot is gone"}},
		"order": {func(p *plan.Plan) { p.Steps[0], p.Steps[1] = p.Steps[1], p.Steps[0] }, []string{"the order of the steps changed"}},
		"lost": {
			func(p *plan.Plan) { p.Steps[1].Faults = []plan.Fault{{Host: "web1", Reason: "refused"}} },
			[]string{"step web: web1: refused"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			now := sample(t, 2)
			tt.change(now)
			if d := cmp.Diff(tt.want, plan.Compare(sample(t, 2), now)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
	many, none := sample(t, 1), sample(t, 1)
	for i := range 25 {
		many.Inputs.Tree[fmt.Sprintf("base:%02d", i)] = "1"
	}
	if got := plan.Compare(none, many); len(got) != 11 || got[10] != "file: 15 more" {
		t.Errorf("25 new files are told as %q", got)
	}
}

// nested is a plan whose second step runs the steps of sample as an orchestration.
func nested(t *testing.T) *plan.Plan {
	t.Helper()
	p := sample(t, 2)
	first := &plan.Step{ID: "first", Fun: "salt.state", Targets: []string{"web1"}, Groups: p.Steps[1].Groups}
	last := &plan.Step{ID: "last", Fun: "salt.state", Targets: []string{"web2"}, Requires: []string{"require: salt: web"}}
	p.Steps = []*plan.Step{first, {ID: "all", Fun: "salt.runner", Name: "state.orchestrate", Targets: []string{}, Orchestration: "inner", Rendered: p.Inputs.Rendered, Steps: p.Steps}, last}
	p.Finish()
	return p
}

// TestNestedSameID: a step comes after one of the outer orchestration that has its id.
func TestNestedSameID(t *testing.T) {
	t.Parallel()
	p := sample(t, 2)
	web := &plan.Step{ID: "web", Fun: "salt.state", Targets: []string{"web2"}, Groups: p.Steps[1].Groups}
	p.Steps = []*plan.Step{web, {ID: "all", Fun: "salt.runner", Targets: []string{}, Orchestration: "inner", Steps: p.Steps}}
	p.Finish()
	if d := cmp.Diff([]string{"web", "boot"}, p.Steps[1].Steps[1].After); d != "" {
		t.Errorf("the inner web comes after (-want +got):\n%s", d)
	}
}

func TestNested(t *testing.T) {
	t.Parallel()
	p := nested(t)
	var after []string
	plan.Walk(p.Steps, func(s *plan.Step) bool {
		after = append(after, s.ID+": "+strings.Join(s.After, " "))
		return true
	})
	if d := cmp.Diff([]string{"first: ", "all: ", "boot: first", "web: first boot", "tell: web", "last: all"}, after); d != "" {
		t.Errorf("what steps come after (-want +got):\n%s", d)
	}
	if p.Totals.Steps != 6 || p.Totals.Hosts != 2 || p.Totals.Changes != 12 {
		t.Errorf("Totals %+v, want 6 steps, 2 hosts and 12 changes", p.Totals)
	}
	if n := strings.Count(p.Diffs(), "@@ -1 +1 @@"); n != 2 {
		t.Errorf("%d diffs, want those of both steps:\n%s", n, p.Diffs())
	}
	data, err := plan.Encode(p, key())
	if err != nil {
		t.Fatal(err)
	}
	testkit.CheckSchema(t, "../../../docs/plan.schema.json", data)
	if back, err := plan.Decode(data, key()); err != nil || len(plan.Compare(nested(t), back)) > 0 {
		t.Errorf("Decode: %v, changed: %q", err, plan.Compare(nested(t), back))
	}
	now := nested(t)
	now.Steps[1].Rendered = "1"
	now.Steps[1].Steps[1].Targets = []string{"web1"}
	now.Steps[1].Steps = now.Steps[1].Steps[1:]
	want := []string{"step all: the rendered orchestration changed", "step boot of all is gone", "step web of all: no longer a target: web2"}
	if d := cmp.Diff(want, plan.Compare(p, now)); d != "" {
		t.Errorf("Compare (-want +got):\n%s", d)
	}
	now.Steps[1].Steps[0] = nil
	if data, err = plan.Encode(now, key()); err != nil {
		t.Fatal(err)
	}
	if _, err := plan.Decode(data, key()); err == nil {
		t.Error("an empty step within another was read")
	}
}

func TestDiffs(t *testing.T) {
	t.Parallel()
	want := "--- /etc/x\tweb1,web2\n+++ /etc/x\tweb1,web2\n@@ -1 +1 @@\n-a\n+b\n"
	if got := sample(t, 2).Diffs(); got != want {
		t.Errorf("Diffs() = %q, want %q", got, want)
	}
}
