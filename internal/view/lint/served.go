package lint

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"brine/internal/py/source"
)

// A tree is compiled for systems that it may never run on. A fault that only some of them
// have counts, unless the tree names other systems and none of these: what its maps and
// conditions leave out is not for them.

// A naming has the built-in systems whose names are in a tree: in the text of its SLS files,
// templates and data, or in the path of a file.
type naming struct {
	tree map[string]bool
	dirs map[string]map[string]bool // by the first directory of a path, such as that of a formula
}

// named returns which systems the tree names.
func (l *linter) named() naming {
	byName := systemsByName()
	all := naming{map[string]bool{}, map[string]map[string]bool{}}
	var dir string
	note := func(word string, exact bool) {
		if !exact && strings.EqualFold(word, "arch") {
			return // an architecture, too
		}
		for _, system := range byName[strings.ToLower(word)] {
			all.tree[system] = true
			if all.dirs[dir] == nil {
				all.dirs[dir] = map[string]bool{}
			}
			all.dirs[dir][system] = true
		}
	}
	for _, f := range l.files {
		switch path.Ext(f.Path) {
		case ".sls", ".jinja", ".j2", ".jinja2", ".yaml", ".yml", ".json":
		default:
			continue
		}
		dir = firstDir(f.Path)
		for word := range strings.FieldsFuncSeq(f.Path, notWord) {
			note(word, true)
		}
		for word := range f.words {
			note(word, word == "Arch")
		}
	}
	return all
}

// firstDir returns the first directory of a path; "" is none.
func firstDir(p string) string {
	dir, _, below := strings.Cut(p, "/")
	if !below {
		return ""
	}
	return dir
}

// of returns the systems that count for a finding. A map that has nothing for a system is one
// of the directory that it is in: other formulas of the tree may serve more.
func (n *naming) of(f *Finding, in *file) map[string]bool {
	if in != nil && f.Rule == undefinedVariable && strings.HasPrefix(f.Message, "'None' has no ") && len(n.dirs[firstDir(in.Path)]) > 0 {
		return n.dirs[firstDir(in.Path)]
	}
	return n.tree
}

// systemsByName returns the built-in systems that have a grain os or os_family, in lower
// case. A relative of a system is one as well: what serves CentOS serves rhel.
var systemsByName = sync.OnceValue(func() map[string][]string {
	out := map[string][]string{}
	add := func(name, system string) {
		if name = strings.ToLower(name); !slices.Contains(out[name], system) {
			out[name] = append(out[name], system)
		}
	}
	for _, d := range distros() {
		add(d.os, d.name)
		add(d.family, d.name)
	}
	for _, r := range relatives() {
		if !strings.Contains(r.os, " ") {
			add(r.os, r.like)
		}
	}
	return out
})

// A place is a line of a file that breaks a rule, whatever the message says.
type place struct {
	rule string
	pos  source.Pos
}

// placesOf returns the systems that have some fault at each place.
func (m *merge) placesOf() map[place]map[string]bool {
	out := map[place]map[string]bool{}
	for k, where := range m.where {
		at := place{k.rule, k.pos}
		if out[at] == nil {
			out[at] = map[string]bool{}
		}
		for system := range where {
			out[at][system] = true
		}
	}
	return out
}

// partly sets the severity of a finding that only some systems have; there are all that have
// one at its place.
func (l *linter) partly(f *Finding, rule Rule, named *naming, there []string, in *file) {
	if !rule.partial || l.o.Chosen {
		return
	}
	f.Severity = Warning
	if rule.ID != missingFile && len(there) < len(l.o.Systems) && leftOut(named.of(f, in), there, in, f.Pos.Line) {
		f.Severity, f.LeftOut = Info, true
	}
}

// leftOut reports whether a tree that names some systems leaves out those that have a fault.
// What it has for all others than the ones it names counts.
func leftOut(named map[string]bool, systems []string, f *file, line int) bool {
	if len(named) == 0 || slices.ContainsFunc(systems, func(s string) bool { return named[s] }) {
		return false
	}
	return f == nil || !forOthers(f.lines, line)
}

// forOthers reports whether a line of a template is in a branch for systems that no condition
// names: after else, or of a condition that denies something.
func forOthers(lines []string, line int) bool {
	var open []bool // the blocks that the line is in: whether they are for others
	for _, text := range lines[:max(0, min(line, len(lines)))] {
		if !strings.Contains(text, "{%") {
			continue
		}
		for _, m := range branch().FindAllStringSubmatch(text, -1) {
			switch last := len(open) - 1; m[1] {
			case "if", "for":
				open = append(open, m[1] == "if" && denies().MatchString(m[2]))
			case "elif":
				if last >= 0 {
					open[last] = denies().MatchString(m[2])
				}
			case "else":
				if last >= 0 {
					open[last] = true
				}
			default:
				open = open[:max(0, last)]
			}
		}
	}
	return slices.Contains(open, true)
}

var (
	branch = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\{%[-+]?\s*(if|for|elif|else|endif|endfor)\b((?:[^%]|%[^}])*)`)
	})
	denies = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`!=|\bnot\b`) })
)
