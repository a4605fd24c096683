// Package python runs the Python and the Starlark modules of a tree: Python on
// machines that have a python3, by the programs in the directory runtime; Starlark
// by another process of brine, which is package star.
//
// One helper process for each language serves a run: it starts when the first module
// is needed and ends with the run. Both sides send frames of JSON; while a function
// of a module runs, it may call functions of brine, which may lead to modules again.
package python

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/core/python/wire"
	"brine/internal/py/value"
)

// Options of the configuration, and what holds without them.
const (
	defaultTimeout = 5 * time.Minute // custom_timeout, in seconds
	defaultMemory  = 4096            // custom_memory, in MiB of address space
	starMemory     = 512             // the same of Starlark, in MiB of data
	starSteps      = 500_000_000     // custom_steps, which a function of Starlark may take
)

//go:embed all:runtime
var runtimeFiles embed.FS

// boot reads the runtime from the first frame, so that it is in no file and not
// in the list of processes.
const boot = `import os,struct
def read(n):
    b=b""
    while len(b)<n:
        p=os.read(0,n-len(b))
        if not p: os._exit(0)
        b+=p
    return b
exec(compile(read(struct.unpack(">I",read(4))[0]),"<brine>","exec"))`

// A Helper is the process that runs one language for one run. It is safe for concurrent
// use. One function runs at a time: while it waits for a function of brine, another
// may run.
type Helper struct {
	lang language

	mu    sync.Mutex
	free  sync.Cond // of mu: busy or depth has changed
	busy  bool      // the process works on a question
	depth int       // how many of its own questions it waits for
	p     *process

	// versions is the data of the run, as sent to p. A process must not hold
	// it: data that is still to be computed holds the run, and with it this
	// helper.
	versions map[string]version
}

// newHelper returns a helper that starts when it is first used.
func newHelper(lang language) *Helper {
	h := &Helper{lang: lang}
	h.free.L = &h.mu
	return h
}

// A process is a helper that runs.
type process struct {
	in     *io.PipeWriter
	out    *io.PipeReader
	stderr *tailBuffer
	cancel context.CancelFunc
	done   chan struct{}
	err    error                 // how it ended, once done is closed
	why    atomic.Pointer[error] // why it was ended
	broken atomic.Bool           // it cannot be spoken with any more
	limit  time.Duration         // how long a function may take
	clock  *time.Timer           // ends the process after limit
	loaded map[string]bool       // by the key of the source
	shares map[int64]*share      // by the number of the __context__
}

// A version is data of the run as the helper has it.
type version struct {
	of value.Value
	n  int64
}

// ErrNoPython says that the machine has no python3.
var ErrNoPython = errors.New("python3 is not installed here")

// running returns the process, which it starts if there is none. Only one question
// at a time may call it.
func (h *Helper) running(ctx context.Context, env *fun.Env) (*process, error) {
	if h.p != nil && !h.p.broken.Load() {
		select {
		case <-h.p.done:
		default:
			return h.p, nil
		}
	}
	argv, on, err := h.lang.command(env)
	if err != nil {
		return nil, err
	}
	p := launch(env, h.lang, argv, on)
	if err := p.greet(ctx, h.lang, env); err != nil {
		err = p.fault(ctx, err)
		p.end()
		return nil, err
	}
	h.p, h.versions = p, map[string]version{}
	// Where a run is part of a longer process, nobody says that it is over. Neither
	// p nor what serves it may lead to h.
	runtime.AddCleanup(h, (*process).end, p)
	return p, nil
}

func launch(env *fun.Env, lang language, argv []string, on host.Host) *process {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	// The process outlives the call that starts it: it serves the whole run.
	ctx, cancel := context.WithCancel(context.Background())
	p := &process{in: inW, out: outR, stderr: &tailBuffer{}, cancel: cancel, done: make(chan struct{}), limit: timeLimit(env), loaded: map[string]bool{}, shares: map[int64]*share{}}
	p.clock = time.AfterFunc(p.limit, func() {
		p.endWith(fmt.Errorf("it did not answer within %s (option custom_timeout)", p.limit))
	})
	memory := lang.memory(env) // the goroutine must not hold env
	go func() {
		defer close(p.done)
		defer p.clock.Stop()
		out, err := on.Run(ctx, host.Cmd{Argv: argv, Stdin: inR, Stdout: outW, Stderr: p.stderr, ReadOnly: true})
		if err != nil {
			p.err = fmt.Errorf("start %s: %w", argv[0], err)
		} else {
			p.err = lang.ending(memory, out, p.stderr)
		}
		inR.CloseWithError(p.err)
		outW.CloseWithError(p.err)
	}()
	return p
}

// end ends the process.
func (p *process) end() {
	_ = p.in.Close()
	p.cancel()
	_ = p.out.Close()
}

// endWith ends the process for a reason.
func (p *process) endWith(why error) {
	p.why.Store(&why)
	p.broken.Store(true)
	p.end()
}

// guard ends the process where ctx ends; the result takes the guard away.
func (p *process) guard(ctx context.Context) func() {
	stop := context.AfterFunc(ctx, func() { p.endWith(context.Cause(ctx)) })
	return func() { stop() }
}

// timeLimit is how long a function may take.
func timeLimit(env *fun.Env) time.Duration {
	if n, ok := value.AsInt(env.Opts.At("custom_timeout")); ok && n > 0 {
		return time.Duration(min(n, 1<<32)) * time.Second // more would overflow
	}
	return defaultTimeout
}

// greet sends what the process needs to begin.
func (p *process) greet(ctx context.Context, lang language, env *fun.Env) error {
	defer p.guard(ctx)()
	var first *value.Map
	var err error
	if lang == starlark {
		first = value.MapOf("memory", lang.memory(env)<<20, "steps", stepLimit(env))
	} else if first, err = p.teachPython(env); err != nil {
		return err
	}
	if err := p.send(first); err != nil {
		return err
	}
	_, err = p.receive()
	return err
}

// teachPython sends the runtime and returns what follows it.
func (p *process) teachPython(env *fun.Env) (*value.Map, error) {
	main, err := runtimeFiles.ReadFile("runtime/main.py")
	if err != nil {
		return nil, err
	}
	if err := p.write(main); err != nil {
		return nil, err
	}
	shims := value.NewMap(64)
	err = fs.WalkDir(runtimeFiles, "runtime/salt", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := runtimeFiles.ReadFile(path)
		shims.Set(strings.TrimPrefix(path, "runtime/"), string(text))
		return err
	})
	return value.MapOf("shims", shims, "memory", python3.memory(env)<<20, "system", env.Opts.Str("python_salt") == "system"), err
}

// current returns the versions of the data that hold for a call.
func (h *Helper) current(w world) *value.Map {
	out := value.NewMap(3)
	for _, what := range [...]string{"opts", "grains", "pillar"} {
		v := w.data(what)
		known, ok := h.versions[what]
		if !ok || known.of != v {
			known = version{v, known.n + 1}
			h.versions[what] = known
		}
		out.Set(what, known.n)
	}
	return out
}

func (p *process) write(frame []byte) error { return wire.Write(p.in, frame) }

func (p *process) send(m *value.Map) error {
	b, err := wire.Frame(m)
	if err != nil {
		return err
	}
	return p.write(b)
}

func (p *process) receive() (*value.Map, error) { return wire.Read(p.out) }

// tailBuffer keeps the first and the last of what is written to it.
type tailBuffer struct {
	mu    sync.Mutex
	first []byte
	b     []byte
}

const (
	headSize = 512
	tailSize = 4096
)

func (t *tailBuffer) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.first = append(t.first, b[:min(len(b), headSize-len(t.first))]...)
	t.b = append(t.b, b...)
	if len(t.b) > 2*tailSize {
		t.b = append([]byte(nil), t.b[len(t.b)-tailSize:]...)
	}
	return len(b), nil
}

func (t *tailBuffer) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := strings.TrimSpace(string(t.b[max(0, len(t.b)-tailSize):]))
	if s == "" {
		return ""
	}
	return ": " + s
}

func (t *tailBuffer) head() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.first)
}

// Offers reports whether a module of Salt, such as "salt.utils.files", is in the
// package salt that the modules of a tree import.
func Offers(module string) bool {
	if rest, ok := strings.CutPrefix(module, "salt."); ok {
		// The functions of brine are there under the names of Salt's files.
		if kind, name, ok := strings.Cut(rest, "."); ok && slices.Contains([]string{"modules", "states", "runners"}, kind) && !strings.Contains(name, ".") {
			return true
		}
	}
	dir := "runtime/" + strings.ReplaceAll(module, ".", "/")
	for _, name := range []string{dir + ".py", dir + "/__init__.py"} {
		if _, err := fs.Stat(runtimeFiles, name); err == nil {
			return true
		}
	}
	return false
}
