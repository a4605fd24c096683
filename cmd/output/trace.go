package output

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"brine/cmd/app"
	"brine/cmd/internal/trace"
	"brine/internal/core/version"
	"brine/internal/py/value"
	"brine/outputter"
	"brine/outputter/report"
)

// profileJSON is the outputter that writes a profile of the run as JSON.
const profileJSON = "profile_json"

// profiles reports whether the report asked for is a profile of the whole run.
// Salt's programs print the states alone, as Salt does.
func (r *Report) profiles() bool {
	name := r.OutAsked()
	return name == profileJSON || name == "profile" && !slices.Contains(app.SaltPrograms[:], r.App.Program)
}

// startTrace begins to note where the time of the run goes, where a profile is
// asked for or the environment names a collector of traces. Telemetry never fails
// a run: what is wrong with it is only said.
func (r *Report) startTrace() {
	var err error
	if r.Exporter, err = trace.NewExporter(r.App.Getenv, version.Number(), r.Cfg.Opts.Str("id")); err != nil {
		r.Note("traces are not sent: " + err.Error())
	}
	if r.Exporter != nil || r.profiles() || r.Flags.Output.Timing {
		r.Rec = trace.New(time.Now)
		r.Watch = r.Rec.Fleet(r.Watch)
	}
}

// took notes how long a part of the run took.
func (r *Report) took(part, of string, began time.Time) {
	if r.Rec != nil {
		r.Rec.Took(part, of, began)
	}
}

// traced is where the time of the run went, whose results are data.
func (r *Report) traced(data value.Value, retcode int) *trace.Profile {
	return r.Rec.Profile(report.Build(r.Mask(r.named(data)), r.reportInfo(retcode)), r.Secrets.AnyText)
}

// interruptedExport is how long a run that a signal ends goes on to send its spans.
// It is shorter than killGrace: results are printed and records closed after it.
const interruptedExport = 2 * time.Second

// exporting returns the context of an export, which is cancelled soon after a first
// signal. The caller calls end.
func exporting(i *app.Interrupt) (ctx context.Context, end func()) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		look := time.NewTicker(100 * time.Millisecond)
		defer look.Stop()
		for !i.Draining() {
			select {
			case <-ctx.Done():
				return
			case <-look.C:
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(interruptedExport):
			cancel()
		}
	}()
	return ctx, func() {
		cancel()
		<-ended
	}
}

// sendTrace sends the spans of the run, also of one that was interrupted.
func (r *Report) sendTrace(data value.Value, retcode int) {
	if r.Exporter == nil || r.Rec == nil {
		return
	}
	p := r.traced(data, retcode)
	ctx, end := exporting(r.App.Intr)
	defer end()
	err := r.Exporter.Export(ctx, p.Spans)
	switch {
	case err != nil:
		r.Note("traces were not sent: " + r.Secrets.Text(err.Error()))
	case p.Lost > 0:
		r.Note(fmt.Sprintf("%d spans were not sent: there are too many", p.Lost))
	}
}

// profile prints Salt's table of states, and where the time of the run went.
func (r *Report) profile(w io.Writer, data value.Value, o *outputter.Options) error {
	states := data
	if m, ok := data.(*value.Map); ok && m.Has("data") && m.Has("outputter") {
		states = m.At("data") // an orchestration's
	}
	if err := outputter.Profile(w, states, o); err != nil {
		return err
	}
	return trace.Text(w, r.traced(data, o.Retcode))
}

// writeProfileJSON prints where the time of the run went as JSON.
func (r *Report) writeProfileJSON(w io.Writer, data value.Value, o *outputter.Options) error {
	if r.Rec == nil {
		r.Rec = trace.New(time.Now) // of a job that ended before: its states alone
	}
	text, err := value.AppendJSON(nil, trace.Data(r.traced(data, o.Retcode)), value.JSONOptions{Indent: 2, Strict: true})
	if err != nil {
		return err
	}
	_, err = w.Write(append(text, '\n'))
	return err
}
