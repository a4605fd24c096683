package plantext

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"brine/internal/view/plan"
)

// hostile are texts that would be more than text in Markdown or HTML, or that change
// how the text around them reads. EVIL is in all of them.
var hostile = []string{
	"EVIL", "`EVIL`", "``` EVIL", "EVIL | x | y", `EVIL\|`, `EVIL\`, "<script>EVIL</script>", "</code></summary></details>EVIL", "<!-- EVIL",
	"a\n\n# EVIL", "a\r\n```\nEVIL", "\u202eEVIL", "\x1b[31mEVIL", "[EVIL](http://x.example)", "@EVIL", "#1 EVIL", "&lt;EVIL&#96;", "a`b``EVIL```", "\xffEVIL",
	"$(EVIL)", "**EVIL**", "~~~\nEVIL", "::: EVIL", "http://EVIL.example/", strings.Repeat("`", 40) + "EVIL", strings.Repeat("`", 16) + "EVIL", "EVIL" + strings.Repeat("é", 5000),
}

// evil is a plan in which a text is wherever others write.
func evil(text string) *plan.Plan {
	raw, err := json.Marshal(map[string]string{text: text})
	if err != nil {
		panic(err)
	}
	state := func(effect string) *plan.State {
		return &plan.State{ID: text, Fun: "x." + text, Name: "n " + text, Effect: effect, Comment: text, Unknown: text, Changes: raw, Packages: []plan.Package{{Name: text, From: text, To: text, Action: plan.Remove}}}
	}
	diff := &plan.State{ID: text, Fun: "file.managed", Name: text, Effect: plan.Change, Diff: "--- \n+++ \n@@ -1 +1 @@\n-" + text + "\n+" + text + " two\n"}
	p := &plan.Plan{
		Command: plan.Command{Kind: plan.SSH, Target: text, Args: []string{"state.apply", text}},
		Steps: []*plan.Step{
			{
				ID: text, Fun: "salt.state", Name: "x " + text, Targets: []string{text, "b"}, After: []string{text}, Faults: []plan.Fault{{Host: text, Reason: text, Unreached: true}, {Host: text, Reason: text, Unmatched: true}},
				Groups: []*plan.Group{
					{Hosts: []string{text}, States: []*plan.State{state(plan.Fail), diff}},
					{Hosts: []string{"b"}, States: []*plan.State{state(plan.Unknown), {ID: text, Fun: "file.managed", Name: text, Effect: plan.Change, Diff: strings.Replace(diff.Diff, "two", "three", 1)}}},
				},
			},
			{ID: text, Fun: "salt.runner", Unknown: text, Steps: []*plan.Step{{ID: text, Fun: text, Skipped: text}}},
		},
	}
	p.Finish()
	return p
}

var details = regexp.MustCompile(`^<details><summary><code>[^<>` + "`" + `]*</code> [a-z ]+: <code>[^<>]*</code></summary>$`)

// spans takes the code spans out of a line, as CommonMark finds them.
func spans(line string) string {
	var out strings.Builder
	for line != "" {
		i := strings.IndexByte(line, '`')
		if i < 0 {
			break
		}
		out.WriteString(line[:i])
		line = line[i:]
		n := len(line) - len(strings.TrimLeft(line, "`"))
		rest, end := line[n:], -1
		for at := 0; at < len(rest); {
			k := strings.IndexByte(rest[at:], '`')
			if k < 0 {
				break
			}
			run := len(rest[at+k:]) - len(strings.TrimLeft(rest[at+k:], "`"))
			if run == n {
				end = at + k + n
				break
			}
			at += k + run
		}
		if end < 0 {
			out.WriteString("UNCLOSED")
			line = rest
			continue
		}
		line = rest[end:]
	}
	return out.String() + line
}

// outside returns the text that is in no fence and no code, with faults of what is.
func outside(text string) (out, faults []string) {
	fence := 0
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		run := len(line) - len(strings.TrimLeft(line, "`"))
		switch {
		case fence > 0 && run >= fence && strings.TrimSpace(line[run:]) == "":
			fence = 0
		case fence > 0:
		case run >= 3 && !strings.Contains(line[run:], "`"):
			fence = run
		case strings.HasPrefix(line, "<details>"):
			if !details.MatchString(strings.ReplaceAll(line, "`", "")) {
				faults = append(faults, "summary: "+line)
			}
		case line == "</details>":
		default:
			rest := spans(line)
			if strings.HasPrefix(line, "| ") && strings.Count(line, "|") != 9 {
				faults = append(faults, "cells: "+line)
			}
			out = append(out, rest)
		}
	}
	if fence > 0 {
		faults = append(faults, "a fence has no end")
	}
	return out, faults
}

// TestMarkdownHostile: text of others is in code alone, whatever it is.
func TestMarkdownHostile(t *testing.T) {
	t.Parallel()
	for _, text := range hostile {
		got := Markdown(evil(text))
		out, faults := outside(got)
		for _, line := range out {
			if strings.Contains(line, "EVIL") || strings.Contains(line, "UNCLOSED") || strings.ContainsAny(line, "<>[]@&#\x1b\u202e") && line != "<!-- brine plan -->" && !strings.HasPrefix(line, "#") {
				faults = append(faults, "text: "+line)
			}
		}
		if strings.ContainsAny(got, "\x1b\u202e\r") || !strings.Contains(got, "EVIL") || len(got) > MaxMarkdown || strings.ToValidUTF8(got, "") != got {
			faults = append(faults, fmt.Sprintf("bytes: %d", len(got)))
		}
		if longestRun(got) > maxTicks+1 {
			faults = append(faults, "a fence that renderers do not know")
		}
		if len(faults) > 0 {
			t.Errorf("%.40q: %.500q\n%.3000s", text, faults, got)
		}
	}
}

// TestMarkdownTop: hosts that were not reached and what is not known are named before
// all changes.
func TestMarkdownTop(t *testing.T) {
	t.Parallel()
	p := fleet(func(h string, _ int) string { return h })
	s := p.Steps[0]
	s.Faults = []plan.Fault{{Host: "dead", Reason: "no route", Unreached: true}}
	s.Groups[0].States[0].Effect, s.Groups[0].States[0].Unknown = plan.Unknown, "it depends"
	s.Groups[1].States[0].Effect, s.Groups[1].States[0].Comment = plan.Fail, "no user"
	s.Groups[2].States[0].Effect, s.Groups[2].States[0].Unknown = plan.MayFail, "unless"
	p.Steps = append(p.Steps, &plan.Step{ID: "tell", Fun: "salt.runner", Unknown: "not known until it runs"})
	p.Finish()
	got := Markdown(p)
	top, _, ok := strings.Cut(got, "<details>")
	if !ok || len(got) > MaxMarkdown {
		t.Fatalf("%d bytes:\n%.2000s", len(got), got)
	}
	for _, want := range []string{
		"- `dead` in step `1. web`: `no route`\n", "- `1. conf0 (file.managed)` on `1 host: web01`: `it depends`\n", "### Not known yet\n", "### Would fail\n", "### May fail\n",
		"- `1. conf0 (file.managed)` on `1 host: web02`: `no user`\n", "- `1. conf0 (file.managed)` on `1 host: web03`: `unless`\n", "- `2. tell`: `not known until it runs`\n",
		"| `1. web` | 50 | 47 | 1 | 1 | 1 | 0 | 1 |\n", "| `2. tell` | 0 | 0 | 1 | 0 | 0 | 0 | 0 |\n", "The plan is incomplete",
	} {
		if !strings.Contains(top, want) {
			t.Errorf("it does not begin with %q:\n%s", want, top)
		}
	}
	if n := strings.Count(got, "<details>"); n != 33 {
		t.Errorf("%d states, want 33: 30, and one of them with three more effects", n)
	}
}

// TestMarkdownBound: a plan of any size fits, and what does not is counted and named.
func TestMarkdownBound(t *testing.T) {
	t.Parallel()
	p := &plan.Plan{}
	for n := range 300 {
		s := &plan.Step{ID: fmt.Sprintf("step%03d", n), Fun: "salt.state", Targets: []string{"a", "b"}, Faults: []plan.Fault{{Host: fmt.Sprintf("dead%03d", n), Reason: fmt.Sprintf("reason %d", n*n), Unreached: true}}}
		var states []*plan.State
		for i, effect := range []string{plan.Change, plan.Fail, plan.MayFail, plan.Unknown} {
			states = append(states, &plan.State{
				ID: fmt.Sprintf("state%d.%d", n, i), Fun: "file.managed", Name: "/x", Effect: effect, Unknown: fmt.Sprint("reason ", n), Diff: strings.Repeat("+line\n", 40),
				Packages: []plan.Package{{Name: fmt.Sprint("p", n), Action: plan.Remove, From: "1"}},
			}, &plan.State{ID: fmt.Sprintf("diff%d.%d", n, i), Fun: "file.managed", Name: "/y", Effect: effect, Diff: strings.Repeat("+", 100_000)})
		}
		other := []*plan.State{{ID: "own", Fun: "file.managed", Name: "/z", Effect: plan.Change, Diff: fmt.Sprint("+x ", n)}}
		s.Groups = []*plan.Group{
			{Hosts: []string{"a"}, States: append(states, other...)},
			{Hosts: []string{"b"}, States: []*plan.State{{ID: "own", Fun: "file.managed", Name: "/z", Effect: plan.Change, Diff: fmt.Sprint("+y ", n)}}},
		}
		p.Steps = append(p.Steps, s)
	}
	p.Finish()
	got := Markdown(p)
	if len(got) > MaxMarkdown || len(got) < MaxMarkdown/2 {
		t.Errorf("%d bytes, want at most %d", len(got), MaxMarkdown)
	}
	left := regexp.MustCompile(`(?m)^\*\*(\d+)\*\* of (\d+) ([a-z ]+) not shown, because the comment would be too long: .* and \d+ more\. `).FindAllStringSubmatch(got, -1)
	if len(left) != 8 {
		t.Errorf("%d parts say what they leave out, want 8: %q", len(left), left)
	}
	for _, m := range left {
		var out, all int
		if _, err := fmt.Sscan(m[1], &out); err != nil {
			t.Fatal(err)
		}
		if _, err := fmt.Sscan(m[2], &all); err != nil {
			t.Fatal(err)
		}
		if m[3] == "states" {
			if shown := strings.Count(got, "<details>"); shown+out != all || all != 300*9 {
				t.Errorf("%d states are shown and %d not, of %d", shown, out, all)
			}
		}
	}
	if _, faults := outside(got); len(faults) > 0 {
		t.Error(faults)
	}
}
