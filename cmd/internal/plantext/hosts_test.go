package plantext

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"brine/internal/view/plan"
)

// fleet is a step of 50 hosts with 30 states each, whose change is what change returns.
func fleet(change func(host string, n int) string) *plan.Plan {
	s := &plan.Step{ID: "web", Fun: "salt.state"}
	states, same := map[string][]*plan.State{}, map[string]int{}
	for h := range 50 {
		id := fmt.Sprintf("web%02d", h+1)
		s.Targets = append(s.Targets, id)
		for n := range 30 {
			states[id] = append(states[id], &plan.State{
				ID: fmt.Sprintf("conf%d", n), Fun: "file.managed", Name: fmt.Sprintf("/etc/conf%d", n), Effect: plan.Change,
				Changes: json.RawMessage(fmt.Sprintf(`{"mode":%q}`, change(id, n))),
			})
		}
	}
	s.Groups = plan.Groups(s.Targets, states, same)
	p := &plan.Plan{Steps: []*plan.Step{s}}
	p.Finish()
	return p
}

// TestLines: hosts that differ in a word take a line each at most, and not all of the
// states.
func TestLines(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		change  func(host string, n int) string
		has     string
		before  int // lines with each host apart
		atMost  int
		nowhere string
	}{
		{"all alike", func(string, int) string { return "0644" }, "50 hosts: web[01-50]", 61, 64, "{1}"},
		{"two hosts differ", func(h string, _ int) string {
			if h > "web48" {
				return "0600"
			}
			return "0644"
		}, `"0644" on 48 hosts: web[01-48]`, 122, 70, "{2}"},
		{"the ID of the host", func(h string, _ int) string { return "on " + h + ".example" }, "{1} is the ID of each host", 3050, 66, "{2}"},
		{"an address", func(h string, _ int) string { return "10.0.0." + h[3:] }, `"10.0.0.07" on 1 host: web07`, 3050, 116, "{2}"},
		{"one state differs", func(h string, n int) string {
			if n == 7 {
				return h
			}
			return "0644"
		}, "{1} is the ID of each host", 3050, 66, "{2}"},
		{"a mark as text", func(h string, _ int) string { return "{1} " + h }, "{2} is the ID of each host", 3050, 66, "{3}"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := fleet(tt.change)
			bodies := map[*plan.State]*body{}
			before := 0
			for _, g := range p.Steps[0].Groups {
				for _, st := range g.States {
					bodies[st] = (&colours{}).state(st)
				}
				n := len(group(g, bodies))
				if size := groupSize(g, bodies); size != n {
					t.Errorf("a group has %d lines, and %d are expected", n, size)
				}
				before += n
			}
			got := Text(p, false)
			n := strings.Count(got, "\n")
			t.Logf("%d lines before, %d now", before, n)
			if before != tt.before || n > tt.atMost {
				t.Errorf("%d lines before, want %d; %d lines, want at most %d:\n%.2000s", before, tt.before, n, tt.atMost, got)
			}
			if !strings.Contains(got, tt.has) || strings.Contains(got, tt.nowhere) {
				t.Errorf("it has no %q, or has %q:\n%.3000s", tt.has, tt.nowhere, got)
			}
		})
	}
}

// TestApart: what fails, is not known or was not reached is named, with its host, and
// never among the hosts that agree.
func TestApart(t *testing.T) {
	t.Parallel()
	states, same := map[string][]*plan.State{}, map[string]int{}
	s := &plan.Step{ID: "web", Fun: "salt.state"}
	for i := range 9 {
		id := fmt.Sprintf("web%d", i+1)
		s.Targets = append(s.Targets, id)
		for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
			states[id] = append(states[id], &plan.State{ID: name, Fun: "file.managed", Name: "/etc/" + name, Effect: plan.Change, Diff: "--- \n+++ \n@@ -1 +1 @@\n-old\n+new\n"})
		}
		same[id] = 3
	}
	states["web3"][0] = &plan.State{ID: "a", Fun: "file.managed", Name: "/etc/a", Effect: plan.Fail, Comment: "no such user"}
	states["web4"][1] = &plan.State{ID: "b", Fun: "file.managed", Name: "/etc/b", Effect: plan.Unknown, Unknown: "not known until x ran"}
	states["web5"] = nil
	same["web5"] = 9
	states["web6"] = slices.Delete(states["web6"], 2, 3)
	same["web6"] = 4
	states["web7"][3] = &plan.State{ID: "d", Fun: "file.managed", Name: "/etc/d", Effect: plan.Change, Diff: "--- \n+++ \n@@ -1 +1,2 @@\n-old\n+new\n+more\n"}
	states["web8"][4] = &plan.State{ID: "e", Fun: "file.managed", Name: "/etc/e", Effect: plan.Change, Diff: "--- \n+++ \n@@ -1 +1 @@\n-old\n+neu\n"}
	s.Groups = plan.Groups(s.Targets, states, same)
	s.Targets = append(s.Targets, "dead1", "dead2", "odd")
	s.Faults = []plan.Fault{{Host: "dead1", Reason: "no route", Unreached: true}, {Host: "dead2", Reason: "no route", Unreached: true}, {Host: "odd", Reason: "no such SLS"}}
	p := &plan.Plan{Steps: []*plan.Step{s}}
	p.Finish()
	want := `1. web (salt.state)
   9 hosts: web[1-9]
     would fail: 1 host: web3
     not known yet: 1 host: web4
     would change: 6 hosts: web[1-2], web[6-9]
     nothing to change: 1 host: web5
     ~ a (file.managed) /etc/a
       on 7 of 9 hosts: web[1-2], web4, web[6-9]
         @@ -1 +1 @@
         -old
         +new
     ! a (file.managed) /etc/a
       on 1 of 9 hosts: web3
         no such user
     ~ b (file.managed) /etc/b
       on 7 of 9 hosts: web[1-3], web[6-9]
         @@ -1 +1 @@
         -old
         +new
     ? b (file.managed) /etc/b
       on 1 of 9 hosts: web4
         not known until x ran
     ~ c (file.managed) /etc/c
       on 7 of 9 hosts: web[1-4], web[7-9]
         @@ -1 +1 @@
         -old
         +new
     ~ d (file.managed) /etc/d
       on 7 of 9 hosts: web[1-4], web6, web[8-9]
         @@ -1 +1 @@
         -old
         +new
       on 1 of 9 hosts: web7
         @@ -1 +1,2 @@
         -old
         +new
         +more
     ~ e (file.managed) /etc/e
       on 8 of 9 hosts: web[1-4], web[6-9]
         @@ -1 +1 @@
         -old
         +{1}
     ~ f (file.managed) /etc/f
       on 8 of 9 hosts: web[1-4], web[6-9]
         @@ -1 +1 @@
         -old
         +new
     9 states without changes on 1 of 9 hosts: web5
     4 states without changes on 1 of 9 hosts: web6
     3 states without changes on 7 of 9 hosts: web[1-4], web[7-9]
     {1} is
         "new" on 7 hosts: web[1-4], web[6-7], web9
         "neu" on 1 host: web8
   2 hosts: dead[1-2]: no route
   odd: no such SLS

12 hosts, 45 changes, 1 not known yet, 1 failure, 2 not reached, 1 without a plan
The plan is incomplete and cannot be applied.
`
	if d := cmp.Diff(want, Text(p, false)); d != "" {
		t.Errorf("Text (-want +got):\n%s", d)
	}
}

// TestHidden: hosts that differ only in lines that are not shown are not said to agree.
func TestHidden(t *testing.T) {
	t.Parallel()
	s := &plan.Step{ID: "web", Fun: "salt.state"}
	states := map[string][]*plan.State{}
	for _, id := range []string{"a", "b", "c"} {
		s.Targets = append(s.Targets, id)
		states[id] = []*plan.State{{ID: "x", Fun: "file.managed", Name: "/x", Effect: plan.Change, Diff: "--- \n+++ \n" + strings.Repeat("+line\n", 80) + "+" + id + "\n"}}
	}
	s.Groups = plan.Groups(s.Targets, states, map[string]int{})
	p := &plan.Plan{Steps: []*plan.Step{s}}
	p.Finish()
	if got := Text(p, false); !strings.Contains(got, "what is not shown differs between these hosts") || strings.Count(got, "+line") != maxLines {
		t.Error(got)
	}
}

// FuzzSplit: the words of a line with what is between them are the line.
func FuzzSplit(f *testing.F) {
	f.Add("-listen 10.0.0.1:80; # a.b. \xff é")
	f.Fuzz(func(t *testing.T, s string) {
		if got := strings.Join(split(s), ""); got != s {
			t.Errorf("split(%q) is %q", s, got)
		}
	})
}
