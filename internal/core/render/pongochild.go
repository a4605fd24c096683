package render

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"brine/internal/core/pongo2"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// pongoMemoryText begins what a child says that took too much memory.
const pongoMemoryText = "the template takes more than "

// ServePongo renders one template with pongo2: it reads the job and the answers
// to what it asks from in and writes to out. It is what the child process does
// that the renderer pongo2 starts, and changes settings of its process: its
// stack and memory are bounded. It returns the exit status.
func ServePongo(in io.Reader, out, stderr io.Writer) int {
	c := &pongoChild{newPongoWire(in, out)}
	job, err := c.wire.receive()
	if err != nil {
		fmt.Fprintln(stderr, "pongo2-render: no job on standard input:", err)
		return 2
	}
	debug.SetMaxStack(pongoMaxStack)
	debug.SetTraceback("none")
	go watchMemory(stderr)
	pongo2.SetAutoescape(false) // brine renders no HTML
	text, err := c.render(job)
	if err != nil {
		f := faultOf(err)
		err = c.wire.send("done", true, "fault", value.MapOf("msg", f.Msg, "file", f.File, "line", int64(f.Line), "col", int64(f.Col)))
	} else {
		err = c.wire.send("done", true, "out", text)
	}
	if err != nil {
		return 1
	}
	return 0
}

// watchMemory ends the process where it takes too much.
func watchMemory(stderr io.Writer) {
	var held runtime.MemStats
	for {
		runtime.ReadMemStats(&held)
		if held.Sys-held.HeapReleased > pongoMaxMemory {
			fmt.Fprintf(stderr, pongoMemoryText+"%d MiB of memory\n", pongoMaxMemory>>20)
			os.Exit(3)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// A pongoChild is the child process's side of Engine.pongo.
type pongoChild struct{ wire *pongoWire }

func (c *pongoChild) ask(keysAndValues ...any) (any, error) {
	if err := c.wire.send(keysAndValues...); err != nil {
		return nil, err
	}
	answer, err := c.wire.receive()
	if err != nil {
		return nil, err
	}
	if answer.Has("error") {
		return nil, errors.New(answer.Str("error"))
	}
	return goValue(answer.At("value")), nil
}

func (c *pongoChild) render(job *value.Map) (text string, err error) {
	defer func() {
		// pongo2 lets some faults of templates out as panics.
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
	}()
	vars := pongo2.Context{}
	for k, v := range job.Map("vars").All() {
		vars[value.Str(k)] = goValue(v)
	}
	vars["salt"] = func(name *pongo2.Value, args ...*pongo2.Value) (*pongo2.Value, error) {
		given := make([]value.Value, len(args))
		for i, x := range args {
			given[i] = plainValue(value.From(x.Interface()), 0)
		}
		v, err := c.ask("call", name.String(), "args", value.NewList(given...))
		if err != nil {
			return nil, err
		}
		return pongo2.AsValue(v), nil
	}
	set := pongo2.NewSet(job.Str("name"), c)
	if err := set.BanTag("ssi"); err != nil { // reads any file of the machine
		return "", err
	}
	t, err := set.FromString(job.Str("text"))
	if err != nil {
		return "", err
	}
	out := &boundedBuffer{max: pongoMaxOutput}
	if err := t.ExecuteWriterUnbuffered(vars, out); err != nil {
		return "", err
	}
	return out.String(), nil
}

// faultOf takes apart an error of pongo2.
func faultOf(err error) *pongoFault {
	f := &pongoFault{Msg: err.Error()}
	var pe *pongo2.Error
	if !errors.As(err, &pe) {
		return f
	}
	if pe.Filename != "" && !strings.HasPrefix(pe.Filename, "<") {
		f.File = pe.Filename
	}
	f.Line, f.Col = pe.Line, pe.Column
	if pe.OrigError != nil {
		f.Msg = pe.OrigError.Error()
	}
	return f
}

// Abs returns the path below the roots of a template that another names.
func (c *pongoChild) Abs(base, name string) string {
	if p, _, ok := fun.SplitURL(name); ok {
		return p
	}
	if head, _, _ := strings.Cut(name, "/"); head == "." || head == ".." {
		return path.Join(path.Dir(base), name)
	}
	return name
}

// Get returns the text of a template.
func (c *pongoChild) Get(p string) (io.Reader, error) {
	v, err := c.ask("load", p)
	if err != nil {
		return nil, err
	}
	text, _ := v.(string)
	return strings.NewReader(text), nil
}

// A boundedBuffer takes up to max bytes.
type boundedBuffer struct {
	bytes.Buffer
	max int
}

func (b *boundedBuffer) Write(p []byte) (int, error) {
	if b.Len()+len(p) > b.max {
		return 0, fmt.Errorf("the rendered text is larger than %d bytes", b.max)
	}
	return b.Buffer.Write(p)
}

func (b *boundedBuffer) WriteString(s string) (int, error) { return b.Write([]byte(s)) }
