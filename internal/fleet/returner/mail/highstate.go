package mail

import (
	"context"
	"errors"
	"fmt"
	"html"
	"os"
	"sort"
	"strings"

	"brine/internal/core/cause"
	"brine/internal/core/fun"
	"brine/internal/fleet/jobs"
	"brine/internal/fleet/returner"
	"brine/internal/fleet/smtp"
	"brine/internal/py/value"
	"brine/internal/py/yamlsalt"
)

func highstateSpec() returner.Spec {
	return returner.Spec{
		Name: "highstate", Doc: "Report runs of states by file or e-mail.", Src: "returners/highstate_return.py", New: openReports,
		Prepare: func(s returner.Settings) (returner.Settings, error) {
			_, err := openReports(context.Background(), s)
			return s, err
		},
		Keys: returner.Keys(`
			report_everything = False -- report every run of states
			report_changes = True -- report runs that changed something
			report_failures = True -- report runs in which something failed
			failure_function -- execution function whose result a report of failures begins with; it runs on the controller
			success_function -- the same for reports without failures
			report_format = yaml -- yaml, json or html
			report_delivery@ = file -- file or smtp
			file_output@ = /tmp/test.rpt -- the file; {id} and {host} are those of the target
			smtp_sender -- sender
			smtp_recipients@ -- receivers, text with commas
			smtp_failure_subject = Installation failure -- subject where something failed, with {id} and {host}
			smtp_success_subject = Installation success -- subject of other reports
			smtp_server@ -- mail server
			smtp_port@ = 25 -- its port
			smtp_tls = False -- begin TLS with STARTTLS
			smtp_username -- account
			smtp_password! -- its password
		`),
	}
}

// reports is Salt's returner "highstate".
type reports struct {
	s       returner.Settings
	format  string
	mail    *smtp.Relay // nil: to a file
	written map[string]bool
}

func openReports(_ context.Context, s returner.Settings) (jobs.Returner, error) {
	h := &reports{s: s, format: s.Str("report_format"), written: map[string]bool{}}
	switch h.format {
	case "yaml", "json", "html":
	default:
		return nil, fmt.Errorf("highstate.report_format: %q is none of yaml, json and html", h.format)
	}
	switch d := s.Str("report_delivery"); d {
	case "file":
		if s.Str("file_output") == "" {
			return nil, errors.New("highstate.file_output must be configured")
		}
	case "smtp":
		port := s.Str("smtp_port")
		if port == "0" {
			port = "25"
		}
		h.mail = &smtp.Relay{
			Host: s.Str("smtp_server"), Port: port, User: s.Str("smtp_username"), Password: s.Str("smtp_password"), TLS: s.Bool("smtp_tls"),
			From: s.Str("smtp_sender"), To: addresses(s.Str("smtp_recipients")),
		}
		var missing []string
		for _, k := range []string{"smtp_sender", "smtp_recipients", "smtp_server"} {
			if s.Str(k) == "" {
				missing = append(missing, "highstate."+k)
			}
		}
		if len(missing) > 0 {
			return nil, fmt.Errorf("%s must be configured", strings.Join(missing, ", "))
		}
		return h, h.mail.Check()
	default:
		return nil, fmt.Errorf("highstate.report_delivery: %q is neither file nor smtp", d)
	}
	return h, nil
}

// Close has nothing to end.
func (h *reports) Close() error { return nil }

// Return reports the runs of states among rets that the settings ask for.
func (h *reports) Return(ctx context.Context, rets []*value.Map) error {
	for _, r := range rets {
		report, failed := h.report(ctx, r)
		if report == nil {
			continue
		}
		text, err := format(report, h.format)
		if err != nil {
			return err
		}
		if h.mail == nil {
			err = h.write(r, text)
		} else {
			err = h.send(ctx, r, text, failed)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// fill puts what is known of a target in the place of {id} and {host}.
func fill(s string, r *value.Map) string {
	id := r.Str("id")
	name, _, _ := strings.Cut(id, ".")
	return strings.NewReplacer("{id}", id, "{host}", name).Replace(s)
}

// write writes a report. The first report of a run replaces the file; later
// ones with the same file are appended.
func (h *reports) write(r *value.Map, text string) error {
	path := fill(h.s.Str("file_output"), r)
	mode := os.O_TRUNC
	if h.written[path] {
		mode = os.O_APPEND
	} else if st, err := os.Lstat(path); err == nil && !st.Mode().IsRegular() {
		return fmt.Errorf("highstate.file_output: %s is not a regular file", path)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|mode, 0o640)
	if err != nil {
		return err
	}
	h.written[path] = true
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

func (h *reports) send(ctx context.Context, r *value.Map, text string, failed bool) error {
	subject := h.s.Str("smtp_success_subject")
	if failed {
		subject = h.s.Str("smtp_failure_subject")
	}
	b, err := h.mail.Compose(fill(subject, r), h.format, text, h.s.Env.Host.Now())
	if err != nil {
		return err
	}
	c, err := h.mail.Dial(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	if err := h.mail.Send(c, b); err != nil {
		return err
	}
	return c.Quit()
}

func one(k string, v value.Value) *value.Map { return value.MapOf(k, v) }

// styled is one with the way that it is shown.
func styled(k string, v value.Value, style string) *value.Map {
	return value.MapOf(k, v, "__style__", style)
}

// report returns the report of a return, or nil if nothing is to be reported.
// Salt: returners/highstate_return.py _generate_report. Difference: a run
// without states, since its SLS files have errors, is a failure with these
// errors.
func (h *reports) report(ctx context.Context, r *value.Map) (report *value.List, failed bool) {
	var states, errs []*value.Map
	var tags []string
	switch v := r.At("return").(type) {
	case *value.Map:
		tags, states = inOrder(v)
		if len(states) == 0 {
			return nil, false
		}
	case *value.List:
		if !strings.HasPrefix(r.Str("fun"), "state.") || jobs.Succeeded(r) {
			return nil, false
		}
		for _, x := range v.Items {
			errs = append(errs, one("error", value.Str(x)))
		}
	default:
		return nil, false
	}
	failed = !jobs.Succeeded(r)
	bad, changed := len(errs), 0 // numbers of states
	duration := 0.0
	for _, st := range states {
		if v, ok := st.Get("result"); ok && !value.Truth(v) {
			bad++
		}
		if value.Truth(st.At("changes")) {
			changed++
		}
		if d, err := value.ToFloat(st.At("duration")); err == nil {
			duration += d
		}
	}
	if !h.s.Bool("report_everything") && (!h.s.Bool("report_changes") || changed == 0) && (!h.s.Bool("report_failures") || !failed) {
		return nil, false
	}
	or := func(k string, d value.Value) value.Value {
		if v, ok := r.Get(k); ok {
			return v
		}
		return d
	}
	total := len(states) + len(errs)
	body := value.NewList()
	for i, st := range states {
		body.Append(stateOf(r.Str("id"), tags[i], st))
	}
	for _, e := range errs {
		body.Append(styled("error", value.NewList(e), "failed"))
	}
	report = value.NewList(
		one("stats", value.NewList(
			one("total", int64(total)), styled("failed", int64(bad), "failed"), styled("unchanged", int64(total-bad-changed), "unchanged"),
			styled("changed", int64(changed), "changed"), one("duration", duration),
		)),
		one("job", value.NewList(
			one("function", or("fun", "")), one("arguments", or("fun_args", "")), one("jid", or("jid", "")),
			one("success", or("success", true)), one("retcode", or("retcode", int64(0))),
		)),
		one("states", body),
	)
	name := h.s.Str("success_function")
	if failed {
		name = h.s.Str("failure_function")
	}
	if name != "" && h.s.Env.Invoker != nil {
		var v value.Value
		res, err := h.s.Env.Invoker.Invoke(ctx, fun.Exec, name, fun.Args{Kw: value.NewMap(0)})
		if v = res.Value; err != nil {
			v = err.Error()
		}
		report.Items = append([]value.Value{one("extra", value.NewList(one(name, pairs(v))))}, report.Items...)
	}
	return report, failed
}

// inOrder returns the states of a run in the order in which they ran, with their
// tags.
func inOrder(m *value.Map) (tags []string, states []*value.Map) {
	for k, v := range m.All() {
		st, ok := v.(*value.Map)
		if !ok || strings.Count(value.Str(k), "_|-") < 3 {
			return nil, nil
		}
		tags, states = append(tags, value.Str(k)), append(states, st)
	}
	at := make([]int, len(states))
	for i := range at {
		at[i] = i
	}
	sort.SliceStable(at, func(i, k int) bool {
		a, _ := value.AsInt(states[at[i]].At("__run_num__"))
		b, _ := value.AsInt(states[at[k]].At("__run_num__"))
		return a < b
	})
	sortedTags, sorted := make([]string, len(at)), make([]*value.Map, len(at))
	for i, k := range at {
		sortedTags[i], sorted[i] = tags[k], states[k]
	}
	return sortedTags, sorted
}

// stateOf is the part of a report about one state. Difference: of a program that failed,
// it has the exit status and the end of what the program wrote.
func stateOf(host, tag string, st *value.Map) *value.Map {
	p := strings.SplitN(tag, "_|-", 3)
	id, rest := p[1], p[2]
	i := strings.LastIndex(rest, "_|-")
	name, fn := rest[:i], rest[i+3:]
	or := func(k string, d value.Value) value.Value {
		if v, ok := st.Get(k); ok {
			return v
		}
		return d
	}
	single := value.NewList(
		one("function", p[0]+"."+fn), one("name", name), one("result", or("result", "")),
		one("duration", or("duration", 0.0)), one("comment", or("comment", "")),
	)
	style := "failed"
	if value.Truth(st.At("result")) {
		style = "unchanged"
		if c := st.Map("changes"); c.Len() > 0 {
			style = "changed"
			single.Append(one("changes", pairs(c)))
		}
	}
	if style == "failed" {
		if c := cause.OfState(host, tag, st, cause.Options{}); c.Exited {
			single.Append(one("cause", c.Host+": "+c.Text())) // the comment only says that a program ran
		}
	}
	if s := st.At("start_time"); value.Truth(s) {
		single.Append(one("started", s))
	}
	return styled(id, single, style)
}

// pairs makes a list of a dict and of those in it, by name.
func pairs(v value.Value) value.Value {
	m, ok := v.(*value.Map)
	if !ok {
		return v
	}
	keys := make([]string, 0, m.Len())
	vals := make(map[string]value.Value, m.Len())
	for k, x := range m.All() {
		keys = append(keys, value.Str(k))
		vals[value.Str(k)] = x
	}
	sort.Strings(keys)
	l := value.NewList()
	for _, k := range keys {
		l.Append(one(k, pairs(vals[k])))
	}
	return l
}

func format(report *value.List, as string) (string, error) {
	switch as {
	case "json":
		b, err := value.AppendJSON(nil, report, value.JSONOptions{Repr: true, Strict: true, SkipKeys: true, EscapeNonASCII: true})
		return string(b), err
	case "yaml":
		o := yamlsalt.SafeOptions()
		o.FlowStyle = yamlsalt.FlowNever
		return yamlsalt.Dump(report, o)
	}
	var b strings.Builder
	b.WriteString("<html>\n<body>\n")
	table(&b, report, "")
	b.WriteString("</body>\n</html>\n")
	return b.String(), nil
}

// Mail readers know no style sheets: each cell has its own style.
const (
	tableStyle = "border-collapse: collapse; width: 100%"
	cellStyle  = "border: 1px solid #999; padding: 2px 4px; vertical-align: top; font: 9pt sans-serif"
)

var colours = map[string]string{"failed": "red", "changed": "green", "unchanged": "blue"}

// table writes a list: a row an item, a dict of one key as name and value.
func table(b *strings.Builder, l *value.List, colour string) {
	fmt.Fprintf(b, "<table style=\"%s\">\n", tableStyle)
	cell := func(v value.Value, colour string) {
		style := cellStyle
		if colour != "" {
			style += "; color: " + colour
		}
		fmt.Fprintf(b, "<td style=\"%s\">", style)
		if l, ok := v.(*value.List); ok {
			b.WriteByte('\n')
			table(b, l, colour)
		} else {
			b.WriteString(html.EscapeString(value.Str(v)))
		}
		b.WriteString("</td>\n")
	}
	for _, x := range l.Items {
		b.WriteString("<tr>\n")
		m, ok := x.(*value.Map)
		if !ok {
			cell(x, colour)
		}
		for k, v := range m.All() {
			if k == "__style__" {
				continue
			}
			own := colour
			if c := colours[m.Str("__style__")]; c != "" {
				own = c
			}
			cell(value.Str(k), own)
			cell(v, own)
		}
		b.WriteString("</tr>\n")
	}
	b.WriteString("</table>\n")
}
