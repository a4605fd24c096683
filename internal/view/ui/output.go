package ui

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"brine/internal/core/printable"
	"brine/internal/fleet/kept"
)

// Bounds of what the pages of the output of a run read and show.
const (
	shownOutput  = 64 << 10  // of a host, on a page
	liveOutput   = 512 << 10 // that is added to a page while somebody looks
	shownMatches = 200
	searched     = 128 << 20 // by one search, of the files
	outputPace   = 500 * time.Millisecond
)

// An outputView is what the programs of a run print, as a page shows it.
type outputView struct {
	Run     runView
	Hosts   []outputHost
	Window  hostWindow // a part of the hosts
	Removed bool
	Since   time.Time // when somebody began to listen; zero: nobody does
	// Of one host.
	Host       string
	Parts      []outputPart
	From, Next int64
	Earlier    int64 // where the page before begins; -1: nowhere
	Size       int64
	Query      string
	Matches    []outputMatch
	Incomplete bool // the search came to its bounds
}

// An outputHost is a host of which there is output.
type outputHost struct {
	kept.PrintedHost
	State string // in the run; "": it is not known
	// Of a step: how it does, in a line, and how far it is.
	Line     string
	Progress int
}

// An outputPart is what a page shows of a part.
type outputPart struct {
	kept.Printed
	Offset int64
	Head   bool // it is the first of its program
}

// An outputMatch is a line that was searched for.
type outputMatch struct {
	Host, Of, Line string
	Stderr         bool
	Offset         int64
}

// text is a part as a terminal would show it.
func (p outputPart) text() string { return shownLines(p.Text) }

// shownLines are lines that may be shown: of each, what a carriage return leaves.
func shownLines(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		b.WriteString(printable.Line(line[strings.LastIndexByte(line, '\r')+1:]))
		b.WriteByte('\n')
	}
	return b.String()
}

// end is how a program ended, in words.
func (p outputPart) end() string {
	if p.Status < 0 {
		return fmt.Sprintf("ended by signal %d", -p.Status)
	}
	return fmt.Sprintf("exit status %d", p.Status)
}

// outputPath is the address of the output of a run: of a host, from an offset on.
func outputPath(id, host string, offset int64) string {
	q := url.Values{}
	if host != "" {
		q.Set("host", host)
	}
	if offset >= 0 {
		q.Set("offset", strconv.FormatInt(offset, 10))
	}
	if len(q) == 0 {
		return path("runs", id, "output")
	}
	return path("runs", id, "output") + "?" + q.Encode()
}

// logPath is the address of the whole output of a run, or of one host.
func logPath(id, host string) string {
	if host == "" {
		return path("runs", id, "output", "log")
	}
	return path("runs", id, "output", "log") + "?" + url.Values{"host": {host}}.Encode()
}

// states returns how each host of a run does: failed in any step, else as in the last one.
func (r *run) states() map[string]string {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := map[string]string{}
	for _, s := range r.steps {
		for id, h := range s.hosts {
			if out[id] != "failed" {
				out[id] = h.State
			}
		}
	}
	return out
}

// printedHosts returns the hosts of a run of which there is output, those that failed first.
func (r *run) printedHosts(limits *Scope) (hosts []outputHost, removed bool, err error) {
	all, removed, err := r.kept.PrintedHosts()
	states := r.states()
	for _, h := range all {
		if !limits.onHost(h.ID) {
			continue
		}
		hosts = append(hosts, outputHost{PrintedHost: h, State: states[h.ID]})
	}
	slices.SortStableFunc(hosts, func(x, y outputHost) int {
		if failed := x.State == "failed"; failed != (y.State == "failed") {
			if failed {
				return -1
			}
			return 1
		}
		return strings.Compare(x.ID, y.ID)
	})
	return hosts, removed, err
}

// hear has a run that goes on send what its programs print.
func (r *run) hear() error {
	if _, asked := r.kept.Heard(); asked || r.isOver() {
		return nil
	}
	return r.kept.Listen()
}

// findOutput returns the run of a request, and its output so far.
func (s *Server) findOutput(r *http.Request) (*run, *outputView, error) {
	x, err := s.findRun(r.Context(), r.PathValue("id"))
	limits := s.back(r.Context()).limits
	if host := r.URL.Query().Get("host"); err == nil && host != "" && !limits.onHost(host) {
		err = errScope(limits)
	}
	if err != nil {
		return nil, nil, err
	}
	if err := x.hear(); err != nil {
		return nil, nil, err
	}
	v := &outputView{Earlier: -1}
	v.Run, _ = s.viewRun(r.Context(), x, 1<<30)
	v.Since, _ = x.kept.Heard()
	v.Hosts, v.Removed, err = x.printedHosts(limits)
	return x, v, err
}

// of returns a host of which there is output; nil where there is none yet.
func (v *outputView) of(id string) *kept.PrintedHost {
	i := slices.IndexFunc(v.Hosts, func(h outputHost) bool { return h.ID == id })
	if i < 0 {
		return nil
	}
	return &v.Hosts[i].PrintedHost
}

// readParts reads what a host printed from an offset on, and at most so much.
func readParts(h *kept.PrintedHost, offset, most int64) (parts []outputPart, next int64, err error) {
	if h == nil {
		return nil, max(0, offset), nil
	}
	at := offset
	next, err = h.Read(offset, func(p kept.Printed, end int64) bool {
		x := outputPart{Printed: p, Offset: end}
		x.Head = len(parts) == 0 || parts[len(parts)-1].Of != p.Of || parts[len(parts)-1].Program != p.Program
		parts = append(parts, x)
		return end-at < most
	})
	return parts, next, err
}

// offsetOf reads an offset of a request; -1: it has none.
func offsetOf(text string) (int64, error) {
	if text == "" {
		return -1, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, &apiError{kind: badParameter, detail: fmt.Sprintf("offset: %q is not a number of bytes.", text)}
	}
	return n, nil
}

// output shows what the programs of a run print: the hosts, or one of them.
func (s *Server) output(w http.ResponseWriter, r *http.Request, v *visit) {
	offset, err := offsetOf(r.URL.Query().Get("offset"))
	var o *outputView
	if err == nil {
		_, o, err = s.findOutput(r)
	}
	if err == nil {
		o.Host, o.Query = r.URL.Query().Get("host"), strings.TrimSpace(r.URL.Query().Get("q"))
		switch {
		case o.Query != "":
			err = o.search(r)
		case o.Host != "":
			err = o.show(offset)
		default:
			o.Window.Run = o.Run
			o.Window.cut(o.Hosts, r.URL.Query())
		}
	}
	if err != nil {
		s.fault(w, r, err)
		return
	}
	title := "Output of " + o.Run.Spec.title()
	if o.Host != "" {
		title = "Output of " + o.Host
	}
	render(w, r, http.StatusOK, outputPage(page{Title: v.limits().titled(title), At: "start", Who: v, Refresh: !o.Run.over() && o.Query == ""}, o))
}

// show reads what the page shows of its host: the end, where no offset is given.
func (o *outputView) show(offset int64) (err error) {
	h := o.of(o.Host)
	if h != nil {
		o.Size = h.Size
	}
	if offset < 0 {
		offset = max(0, o.Size-shownOutput)
	}
	o.From = min(offset, o.Size)
	if o.From > 0 {
		o.Earlier = max(0, o.From-shownOutput)
	}
	o.Parts, o.Next, err = readParts(h, o.From, shownOutput)
	return err
}

// search looks for a text in what the hosts printed, or one of them.
func (o *outputView) search(r *http.Request) error {
	word, left := strings.ToLower(o.Query), int64(searched)
	for _, h := range o.Hosts {
		if o.Host != "" && h.ID != o.Host {
			continue
		}
		at := int64(0)
		_, err := h.Read(0, func(p kept.Printed, next int64) bool {
			left -= next - at
			for line := range strings.Lines(p.Text) {
				if len(o.Matches) < shownMatches && strings.Contains(strings.ToLower(line), word) {
					o.Matches = append(o.Matches, outputMatch{h.ID, p.Of, strings.TrimSpace(shownLines(short(line))), p.Stderr, at})
				}
			}
			at = next
			o.Incomplete = left <= 0 || len(o.Matches) == shownMatches || r.Context().Err() != nil
			return !o.Incomplete
		})
		if err != nil || o.Incomplete {
			return err
		}
	}
	return nil
}

// outputEvents sends what a host prints from an offset on, while the run lasts.
func (s *Server) outputEvents(w http.ResponseWriter, r *http.Request, v *visit) {
	host := r.URL.Query().Get("host")
	offset, err := offsetOf(r.URL.Query().Get("offset"))
	var x *run
	if err == nil {
		x, _, err = s.findOutput(r)
	}
	if err != nil {
		s.fault(w, r, err)
		return
	}
	begin := max(0, offset)
	offset = begin
	var one *kept.PrintedHost
	s.stream(w, r, v, func() (update, error) {
		o := &outputView{Host: host, From: offset}
		o.Run, _ = s.viewRun(r.Context(), x, 1<<30) // before the files: what ended prints no more
		if one == nil {                             // it may not have printed anything yet
			o.Hosts, _, err = x.printedHosts(v.limits())
			one = o.of(host)
		}
		if err == nil && one != nil {
			if err = one.Grown(); err == nil {
				o.Parts, o.Next, err = readParts(one, offset, shownOutput)
			}
		}
		if err != nil {
			return update{}, err
		}
		full := o.Next-begin > liveOutput
		over := full || o.Run.over() && o.Next == offset
		offset = o.Next
		return update{part: outputUpdate(o, full), over: over, pace: outputPace}, nil
	})
}

// outputLog sends all that a run printed, or one of its hosts, as text.
func (s *Server) outputLog(w http.ResponseWriter, r *http.Request, v *visit) {
	_, o, err := s.findOutput(r)
	if err != nil {
		s.fault(w, r, err)
		return
	}
	host := r.URL.Query().Get("host")
	if text := v.limits().hostsText(); text != "" {
		defer func() { _, _ = fmt.Fprintln(w, text) }()
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Content-Disposition", fmt.Sprintf(`attachment; filename="output-%s.txt"`, o.Run.ID))
	out := http.NewResponseController(w)
	for _, h := range o.Hosts {
		if host != "" && h.ID != host {
			continue
		}
		if _, err := h.Read(0, func(p kept.Printed, _ int64) bool {
			_ = out.SetWriteDeadline(s.opts.Now().Add(writeTimeout))
			_, err := w.Write([]byte(logText(h.ID, p)))
			return err == nil && r.Context().Err() == nil
		}); err != nil {
			_, _ = fmt.Fprintf(w, "%s: the rest cannot be read: %v\n", printable.Line(h.ID), err)
		}
	}
}

// logText is a part as a line of text for each of its lines.
func logText(host string, p kept.Printed) string {
	var b strings.Builder
	head := fmt.Sprintf("%s %s %s ", p.Time.Format("2006-01-02T15:04:05.000Z"), printable.Line(host), printable.Line(p.Of))
	mark := "| "
	if p.Stderr {
		mark = "! "
	}
	if p.Dropped > 0 {
		fmt.Fprintf(&b, "%s… %d bytes are left out\n", head, p.Dropped)
	}
	for line := range strings.Lines(shownLines(p.Text)) {
		b.WriteString(head + mark + line)
	}
	if p.Ended {
		fmt.Fprintf(&b, "%s= %s\n", head, outputPart{Printed: p}.end())
	}
	return b.String()
}

// readOutput asks for what a run printed.
type readOutput struct {
	Host   string `json:"-" query:"host" doc:"A host, of which the output is wanted; without it, the hosts are listed."`
	Offset string `json:"-" query:"offset" doc:"Where to begin, in bytes: 0, or next of the answer before."`
}

func (s *Server) apiOutput(c *apiCall, in *readOutput) (*RunOutput, error) {
	offset, err := offsetOf(in.Offset)
	if err != nil {
		return nil, err
	}
	_, o, err := s.findOutput(c.r)
	if err != nil {
		return nil, err
	}
	out := &RunOutput{Hosts: list(o.Hosts, func(h outputHost) OutputHost { return OutputHost{ID: h.ID, State: h.State, Bytes: h.Size} }), Parts: []OutputPart{}, Over: o.Run.over(), Removed: o.Removed, Note: c.scope().hostsText()}
	if in.Host == "" {
		return out, nil
	}
	parts, next, err := readParts(o.of(in.Host), max(0, offset), shownOutput)
	out.Parts, out.Next = list(parts, outputPartOf), next
	return out, err
}

func outputPartOf(p outputPart) OutputPart {
	x := OutputPart{Time: p.Time, JID: p.JID, State: p.Of, Program: p.Program, Stderr: p.Stderr, Text: p.Text, Dropped: p.Dropped}
	if p.Ended {
		x.ExitStatus = &p.Status
	}
	return x
}
