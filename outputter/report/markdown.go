package report

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Bounds of a Markdown report: CI systems show at most one MiB of a summary.
const (
	maxMarkdownRows  = 200
	maxMarkdownBlock = 4 << 10
	maxMarkdown      = 900 << 10
)

// Markdown writes a summary for people: how the run ended, a table of steps and
// hosts, failures (equal ones of several hosts together) and what changed.
func Markdown(w io.Writer, r *Run) error {
	m := &markdown{}
	title := "Succeeded"
	if r.Failed() {
		title = "Failed"
	}
	m.printf("## %s: %s\n\n%s.\n\n", title, codeSpan(cmp.Or(r.command(), "run")), r.sentence())
	var facts []string
	for _, x := range [...][2]string{{"job", r.JID}, {"target", r.Tgt}, {"started", stamp(r.Start)}} {
		if x[1] != "" {
			facts = append(facts, x[0]+" "+codeSpan(x[1]))
		}
	}
	if len(facts) > 0 {
		m.printf("(%s)\n\n", strings.Join(facts, ", "))
	}
	m.table(r)
	m.failures(r)
	m.changes(r)
	b := bufio.NewWriter(w)
	if _, err := b.WriteString(m.String()); err != nil {
		return err
	}
	return b.Flush()
}

type markdown struct{ strings.Builder }

func (m *markdown) printf(format string, args ...any) { fmt.Fprintf(m, format, args...) }

// table lists suites: what failed first where there are too many.
func (m *markdown) table(r *Run) {
	if len(r.Suites) == 0 {
		return
	}
	due := r.Total().ByStatus[Pending] > 0
	if due {
		m.printf("| Step | Host | Result | OK | Would change | Changed | Failed | Not run | Time |\n| --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |\n")
	} else {
		m.printf("| Step | Host | Result | OK | Changed | Failed | Not run | Time |\n| --- | --- | --- | ---: | ---: | ---: | ---: | ---: |\n")
	}
	rows, left := 0, 0
	for _, failed := range []bool{true, false} {
		for _, s := range r.Suites {
			if (s.Count.Failed() > 0) != failed {
				continue
			}
			if rows++; rows > maxMarkdownRows {
				left++
				continue
			}
			n, result := s.Count.ByStatus, "ok"
			switch {
			case failed:
				result = "**failed**"
			case n[Pending] > 0:
				result = "would change"
			case n[Skipped] > 0 && n[OK]+n[Changed] == 0:
				result = "skipped"
			}
			changed := strconv.Itoa(n[Changed])
			if due {
				changed = fmt.Sprintf("%d | %d", n[Pending], n[Changed])
			}
			m.printf("| %s | %s | %s | %d | %s | %d | %d | %s |\n", cell(s.Step), cell(s.Host), result, n[OK], changed, n[Failed], n[NotRun]+n[Skipped], human(s.Length))
		}
	}
	if left > 0 {
		m.printf("\n%d more rows are left out.\n", left)
	}
	m.printf("\n")
}

func (m *markdown) failures(r *Run) {
	groups := r.failures()
	if len(groups) == 0 {
		return
	}
	m.printf("### Failures\n\n")
	for i, g := range groups {
		if m.full(len(groups)-i, "failures") {
			return
		}
		m.heading(g.Step, g.Case, g.Hosts)
		m.blockEnd("text", g.Case.why())
		if text := unmetText(g.Case); text != "" {
			m.printf("  %s.\n\n", text)
		}
		if all := r.all(g); all != "" {
			m.printf("  All of it: %s\n\n", codeSpan(all))
		}
	}
}

// changes lists what changed, equal changes of several hosts together.
func (m *markdown) changes(r *Run) {
	type key struct{ step, id, fun, diff, rest string }
	where := map[key]int{}
	var keys []key
	var groups []group
	for _, s := range r.Suites {
		for _, c := range s.Cases {
			if c.Changes == nil {
				continue
			}
			k := key{s.Step, c.ID, c.Fun, "", ""}
			k.diff, k.rest = details(c)
			i, ok := where[k]
			if !ok {
				i = len(groups)
				where[k] = i
				keys, groups = append(keys, k), append(groups, group{Step: s.Step, Case: c})
			}
			groups[i].Hosts = append(groups[i].Hosts, s.Host)
		}
	}
	if len(groups) == 0 {
		return
	}
	title := "Changes"
	if n := r.Total().ByStatus; n[Pending] > 0 && n[Changed] == 0 {
		title = "What would change"
	}
	m.printf("### %s\n\n", title)
	for i, g := range groups {
		if m.full(len(groups)-i, "changes") {
			return
		}
		m.heading(g.Step, g.Case, g.Hosts)
		if keys[i].diff != "" {
			m.block("diff", keys[i].diff)
		}
		if keys[i].rest != "" {
			m.block("yaml", keys[i].rest)
		}
	}
}

// full reports whether there is no room for more, and says what is left out.
func (m *markdown) full(left int, what string) bool {
	if m.Len() < maxMarkdown {
		return false
	}
	m.printf("%d more %s are left out.\n", left, what)
	return true
}

func (m *markdown) heading(step string, c *Case, hosts []string) {
	where := names(hosts, 10)
	if len(hosts) > 1 {
		where = plural(len(hosts), "host") + ": " + where
	}
	m.printf("- %s %s on %s\n\n", codeSpan(join(step, c.Title())), codeSpan(c.Fun), codeSpan(where))
}

// block is the beginning of a text as it is.
func (m *markdown) block(lang, s string) {
	s = strings.ToValidUTF8(strings.TrimRight(s, "\n"), "\uFFFD")
	cut := ""
	if len(s) > maxMarkdownBlock {
		cut = fmt.Sprintf("  %d more bytes are left out.\n\n", len(s)-maxMarkdownBlock)
		s = strings.ToValidUTF8(s[:maxMarkdownBlock], "")
	}
	m.fenced(lang, s)
	m.printf("%s", cut)
}

// blockEnd is the end of a text as it is.
func (m *markdown) blockEnd(lang, s string) {
	s = strings.ToValidUTF8(strings.TrimRight(s, "\n"), "\uFFFD")
	if len(s) > maxMarkdownBlock {
		s = "..." + strings.ToValidUTF8(s[len(s)-maxMarkdownBlock:], "")
	}
	m.fenced(lang, s)
}

// fenced is text in a fence that nothing in it ends.
func (m *markdown) fenced(lang, s string) {
	fence := strings.Repeat("`", max(3, longestRun(s)+1))
	m.printf("  %s%s\n", fence, lang)
	for l := range strings.Lines(s) {
		m.printf("  %s\n", strings.TrimRight(plain(l), "\r\n"))
	}
	m.printf("  %s\n\n", fence)
}

// codeSpan is text in backticks that nothing in it ends.
func codeSpan(s string) string {
	s = oneLine(s)
	fence := strings.Repeat("`", longestRun(s)+1)
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		return fence + " " + s + " " + fence
	}
	return fence + s + fence
}

// cell is a code span in a table; "" stays empty.
func cell(s string) string {
	if s == "" {
		return ""
	}
	return strings.ReplaceAll(codeSpan(s), "|", "\\|")
}

// longestRun is the length of the longest run of backticks.
func longestRun(s string) int {
	longest, run := 0, 0
	for _, c := range s {
		if c != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return longest
}

// oneLine is text without line breaks and control characters.
func oneLine(s string) string {
	return strings.Join(strings.Fields(plain(s)), " ")
}

// plain is text without what moves a terminal's cursor.
func plain(s string) string {
	return strings.Map(func(c rune) rune {
		if c < ' ' && c != '\n' && c != '\t' || c >= 0x7f && c < 0xa0 {
			return '\uFFFD'
		}
		return c
	}, s)
}
