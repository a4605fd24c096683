package cause

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"brine/internal/core/printable"
)

// patterns are made when they are first needed: most runs have no failures.
type patterns struct {
	// color are the sequences that set colours on a terminal.
	color *regexp.Regexp
	// telling is the beginning of a line in which a program says what is wrong.
	telling *regexp.Regexp
}

var compiled = sync.OnceValue(func() patterns {
	return patterns{
		color:   regexp.MustCompile(`\x1b\[[0-9;:]*[A-Za-z]`),
		telling: regexp.MustCompile(`(^|[\s'"])(E:|(?i:error|fatal|panic|critical|exception|permission denied)\b[^:]{0,80}:|[\w./-]+: (?i:error|fatal|cannot|unable|failed|permission denied)\b) ?\S|^[\w.]+(Error|Exception): `),
	}
})

// end returns the end of a text, masked, safe to print and bounded: its last lines,
// without those that are empty at its ends.
func (c *Cause) end(text string, o Options) string {
	text = strings.ToValidUTF8(text, "\ufffd")
	if len(text) > maxRead {
		text, c.Cut = tail(text, maxRead), true
	}
	if o.Mask != nil {
		text = o.Mask(text)
	}
	text = strings.ReplaceAll(text, "\r\n", "\n")
	text = compiled().color.ReplaceAllString(text, "")
	text = strings.Trim(strings.TrimRight(text, " \t\r\n"), "\n")
	if len(text) > maxText {
		text, c.Cut = "..."+tail(text, maxText), true
	}
	lines := strings.Split(text, "\n")
	if n := len(lines) - maxLines; n > 0 {
		lines, c.Cut = append([]string{"..."}, lines[n:]...), true
	}
	return printable.Text(strings.Join(lines, "\n"))
}

// tail is the end of a text, of at most n bytes.
func tail(s string, n int) string {
	i := len(s) - n
	for i < len(s) && !utf8.RuneStart(s[i]) {
		i++
	}
	return s[i:]
}

// errorLines returns the lines of a text that say what is wrong: of an exception of Python's
// its own lines, else those that programs mark as errors; nil where neither is there.
func errorLines(lines []string) []string {
	if out := raised(lines); out != nil || len(lines) < 2 {
		return out
	}
	var marked []string
	if _, said, ok := strings.Cut(lines[0], ": E: "); ok { // of apt, behind Salt's words
		marked = append(marked, "E: "+said)
	}
	for _, line := range lines[1:] { // the first line of several introduces the others
		if compiled().telling.MatchString(line) {
			marked = append(marked, strings.TrimPrefix(strings.TrimSpace(line), "- "))
		}
	}
	return marked
}

// linesOf returns the lines of a text that are not empty.
func linesOf(text string) (lines []string) {
	for line := range strings.SplitSeq(text, "\n") {
		if line = strings.TrimRight(line, " \t\r"); strings.TrimSpace(line) != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// reason is what a comment says, on one line: its lines that say what is wrong, else
// its first line, unless that only introduces the others.
func reason(text string) string {
	lines := linesOf(text)
	if out := errorLines(lines); out != nil {
		return oneLine(out)
	}
	if len(lines) > 1 && !strings.HasSuffix(lines[0], ":") {
		lines = lines[:1]
	}
	return oneLine(lines)
}

// output is what a program wrote, on one line.
func output(text string) string {
	lines := linesOf(text)
	if out := errorLines(lines); out != nil {
		return oneLine(out)
	}
	return oneLine(lines)
}

// raised returns the exception at the end of the last traceback of Python's in lines.
func raised(lines []string) []string {
	begin := -1
	for i, line := range lines {
		if strings.HasSuffix(line, "Traceback (most recent call last):") {
			begin = i
		}
	}
	if begin < 0 {
		return nil
	}
	indent := len(lines[begin]) - len(strings.TrimLeft(lines[begin], " \t"))
	for i := begin + 1; i < len(lines); i++ {
		if rest := strings.TrimLeft(lines[i], " \t"); len(lines[i])-len(rest) <= indent {
			return lines[i:]
		}
	}
	return lines[len(lines)-1:]
}

// Why is the cause without its host and its state, on one line of at most most
// characters: the exit status, what the state says and the end of what its program
// wrote. "" is a cause that says nothing.
func (c Cause) Why(most int) string {
	var parts []string
	if c.Exited {
		parts = append(parts, c.status())
	}
	if text := reason(c.Reason); text != "" {
		room := most - used(parts)
		if c.Output != "" {
			room /= 2
			text = strings.TrimSuffix(text, ".")
		}
		parts = append(parts, middle(text, room))
	}
	if out := output(c.Output); out != "" {
		parts = append(parts, lastOf(out, most-used(parts)))
	}
	return strings.Join(parts, ": ")
}

// status is the exit status in words.
func (c Cause) status() string {
	if c.Returned {
		return fmt.Sprintf("return code %d", c.Status)
	}
	return fmt.Sprintf("exit status %d", c.Status)
}

// Line is [Cause.Why] with the host and the state before it, and how many others
// failed or did not run behind it.
func (c Cause) Line(most int) string {
	var parts []string
	for _, x := range [...]string{c.Host, c.What} {
		if x != "" {
			parts = append(parts, x)
		}
	}
	rest := c.Others()
	if rest != "" {
		rest = " (" + rest + ")"
	}
	if why := c.Why(max(least, most-used(parts)-len(rest))); why != "" {
		parts = append(parts, why)
	}
	return strings.Join(parts, ": ") + rest
}

// Short is [Cause.Why] for what shows the host and the state itself. Of a step of an
// orchestration, it is what the step says and the line of its host.
func (c Cause) Short(most int) string {
	if c.Step == "" {
		return c.Why(most)
	}
	return c.Step + "; " + c.Line(max(least, most-used([]string{c.Step})))
}

// Others counts what else failed and what did not run for it; "" is nothing.
func (c Cause) Others() string {
	var parts []string
	if c.More > 0 {
		parts = append(parts, fmt.Sprintf("and %d more failed", c.More))
	}
	if c.Unmet > 0 {
		parts = append(parts, fmt.Sprintf("and %d that required %s", c.Unmet, map[bool]string{true: "it", false: "them"}[c.More == 0]))
	}
	return strings.Join(parts, ", ")
}

// Text is the cause without its host and its state, on several lines: the exit status,
// what the state says, and the end of what its program wrote. Of a step of an
// orchestration, it is what the step says and the line of its host.
func (c Cause) Text() string {
	if c.Step != "" {
		return c.Step + "\n" + c.Line(maxStep)
	}
	var parts []string
	if c.Reason != "" {
		parts = append(parts, c.Reason)
	}
	if c.Exited {
		parts = append(parts, c.status())
	}
	if c.Output != "" {
		parts = append(parts, c.Output)
	}
	return strings.Join(parts, "\n")
}

// maxStep is how much the text of a step has of the cause on its host, in characters.
const maxStep = 300

// least is the room that a reason has in any case, in characters.
const least = 60

// used is how much of a line parts take.
func used(parts []string) int {
	n := 0
	for _, p := range parts {
		n += utf8.RuneCountInString(p) + 2
	}
	return n
}

func oneLine(lines []string) string {
	return strings.Join(strings.Fields(strings.Join(lines, " ")), " ")
}

// lastOf is the end of a text, of at most most characters.
func lastOf(s string, most int) string {
	r := []rune(s)
	if most = max(most, least); len(r) <= most {
		return s
	}
	return "..." + string(r[len(r)-most+3:])
}

// middle is the beginning and the end of a text, together at most most characters.
func middle(s string, most int) string {
	r := []rune(s)
	if most = max(most, least); len(r) <= most {
		return s
	}
	head := most / 3
	return string(r[:head]) + " ... " + string(r[len(r)-(most-head-5):])
}
