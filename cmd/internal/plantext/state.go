package plantext

import (
	"bytes"
	"encoding/json"
	"strings"

	"brine/internal/view/plan"
)

// A body is a state as text.
type body struct {
	lines  []line // the first names the state
	hidden string // what is left out for its length
}

func (b *body) add(indent int, colour, format string, args ...any) {
	b.lines = append(b.lines, lineOf(indent, colour, format, args...))
}

// state returns a state as text.
func (c *colours) state(st *plan.State) *body {
	name := ""
	if st.Name != st.ID {
		name = " " + oneLine(st.Name)
	}
	mark, colour := "~", c.add
	switch st.Effect {
	case plan.Fail:
		mark, colour = "!", c.remove
	case plan.Unknown, plan.MayFail:
		mark, colour = "?", c.warn
	}
	b := &body{}
	b.add(5, colour, "%s %s (%s)%s", mark, st.ID, st.Fun, name)
	failing := st.Effect == plan.Fail || st.Effect == plan.MayFail
	if st.Comment != "" && (failing || st.Diff == "" && len(st.Changes) == 0 && st.Unknown == "") {
		b.add(9, "", "%s", oneLine(st.Comment))
	}
	if st.Restart {
		b.add(9, c.warn, "restarts the service")
	}
	if st.Reboot {
		b.add(9, c.warn, "reboots the host")
	}
	if st.Unknown != "" {
		b.add(9, c.warn, "%s", st.Unknown)
	}
	if len(st.Packages) > 0 {
		c.packages(b, st.Packages)
		return b
	}
	c.changes(b, st)
	return b
}

// changesText is the changes of a state other than a diff.
func changesText(changes json.RawMessage) string {
	var file struct {
		New string `json:"newfile"`
	}
	switch {
	case len(changes) == 0:
		return ""
	case json.Unmarshal(changes, &file) == nil && file.New != "":
		return "new file"
	case len(changes) < 160:
		return string(changes)
	}
	var b bytes.Buffer
	if json.Indent(&b, changes, "", "  ") != nil {
		return string(changes)
	}
	return b.String()
}

// changes adds the changes of a state, and the further files that it makes.
func (c *colours) changes(b *body, st *plan.State) {
	c.ownChanges(b, st)
	left := maxLines
	for i, f := range st.Files {
		if left <= 0 {
			b.add(9, "", "... and %d more new files (--out=json has all)", len(st.Files)-i)
			for _, f := range st.Files[i:] {
				b.hidden += f.Name + "\n" + f.Diff
			}
			return
		}
		left = c.newFile(b, f, left)
	}
}

// newFile adds a file that a state makes, with so many lines, and returns how many lines
// are left.
func (c *colours) newFile(b *body, f plan.NewFile, left int) int {
	left--
	if f.Diff == "" && f.Size > 0 {
		b.add(9, "", "new file %s, %s that are not shown", oneLine(f.Name), Count(int(f.Size), "byte"))
		return left
	}
	b.add(9, "", "new file %s", oneLine(f.Name))
	_, lines, _ := strings.Cut(f.Diff, "\n@@ ")
	_, lines, _ = strings.Cut(lines, "\n")
	for line := range strings.Lines(lines) {
		if left == 0 {
			b.add(9, "", "... and %d more lines (--out=json has all)", strings.Count(lines, "\n"))
			b.hidden += lines
			return 0
		}
		left--
		lines = lines[len(line):]
		colour := ""
		if strings.HasPrefix(line, "+") {
			colour = c.add
		}
		b.add(9, colour, "%s", strings.TrimRight(line, "\n"))
	}
	return left
}

// ownChanges adds the diff of a file, else the changes as JSON.
func (c *colours) ownChanges(b *body, st *plan.State) {
	text := st.Diff
	switch {
	case st.New && text == "" && st.Size > 0:
		b.add(9, "", "new file, %s that are not shown", Count(int(st.Size), "byte"))
		return
	case st.New:
		b.add(9, "", "new file")
		if text == "" {
			return
		}
	case text == "":
		text = changesText(st.Changes)
	}
	n, head, at := 0, true, 0
	for line := range strings.Lines(text) {
		at += len(line)
		line = strings.TrimRight(line, "\n")
		if head = head && (strings.HasPrefix(line, "--- ") || strings.HasPrefix(line, "+++ ")); head {
			continue // the name of the state says it
		}
		if st.New && strings.HasPrefix(line, "@@ -0,0 ") {
			continue
		}
		if n++; n > maxLines {
			b.add(9, "", "... and %d more lines (--out=json has all)", strings.Count(text, "\n")-maxLines)
			b.hidden = text[at-len(line):]
			return
		}
		colour := ""
		if st.Diff != "" && strings.HasPrefix(line, "+") {
			colour = c.add
		} else if st.Diff != "" && strings.HasPrefix(line, "-") {
			colour = c.remove
		}
		b.add(9, colour, "%s", line)
	}
}
