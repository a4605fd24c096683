package output

import (
	"fmt"
	"strings"

	"brine/cmd/app"
	"brine/cmd/internal/progress"
	"brine/cmd/session"
	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/outputter"
)

// Show has the session's jobs on targets shown, and traced where that is asked for.
func (r *Report) Show(p *progress.Progress) {
	if p != nil {
		p.Mask(r.Secrets.AnyText)
		r.Watch = p.Fleet()
	}
	r.startTrace()
}

// WatchRun returns what a run of states is told to: what shows its progress, and
// what prints its report meanwhile. host is what the report calls this machine.
func (r *Report) WatchRun(p *progress.Progress, host, name string, in fun.Args) fun.RunWatcher {
	var all Watchers
	title := name
	if session.IsOrchestrate(name) && len(in.Pos) > 0 {
		title = value.Str(in.Pos[0])
	}
	if w := p.Run(title, session.IsOrchestrate(name)); w != nil {
		all = append(all, w)
	}
	if r.printsLive() {
		r.live = &liveReport{s: r, host: host, tags: map[string]bool{}, lines: r.OutAsked() == "ndjson"}
		all = append(all, r.live)
		if r.App.Terminal {
			p.Reported()
		}
	}
	if r.Rec != nil {
		all = append(all, r.Rec)
	}
	if r.wantsGraph() {
		all = append(all, &graphed{s: r})
	}
	if len(all) == 0 {
		return nil
	}
	return all
}

// printsLive reports whether states are printed as they finish: where
// --state-output=live asks for it, or the report is lines of JSON.
func (r *Report) printsLive() bool {
	if r.Flags.Output.File != "" {
		return false
	}
	switch r.OutAsked() {
	case "ndjson":
		return r.Runner
	case "", "highstate":
		return strings.HasPrefix(strings.ToLower(r.Cfg.Opts.Str("state_output")), "live")
	}
	return false
}

// Watchers are several that a run is told to.
type Watchers []fun.RunWatcher

// RunBegins tells all of them.
func (ws Watchers) RunBegins(jid string, chunks []*fun.Chunk) {
	for _, w := range ws {
		w.RunBegins(jid, chunks)
	}
}

// StateBegins tells all of them.
func (ws Watchers) StateBegins(c *fun.Chunk) {
	for _, w := range ws {
		w.StateBegins(c)
	}
}

// StateEnds tells all of them.
func (ws Watchers) StateEnds(c *fun.Chunk, ret *value.Map) {
	for _, w := range ws {
		w.StateEnds(c, ret)
	}
}

// RunEnds tells all of them.
func (ws Watchers) RunEnds() {
	for _, w := range ws {
		w.RunEnds()
	}
}

// A liveReport prints the report of a run of states while they run: each as it
// finishes. What is left of it, [Report.PrintEnd] prints.
type liveReport struct {
	s     *Report
	host  string
	lines bool // of JSON
	open  bool // more states may come
	bad   bool // one that is printed failed
	began bool
	head  bool            // the name of the machine is printed
	tags  map[string]bool // states that are printed
	err   error           // why it cannot be printed
}

// RunBegins begins the report.
func (l *liveReport) RunBegins(string, []*fun.Chunk) { l.began = true }

// StateBegins prints nothing.
func (l *liveReport) StateBegins(*fun.Chunk) {}

// StateEnds prints a state.
func (l *liveReport) StateEnds(c *fun.Chunk, ret *value.Map) {
	tag := c.Tag()
	if l.err != nil || l.tags[tag] {
		return
	}
	l.tags[tag] = true
	l.bad = l.bad || ret.At("result") == false
	if l.lines {
		l.open = true
		if l.s.Info.First == "" {
			l.s.Info.First = value.Str(ret.At("start_time"))
		}
		l.err = l.s.Print(value.MapOf(l.host, value.MapOf(tag, ret)), "", app.ExitOK)
		l.open = false
		return
	}
	l.err = l.part(tag, ret)
}

func (l *liveReport) part(tag string, ret *value.Map) error {
	if l.s.MaskAll {
		ret, _ = l.s.Mask(ret).(*value.Map)
	}
	o, err := l.s.outputOptions(app.ExitOK)
	if err != nil {
		return err
	}
	o.Shown = nil
	w, done, err := l.s.reportWriter()
	if err != nil {
		return err
	}
	l.s.streamer.flush()
	l.s.App.Printed = true
	err = outputter.HighstatePart(w, l.host, tag, ret, !l.head, o)
	l.head = true
	if derr := done(); err == nil {
		err = derr
	}
	if err != nil {
		return fmt.Errorf("print the report: %w", err)
	}
	return nil
}

// RunEnds leaves the rest to PrintEnd.
func (l *liveReport) RunEnds() {}

// printed returns the tags of what is printed; nil where all is to be printed.
func (l *liveReport) printed() map[string]bool {
	if l == nil || !l.began || l.lines || len(l.tags) == 0 {
		return nil
	}
	return l.tags
}

// PrintEnd prints the report, or what a live one has left of it.
func (r *Report) PrintEnd(data value.Value, wish string, retcode int) error {
	l := r.live
	if l == nil || !l.began {
		return r.Print(data, wish, retcode)
	}
	if l.err != nil {
		return l.err
	}
	if l.lines {
		left := l.rest(data)
		if l.bad {
			retcode = app.ExitOK // a line says so
		}
		if left.Len() == 0 && retcode == app.ExitOK {
			return nil
		}
		data, l.open = left, l.bad
	}
	return r.Print(data, wish, retcode)
}

// rest is the data of a run without the states that are printed.
func (l *liveReport) rest(data value.Value) *value.Map {
	out := value.NewMap(0)
	m, _ := data.(*value.Map)
	if inner := m.Map("data"); inner != nil && m.Has("outputter") {
		m = inner
	}
	for host, v := range m.All() {
		states, _ := v.(*value.Map)
		left := value.NewMap(0)
		for tag, ret := range states.All() {
			if name, ok := tag.(string); !ok || !l.tags[name] {
				left.Set(tag, ret)
			}
		}
		if left.Len() > 0 {
			out.Set(host, left)
		}
	}
	return out
}
