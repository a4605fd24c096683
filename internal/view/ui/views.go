package ui

import (
	"fmt"
	"maps"
	"net/url"
	"strings"

	"brine/internal/py/value"
)

// A diffLine is a line of a diff, with the class that colours it.
type diffLine struct{ text, class string }

func diffLines(diff string) []diffLine {
	var out []diffLine
	for line := range strings.Lines(diff) {
		x := diffLine{text: line, class: "same"}
		switch {
		case strings.HasPrefix(line, "+"):
			x.class = "added"
		case strings.HasPrefix(line, "-"):
			x.class = "removed"
		}
		out = append(out, x)
	}
	return out
}

// stateSums is how states went, in words.
func stateSums(states []stateResult) string {
	n := map[string]int{}
	for _, s := range states {
		n[s.Result]++
	}
	parts := []string{fmt.Sprintf("%d state%s", len(states), value.Plural(len(states)))}
	for _, x := range []struct{ key, text string }{{"changed", "changed"}, {"would_change", "would change"}, {"failed", "failed"}} {
		if n[x.key] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n[x.key], x.text))
		}
	}
	return strings.Join(parts, ", ")
}

// next is the address of the older jobs.
func (x jobList) next() string {
	l := x.listed
	l.Query = url.Values{"before": {x.Next}}
	maps.Copy(l.Query, x.Query)
	return l.at(0, "")
}

// hostOfJob is the address of the results of one host in a job.
func hostOfJob(jid, host string) string {
	return path("jobs", jid) + "?" + url.Values{"host": {host}}.Encode()
}
