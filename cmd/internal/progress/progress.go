// Package progress shows on stderr how a run goes: as a view at the bottom of
// the terminal, as lines, or as a stream of JSON. Start at [Start].
//
// A model (model.go) takes in what the fleet and the runner tell, and hands
// events to what shows them. view.go makes the frames of the terminal from the
// model, screen.go draws them; lines.go and events.go write what has no terminal.
package progress

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/mattn/go-isatty"
	"github.com/spf13/pflag"

	"brine/internal/core/fun"
	"brine/internal/core/printable"
	"brine/internal/fleet"
	"brine/internal/py/source"
)

// A mode is how progress is shown.
type mode int

const (
	auto  mode = iota // live on a terminal, else late lines
	asked             // live on a terminal, else lines: --progress without a value
	live
	plain
	document // JSON
	none
)

// modes are the values of --progress by their names.
var modes = [...]struct {
	name string
	mode mode
}{
	{"auto", auto}, {"live", live}, {"plain", plain}, {"json", document}, {"none", none},
}

// Names returns the values of --progress.
func Names() []string {
	names := make([]string, len(modes))
	for i, m := range modes {
		names[i] = m.name
	}
	return names
}

// parse reads a value of --progress: a name, or what Saltfiles say of a flag
// that is on or off.
func parse(text string) (mode, error) {
	for _, m := range modes {
		if m.name == text {
			return m.mode, nil
		}
	}
	switch strings.ToLower(text) {
	case "on", "true", "1", "yes":
		return asked, nil
	case "off", "false", "0", "no":
		return none, nil
	}
	return auto, fmt.Errorf("%q is none of %s%s", text, strings.Join(Names(), ", "), source.DidYouMean(text, Names()))
}

// Flags say how the progress of a run is shown.
type Flags struct {
	mode mode
	text string
	off  bool
}

// Register registers the flags, --progress with a shorthand.
func (f *Flags) Register(fs *pflag.FlagSet, short string) {
	fs.VarP((*flagValue)(f), "progress", short, "show progress on stderr as `MODE`: auto, live, plain, json or none (default: $BRINE_PROGRESS, else auto)")
	fs.Lookup("progress").NoOptDefVal = "on"
	fs.BoolVar(&f.off, "no-progress", false, "same as --progress=none")
}

// flagValue is the value of --progress.
type flagValue Flags

// Set reads a value.
func (v *flagValue) Set(text string) (err error) {
	v.mode, err = parse(text)
	v.text = text
	return err
}

// String returns the value as it was given.
func (v *flagValue) String() string { return v.text }

// Type is how help calls the value.
func (v *flagValue) Type() string { return "mode" }

// Misplaced reports whether the first argument of a command is a value that was
// meant for --progress, which takes it only behind "=".
func (f *Flags) Misplaced(args []string) bool {
	if f.mode != asked || len(args) == 0 {
		return false
	}
	m, err := parse(args[0])
	return err == nil && m != asked
}

// lateLines is how long a run shows no lines that nobody asked for.
const lateLines = 10 * time.Second

// Options say what is shown, and where.
type Options struct {
	Flags  Flags
	Stderr io.Writer
	Getenv func(string) string
	// Title is what the run is called.
	Title string
	// NoColor shows no colours, also where NO_COLOR is not set.
	NoColor bool
	// Kept says that how the run goes is kept, also where nothing is shown.
	Kept bool
	// Salt says that brine is one of Salt's programs, which show lines only where
	// they are asked for.
	Salt bool
}

// choose returns the mode, which is live only where it can be, and never auto.
// late says that lines are shown only of a run that takes long.
func (o *Options) choose() (m mode, late bool) {
	m = o.Flags.mode
	if m == auto {
		// A bad value in the environment is auto: it is not a fault of the command line.
		m, _ = parse(cmp.Or(o.Getenv("BRINE_PROGRESS"), "auto"))
	}
	if o.Flags.off {
		m = none
	}
	file, ok := o.Stderr.(*os.File)
	term := o.Getenv("TERM")
	can := ok && term != "" && term != "dumb" && isatty.IsTerminal(file.Fd())
	switch {
	case m == auto && can && o.Getenv("CI") == "", (m == live || m == asked) && can:
		return live, false
	case m == auto && o.Salt:
		return none, false
	case m == auto:
		return plain, true
	case m == live, m == asked:
		return plain, false
	}
	return m, false
}

// A Progress shows how a run goes. nil shows nothing; its methods do that.
type Progress struct {
	m      *model
	screen *Screen
	stop   []func()
}

// Start shows, from now on until Stop, how the run goes. It returns nil where
// nothing is to be shown or kept.
func Start(o Options) *Progress {
	mode, late := o.choose()
	if mode == none && !o.Kept {
		return nil
	}
	p := &Progress{m: newModel(o.Title)}
	switch mode {
	case none:
	case document:
		p.m.show, p.m.results = (&events{w: o.Stderr}).write, true
	case plain:
		l := &lines{w: o.Stderr, m: p.m, mute: late}
		p.m.show = l.event
		p.stop = append(p.stop, l.start(late))
	default:
		file, _ := o.Stderr.(*os.File)
		v := &view{m: p.m, look: newLook(o.Getenv, o.NoColor)}
		p.screen = newScreen(file, v.frame)
		p.m.begun = p.screen.show
		p.m.show = func(e event) {
			if text := v.note(e); text != "" {
				p.screen.above(text)
			}
		}
		p.stop = append(p.stop, p.screen.close)
	}
	return p
}

// Keep also writes what happens from now on as lines of JSON. Nothing may run yet.
func (p *Progress) Keep(w io.Writer) {
	p.m.results = true
	shown, kept := p.m.show, &events{w: w}
	p.m.show = func(e event) {
		if shown != nil {
			shown(e)
		}
		kept.write(e)
	}
}

// Stop ends it. The terminal is as if nothing had been drawn, but for what was
// printed for good.
func (p *Progress) Stop() {
	if p == nil {
		return
	}
	p.m.finish()
	for _, stop := range p.stop {
		stop()
	}
	p.stop = nil
}

// Screen returns the terminal, whose writers what is written to it must go
// through; nil where nothing is drawn on one.
func (p *Progress) Screen() *Screen {
	if p == nil {
		return nil
	}
	return p.screen
}

// Fleet returns what the jobs on targets are told to; nil: nobody.
func (p *Progress) Fleet() fleet.Watcher {
	if p == nil {
		return nil
	}
	return p.m
}

// Run returns what a run of states is told to, whose title is what it is called:
// the steps of an orchestration where steps is true. nil: nobody.
func (p *Progress) Run(title string, steps bool) fun.RunWatcher {
	if p == nil {
		return nil
	}
	p.m.mu.Lock()
	defer p.m.mu.Unlock()
	p.m.title, p.m.unit = title, "state"
	if steps {
		p.m.unit = "step"
	}
	return p.m
}

// Mask has texts from functions and hosts go through mask.
func (p *Progress) Mask(mask func(string) string) {
	if p != nil {
		p.m.mu.Lock()
		defer p.m.mu.Unlock()
		p.m.mask = mask
	}
}

// Reported says that the report shows results as they come on the same
// terminal, so that failures need no lines of their own.
func (p *Progress) Reported() {
	if p != nil && p.screen != nil {
		p.m.mu.Lock()
		defer p.m.mu.Unlock()
		p.m.reported = true
	}
}

// oneLine is text that may be shown, on one line of at most 300 characters.
func oneLine(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if rs := []rune(s); len(rs) > 300 {
		s = string(rs[:300]) + "..."
	}
	return printable.Line(s)
}
