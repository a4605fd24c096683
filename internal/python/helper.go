// Package python runs the Python modules of a tree on machines that have a
// python3. The programs themselves are in the directory runtime.
//
// One helper process serves a run: it starts when the first module is needed and
// ends with the run. Both sides send frames of JSON; while a function of a module
// runs, it may call functions of brine, which may lead to modules again.
package python

import (
	"bytes"
	"context"
	"embed"
	"encoding/binary"
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

	"brine/internal/fun"
	"brine/internal/host"
	"brine/internal/value"
)

// maxFrame bounds a frame, in bytes.
const maxFrame = 64 << 20

// Options of the configuration, and what holds without them.
const (
	defaultTimeout = 5 * time.Minute // custom_timeout, in seconds
	defaultMemory  = 4096            // custom_memory, in MiB of address space
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

// A Helper is the process that runs Python for one run. It is safe for concurrent
// use. One function runs at a time: while it waits for a function of brine, another
// may run.
type Helper struct {
	mu    sync.Mutex
	free  sync.Cond // of mu: busy or depth has changed
	busy  bool      // the process works on a question
	depth int       // how many of its own questions it waits for
	p     *process
}

// newHelper returns a helper that starts when it is first used.
func newHelper() *Helper {
	h := &Helper{}
	h.free.L = &h.mu
	return h
}

// A process is a python3 that runs.
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

	versions map[string]version
	loaded   map[string]bool // by the key of the source
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
	exe, err := env.Host.LookPath("python3", "")
	if err != nil {
		return nil, ErrNoPython
	}
	p := launch(env, exe)
	if err := p.greet(ctx, env); err != nil {
		err = p.fault(ctx, err)
		p.end()
		return nil, err
	}
	h.p = p
	// Where a run is part of a longer process, nobody says that it is over.
	runtime.AddCleanup(h, (*process).end, p)
	return p, nil
}

func launch(env *fun.Env, exe string) *process {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	// The process outlives the call that starts it: it serves the whole run.
	ctx, cancel := context.WithCancel(context.Background())
	p := &process{in: inW, out: outR, stderr: &tailBuffer{}, cancel: cancel, done: make(chan struct{}), limit: timeLimit(env), versions: map[string]version{}, loaded: map[string]bool{}}
	p.clock = time.AfterFunc(p.limit, func() {
		p.endBecause(fmt.Errorf("it did not answer within %s (option custom_timeout)", p.limit))
	})
	go func() {
		defer close(p.done)
		defer p.clock.Stop()
		out, err := env.Host.Run(ctx, host.Cmd{Argv: []string{exe, "-I", "-B", "-c", boot}, Stdin: inR, Stdout: outW, Stderr: p.stderr, ReadOnly: true})
		switch {
		case err != nil:
			p.err = fmt.Errorf("start %s: %w", exe, err)
		case out.Status < 0:
			p.err = fmt.Errorf("python3 was ended by signal %d%s", -out.Status, p.stderr.text())
		default:
			p.err = fmt.Errorf("python3 ended with status %d%s", out.Status, p.stderr.text())
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

// endBecause ends the process for a reason.
func (p *process) endBecause(why error) {
	p.why.Store(&why)
	p.broken.Store(true)
	p.end()
}

// guard ends the process where ctx ends; the result takes the guard away.
func (p *process) guard(ctx context.Context) func() {
	stop := context.AfterFunc(ctx, func() { p.endBecause(context.Cause(ctx)) })
	return func() { stop() }
}

// timeLimit is how long a function may take.
func timeLimit(env *fun.Env) time.Duration {
	if n, ok := value.AsInt(env.Opts.At("custom_timeout")); ok && n > 0 {
		return time.Duration(n) * time.Second
	}
	return defaultTimeout
}

// greet sends the runtime and what it needs to begin.
func (p *process) greet(ctx context.Context, env *fun.Env) error {
	defer p.guard(ctx)()
	main, err := runtimeFiles.ReadFile("runtime/main.py")
	if err != nil {
		return err
	}
	if err := p.write(main); err != nil {
		return err
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
	if err != nil {
		return err
	}
	memory := int64(defaultMemory)
	if n, ok := value.AsInt(env.Opts.At("custom_memory")); ok && n >= 0 {
		memory = n
	}
	if err := p.send(value.MapOf("shims", shims, "memory", memory<<20, "system", env.Opts.Str("python_salt") == "system")); err != nil {
		return err
	}
	_, err = p.receive()
	return err
}

// current returns the versions of the data that hold for a call.
func (p *process) current(w world) *value.Map {
	out := value.NewMap(3)
	for _, what := range [...]string{"opts", "grains", "pillar"} {
		v := w.data(what)
		known, ok := p.versions[what]
		if !ok || known.of != v {
			known = version{v, known.n + 1}
			p.versions[what] = known
		}
		out.Set(what, known.n)
	}
	return out
}

func (p *process) write(frame []byte) error {
	head := binary.BigEndian.AppendUint32(nil, uint32(len(frame)))
	_, err := p.in.Write(append(head, frame...))
	return err
}

// frame encodes a message. Data that is lazy is worked out for it, which may need
// the helper: no question may be under way.
func frame(m *value.Map) ([]byte, error) {
	packed, err := pack(m, 0)
	if err != nil {
		return nil, err
	}
	b := value.EncodeJSON(packed)
	if len(b) > maxFrame {
		return nil, value.Raise("ValueError", "the value is too large: %d bytes of JSON, %d at most", len(b), maxFrame)
	}
	return b, nil
}

func (p *process) send(m *value.Map) error {
	b, err := frame(m)
	if err != nil {
		return err
	}
	return p.write(b)
}

func (p *process) receive() (*value.Map, error) {
	head := make([]byte, 4)
	if _, err := io.ReadFull(p.out, head); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(head)
	if n > maxFrame {
		return nil, fmt.Errorf("the helper sent a frame of %d bytes", n)
	}
	b := make([]byte, 0, min(n, 1<<20))
	buf := bytes.NewBuffer(b)
	if _, err := io.CopyN(buf, p.out, int64(n)); err != nil {
		return nil, err
	}
	v, err := value.DecodeJSON(buf)
	if err != nil {
		return nil, fmt.Errorf("the helper sent invalid JSON: %w", err)
	}
	if v, err = unpack(v, 0); err != nil {
		return nil, err
	}
	m, ok := v.(*value.Map)
	if !ok {
		return nil, fmt.Errorf("the helper sent %s", value.TypeName(v))
	}
	return m, nil
}

// tailBuffer keeps the last of what is written to it.
type tailBuffer struct {
	mu sync.Mutex
	b  []byte
}

const tailSize = 4096

func (t *tailBuffer) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
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
