package progress

import (
	"fmt"
	"strings"
	"time"

	"github.com/clipperhouse/displaywidth"
)

// A look is which characters and colours the terminal shows.
type look struct {
	color, utf8 bool
}

func newLook(getenv func(string) string, noColor bool) look {
	l := look{color: !noColor && getenv("NO_COLOR") == ""}
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := getenv(name); v != "" {
			v = strings.ToLower(v)
			l.utf8 = strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
			break
		}
	}
	return l
}

// The colours of marks and texts, as the parameters of their sequences.
const (
	bold   = "1"
	faint  = "2"
	red    = "31"
	green  = "32"
	yellow = "33"
)

// A mark is what a line begins with.
type mark struct{ utf8, ascii, color string }

var (
	goodMark  = mark{"✓", "+", green}
	badMark   = mark{"✗", "x", red}
	someMark  = mark{"~", "~", yellow}
	busyMark  = mark{"▸", ">", yellow}
	laterMark = mark{"·", "-", faint}
)

// A line of a frame is a mark, which may be none, and text.
type line struct {
	mark  *mark
	text  string
	color string
}

// fitted is text without what would need more than width columns. A locale
// without UTF-8 shows other characters as "?".
func (l look) fitted(text string, width int) string {
	tail := "…"
	if !l.utf8 {
		tail = "."
		text = strings.Map(func(r rune) rune {
			if r >= 0x80 {
				return '?'
			}
			return r
		}, text)
	}
	return displaywidth.TruncateString(text, max(0, width), tail)
}

func (l look) paint(text, color string) string {
	if !l.color || color == "" || text == "" {
		return text
	}
	return "\x1b[" + color + "m" + text + "\x1b[0m"
}

// draw is the line as it is written, of at most width columns; width 0 means no
// limit. columns is how many it takes.
func (l look) draw(x line, width int) (text string, columns int) {
	sign, lead := "", 0
	if x.mark != nil {
		sign, lead = x.mark.ascii, 2
		if l.utf8 {
			sign = x.mark.utf8
		}
		sign = l.paint(sign, x.mark.color) + " "
	}
	if width > 0 && lead >= width {
		return "", 0
	}
	if width > 0 {
		x.text = l.fitted(x.text, width-lead)
	} else {
		x.text = l.fitted(x.text, 1<<16)
	}
	return sign + l.paint(x.text, x.color), lead + displaywidth.String(x.text)
}

// A view shows a model on a terminal.
type view struct {
	m    *model
	look look
}

// note is the line that stays on the terminal for an event: what failed, and why.
func (v *view) note(e event) string {
	if e.Result != failed || e.reported {
		return ""
	}
	text := ""
	switch {
	case e.left && !e.first:
		return ""
	case e.left:
		text = e.job + ": hosts are left out: " + e.Comment
	case e.Event == "host_end":
		text = e.job + ": " + e.Host + ": " + e.Comment
	case e.Event == "step_end":
		text = fmt.Sprintf("%s (%s): %s", e.ID, tookOf(e), e.Comment)
	default:
		return ""
	}
	s, _ := v.look.draw(line{mark: &badMark, text: text}, 0)
	return s
}

// How many lines a frame has of steps, and how many targets and waiting steps it
// names at most.
const (
	maxBody  = 10
	maxNames = 5
	maxLater = 20
)

// frame is what the terminal shows now, for lines of at most width columns and a
// screen of height lines: lines as they are written and the columns of each. It
// is nil where nothing is under way, or nothing of it has room.
func (v *view) frame(width, height int) (lines []string, columns []int) {
	v.m.mu.Lock()
	defer v.m.mu.Unlock()
	now := v.m.now()
	for _, x := range v.lines(now, width, height) {
		s, n := v.look.draw(x, width)
		if n == 0 && len(lines) == 0 {
			return nil, nil
		}
		lines, columns = append(lines, s), append(columns, n)
	}
	return lines, columns
}

func (v *view) lines(now time.Time, width, height int) []line {
	m := v.m
	age := span(now.Sub(m.began))
	if !m.running {
		jobs := m.under()
		if len(jobs) == 0 {
			return nil
		}
		head := line{text: v.fit(jobsName(jobs), m.hostParts(jobs, now), age, width), color: bold}
		if last := waitingFor(jobs, now, v.room(width)); last != "" && height > 3 {
			return []line{head, {text: "waiting for " + last, color: faint}}
		}
		return []line{head}
	}
	out := []line{{text: v.fit(oneLine(m.title), m.stepParts(), age, width), color: bold}}
	if height <= 3 {
		return out
	}
	out = append(out, v.body(now, width, min(maxBody, height-4))...)
	if last := v.waits(now, width); last != "" {
		out = append(out, line{text: last, color: faint})
	}
	return out
}

// room is how many columns names of targets may have.
func (v *view) room(width int) int { return width - len("waiting for ") }

// body is the steps: those that run, those that ended last before them, and the
// names of those that wait, on at most n lines.
func (v *view) body(now time.Time, width, n int) []line {
	ss := &v.m.steps
	later := ss.waiting.len
	if later > 0 {
		n--
	}
	if n <= 0 {
		return nil
	}
	more := max(0, ss.running.len-n)
	if more > 0 { // the line that says so takes one's place
		more++
	}
	busy := ss.running.first(ss.running.len - more)
	ended := ss.ended.last(min(n-len(busy)-min(more, 1), 4))
	var out []line
	for _, s := range ended {
		out = append(out, line{mark: markOf(s), text: s.id + v.hostsOf(s) + "  " + took(s.ended.Sub(s.began))})
	}
	for _, s := range busy {
		text := s.id
		if len(s.jobs) > 0 {
			text = v.fit(text, v.m.hostParts(s.jobs, now), span(now.Sub(s.began)), width-2)
		} else {
			text += "  " + span(now.Sub(s.began))
		}
		out = append(out, line{mark: &busyMark, text: text})
	}
	if more > 0 {
		out = append(out, line{mark: &busyMark, text: fmt.Sprintf("%d more are running", more)})
	}
	if later > 0 {
		var names []string
		for _, s := range ss.waiting.first(maxLater) {
			names = append(names, s.id)
		}
		out = append(out, line{mark: &laterMark, text: "next: " + someOf(names, later, width-8), color: faint})
	}
	return out
}

func markOf(s *step) *mark {
	switch s.state {
	case failed:
		return &badMark
	case notRun:
		return &laterMark
	case would:
		return &someMark
	}
	return &goodMark
}

func (v *view) hostsOf(s *step) string {
	switch {
	case s.hosts == 0:
		return ""
	case s.bad > 0:
		return fmt.Sprintf("  %d of %s failed", s.bad, plural(s.hosts, "host"))
	}
	return "  " + plural(s.hosts, "host")
}

// waits says what the run waits for.
func (v *view) waits(now time.Time, width int) string {
	first := v.m.steps.running.first(1)
	if len(first) == 0 {
		return ""
	}
	s := first[0]
	text := "waiting for " + s.id
	if hosts := waitingFor(s.jobs, now, width-len(text)-2); hosts != "" {
		return text + ": " + hosts
	}
	return fmt.Sprintf("%s (%s) %s", text, s.fun, span(now.Sub(s.began)))
}

// waitingFor names the targets of jobs that take longest, as many as there is
// room for, and counts the others; "" where none is worked on.
func waitingFor(jobs []*watchedJob, now time.Time, room int) string {
	hosts, all := slowest(jobs, maxNames)
	names := make([]string, len(hosts))
	for i, h := range hosts {
		names[i] = fmt.Sprintf("%s (%s %s)", oneLine(h.id), h.phase, span(now.Sub(h.since)))
	}
	return someOf(names, all, room)
}

// someOf joins as many names as there is room for, at least one; they are the
// first ones of all, and the others are counted.
func someOf(names []string, all, room int) string {
	for n := len(names); n > 0; n-- {
		text := strings.Join(names[:n], ", ")
		if all > n {
			text += fmt.Sprintf(" and %d more", all-n)
		}
		if n == 1 || displaywidth.String(text) <= room {
			return text
		}
	}
	return ""
}

// fit joins as many parts as there is room for, behind the name where that leaves
// room for the first of them, and before a time where all have room.
func (v *view) fit(name string, parts []string, age string, width int) string {
	full := name + ": " + strings.Join(parts, ", ") + "  " + age
	if displaywidth.String(full) <= width {
		return full
	}
	for n := len(parts); n > 0; n-- {
		text := strings.Join(parts[:n], ", ")
		if s := name + ": " + text; displaywidth.String(s) <= width {
			return s
		}
		if n == 1 && displaywidth.String(text) <= width {
			return text
		}
	}
	return ""
}
