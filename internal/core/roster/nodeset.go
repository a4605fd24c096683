package roster

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"brine/internal/py/value"
	"brine/internal/py/yamlsalt"
)

// NodeSet writes a set of names out: commas separate names, and brackets hold
// numbers and ranges, with a step behind a slash and leading zeros kept:
// web[1-3,8],db[01-09/2]. "!" takes names away, "&" keeps those of both sides, "^"
// those of one side only, each of them on what is left of it. @name is a group;
// groups returns the set of one, "*" being all of a source and "" the default
// source. Names come in order, each once.
func NodeSet(s string, groups func(source, name string) (string, error)) ([]string, error) {
	return nodeSet(s, groups, maxGroupDepth)
}

// maxGroupDepth is how deep groups may be in groups.
const maxGroupDepth = 16

func nodeSet(s string, groups func(source, name string) (string, error), depth int) ([]string, error) {
	var out []string
	for _, part := range splitSet(s) {
		if part.text == "" {
			if part.op != ',' {
				return nil, fmt.Errorf("%q: a name is missing after %c", s, part.op)
			}
			continue
		}
		names, err := nodeNames(part.text, groups, depth)
		if err != nil {
			return nil, err
		}
		if out = combine(part.op, out, names); len(out) > maxNamed {
			return nil, fmt.Errorf("%q stands for more than %d hosts", s, maxNamed)
		}
	}
	return out, nil
}

// combine applies an operator to two sets of names.
func combine(op byte, a, b []string) []string {
	inA, inB := setOf(a), setOf(b)
	var out []string
	seen := map[string]bool{}
	add := func(names []string, keep func(n string) bool) {
		for _, n := range names {
			if !seen[n] && keep(n) {
				seen[n] = true
				out = append(out, n)
			}
		}
	}
	switch op {
	case '!':
		add(a, func(n string) bool { return !inB[n] })
	case '&':
		add(a, func(n string) bool { return inB[n] })
	case '^':
		add(a, func(n string) bool { return !inB[n] })
		add(b, func(n string) bool { return !inA[n] })
	default:
		add(a, func(string) bool { return true })
		add(b, func(string) bool { return true })
	}
	return out
}

func setOf(names []string) map[string]bool {
	m := make(map[string]bool, len(names))
	for _, n := range names {
		m[n] = true
	}
	return m
}

// nodeNames writes a part of a set out: names with brackets, or a group.
func nodeNames(s string, groups func(source, name string) (string, error), depth int) ([]string, error) {
	text, isGroup := strings.CutPrefix(s, "@")
	if !isGroup {
		return expandNodes(s)
	}
	if groups == nil {
		return nil, fmt.Errorf("%q: there are no groups", s)
	}
	if depth == 0 {
		return nil, fmt.Errorf("%q: groups are in more than %d other groups, or in themselves", s, maxGroupDepth)
	}
	source, name, ok := strings.Cut(text, ":")
	if !ok {
		source, name = "", text
	}
	names := []string{name}
	if name != "*" {
		var err error
		if names, err = expandNodes(name); err != nil {
			return nil, err
		}
	}
	var out []string
	for _, n := range names {
		set, err := groups(source, n)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", s, err)
		}
		more, err := nodeSet(set, groups, depth-1)
		if err != nil {
			return nil, err
		}
		if out = combine(',', out, more); len(out) > maxNamed {
			return nil, fmt.Errorf("%q stands for more than %d hosts", s, maxNamed)
		}
	}
	return out, nil
}

// A setPart is a part of a set and the operator in front of it.
type setPart struct {
	op   byte
	text string
}

// splitSet cuts a set at its operators outside of brackets.
func splitSet(s string) []setPart {
	var parts []setPart
	op, depth, from := byte(','), 0, 0
	for i := range len(s) {
		switch s[i] {
		case '[':
			depth++
		case ']':
			depth--
		case ',', '!', '&', '^':
			if depth <= 0 {
				parts = append(parts, setPart{op, strings.TrimSpace(s[from:i])})
				op, from = s[i], i+1
			}
		}
	}
	return append(parts, setPart{op, strings.TrimSpace(s[from:])})
}

// nodeGroups are the groups of ClusterShell's configuration: the file "groups" or
// "groups.d/local.cfg", and YAML files in groups.d. Sources that run commands are
// not read.
type nodeGroups struct {
	files Files
	home  string

	sources map[string]map[string]string // sets by source and group; nil: not read yet
	first   string                       // the default source
	upcalls []string                     // sources that run commands
	err     error
}

// find returns the set of a group; see [NodeSet].
func (g *nodeGroups) find(source, name string) (string, error) {
	if g.sources == nil {
		g.read()
	}
	if g.err != nil {
		return "", g.err
	}
	if source == "" {
		source = g.first
	}
	all, ok := g.sources[source]
	switch {
	case !ok && slices.Contains(g.upcalls, source):
		return "", fmt.Errorf("the source %q of groups runs commands, which is not supported; write its groups to groups.d/local.cfg, or to a YAML file there", source)
	case !ok:
		return "", fmt.Errorf("no source %q of groups in the configuration of ClusterShell (%s)", source, strings.Join(g.dirs(), ", "))
	case name == "*":
		var sets []string
		for _, n := range slices.Sorted(maps.Keys(all)) {
			sets = append(sets, all[n])
		}
		return strings.Join(sets, ","), nil
	}
	set, ok := all[name]
	if !ok {
		return "", fmt.Errorf("no group %q in the source %q", name, source)
	}
	return set, nil
}

// dirs are the directories of ClusterShell, the first one first.
func (g *nodeGroups) dirs() []string {
	return []string{path.Join(g.home, ".config/clustershell"), path.Join(g.home, ".local/etc/clustershell"), "/etc/clustershell"}
}

// read reads the groups. What is defined twice is taken from the first directory.
func (g *nodeGroups) read() {
	g.sources, g.first = map[string]map[string]string{}, "local"
	named := false
	for _, dir := range g.dirs() {
		for _, name := range []string{"groups", "groups.d/local.cfg"} {
			if text, ok := g.text(path.Join(dir, name)); ok && g.sources["local"] == nil {
				g.sources["local"] = localGroups(text)
			}
		}
		if text, ok := g.text(path.Join(dir, "groups.conf")); ok && !named {
			named = true
			g.config(text)
		}
		names, err := g.files.ReadDir(path.Join(dir, "groups.d"))
		if err != nil {
			continue // there is none
		}
		for _, n := range names {
			if ext := path.Ext(n); ext == ".yaml" || ext == ".yml" {
				g.yaml(path.Join(dir, "groups.d", n))
			}
		}
	}
}

// text returns a file, if there is one.
func (g *nodeGroups) text(file string) (string, bool) {
	b, err := g.files.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) && g.err == nil {
		g.err = err
	}
	return string(b), err == nil
}

// config takes the default source of groups.conf, and the names of sources that
// run commands. The source local of the file that comes with ClusterShell only
// prints what its file has.
func (g *nodeGroups) config(text string) {
	section := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || line[0] == '#' || line[0] == ';':
		case line[0] == '[' && line[len(line)-1] == ']':
			section = line[1 : len(line)-1]
			if section != "Main" {
				for name := range strings.SplitSeq(section, ",") {
					g.upcalls = append(g.upcalls, strings.TrimSpace(name))
				}
			}
		case section == "Main":
			key, val, ok := strings.Cut(line, ":")
			if k, v, is := strings.Cut(line, "="); is && (!ok || len(k) < len(key)) {
				key, val = k, v
			}
			if strings.TrimSpace(key) == "default" {
				g.first = strings.TrimSpace(val)
			}
		}
	}
}

// localGroups reads lines "name: set".
func localGroups(text string) map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(text) {
		name, set, ok := strings.Cut(strings.TrimSpace(line), ":")
		if ok && name != "" && name[0] != '#' {
			if _, twice := out[name]; !twice {
				out[name] = strings.TrimSpace(set)
			}
		}
	}
	return out
}

// yaml reads a file of groups by source; a set may be a list of sets.
func (g *nodeGroups) yaml(file string) {
	text, ok := g.text(file)
	if !ok {
		return
	}
	v, err := yamlsalt.Load(yamlsalt.LoadOptions{Name: file}, []byte(text))
	m, isMap := v.(*value.Map)
	if err == nil && !isMap {
		err = fmt.Errorf("%s: sources of groups are a mapping", file)
	}
	if err != nil {
		if g.err == nil {
			g.err = err
		}
		return
	}
	for source, v := range m.All() {
		name := value.Str(source)
		groups, ok := v.(*value.Map)
		if _, twice := g.sources[name]; twice || !ok {
			continue
		}
		g.sources[name] = map[string]string{}
		for group, set := range groups.All() {
			text := ""
			if l, ok := set.(*value.List); ok {
				parts := make([]string, l.Len())
				for i, x := range l.Items {
					parts[i] = value.Str(x)
				}
				text = strings.Join(parts, ",")
			} else if set != nil {
				text = value.Str(set)
			}
			g.sources[name][value.Str(group)] = text
		}
	}
}

func expandNodes(s string) ([]string, error) {
	i := strings.IndexByte(s, '[')
	if i < 0 {
		if strings.ContainsAny(s, "] \t*?") {
			return nil, fmt.Errorf("%q is not the name of a node", s)
		}
		return []string{s}, nil
	}
	j := strings.IndexByte(s[i:], ']')
	if j < 0 {
		return nil, fmt.Errorf("%q: the bracket is not closed", s)
	}
	tails, err := expandNodes(s[i+j+1:])
	if err != nil {
		return nil, err
	}
	var out []string
	for item := range strings.SplitSeq(s[i+1:i+j], ",") {
		nums, err := nodeRange(strings.TrimSpace(item))
		if err != nil {
			return nil, fmt.Errorf("%q: %w", s, err)
		}
		for _, n := range nums {
			for _, t := range tails {
				if out = append(out, s[:i]+n+t); len(out) > maxNamed {
					return nil, fmt.Errorf("%q stands for more than %d hosts", s, maxNamed)
				}
			}
		}
	}
	return out, nil
}

// nodeRange writes out 5, 1-10 and 01-20/2.
func nodeRange(s string) ([]string, error) {
	body, stepText, hasStep := strings.Cut(s, "/")
	from, to, isRange := strings.Cut(body, "-")
	if !isRange {
		to = from
	}
	lo, err1 := strconv.ParseUint(from, 10, 31)
	hi, err2 := strconv.ParseUint(to, 10, 31)
	step := uint64(1)
	var err3 error
	if hasStep {
		step, err3 = strconv.ParseUint(stepText, 10, 31)
	}
	if err1 != nil || err2 != nil || err3 != nil || step == 0 || hi < lo {
		return nil, fmt.Errorf("[%s] is not a range of numbers", s)
	}
	if (hi-lo)/step >= maxNamed {
		return nil, fmt.Errorf("[%s] stands for more than %d hosts", s, maxNamed)
	}
	width := 0
	if strings.HasPrefix(from, "0") {
		width = len(from)
	}
	var out []string
	for n := lo; n <= hi; n += step {
		out = append(out, fmt.Sprintf("%0*d", width, n))
	}
	return out, nil
}
