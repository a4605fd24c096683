package file

import (
	"slices"
	"strings"
	"unicode"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/difflib"
	"brine/internal/py/pyre"
)

// A LineEdit is a change of one line of a file.
type LineEdit struct {
	Path          string
	Content       *string // nil only for delete
	Match         string
	Mode          string // insert, ensure, replace, delete
	Location      string // start, end
	Before, After *string
	Backup        bool // a copy whose name ends in the time
	Quiet         bool // a file that is not there is no error
	NoIndent      bool
}

// Line edits one line of a file and returns the old and new lines.
//
// Salt: line. As in Salt, the end of a file that ends in a newline counts as an
// empty line for location end.
func (f *FS) Line(e LineEdit) (before, after []string, err error) {
	path := f.Expand(e.Path)
	if !f.IsFile(path) {
		if e.Quiet {
			return nil, nil, nil
		}
		return nil, nil, fun.Errorf(`File "%s" does not exists or is not a file.`, f.RealPath(path))
	}
	e.Mode = strings.ToLower(e.Mode)
	switch e.Mode {
	case "insert", "ensure", "delete", "replace":
	case "":
		return nil, nil, fun.Errorf("Mode was not defined. How to process the file?")
	default:
		return nil, nil, fun.Errorf(`Unknown mode: "%s"`, e.Mode)
	}
	if e.Mode != "delete" && e.Content == nil {
		return nil, nil, fun.Errorf(`Content can only be empty if mode is "delete"`)
	}
	if e.Before == nil && e.After == nil && e.Match == "" && e.Content != nil {
		e.Match = *e.Content
	}
	text, err := f.readText(path)
	if err != nil {
		return nil, nil, err
	}
	before = difflib.SplitLines(text)
	body := slices.Clone(before)
	if len(body) > 0 && lineEnd(body[len(body)-1]) != "" {
		body = append(body, "")
	}
	if body, err = e.apply(body); err != nil {
		return nil, nil, err
	}
	for i := range body {
		if lineEnd(body[i]) == "" && i+1 < len(body) {
			prev := 1
			if i > 1 {
				prev = i - 1
			}
			body[i] = withEnd(body[prev], body[i])
		}
	}
	if n := len(body); n > 0 && body[n-1] == "" {
		body = body[:n-1]
	}
	out := strings.Join(body, "")
	if out == text || f.Test {
		return before, body, nil
	}
	if e.Backup {
		real, err := f.Target(path)
		if err != nil {
			return nil, nil, fun.Errorf("Unable to create the backup file of %s. Exception: %s", path, host.OSError(err))
		}
		to := real + "." + f.Now().Local().Format("2006-01-02-15-04-05")
		if err := f.copyWithOwner(path, to); err != nil {
			return nil, nil, fun.Errorf("Unable to create the backup file of %s. Exception: %s", path, host.OSError(err))
		}
	}
	if err := f.Write(path, out); err != nil {
		return nil, nil, fun.Errorf("Unable to write %s: %s", path, host.OSError(err))
	}
	return before, body, nil
}

// lineEnd returns what a line ends in: a newline, both, or nothing.
func lineEnd(l string) string {
	for _, e := range []string{"\r\n", "\n", "\r"} {
		if strings.HasSuffix(l, e) {
			return e
		}
	}
	return ""
}

// withEnd returns line with the line end of another.
func withEnd(of, line string) string {
	end := lineEnd(of)
	if end == "" {
		end = "\n"
	}
	return strings.TrimRightFunc(line, unicode.IsSpace) + end
}

// indented returns content as a line beside another: with its indentation,
// unless that is not wanted. Line ends are set afterwards.
func (e *LineEdit) indented(of string) string {
	if e.NoIndent {
		return *e.Content
	}
	i := 0
	for i < len(of) && (of[i] == ' ' || of[i] == '\t') {
		i++
	}
	return of[:i] + strings.TrimLeftFunc(*e.Content, unicode.IsSpace)
}

// linesWith returns those that a pattern matches or that contain it as text; nil
// where there are no lines or no pattern, empty where none matches.
func linesWith(body []string, pattern *string) ([]string, error) {
	if pattern == nil || *pattern == "" || len(body) == 0 {
		return nil, nil
	}
	re, err := pyre.Compile(*pattern, pyre.DotAll)
	if err != nil {
		return nil, fun.Errorf("%s: '%s'", err, *pattern)
	}
	found := []string{}
	for _, l := range body {
		ok, err := re.Has(l)
		if err != nil {
			return nil, err
		}
		if ok || strings.Contains(l, *pattern) {
			found = append(found, l)
		}
	}
	return found, nil
}

// once checks that a pattern matched one line.
func once(found []string, name string) error {
	switch {
	case len(found) > 1:
		return fun.Errorf("Found more than expected occurrences in \"%s\" expression", name)
	case len(found) < 1:
		return fun.Errorf("Found less than expected occurrences in \"%s\" expression", name)
	}
	return nil
}

// apply returns the lines after the edit. Salt: _set_line.
func (e *LineEdit) apply(body []string) ([]string, error) {
	after, err := linesWith(body, e.After)
	if err != nil {
		return nil, err
	}
	before, err := linesWith(body, e.Before)
	if err != nil {
		return nil, err
	}
	match, err := linesWith(body, &e.Match)
	if err != nil {
		return nil, err
	}
	switch {
	case e.Mode == "delete" && len(match) > 0:
		return slices.DeleteFunc(body, func(l string) bool { return l == match[0] }), nil
	case e.Mode == "replace" && len(match) > 0:
		i := slices.Index(body, match[0])
		body[i] = e.indented(body[i])
		return body, nil
	case e.Mode == "insert":
		return e.insert(body, before, after)
	case e.Mode == "ensure":
		return e.ensure(body, before, after)
	}
	return body, nil
}

func (e *LineEdit) insert(body, before, after []string) ([]string, error) {
	if before == nil && after == nil && e.Location == "" {
		return nil, fun.Errorf(`On insert either "location" or "before/after" conditions are required.`)
	}
	switch {
	case e.Location == "end":
		if len(body) == 0 {
			return []string{*e.Content}, nil
		}
		return append(body, e.indented(body[len(body)-1])), nil
	case e.Location == "start":
		if len(body) == 0 {
			return []string{*e.Content + "\n"}, nil
		}
		return slices.Insert(body, 0, withEnd(body[0], *e.Content)), nil
	case e.Location != "":
		return body, nil
	case len(before) > 0 && len(after) > 0:
		if err := firstError(once(before, "before"), once(after, "after")); err != nil {
			return nil, err
		}
		i := slices.Index(body, before[0])
		return slices.Insert(body, i, e.indented(body[i])), nil
	case len(after) > 0:
		if err := once(after, "after"); err != nil {
			return nil, err
		}
		i := slices.Index(body, after[0])
		if i+1 < len(body) && e.is(body[i+1]) {
			return body, nil
		}
		return slices.Insert(body, i+1, e.indented(body[i])), nil
	case len(before) > 0:
		if err := once(before, "before"); err != nil {
			return nil, err
		}
		i := slices.Index(body, before[0])
		if e.is(above(body, i)) {
			return body, nil
		}
		return slices.Insert(body, i, e.indented(body[i])), nil
	}
	return nil, fun.Errorf("Neither before or after was found in file")
}

func (e *LineEdit) ensure(body, before, after []string) ([]string, error) {
	switch {
	case len(before) > 0 && len(after) > 0:
		if err := firstError(once(after, "after"), once(before, "before")); err != nil {
			return nil, err
		}
		a, b := slices.Index(body, after[0]), slices.Index(body, before[0])
		for _, l := range body {
			if strings.TrimLeftFunc(l, unicode.IsSpace) == *e.Content {
				return body, nil
			}
		}
		switch b {
		case a + 1:
			return slices.Insert(body, a+1, e.indented(body[a])), nil
		case a + 2:
			body[a+1] = e.indented(body[a])
			return body, nil
		}
		return nil, fun.Errorf(`Found more than one line between boundaries "before" and "after".`)
	case len(before) > 0:
		if err := once(before, "before"); err != nil {
			return nil, err
		}
		i := slices.Index(body, before[0])
		if i > 0 && e.is(body[i-1]) {
			return body, nil
		}
		return slices.Insert(body, i, e.indented(above(body, i))), nil
	case len(after) > 0:
		if err := once(after, "after"); err != nil {
			return nil, err
		}
		i := slices.Index(body, after[0])
		if i+1 < len(body) && e.is(body[i+1]) {
			return body, nil
		}
		return slices.Insert(body, i+1, e.indented(body[i])), nil
	}
	return nil, fun.Errorf("Wrong conditions? Unable to ensure line without knowing where to put it before and/or after.")
}

// above returns the line before line i. As with Python's index -1, that of the
// first is the last.
func above(body []string, i int) string {
	return body[(i+len(body)-1)%len(body)]
}

// is reports whether a line has the content.
func (e *LineEdit) is(l string) bool {
	return strings.TrimRight(l, "\r\n") == strings.TrimRight(*e.Content, "\r\n")
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
