package render

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"time"

	"github.com/flosch/pongo2/v6"

	"brine/internal/fun"
)

// pongoMemoryText begins what a child says that took too much memory.
const pongoMemoryText = "the template takes more than "

// ServePongo renders one template with pongo2: it reads the job and the answers
// to what it asks from in and writes to out. It is what the child process does
// that the renderer pongo2 starts, and changes settings of its process: its
// stack and memory are bounded. It returns the exit status.
func ServePongo(in io.Reader, out, stderr io.Writer) int {
	c := &pongoChild{dec: json.NewDecoder(in), enc: json.NewEncoder(out)}
	c.dec.UseNumber()
	var job pongoJob
	if err := c.dec.Decode(&job); err != nil {
		fmt.Fprintln(stderr, "pongo2-render: no job on standard input:", err)
		return 2
	}
	debug.SetMaxStack(pongoMaxStack)
	debug.SetTraceback("none")
	go watchMemory(stderr)
	pongo2.SetAutoescape(false) // brine renders no HTML
	done := pongoAsk{Done: true}
	text, err := c.render(&job)
	if err != nil {
		done.Fault = faultOf(err)
	} else {
		done.Out = text
	}
	if err := c.enc.Encode(done); err != nil {
		return 1
	}
	return 0
}

// watchMemory ends the process where it takes too much.
func watchMemory(stderr io.Writer) {
	sample := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	for {
		metrics.Read(sample)
		if sample[0].Value.Uint64()-sample[1].Value.Uint64() > pongoMaxMemory {
			fmt.Fprintf(stderr, pongoMemoryText+"%d MiB of memory\n", pongoMaxMemory>>20)
			os.Exit(3)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// A pongoChild is the far end of Engine.pongo.
type pongoChild struct {
	dec *json.Decoder
	enc *json.Encoder
}

func (c *pongoChild) ask(a pongoAsk) (any, error) {
	if err := c.enc.Encode(a); err != nil {
		return nil, err
	}
	var ans pongoAnswer
	if err := c.dec.Decode(&ans); err != nil {
		return nil, err
	}
	if ans.Error != "" {
		return nil, errors.New(ans.Error)
	}
	return fromWire(ans.Value), nil
}

func (c *pongoChild) render(job *pongoJob) (text string, err error) {
	defer func() {
		// pongo2 lets some faults of templates out as panics.
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
	}()
	vars := pongo2.Context{}
	for k, v := range job.Vars {
		vars[k] = fromWire(v)
	}
	vars["salt"] = func(name *pongo2.Value, args ...*pongo2.Value) (*pongo2.Value, error) {
		a := pongoAsk{Call: name.String(), Args: make([]any, len(args))}
		for i, x := range args {
			a.Args[i] = x.Interface()
		}
		v, err := c.ask(a)
		if err != nil {
			return nil, err
		}
		return pongo2.AsValue(v), nil
	}
	set := pongo2.NewSet(job.Name, c)
	if err := set.BanTag("ssi"); err != nil { // reads any file of the machine
		return "", err
	}
	t, err := set.FromString(job.Text)
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
	v, err := c.ask(pongoAsk{Load: p})
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
