package mysql

import (
	"path"
	"slices"
	"strings"

	"brine/internal/core/host"
	"brine/internal/py/value"
)

// Bounds of option files, which anyone may have written.
const (
	maxIncludes = 64
	maxCnf      = 1 << 20
)

// A cnf is what the groups of an option file such as my.cnf say.
type cnf struct {
	files  host.Files
	groups []string
	vals   map[string]string
	read   int
}

// readCnf returns the options of groups in an option file. Later lines win.
// Names have dashes, however they are written.
func readCnf(files host.Files, file string, groups ...string) (map[string]string, error) {
	c := &cnf{files: files, groups: groups, vals: map[string]string{}}
	err := c.file(file)
	return c.vals, err
}

func (c *cnf) file(name string) error {
	if c.read++; c.read > maxIncludes {
		return nil
	}
	text, err := c.files.ReadFile(name)
	if err != nil {
		return err
	}
	if len(text) > maxCnf {
		text = text[:maxCnf]
	}
	in := false
	for line := range strings.Lines(value.DecodeReplace(text)) {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || line[0] == '#' || line[0] == ';':
		case line[0] == '!':
			c.include(path.Dir(name), line)
		case line[0] == '[':
			group, _, _ := strings.Cut(line[1:], "]")
			in = slices.Contains(c.groups, strings.TrimSpace(group))
		case in:
			key, val, _ := strings.Cut(line, "=")
			c.vals[strings.ReplaceAll(strings.TrimSpace(key), "_", "-")] = cnfValue(val)
		}
	}
	return nil
}

// include reads what !include and !includedir name. What cannot be read is left
// out, as the client library leaves it out.
func (c *cnf) include(dir, line string) {
	abs := func(p string) string {
		if p = strings.TrimSpace(p); path.IsAbs(p) {
			return p
		}
		return path.Join(dir, p)
	}
	if d, ok := strings.CutPrefix(line, "!includedir "); ok {
		names, err := c.files.ReadDir(abs(d))
		if err != nil {
			return
		}
		slices.Sort(names)
		for _, n := range names {
			if strings.HasSuffix(n, ".cnf") {
				_ = c.file(path.Join(abs(d), n))
			}
		}
		return
	}
	if f, ok := strings.CutPrefix(line, "!include "); ok {
		_ = c.file(abs(f))
	}
}

var cnfEscapes = strings.NewReplacer(`\\`, `\`, `\s`, " ", `\n`, "\n", `\t`, "\t", `\r`, "\r", `\b`, "\b", `\"`, `"`, `\'`, "'")

// cnfValue is the value that follows a "=": without quotes around it, or without
// a comment behind it, and with escapes undone.
func cnfValue(s string) string {
	s = strings.TrimSpace(s)
	if len(s) >= 2 && (s[0] == '"' || s[0] == '\'') {
		if end := strings.LastIndexByte(s, s[0]); end > 0 {
			return cnfEscapes.Replace(s[1:end])
		}
	}
	if i := strings.Index(s, " #"); i >= 0 {
		s = strings.TrimSpace(s[:i])
	}
	return cnfEscapes.Replace(s)
}
