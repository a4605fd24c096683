// Package star runs the Starlark modules of a tree. It is the other end of
// package python, in a process of its own, since neither the memory nor the
// stack of a script can be limited within a process that does other work.
package star

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"os"
	"runtime"
	"runtime/debug"
	"time"

	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"
	"go.starlark.net/syntax"

	"brine/internal/core/python/wire"
	"brine/internal/py/value"
)

// Bounds of the process.
const (
	maxStack   = 16 << 20 // bytes of a stack of Go
	maxPrinted = 1 << 20  // bytes that the functions of one call may print
)

// Serve runs Starlark for the process that started this one, and returns its exit
// status once that is gone. It changes settings of the process.
func Serve(in io.Reader, out, errs io.Writer) int {
	go watchParent(os.Getppid())
	debug.SetTraceback("none")
	debug.SetMaxStack(maxStack)
	c := &child{in: bufio.NewReader(in), out: out}
	start, err := wire.Read(c.in)
	if err != nil {
		fmt.Fprintln(errs, "no message on standard input:", err)
		return 1
	}
	if memory, _ := value.AsInt(start.At("memory")); memory > 0 {
		if err := limitMemory(uint64(memory)); err != nil {
			fmt.Fprintln(errs, "limit memory:", err)
			return 1
		}
		go watchMemory(uint64(memory))
	}
	steps, _ := value.AsInt(start.At("steps"))
	c.prepare(uint64(max(steps, 1)))
	if err := c.send(value.MapOf("op", "ret", "value", nil)); err != nil {
		return 1
	}
	for {
		m, err := wire.Read(c.in)
		if err != nil {
			return 0
		}
		if err := c.serve(m); err != nil {
			return 1
		}
	}
}

// watchParent exits when the parent process has ended: a script that computes
// does not notice that its input has ended.
func watchParent(parent int) {
	for range time.Tick(time.Second) {
		if os.Getppid() != parent {
			os.Exit(0)
		}
	}
}

// watchMemory ends the process where it takes more than limit bytes: not every
// system stops one at once, as [limitMemory] makes Linux do.
func watchMemory(limit uint64) {
	var held runtime.MemStats
	for range time.Tick(20 * time.Millisecond) {
		runtime.ReadMemStats(&held)
		if held.Sys-held.HeapReleased > limit {
			os.Exit(wire.OutOfMemory)
		}
	}
}

// A child is the state of the process.
type child struct {
	in  io.Reader
	out io.Writer

	steps   uint64             // how many a call from outside may take
	running []*starlark.Thread // the calls, each within the one before
	printed int                // bytes, of the outermost call
	test    value.Value        // whether states only say what they would change; nil: as opts say

	modules map[string]*module  // by key
	files   map[[2]string]*file // what load has loaded, by saltenv and path
	common  map[string]bool     // the data that files of load name

	// names are the predeclared names. All modules share them, and what they stand
	// for changes from call to call.
	names    starlark.StringDict
	versions *value.Map        // of the data, as it holds for the question
	marks    map[string]int64  // the versions of the data in names
	options  *starlark.Dict    // opts without test
	contexts map[int64]*shared // by number
}

// A module is a file of one of the directories for modules.
type module struct {
	globals starlark.StringDict
	needs   map[string]bool
}

// A file is one that a statement load names. Without globals it is being loaded.
type file struct {
	globals starlark.StringDict
	err     error
}

// data are the names whose values brine sends when a module names them; frame are
// those of the chunk that runs.
var (
	data  = []string{"opts", "grains", "pillar"}
	frame = []string{"env", "sls", "id", "instance_id", "low"}
)

func dunder(name string) string { return "__" + name + "__" }

func (c *child) prepare(steps uint64) {
	c.steps = steps
	c.modules, c.files, c.common = map[string]*module{}, map[[2]string]*file{}, map[string]bool{}
	c.marks, c.contexts = map[string]int64{}, map[int64]*shared{}
	c.names = starlark.StringDict{
		"json": jsonModule(), "struct": starlark.NewBuiltin("struct", starlarkstruct.Make),
		"fail": starlark.NewBuiltin("fail", fail), dunder("proxy"): frozenDict(),
	}
	for _, f := range []struct{ kind, dunder, name string }{{"exec", "__salt__", "salt"}, {"state", "__states__", ""}, {"runner", "__runner__", ""}} {
		fs := &functions{c: c, kind: f.kind, known: map[string]starlark.Value{}}
		c.names[f.dunder] = fs
		if f.name != "" {
			c.names[f.name] = fs
		}
	}
	for _, what := range data {
		c.bind(what, frozenDict())
	}
	c.names["__context__"] = newShared()
	for _, what := range frame {
		c.names[dunder(what)] = starlark.None
	}
}

func frozenDict() *starlark.Dict {
	d := starlark.NewDict(0)
	d.Freeze()
	return d
}

func (c *child) bind(what string, v starlark.Value) {
	c.names[what], c.names[dunder(what)] = v, v
}

func (c *child) send(m *value.Map) error {
	b, err := wire.Frame(m)
	if err != nil {
		if b, err = wire.Frame(failure(err)); err != nil {
			return err
		}
	}
	return wire.Write(c.out, b)
}

// context is the __context__ that holds.
func (c *child) context() *shared { return c.names["__context__"].(*shared) }

// ask asks brine and serves what brine asks meanwhile.
func (c *child) ask(m *value.Map) (value.Value, error) {
	ctx := c.context()
	m.Set("context", ctx.used())
	b, err := wire.Frame(m)
	if err != nil {
		return nil, err
	}
	if err := wire.Write(c.out, b); err != nil {
		return nil, err
	}
	for {
		answer, err := wire.Read(c.in)
		if err != nil {
			os.Exit(0) // brine is gone, and there is nobody to tell
		}
		switch answer.Str("op") {
		case "ret":
			ctx.take(answer.Map("shared"))
			c.adopt(answer)
			return answer.At("value"), nil
		case "err":
			ctx.take(answer.Map("shared"))
			return nil, &raised{answer.Str("type"), answer.Str("msg")}
		}
		if err := c.serve(answer); err != nil {
			return nil, err
		}
	}
}

// serve answers one question of brine.
func (c *child) serve(m *value.Map) error {
	saved := c.save()
	answer, err := c.answer(m)
	used := m.Str("op") != "context" && c.context().used()
	if len(c.running) > 0 {
		c.restore(saved) // a function is waiting that has data of its own
	} else {
		c.printed = 0
	}
	if err != nil {
		answer = failure(err)
	} else {
		answer.Set("op", "ret")
	}
	answer.Set("context", used)
	return c.send(answer)
}

func (c *child) answer(m *value.Map) (answer *value.Map, err error) {
	depth := len(c.running)
	defer func() {
		// A fault of a built-in function is the script's, and no reason to lose the
		// __context__ of the run.
		if r := recover(); r != nil {
			c.running = c.running[:depth]
			answer, err = nil, fmt.Errorf("internal error: %v", r)
		}
	}()
	switch op := m.Str("op"); op {
	case "context":
		c.enter(m)
		return value.MapOf("value", c.context().changes()), nil
	case "load":
		return c.load(m)
	case "call":
		return c.call(m)
	case "render":
		return c.render(m)
	default:
		return nil, fmt.Errorf("Starlark has no %s", op)
	}
}

// callData is the data that a function sees.
type callData struct {
	values   starlark.StringDict
	marks    map[string]int64
	versions *value.Map
	options  *starlark.Dict
	test     value.Value
}

func (c *child) save() callData {
	s := callData{starlark.StringDict{}, map[string]int64{}, c.versions, c.options, c.test}
	for _, what := range data {
		s.values[what] = c.names[what]
		if n, ok := c.marks[what]; ok {
			s.marks[what] = n
		}
	}
	for _, what := range append([]string{"context"}, frame...) {
		s.values[dunder(what)] = c.names[dunder(what)]
	}
	return s
}

func (c *child) restore(s callData) {
	c.versions, c.marks, c.options, c.test = s.versions, s.marks, s.options, s.test
	maps.Copy(c.names, s.values)
	for _, what := range data {
		c.bind(what, s.values[what])
	}
}

// thread returns what runs a call within the calls that are running.
func (c *child) thread(name string) *starlark.Thread {
	limit := c.steps
	if n := len(c.running); n > 0 {
		limit = max(limit-min(limit, c.running[n-1].Steps), 1)
	}
	t := &starlark.Thread{Name: name, Print: c.print, Load: c.loadFile, OnMaxSteps: func(t *starlark.Thread) {
		t.Cancel(fmt.Sprintf("it takes more than %d steps (option custom_steps)", c.steps))
	}}
	t.SetMaxExecutionSteps(limit)
	return t
}

// within runs f by a thread of its own. Its steps count for the call that waits.
func (c *child) within(name string, f func(*starlark.Thread) error) error {
	t := c.thread(name)
	c.running = append(c.running, t)
	err := f(t)
	c.running = c.running[:len(c.running)-1]
	if n := len(c.running); n > 0 {
		c.running[n-1].Steps += t.Steps
	}
	return err
}

func (c *child) print(_ *starlark.Thread, text string) {
	if c.printed += len(text) + 1; c.printed > maxPrinted {
		return
	}
	// Where brine is gone, the next question tells.
	_ = c.send(value.MapOf("op", "log", "level", "info", "msg", text))
}

// options of the language. Neither while nor recursion is there: a function ends.
func fileOptions() *syntax.FileOptions {
	return &syntax.FileOptions{Set: true, TopLevelControl: true, GlobalReassign: true}
}
