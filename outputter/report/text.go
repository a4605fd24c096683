package report

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"brine/internal/py/value"
	"brine/outputter"
)

// yaml is a value as YAML, without the newline at its end.
func yaml(v value.Value) string {
	var b strings.Builder
	if err := outputter.YAML(&b, v, &outputter.Options{}); err != nil {
		return value.Repr(v)
	}
	return strings.TrimRight(b.String(), "\n")
}

// details are the changes of a case as text: its diff as it is, the rest as
// YAML.
func details(c *Case) (diff, rest string) {
	m, ok := c.Changes.(value.Mapping)
	if !ok {
		return "", text(c.Changes)
	}
	left := value.NewMap(m.Len())
	for _, k := range m.Keys() {
		v, _ := m.Get(k)
		if s, isText := v.(string); isText && k == "diff" {
			diff = strings.TrimRight(s, "\n")
			continue
		}
		left.Set(k, v)
	}
	if left.Len() > 0 {
		rest = yaml(left)
	}
	return diff, rest
}

// seconds is a duration in seconds, to the millisecond.
func seconds(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) }

// human is a duration as people write it.
func human(d time.Duration) string {
	switch {
	case d > 0 && d < 10*time.Millisecond:
		return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
	case d < time.Second:
		return fmt.Sprintf("%.0f ms", float64(d)/float64(time.Millisecond))
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%d min %02d s", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%d h %02d min", int(d.Hours()), int(d.Minutes())%60)
}

// plural is a number with its noun.
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// command is the function with its arguments.
func (r *Run) command() string {
	return strings.TrimSpace(r.Fun + " " + strings.Join(r.Args, " "))
}

// sentence says how a run ended.
func (r *Run) sentence() string {
	t := r.Total()
	parts := []string{}
	for _, x := range []struct {
		s    Status
		word string
	}{{Failed, "failed"}, {Changed, "changed"}, {Pending, "would change"}, {NotRun, "not run"}, {Skipped, "skipped"}, {OK, "unchanged"}} {
		if n := t.ByStatus[x.s]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, x.word))
		}
	}
	if len(parts) == 0 {
		parts = []string{"no results"}
	}
	return strings.Join(parts, ", ") + " on " + plural(len(r.Hosts()), "host") + " in " + human(r.Length())
}

// How much of a reason stands in a line, in characters, and of what a program wrote in
// a report for people, in bytes.
const (
	lineOfReason = 300
	maxWritten   = 256 << 10
)

// why is why a case failed, on several lines.
func (c *Case) why() string { return cmp.Or(c.Cause.Text(), c.Comment) }

// whyLine is why a case failed, on one line.
func (c *Case) whyLine() string { return cmp.Or(c.Cause.Short(lineOfReason), oneLine(c.Comment)) }

// unmetText says how many states did not run because one failed; "" for none.
func unmetText(c *Case) string {
	if c.Unmet == 0 {
		return ""
	}
	return plural(c.Unmet, "state") + " that required it did not run"
}

// all says where the whole text of a failure is that is shown without its beginning; ""
// where it is shown.
func (r *Run) all(g group) string {
	jid := cmp.Or(g.JID, r.JID)
	if !g.Case.Cause.Cut || jid == "" {
		return ""
	}
	return "brine run jobs.print_job " + jid
}

// written is the end of what a program wrote, of at most maxWritten bytes.
func written(s string) string {
	if len(s) <= maxWritten {
		return s
	}
	return fmt.Sprintf("%d bytes are left out ...\n%s", len(s)-maxWritten, strings.ToValidUTF8(s[len(s)-maxWritten:], ""))
}

// A group is a failure that several hosts share.
type group struct {
	Step  string
	JID   string // of the first host's job
	Case  *Case
	Hosts []string
}

// failures returns what failed, equal failures of several hosts together, in
// the order in which they came. Steps whose hosts failed are left out: the
// failures of the hosts say why.
func (r *Run) failures() []group {
	type key struct {
		step, id, fun, why string
		unmet              int
	}
	where := map[key]int{}
	below := map[string]bool{}
	for _, s := range r.Suites {
		if s.Step != "" && s.Count.Failed() > 0 {
			below[s.Step] = true
		}
	}
	var out []group
	for _, s := range r.Suites {
		for _, c := range s.Cases {
			if c.Status != Failed || c.orchestrates && below[join(s.Step, c.ID)] {
				continue
			}
			k := key{s.Step, c.ID, c.Fun, c.why(), c.Unmet}
			i, ok := where[k]
			if !ok {
				i = len(out)
				where[k] = i
				out = append(out, group{Step: s.Step, JID: s.JID, Case: c})
			}
			out[i].Hosts = append(out[i].Hosts, s.Host)
		}
	}
	return out
}

func join(step, id string) string {
	if step == "" {
		return id
	}
	return step + " / " + id
}

// names lists hosts, the first few of many.
func names(hosts []string, most int) string {
	if len(hosts) <= most {
		return strings.Join(hosts, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(hosts[:most], ", "), len(hosts)-most)
}
