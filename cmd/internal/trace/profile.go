package trace

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"brine/internal/core/printable"
	"brine/internal/py/value"
)

// A sum is the time of all spans of one kind.
type sum struct {
	kind           string
	count          int
	total, longest time.Duration
	of             string // the longest one
	first          time.Time
}

// A hostSum is the time of one host in one step, by the columns of [hostKinds].
type hostSum struct {
	step, host string
	total      time.Duration
	parts      [len(hostKinds)]time.Duration
	has        [len(hostKinds)]bool
	failed     bool
}

// maxHosts is how many hosts the text of a profile has: those that took longest.
const maxHosts = 40

// sums are spans added up, by kind and by host.
type sums struct {
	kinds []sum // by when they began
	hosts []hostSum
	at    map[string]int
	host  map[[2]string]int
}

// add adds a span; that of a host comes before its parts.
func (t *sums) add(s *Span) {
	if t.at == nil {
		t.at, t.host = map[string]int{}, map[[2]string]int{}
	}
	length := s.End.Sub(s.Start)
	k := [2]string{s.Step, s.Host}
	switch s.Kind {
	case Run:
		return
	case Host:
		h, ok := t.host[k]
		if !ok {
			h = len(t.hosts)
			t.host[k] = h
			t.hosts = append(t.hosts, hostSum{step: s.Step, host: s.Host})
		}
		t.hosts[h].total += length
		t.hosts[h].failed = t.hosts[h].failed || s.Failed
	default:
		i := slices.IndexFunc(hostKinds[:], func(x hostKind) bool { return x.kind == s.Kind })
		if h, ok := t.host[k]; ok && i >= 0 {
			t.hosts[h].parts[i] += length
			t.hosts[h].has[i] = true
		}
	}
	n, ok := t.at[s.Kind]
	if !ok {
		n = len(t.kinds)
		t.at[s.Kind] = n
		t.kinds = append(t.kinds, sum{kind: s.Kind, first: s.Start})
	}
	x := &t.kinds[n]
	x.count++
	x.total += length
	if length > x.longest || x.of == "" {
		x.longest, x.of = length, label(s)
	}
	if s.Start.Before(x.first) {
		x.first = s.Start
	}
}

// fail notes that a host failed.
func (t *sums) fail(step, host string) {
	if h, ok := t.host[[2]string{step, host}]; ok {
		t.hosts[h].failed = true
	}
}

// finish puts the sums in order: kinds as they began, the slowest hosts first.
func (t *sums) finish(mask func(string) string) {
	for i := range t.kinds {
		t.kinds[i].of = mask(t.kinds[i].of)
	}
	for i := range t.hosts {
		t.hosts[i].step, t.hosts[i].host = mask(t.hosts[i].step), mask(t.hosts[i].host)
	}
	slices.SortStableFunc(t.kinds, func(a, b sum) int { return a.first.Compare(b.first) })
	slices.SortStableFunc(t.hosts, func(a, b hostSum) int {
		return cmp.Or(cmp.Compare(b.total, a.total), cmp.Compare(a.step, b.step), cmp.Compare(a.host, b.host))
	})
	t.at, t.host = nil, nil
}

// label says whose the longest span of a kind was.
func label(s *Span) string {
	switch s.Kind {
	case State:
		if s.Step != "" {
			return s.Host + ": " + s.Name
		}
		return s.Name
	case Step:
		return s.Name
	}
	return s.Host
}

// A hostKind is a column of hosts: what it is called, and the kind of spans in it.
type hostKind struct{ name, kind string }

var hostKinds = [...]hostKind{
	{"connect", "connecting"},
	{"auth", "authenticating"},
	{"wait", "waiting for the agent"},
	{"push", "pushing"},
	{"agent", "starting the agent"},
	{"prepare", "preparing"},
	{"states", State},
}

// Text prints a profile: the time of each part of the run, and of its hosts.
func Text(w io.Writer, p *Profile) error {
	kinds, hosts := p.sums.kinds, p.sums.hosts
	if len(p.Spans) == 0 {
		return nil
	}
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintf(t, "\nTime of the run: %s ms\n", ms(p.Spans[0].End.Sub(p.Spans[0].Start)))
	if len(kinds) == 0 {
		return t.Flush()
	}
	fmt.Fprintln(t)
	fmt.Fprintln(t, "part\tcount\ttotal (ms)\tlongest (ms)\tof")
	for _, k := range kinds {
		fmt.Fprintf(t, "%s\t%d\t%s\t%s\t%s\n", k.kind, k.count, ms(k.total), ms(k.longest), short(k.of))
	}
	if err := t.Flush(); err != nil || len(hosts) == 0 {
		return err
	}
	head := []string{"host"}
	for _, k := range hostKinds {
		head = append(head, k.name)
	}
	fmt.Fprintln(t, "\n"+strings.Join(append(head, "total (ms)"), "\t"))
	for _, h := range hosts[:min(len(hosts), maxHosts)] {
		name := h.host
		if h.step != "" {
			name = h.step + " / " + h.host
		}
		fmt.Fprint(t, short(name))
		for i := range hostKinds {
			cell := "-"
			if h.has[i] {
				cell = ms(h.parts[i])
			}
			fmt.Fprint(t, "\t"+cell)
		}
		fmt.Fprintln(t, "\t"+ms(h.total))
	}
	if more := len(hosts) - maxHosts; more > 0 {
		fmt.Fprintf(t, "%d more, which took less\n", more)
	}
	fmt.Fprint(t, "share")
	all, of := hostSum{}, time.Duration(0)
	for _, h := range hosts {
		of += h.total
		for i := range hostKinds {
			all.parts[i] += h.parts[i]
			all.has[i] = all.has[i] || h.has[i]
		}
	}
	for i := range hostKinds {
		cell := "-"
		if all.has[i] && of > 0 {
			cell = fmt.Sprintf("%.0f %%", 100*float64(all.parts[i])/float64(of))
		}
		fmt.Fprint(t, "\t"+cell)
	}
	fmt.Fprintf(t, "\t%s\n", ms(of))
	return t.Flush()
}

// maxLabel is how much of a name the text has, in characters.
const maxLabel = 60

func short(s string) string {
	s = printable.Line(s)
	if r := []rune(s); len(r) > maxLabel {
		return string(r[:maxLabel-3]) + "..."
	}
	return s
}

func ms(d time.Duration) string { return fmt.Sprintf("%.1f", float64(d.Microseconds())/1000) }

// Data returns a profile as data: the times in milliseconds. Its states are those of
// the spans. Fields may be added.
func Data(p *Profile) *value.Map {
	spans, kinds, hosts := p.Spans, p.sums.kinds, p.sums.hosts
	number := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	parts, list, states := value.NewList(), value.NewList(), value.NewList()
	for _, k := range kinds {
		parts.Append(value.MapOf("part", k.kind, "count", int64(k.count), "total", number(k.total), "longest", number(k.longest), "of", k.of))
	}
	for _, h := range hosts {
		m := value.MapOf("host", h.host, "failed", h.failed, "total", number(h.total))
		if h.step != "" {
			m.Set("step", h.step)
		}
		for i, k := range hostKinds {
			if h.has[i] {
				m.Set(k.name, number(h.parts[i]))
			}
		}
		list.Append(m)
	}
	total := 0.0
	for i := range spans {
		s := &spans[i]
		switch s.Kind {
		case Run:
			total = number(s.End.Sub(s.Start))
		case State, Step:
			m := value.MapOf("host", s.Host, "id", s.Name, "fun", s.Fun, "status", s.Status, "begin", number(s.Start.Sub(spans[0].Start)), "duration", number(s.End.Sub(s.Start)))
			if s.Step != "" {
				m.Set("step", s.Step)
			}
			states.Append(m)
		}
	}
	out := value.MapOf("total", total, "parts", parts, "hosts", list, "states", states)
	if p.Lost > 0 {
		out.Set("lost", int64(p.Lost))
	}
	return out
}
