package exec_test

import (
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"brine/internal/core/dispatch"
	"brine/internal/core/event"
	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/source"
	"brine/internal/py/value"
	"brine/runner/exec"
	statestest "brine/states/test"
)

// A rig is an Env with the test states, a few states that record what happens
// to them, and functions that conditions and slots call.
type rig struct {
	t     testing.TB
	env   *fun.Env
	clock *fakeClock

	mu    sync.Mutex
	warns []string
	fired []event.Event
	ran   []string // what the recording states did, in order
	codes map[string]int64
	cmds  []string
}

// fakeClock is a host that has a clock, a few files, and no more.
type fakeClock struct {
	host.Host
	mu    sync.Mutex
	at    time.Time
	slept time.Duration
	files map[string]bool
}

func (c *fakeClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *fakeClock) Sleep(ctx context.Context, d time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at, c.slept = c.at.Add(d), c.slept+d
	return ctx.Err()
}

func (c *fakeClock) Stat(path string) (host.Stat, error) {
	if c.files[path] {
		return host.Stat{Path: path}, nil
	}
	return host.Stat{}, fs.ErrNotExist
}

func (c *fakeClock) Getwd() (string, error) { return "/srv", nil }

type fakeBus struct{ r *rig }

func (b fakeBus) Fire(tag string, data *value.Map) {
	b.r.mu.Lock()
	b.r.fired = append(b.r.fired, event.Event{Tag: tag, Data: data})
	b.r.mu.Unlock()
}
func (b fakeBus) Seq() uint64 { return 0 }
func (b fakeBus) Next(context.Context, uint64, func(event.Event) bool) (event.Event, uint64, error) {
	return event.Event{}, 0, context.Canceled
}

func newRig(t testing.TB, mods ...fun.Module) *rig {
	r := newBareRig(t)
	r.load(append([]fun.Module{r.states(), r.cmdStates(), r.cmd(), r.test()}, mods...))
	return r
}

// newBareRig returns a rig with no modules yet.
func newBareRig(t testing.TB) *rig {
	r := &rig{t: t, clock: &fakeClock{at: time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local), files: map[string]bool{}}, codes: map[string]int64{}}
	r.env = &fun.Env{
		Identity: fun.Identity{ID: "minion1", JID: "20260102030405000000", SaltEnv: "base"},
		Data:     fun.Data{Opts: value.NewMap(0), Grains: value.NewMap(0), Pillar: value.NewMap(0), Memo: &fun.Memo{}},
		Machine:  fun.Machine{Host: r.clock},
		Network:  fun.Network{Bus: fakeBus{r}},
		UI: fun.UI{Logger: slog.New(slog.DiscardHandler), OnWarn: func(w fun.Warning) {
			r.mu.Lock()
			r.warns = append(r.warns, strings.TrimPrefix(w.Where+": "+w.Text, ": "))
			r.mu.Unlock()
		}},
		Functions: fun.Functions{NewInvoker: func(e *fun.Env) fun.Invoker { return dispatch.New(e) }},
	}
	r.env.Invoker = dispatch.New(r.env)
	return r
}

// load gives the rig the test states and mods.
func (r *rig) load(mods []fun.Module) {
	var entries []fun.Entry
	for _, m := range append([]fun.Module{statestest.States()}, mods...) {
		entries = append(entries, fun.Entry{Kind: m.Kind, Name: m.Name, Load: func() fun.Module { return m }})
	}
	r.env.Table = fun.NewTable(entries)
}

func (r *rig) note(what string) {
	r.mu.Lock()
	r.ran = append(r.ran, what)
	r.mu.Unlock()
}

// states is the module "rec": its states note that they ran.
func (r *rig) states() fun.Module {
	return fun.Module{Name: "rec", Kind: fun.State, Specs: []fun.Spec{
		{Name: "changes", VarKw: true, State: func(_ context.Context, c *fun.Call) fun.Ret {
			if c.Test {
				r.note("would " + c.Name)
				return fun.Ret{Result: fun.WouldChange, Changes: value.MapOf("would", c.Name), Comment: "would change"}
			}
			r.note(c.Name)
			return fun.Ret{Result: fun.OK, Changes: value.MapOf("did", c.Name), Comment: "changed"}
		}},
		{Name: "fails", VarKw: true, State: func(_ context.Context, c *fun.Call) fun.Ret {
			r.note(c.Name)
			return fun.Ret{Comment: "broken"}
		}},
		{Name: "flaky", Args: []fun.Arg{{Name: "good_at", Type: fun.Int}}, State: func(_ context.Context, c *fun.Call) fun.Ret {
			r.note(c.Name)
			r.mu.Lock()
			n := 0
			for _, x := range r.ran {
				if x == c.Name {
					n++
				}
			}
			r.mu.Unlock()
			if int64(n) >= fun.IntOf(c.Args.At("good_at")) {
				return fun.Ret{Result: fun.OK, Comment: "good"}
			}
			return fun.Ret{Comment: fmt.Sprintf("bad %d", n)}
		}},
		{Name: "echo", VarKw: true, Args: []fun.Arg{{Name: "text", Required: true}}, State: func(_ context.Context, c *fun.Call) fun.Ret {
			return fun.Ret{Result: fun.OK, Comment: value.Repr(c.Args.At("text"))}
		}},
		{Name: "lists", State: func(_ context.Context, c *fun.Call) fun.Ret {
			return fun.Ret{Result: fun.OK, Comment: value.NewList("one", int64(2)), Extra: value.MapOf("warnings", value.Strings("w"))}
		}},
		{Name: "panics", State: func(context.Context, *fun.Call) fun.Ret {
			panic("a state that is broken")
		}},
		{Name: "badchanges", State: func(context.Context, *fun.Call) fun.Ret {
			return fun.Ret{Result: fun.OK, Changes: "text"}
		}},
		{Name: "runas", VarKw: true, State: func(ctx context.Context, c *fun.Call) fun.Ret {
			as := fun.RunAsFrom(ctx)
			return fun.Ret{Result: fun.OK, Comment: as.User + "/" + as.Password}
		}},
	}}
}

// cmdStates is a module "cmd" whose wait has a mod_watch.
func (r *rig) cmdStates() fun.Module {
	run := func(c *fun.Call) fun.Ret {
		r.note(c.Name)
		return fun.Ret{Result: fun.OK, Changes: value.MapOf("retcode", int64(0)), Comment: `Command "` + c.Name + `" run`}
	}
	return fun.Module{
		Name: "cmd", Kind: fun.State,
		Watch: func(_ context.Context, c *fun.Call) fun.Ret { return run(c) },
		Specs: []fun.Spec{
			{Name: "run", VarKw: true, State: func(_ context.Context, c *fun.Call) fun.Ret { return run(c) }},
			{Name: "wait", VarKw: true, State: func(context.Context, *fun.Call) fun.Ret { return fun.Ret{Result: fun.OK} }},
		},
	}
}

// cmd is an execution module "cmd" whose commands have the statuses in r.codes.
func (r *rig) cmd() fun.Module {
	return fun.Module{Name: "cmd", Kind: fun.Exec, Specs: []fun.Spec{{
		Name: "retcode", VarKw: true, Args: []fun.Arg{{Name: "cmd", Required: true}},
		Fn: func(_ context.Context, c *fun.Call) (fun.Result, error) {
			var extra []string
			for _, k := range []string{"runas", "cwd", "env", "shell", "umask", "timeout"} {
				if v, ok := c.Kw.Get(k); ok {
					extra = append(extra, k+"="+value.Str(v))
				}
			}
			r.mu.Lock()
			r.cmds = append(r.cmds, strings.Join(append([]string{c.Args.Str("cmd")}, extra...), " "))
			r.mu.Unlock()
			switch c.Args.Str("cmd") {
			case "true":
				return fun.Value(int64(0))
			case "cannot":
				return fun.Result{}, fun.Errorf("cannot run")
			}
			if code, ok := r.codes[c.Args.Str("cmd")]; ok {
				return fun.Value(code)
			}
			return fun.Value(int64(1))
		},
	}}}
}

// test is an execution module "test" for conditions and slots.
func (r *rig) test() fun.Module {
	return fun.Module{Name: "test", Kind: fun.Exec, Specs: []fun.Spec{
		{Name: "echo", Args: []fun.Arg{{Name: "text", Required: true}}, Fn: func(_ context.Context, c *fun.Call) (fun.Result, error) {
			return fun.Value(c.Args.At("text"))
		}},
		{Name: "arg", VarArg: true, VarKw: true, Fn: func(_ context.Context, c *fun.Call) (fun.Result, error) {
			return fun.Value(value.MapOf("args", value.NewList(c.Pos...), "kwargs", c.Kw))
		}},
		{Name: "retcode", Fn: func(context.Context, *fun.Call) (fun.Result, error) {
			return fun.Result{Value: true, Retcode: 42}, nil
		}},
		{Name: "boom", Fn: func(context.Context, *fun.Call) (fun.Result, error) { return fun.Result{}, fun.Errorf("boom") }},
	}}
}

// chunk makes a low chunk "id: mod.fun" with further keys and values.
func chunk(what string, kv ...value.Value) *fun.Chunk {
	id, full, _ := strings.Cut(what, ": ")
	sls := "s"
	if i := strings.LastIndex(id, "/"); i > 0 && !strings.HasPrefix(id, "/") {
		sls, id = id[:i], id[i+1:]
	}
	state, fn, _ := strings.Cut(full, ".")
	low := value.MapOf("state", state, "name", id, "__sls__", sls, "__env__", "base", "__id__", id)
	for i := 0; i+1 < len(kv); i += 2 {
		low.Set(kv[i], kv[i+1])
	}
	low.Set("fun", fn)
	return &fun.Chunk{State: state, Fun: fn, ID: id, Name: value.Str(low.At("name")), SLS: sls, SaltEnv: "base", Low: low, Pos: source.Pos{File: sls + ".sls", Line: 1}}
}

// req makes a requisite list of "state: id" texts.
func req(what ...string) *value.List {
	l := value.NewList()
	for _, w := range what {
		if k, v, ok := strings.Cut(w, ": "); ok {
			l.Append(value.MapOf(k, v))
		} else {
			l.Append(w)
		}
	}
	return l
}

func (r *rig) run(o exec.Options, chunks ...*fun.Chunk) *exec.Running {
	r.t.Helper()
	got, err := exec.Run(context.Background(), r.env, chunks, o)
	if err != nil {
		r.t.Fatal(err)
	}
	return got
}

// lines shows each return as "id result comment [changed]", run numbers first
// where nums is set.
func lines(got *exec.Running, nums bool) []string {
	var out []string
	for k, v := range got.Returns.All() {
		m := v.(*value.Map)
		id := strings.Split(k.(string), "_|-")[1]
		line := fmt.Sprintf("%s %s %s", id, value.Str(m.At("result")), value.Str(m.At("comment")))
		if value.Truth(m.At("changes")) {
			line += " *"
		}
		if nums {
			line = value.Str(m.At("__run_num__")) + " " + line
		}
		out = append(out, line)
	}
	return out
}

func check(t *testing.T, got *exec.Running, nums bool, want ...string) {
	t.Helper()
	if d := cmp.Diff(want, lines(got, nums)); d != "" {
		t.Errorf("returns (-want +got):\n%s", d)
	}
}

const (
	skipOnchanges = "State was not run because none of the onchanges reqs changed"
	skipOnfail    = "State was not run because onfail req did not change"
)

// TestRequisites has the recordings of the requisites area, as low chunks.
func TestRequisites(t *testing.T) {
	t.Parallel()
	lost := "The following requisites were not found:\n"
	for _, tt := range []struct {
		name   string
		chunks []*fun.Chunk
		want   []string
	}{
		{"require order", []*fun.Chunk{
			chunk("last: test.nop", "require", req("test: first")), chunk("middle: test.nop"), chunk("first: test.nop"),
		}, []string{"0 first True Success!", "1 last True Success!", "2 middle True Success!"}},
		{"require fail", []*fun.Chunk{
			chunk("broken: test.fail_without_changes"), chunk("needs: test.succeed_with_changes", "require", req("test: broken")),
			chunk("needs2: test.nop", "require", req("test: needs")), chunk("innocent: test.nop"),
		}, []string{"0 broken False Failure!", "1 needs False One or more requisite failed: s.broken", "2 needs2 False One or more requisite failed: s.needs", "3 innocent True Success!"}},
		{"require any", []*fun.Chunk{
			chunk("good: test.nop"), chunk("bad: test.fail_without_changes"), chunk("bad2: test.fail_without_changes"),
			chunk("one_ok: test.nop", "require_any", req("test: good", "test: bad")), chunk("none_ok: test.nop", "require_any", req("test: bad", "test: bad2")),
		}, []string{"0 good True Success!", "1 bad False Failure!", "2 bad2 False Failure!", "3 one_ok True Success!", "4 none_ok False One or more requisite failed: s.bad, s.bad2"}},
		{"by id", []*fun.Chunk{
			chunk("multi: test.nop"), chunk("multi: cmd.run", "name", "echo multi"),
			chunk("by_id: test.nop", "require", req("id: multi")), chunk("by_string: test.nop", "require", req("multi")), chunk("by_name: test.nop", "require", req("cmd: echo multi")),
		}, []string{"0 multi True Success!", "1 multi True Command \"echo multi\" run *", "2 by_id True Success!", "3 by_string True Success!", "4 by_name True Success!"}},
		{"sls and glob", []*fun.Chunk{
			chunk("main/needs: test.nop", "require", req("sls: parts.*")), chunk("parts.net/n1: test.nop"), chunk("parts.net/n2: test.fail_without_changes"),
			chunk("main/glob: test.nop", "require", req("test: n?")), chunk("main/fun: test.nop", "require", req("test.nop: n1")),
		}, []string{"0 n1 True Success!", "1 n2 False Failure!", "2 needs False One or more requisite failed: parts.net.n2", "3 glob False One or more requisite failed: parts.net.n2", "4 fun True Success!"}},
		{"no list", []*fun.Chunk{ // a dict is read for its keys, text letter by letter
			chunk("b: test.nop"), chunk("dict: test.nop", "onfail", value.MapOf("test", "b")), chunk("text: test.nop", "require_any", "bc"),
			chunk("hears: test.nop", "listen", value.MapOf("test", "b")),
		}, []string{
			"0 b True Success!", "1 dict False " + lost + "                   onfail:\n                       id: test\n",
			"2 text False " + lost + "                   require_any:\n                       id: c\n", "3 hears True Success!",
		}},
		{"lost", []*fun.Chunk{
			chunk("alone: test.nop", "require", req("file: /not")), chunk("alone_watch: test.nop", "watch", req("cmd: no")),
			chunk("many: test.nop", "onchanges", req("cmd: no", "pkg: neither"), "require", req("file: x")), chunk("all: test.nop", "onfail_all", req("test: zz", "yy")),
			chunk("odd: test.nop", "require", value.NewList(value.MapOf("test", int64(5)), value.MapOf("test", nil))), chunk("rec: rec.changes", "watch", req("test: q")),
		}, []string{
			"0 alone False " + lost + "                   require:\n                       file: /not\n",
			"1 alone_watch False " + lost + "                   watch:\n                       cmd: no\n",
			"2 many False " + lost + "                   require:\n                       file: x\n                   onchanges:\n                       cmd: no\n                       pkg: neither\n",
			"3 all False " + lost + "                   onfail_all:\n                       test: zz\n                       id: yy\n",
			"4 odd False " + lost + "                   require:\n                       test: 5\n                       test: None\n",
			"5 rec False " + lost + "                   require:\n                       test: q\n",
		}},
		{"onchanges", []*fun.Chunk{
			chunk("changed: test.succeed_with_changes"), chunk("steady: test.nop"), chunk("bad: test.fail_with_changes"),
			chunk("on_changed: test.nop", "onchanges", req("test: changed")), chunk("on_steady: test.nop", "onchanges", req("test: steady")),
			chunk("either: test.nop", "onchanges", req("test: steady", "test: changed")), chunk("on_bad: test.nop", "onchanges", req("test: bad")),
			chunk("some: test.nop", "onchanges_any", req("test: changed", "test: steady")), chunk("none: test.nop", "onchanges_any", req("test: steady", "test: on_steady")),
			chunk("with_bad: test.nop", "onchanges_any", req("test: bad", "test: changed")),
		}, []string{
			"0 changed True Success! *", "1 steady True Success!", "2 bad False Failure! *", "3 on_changed True Success!", "4 on_steady True " + skipOnchanges,
			"5 either True Success!", "6 on_bad False One or more requisite failed: s.bad", "7 some True Success!", "8 none True " + skipOnchanges, "9 with_bad True Success!",
		}},
		{"onfail", []*fun.Chunk{
			chunk("bad: test.fail_without_changes"), chunk("bad2: test.fail_without_changes"), chunk("good: test.nop"),
			chunk("on_bad: test.nop", "onfail", req("test: bad")), chunk("on_good: test.nop", "onfail", req("test: good")), chunk("on_both: test.nop", "onfail", req("test: good", "test: bad")),
			chunk("all: test.nop", "onfail_all", req("test: bad", "test: bad2")), chunk("not_all: test.nop", "onfail_all", req("test: bad", "test: good")),
			chunk("any: test.nop", "onfail_any", req("test: bad", "test: good")), chunk("none: test.nop", "onfail_any", req("test: good")),
			chunk("mixed: test.nop", "onfail", req("test: bad"), "require", req("test: bad2")),
		}, []string{
			"0 bad False Failure!", "1 bad2 False Failure!", "2 good True Success!", "3 on_bad True Success!", "4 on_good True " + skipOnfail, "5 on_both True Success!",
			"6 all True Success!", "7 not_all True " + skipOnfail, "8 any True Success!", "9 none True " + skipOnfail,
			"10 mixed False One or more requisite failed: s.bad, s.bad2",
		}},
		{"onfail_all pulls its targets forward", []*fun.Chunk{
			chunk("h: test.nop", "onfail_all", req("test: bad")), chunk("bad: test.fail_without_changes"),
		}, []string{"0 bad False Failure!", "1 h True Success!"}},
		{"watch", []*fun.Chunk{
			chunk("changed: test.succeed_with_changes"), chunk("steady: test.nop"),
			chunk("wc: test.succeed_without_changes", "watch", req("test: changed")), chunk("ws: test.succeed_without_changes", "watch", req("test: steady")),
			chunk("wait: cmd.wait", "name", "echo woken", "watch", req("test: changed")), chunk("idle: cmd.wait", "watch", req("test: steady")),
			chunk("always: cmd.run", "watch", req("test: changed")), chunk("any: cmd.wait", "watch_any", req("test: steady", "test: changed")),
			chunk("nowatch: rec.changes", "watch", req("test: changed")),
		}, []string{
			"0 changed True Success! *", "1 steady True Success!", "3 wc True Watch statement fired. *", "4 ws True Success!", "6 wait True Command \"echo woken\" run *",
			"7 idle True ", "8 always True Command \"always\" run *", "10 any True Command \"any\" run *", "11 nowatch True changed *",
		}},
		{"listen", []*fun.Chunk{
			chunk("hearer: cmd.wait", "name", "echo heard", "listen", req("test: noisy", "test: noisy2")), chunk("deaf: cmd.wait", "listen", req("test: silent")),
			chunk("noisy: test.succeed_with_changes"), chunk("noisy2: test.succeed_with_changes", "listen_in", req("cmd: deaf")), chunk("silent: test.nop"),
			chunk("lost: test.nop", "listen", req("pkg: nothing", "bare")), chunk("mute: rec.changes", "listen", req("noisy")),
		}, []string{
			"0 hearer True ", "1 deaf True ", "2 noisy True Success! *", "3 noisy2 True Success! *", "4 silent True Success!", "5 lost True Success!", "6 mute True changed *",
			"7 listener_hearer True Command \"echo heard\" run *", "8 listener_deaf True Command \"deaf\" run *",
			"9 listener_mute False State 'rec.mod_watch' was not found in SLS 's'\nReason: 'rec.mod_watch' is not available.\n",
			"10 listen_nothing False Referenced state pkg: nothing does not exist",
		}},
		{"prereq", []*fun.Chunk{
			chunk("gate: cmd.run", "prereq", req("rec: t")), chunk("idle: cmd.run", "prereq", req("test: calm")),
			chunk("t: rec.changes"), chunk("calm: test.succeed_without_changes"),
		}, []string{"0 gate True Command \"gate\" run *", "1 idle True No changes detected", "2 t True changed *", "3 calm True Success!"}},
		{"prereq written after its target", []*fun.Chunk{
			chunk("t: rec.changes"), chunk("gate: cmd.run", "prereq", req("rec: t")),
		}, []string{"0 gate True Command \"gate\" run *", "1 t True changed *"}},
		{"prereq fails", []*fun.Chunk{
			chunk("gate: rec.fails", "prereq", req("rec: t")), chunk("t: rec.changes"),
		}, []string{"0 gate False broken", "1 t False One or more requisite failed: s.gate"}},
		{"prereq on what fails its dry run", []*fun.Chunk{
			chunk("gate: cmd.run", "prereq", req("rec: t")), chunk("t: rec.fails"),
		}, []string{"0 gate False One or more requisite failed: s.t", "1 t False broken"}},
		{"prereq on a state that requires it, too", []*fun.Chunk{
			chunk("t: rec.changes", "require", req("cmd: gate")), chunk("gate: cmd.run", "prereq", req("rec: t")),
		}, []string{"0 gate True Command \"gate\" run *", "1 t True changed *"}},
		{"prereq chain", []*fun.Chunk{
			chunk("a: cmd.run", "prereq", req("rec: b")), chunk("b: rec.changes", "prereq", req("rec: c")), chunk("c: rec.changes"),
		}, []string{"0 a True Command \"a\" run *", "1 b True changed *", "2 c True changed *"}},
		{"prereq with a failing requirement", []*fun.Chunk{
			chunk("gate: cmd.run", "prereq", req("rec: t")), chunk("t: rec.changes", "require", req("test: bad")), chunk("bad: test.fail_without_changes"),
			// Salt calls the dry run of a state whose requisites it had to run
			// first, whatever became of them (State.call_chunk).
		}, []string{"0 bad False Failure!", "1 gate True Command \"gate\" run *", "2 t False One or more requisite failed: s.bad"}},
		{"prereq with a requirement that has failed", []*fun.Chunk{
			chunk("bad: test.fail_without_changes"), chunk("gate: cmd.run", "prereq", req("rec: t")), chunk("t: rec.changes", "require", req("test: bad")),
		}, []string{"0 bad False Failure!", "1 t False One or more requisite failed: s.bad", "2 gate False One or more requisite failed: s.t"}},
		{"prereq chain at rest", []*fun.Chunk{
			chunk("a: test.nop", "prereq", req("test: b")), chunk("b: test.nop", "prereq", req("test: c")), chunk("c: test.nop"),
		}, []string{"0 a True No changes detected", "1 b True No changes detected", "2 c True Success!"}},
		{"prereq chain whose end is at rest", []*fun.Chunk{
			chunk("a: cmd.run", "prereq", req("rec: b")), chunk("b: rec.changes", "prereq", req("test: c")), chunk("c: test.nop"),
		}, []string{"0 a True Command \"a\" run *", "1 b True No changes detected", "2 c True Success!"}},
		{"prereq on two states of which one requires the other", []*fun.Chunk{
			chunk("gate: cmd.run", "prereq", req("rec: b", "rec: c")), chunk("b: rec.changes"), chunk("c: rec.changes", "require", req("rec: b")),
		}, []string{"0 gate True Command \"gate\" run *", "1 b True changed *", "2 c True changed *"}},
		{"prereq on two states of which one watches the other, last first", []*fun.Chunk{
			chunk("c: test.nop"), chunk("a: test.nop", "watch", req("test: c")), chunk("gate: cmd.run", "prereq", req("test: a", "test: c")),
		}, []string{"0 gate True No changes detected", "1 c True Success!", "2 a True Success!"}},
		{"prereq on what requires a state with prereq on it", []*fun.Chunk{
			chunk("a: rec.changes", "prereq", req("rec: d", "rec: e")), chunk("c: cmd.run", "prereq", req("rec: a")),
			chunk("d: rec.changes", "require", req("cmd: c")), chunk("e: rec.changes", "require", req("cmd: c")),
		}, []string{"0 c True Command \"c\" run *", "1 a True changed *", "2 d True changed *", "3 e True changed *"}},
		{"gates in the order of prereq_in", []*fun.Chunk{
			chunk("t: test.nop", "prerequired", req("test: y", "test: x")), chunk("x: test.nop", "prereq", req("test: t")), chunk("y: test.nop", "prereq", req("test: t")),
		}, []string{"0 y True No changes detected", "1 x True No changes detected", "2 t True Success!"}},
		{"gates of a state that its own dry run settles", []*fun.Chunk{
			chunk("m: test.nop", "prereq", req("test: end")), chunk("end: test.nop"),
			chunk("x: cmd.run", "prereq", req("test: m")), chunk("y: cmd.run", "prereq", req("test: m")), chunk("last: test.nop"),
		}, []string{
			"0 m True No changes detected", "1 x True No changes detected", "2 y True No changes detected", "3 end True Success!", "4 last True Success!",
		}},
		{"prereq on a state that would watch what has changed", []*fun.Chunk{
			chunk("ch: test.succeed_with_changes"), chunk("gate: cmd.run", "prereq", req("test: w")), chunk("w: test.nop", "watch", req("test: ch")),
		}, []string{"0 ch True Success! *", "1 gate True No changes detected", "3 w True Watch statement fired. *"}},
		{"prereq on a state that only watches", []*fun.Chunk{
			chunk("gate: rec.changes", "prereq", req("cmd: w")), chunk("w: cmd.wait", "watch", req("test: c")), chunk("c: test.succeed_with_changes"),
		}, []string{"0 c True Success! *", "1 gate True changed *", "3 w True Command \"w\" run *"}},
		{"prereq on a state that is passed over", []*fun.Chunk{
			chunk("gate: rec.changes", "prereq", req("rec: t")), chunk("t: rec.changes", "onchanges", req("test: n")), chunk("n: test.nop"),
		}, []string{"0 n True Success!", "1 gate True changed *", "2 t True " + skipOnchanges}},
		{"cycle", []*fun.Chunk{
			chunk("a: test.nop", "require", req("test: b")), chunk("b: test.nop", "require", req("test: c")), chunk("c: test.nop", "require", req("test: a")), chunk("d: test.nop"),
		}, []string{"0 c False Recursive requisite found", "1 b False One or more requisite failed: s.c", "2 a False One or more requisite failed: s.b", "3 d True Success!"}},
		{"requires itself", []*fun.Chunk{chunk("a: test.nop", "require", req("test: *"))}, []string{"0 a False Recursive requisite found"}},
		{"duplicate tag", []*fun.Chunk{chunk("a: test.nop"), chunk("a: test.nop")}, []string{"0 a True Success!"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			check(t, newRig(t).run(exec.Options{}, tt.chunks...), true, tt.want...)
		})
	}
}
