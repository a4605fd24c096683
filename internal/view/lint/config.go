package lint

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"brine/internal/py/source"
	"brine/internal/py/value"
	"brine/internal/py/yamlsalt"
)

// ConfigName is the file of a tree that configures lint.
const ConfigName = ".brine-lint.yaml"

// A Config says which rules hold.
type Config struct {
	Select   []string            // only these; or, of rules that are off, these as well
	Ignore   []string            // not these
	Exclude  []string            // globs of paths under the roots that are not checked
	Systems  []string            // the built-in systems to compile for; nil: all
	Severity map[string]Severity // instead of that of the rule
	Only     bool                // Select lists all rules that hold
	Strict   bool                // what cannot be judged is an error
}

// ParseConfig reads the text of a [ConfigName]. The error is a *source.Error.
func ParseConfig(name string, text []byte) (Config, error) {
	var c Config
	v, err := yamlsalt.Load(yamlsalt.LoadOptions{Name: name}, text)
	if err != nil {
		return c, err
	}
	m, ok := v.(*value.Map)
	if !ok {
		if v == nil {
			return c, nil
		}
		return c, &source.Error{Pos: source.Pos{File: name}, Err: fmt.Errorf("the configuration must be a mapping")}
	}
	fields := map[string]*[]string{"select": &c.Select, "ignore": &c.Ignore, "exclude": &c.Exclude, "systems": &c.Systems}
	names := []string{"exclude", "ignore", "select", "severity", "systems"}
	for k, v := range m.All() {
		key, _ := k.(string)
		bad := func(format string, args ...any) error {
			pos := m.Pos(k)
			pos.File = name
			return &source.Error{Pos: pos, Err: fmt.Errorf(format, args...)}
		}
		switch {
		case key == "severity":
			levels, ok := v.(*value.Map)
			if !ok {
				return c, bad("severity must be a mapping from rules to info, warning or error")
			}
			c.Severity = map[string]Severity{}
			for rule, v := range levels.All() {
				s, ok := ParseSeverity(value.Str(v))
				if !ok {
					return c, bad("severity of %s: %q is not info, warning or error", value.Str(rule), value.Str(v))
				}
				c.Severity[value.Str(rule)] = s
			}
		case fields[key] != nil:
			if s, ok := v.(string); ok {
				v = value.NewList(s)
			}
			list, ok := v.(*value.List)
			if !ok {
				return c, bad("%s must be a list", key)
			}
			for _, x := range list.Items {
				*fields[key] = append(*fields[key], value.Str(x))
			}
		default:
			return c, bad("unknown option %q%s", value.Str(k), source.DidYouMean(value.Str(k), names))
		}
	}
	if err := c.Check(); err != nil {
		return c, &source.Error{Pos: source.Pos{File: name}, Err: err}
	}
	return c, nil
}

// Check returns an error that names a rule or system that does not exist.
func (c *Config) Check() error {
	ids := ruleIDs()
	rules := slices.Concat(c.Select, c.Ignore)
	for rule := range c.Severity {
		rules = append(rules, rule)
	}
	slices.Sort(rules)
	for _, rule := range rules {
		if !slices.Contains(ids, rule) {
			return fmt.Errorf("unknown rule %q%s", rule, source.DidYouMean(rule, ids))
		}
	}
	var systems []string
	for _, s := range Systems() {
		systems = append(systems, s.Name)
	}
	for _, s := range c.Systems {
		if !slices.Contains(systems, s) {
			return fmt.Errorf("unknown system %q%s: there are %s", s, source.DidYouMean(s, systems), strings.Join(systems, ", "))
		}
	}
	return nil
}

// wants reports whether a finding is reported, and sets its severity.
func (c *Config) wants(f *Finding) bool {
	rule := ruleOf(f.Rule)
	selected := slices.Contains(c.Select, f.Rule)
	if slices.Contains(c.Ignore, f.Rule) || rule.Off && !selected || c.Only && !selected && f.Rule != notJudged {
		return false
	}
	if s, ok := c.Severity[f.Rule]; ok {
		f.Severity = s
	}
	if c.Strict && f.Rule == notJudged {
		f.Severity = Error
	}
	return true
}

// excludes reports whether a path under the roots is not checked: hidden files and
// what the configuration excludes.
func (c *Config) excludes(p string) bool {
	if strings.HasPrefix(p, ".") || strings.Contains(p, "/.") {
		return true
	}
	for _, g := range c.Exclude {
		g = strings.TrimSuffix(strings.TrimSuffix(g, "/**"), "/")
		for at := p; at != "."; at = path.Dir(at) {
			if ok, err := path.Match(g, at); ok && err == nil {
				return true
			}
		}
	}
	return false
}

// ignores are the comments of a file that silence rules.
type ignores struct {
	file map[string]bool
	line map[int]map[string]bool
}

// has reports whether a finding of a rule at a line is silenced.
func (g *ignores) has(rule string, line int) bool {
	return g.file[rule] || g.line[line][rule]
}

// A badIgnore is a comment that names a rule that does not exist.
type badIgnore struct {
	line, col int
	name      string
}

var ignorePattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`#\s*brine:\s*ignore(-file)?[ \t]+([\w-]+(?:\s*,\s*[\w-]+)*)`)
})

// readIgnores reads the comments of a file: "# brine: ignore RULE, RULE" holds for
// its line, or for the next where nothing else is on its line; "# brine:
// ignore-file RULE" holds for the file. A Jinja comment is one, too.
func readIgnores(lines []string) (ignores, []badIgnore) {
	g := ignores{map[string]bool{}, map[int]map[string]bool{}}
	var bad []badIgnore
	ids := ruleIDs()
	for i, line := range lines {
		if !strings.Contains(line, "brine:") {
			continue
		}
		m := ignorePattern().FindStringSubmatchIndex(line)
		if m == nil {
			continue
		}
		before := strings.TrimSpace(line[:m[0]])
		at := i + 1
		if before == "" || before == "{" || before == "{%-" {
			at++
		}
		for part := range strings.SplitSeq(line[m[4]:m[5]], ",") {
			name := strings.TrimSpace(part)
			switch {
			case !slices.Contains(ids, name):
				bad = append(bad, badIgnore{i + 1, m[4] + 1, name})
			case m[2] >= 0:
				g.file[name] = true
			default:
				if g.line[at] == nil {
					g.line[at] = map[string]bool{}
				}
				g.line[at][name] = true
			}
		}
	}
	return g, bad
}
