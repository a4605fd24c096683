package reference

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"

	"brine/internal/core/absent"
	"brine/internal/core/fun"
	"brine/internal/core/printable"
	"brine/internal/core/saltnames"
)

// The facts about Salt 3006, recorded by salt/record.py, and what brine has to
// say about them. Only the generator reads them.
var (
	//go:embed salt/states.txt
	saltStates string
	//go:embed salt/providers.txt
	saltProviders string
	//go:embed salt/reasons.txt
	saltReasons string
)

// Tables returns the generated parts of docs/compatibility by their names, "state
// functions" and "renderer" for two. offers returns the modules of a kind without
// functions that brine has. The error lists what the data files lack, or have without
// need, such as an absent function without a reason.
func Tables(t *fun.Table, offers func(kind string) []string) (map[string]string, error) {
	c := &comparison{table: t, different: parseDifferences(saltReasons), used: map[string]bool{}}
	tables := map[string]string{
		"state functions": c.states(), "execution functions": c.execution(),
		"runner functions": c.few(fun.Runner), "wheel functions": c.few(fun.Wheel),
	}
	for _, kind := range absent.Kinds() {
		tables[kind] = c.modules(kind, offers(kind))
	}
	for _, kind := range append(absent.Kinds(), fun.State.Short(), fun.Exec.Short(), fun.Runner.Short(), fun.Wheel.Short()) {
		for _, name := range absent.Listed(kind) {
			if !c.used[kind+" "+name] {
				c.faultf("%s %s is listed as absent, and it is not", kind, name)
			}
		}
	}
	for name := range c.different {
		if !c.used[name] {
			c.faultf("%s is listed as different, and is not in both", name)
		}
	}
	if len(c.faults) > 0 {
		slices.Sort(c.faults)
		return nil, fmt.Errorf("internal/core/absent/reasons.txt and cmd/internal/reference/salt/reasons.txt:\n%s", strings.Join(c.faults, "\n"))
	}
	return tables, nil
}

// parseDifferences returns the sentences of reasons.txt by what they are about.
func parseDifferences(text string) map[string][]string {
	all := map[string][]string{}
	for line := range strings.Lines(text) {
		if about, ok := strings.CutPrefix(strings.TrimSpace(line), "different "); ok {
			name, what, _ := strings.Cut(about, ": ")
			all[name] = append(all[name], what)
		}
	}
	return all
}

// A comparison compares the functions of a table with those of Salt.
type comparison struct {
	table     *fun.Table
	different map[string][]string // by state function, or kind and module
	used      map[string]bool
	faults    []string
}

func (c *comparison) faultf(format string, args ...any) {
	c.faults = append(c.faults, fmt.Sprintf(format, args...))
}

// args are the arguments of a function of Salt by the file that has it.
type args map[string][]string

// stateArgs returns the state functions of Salt, by module and function.
func stateArgs() map[string]map[string]args {
	salt := map[string]map[string]args{}
	for line := range strings.Lines(saltStates) {
		if words := strings.Fields(line); words[0] != "#" {
			if salt[words[0]] == nil {
				salt[words[0]] = map[string]args{}
			}
			if salt[words[0]][words[2]] == nil {
				salt[words[0]][words[2]] = args{}
			}
			salt[words[0]][words[2]][words[1]] = words[3:]
		}
	}
	return salt
}

// A Status says whether brine has a function of Salt.
type Status string

// The statuses.
const (
	There     Status = "there"
	Different Status = "different"
	Missing   Status = "missing"
)

// A Catalog knows the status of functions.
type Catalog struct {
	c    *comparison
	salt map[string]map[string]args
}

// NewCatalog returns the catalog of the functions of a table.
func NewCatalog(t *fun.Table) *Catalog {
	return &Catalog{&comparison{table: t, different: parseDifferences(saltReasons), used: map[string]bool{}}, stateArgs()}
}

// Of returns the status of the function "module.function", and what differs or why
// it is missing, "" where nothing is known of that.
func (k *Catalog) Of(kind fun.Kind, name string) (status Status, note string) {
	mod, fn, _ := strings.Cut(name, ".")
	if k.c.table.Spec(kind, name) == nil {
		return Missing, k.c.table.WhyAbsent(kind, name)
	}
	if salt := k.salt[mod][fn]; kind == fun.State && salt != nil {
		if note = k.c.differences(name, salt); note != "" {
			return Different, note
		}
	}
	return There, ""
}

func (c *comparison) states() string {
	salt := stateArgs()
	var rows strings.Builder
	there, different, absent := 0, 0, 0
	for _, mod := range slices.Sorted(maps.Keys(salt)) {
		if _, ok := c.table.Module(fun.State, mod); !ok {
			absent += len(salt[mod])
			fmt.Fprintf(&rows, "| `%s.*` | absent | %s |\n", mod, cell(c.why("state", mod)))
			continue
		}
		for _, fn := range slices.Sorted(maps.Keys(salt[mod])) {
			name := mod + "." + fn
			if c.table.Spec(fun.State, name) == nil {
				absent++
				fmt.Fprintf(&rows, "| `%s` | absent | %s |\n", name, cell(c.why("state", name)))
				continue
			}
			link := fmt.Sprintf("[`%s`](reference/states/%s.md#%s)", name, mod, anchor(fn))
			if what := c.differences(name, salt[mod][fn]); what != "" {
				different++
				fmt.Fprintf(&rows, "| %s | different | %s |\n", link, cell(what))
				continue
			}
			there++
			fmt.Fprintf(&rows, "| %s | there | |\n", link)
		}
	}
	return fmt.Sprintf("Salt %s has %d state functions. Of these, %d are there, %d are there and differ, and %d are absent.\n\n"+
		"| function | | what differs, or why it is absent |\n|---|---|---|\n%s", saltnames.Version, there+different+absent, there, different, absent, rows.String())
}

// why returns the reason why a module or function is absent.
func (c *comparison) why(kind, name string) string {
	key := absent.Key(kind, name)
	if key == "" {
		c.faultf("%s %s is absent without a reason", kind, name)
	}
	c.used[key] = true
	return absent.Why(kind, name)
}

// differences returns what a state function does otherwise than Salt's, and which
// of its arguments it lacks.
func (c *comparison) differences(name string, salt args) string {
	c.used[name] = true
	what := slices.Clone(c.different[name])
	mod, fn, _ := strings.Cut(name, ".")
	have := map[string]bool{"*": true, "**": true, "name": true} // any state has a name
	ours := map[string]bool{}
	var lacks, idle []string
	for _, m := range c.table.Providers(fun.State, mod) {
		for i := range m.Specs {
			if m.Specs[i].Name == fn {
				ours[m.Provider] = true
				for _, a := range m.Specs[i].Args {
					if !have[a.Name] && isIdle(a.Doc) {
						idle = append(idle, a.Name)
					}
					have[a.Name] = true
				}
			}
		}
	}
	// Files of Salt that serve on other systems have other arguments.
	files := slices.Sorted(maps.Keys(salt))
	if same := slices.DeleteFunc(slices.Clone(files), func(f string) bool { return !ours[f] }); len(same) > 0 {
		files = same
	}
	for _, f := range files {
		for _, a := range salt[f] {
			if !have[a] {
				have[a] = true
				lacks = append(lacks, a)
			}
		}
	}
	if len(lacks) > 0 {
		what = append(what, "No "+strings.Join(lacks, ", ")+".")
	}
	if len(idle) > 0 {
		what = append(what, "Accepted without effect: "+strings.Join(idle, ", ")+".")
	}
	return strings.Join(what, " ")
}

// isIdle reports whether the documentation of an argument says that it has no
// effect. Arguments that are for Windows have none in Salt either.
func isIdle(doc string) bool {
	begins := func(prefix string) bool { return strings.HasPrefix(doc, prefix) }
	idle := slices.ContainsFunc([]string{"accepted without effect", "accepted, has no effect", "accepted for compatibility", "accepted; output", "accepted; text"}, begins)
	return idle && !strings.Contains(doc, "Windows")
}

// execution lists the modules of execution functions in short: how many of Salt's
// functions are there, and why the others are absent.
func (c *comparison) execution() string {
	kind := fun.Exec.Short()
	others := c.otherProviders()
	var rows strings.Builder
	var whole grouped
	modules, functions := 0, 0
	for _, mod := range saltnames.ModulesOf(kind) {
		salt := saltnames.Functions(kind, mod)
		if _, ok := c.table.Module(fun.Exec, mod); !ok {
			modules, functions = modules+1, functions+len(salt)
			whole.add(c.why(kind, mod), fmt.Sprintf("%s (%d)", mod, len(salt)))
			continue
		}
		var lacks grouped
		n, other := 0, 0
		for _, fn := range salt {
			switch {
			case c.table.Spec(fun.Exec, mod+"."+fn) != nil:
			case others[mod+"."+fn]:
				other++
			default:
				n++
				lacks.add(c.why(kind, mod+"."+fn), fn)
			}
		}
		text := lacks.String()
		if other > 0 {
			if text != "" {
				text += "; "
			}
			text += fmt.Sprintf("%d for other systems", other)
		}
		fmt.Fprintf(&rows, "| [%s](reference/modules/%s.md) | %d of %d | %s |\n", mod, mod, len(salt)-n-other, len(salt), cell(text))
	}
	var absentText strings.Builder
	for _, why := range whole.order {
		fmt.Fprintf(&absentText, "\n%s:\n%s.\n", title(why), printable.Wrap(whole.names[why], 119))
	}
	return fmt.Sprintf("| module | there | absent |\n|---|---|---|\n%s\n%d modules with %d functions are absent as a whole.\n%s",
		rows.String(), modules, functions, absentText.String())
}

// A grouped has names by the reason that they share, in the order in which the reasons
// came.
type grouped struct {
	order []string
	names map[string][]string
}

func (g *grouped) add(why, name string) {
	if g.names == nil {
		g.names = map[string][]string{}
	}
	if g.names[why] == nil {
		g.order = append(g.order, why)
	}
	g.names[why] = append(g.names[why], name)
}

func (g *grouped) String() string {
	text := make([]string, len(g.order))
	for i, why := range g.order {
		text[i] = strings.Join(g.names[why], ", ") + ": " + why
	}
	return strings.Join(text, "; ")
}

// few lists the modules of runner or wheel functions: how many of Salt's functions are
// there, and why the others are absent.
func (c *comparison) few(kind fun.Kind) string {
	var rows strings.Builder
	for _, mod := range saltnames.ModulesOf(kind.Short()) {
		salt := saltnames.Functions(kind.Short(), mod)
		var lacks grouped
		there := len(salt)
		for _, fn := range salt {
			if c.table.Spec(kind, mod+"."+fn) == nil {
				there--
				lacks.add(c.why(kind.Short(), mod+"."+fn), fn)
			}
		}
		name := mod
		if _, ok := c.table.Module(kind, mod); ok {
			name = fmt.Sprintf("[%s](reference/%s/%s.md)", mod, dirs[kind], mod)
		}
		fmt.Fprintf(&rows, "| %s | %d of %d | %s |\n", name, there, len(salt), cell(lacks.String()))
	}
	return "| module | there | absent |\n|---|---|---|\n" + rows.String()
}

// modules lists the modules of a kind without functions.
func (c *comparison) modules(kind string, have []string) string {
	var rows strings.Builder
	for _, name := range absent.Names(kind) {
		about := kind + " " + name
		status, note := "works", strings.Join(c.different[about], " ")
		switch {
		case !slices.Contains(have, name):
			status, note = "not there", c.why(kind, name)
		case note != "":
			status = "differs"
			c.used[about] = true
		}
		fmt.Fprintf(&rows, "| `%s` | %s | %s |\n", name, status, cell(note))
	}
	var own []string
	for _, name := range have {
		if !slices.Contains(absent.Names(kind), name) {
			own = append(own, "`"+name+"`")
		}
	}
	text := "| module | | what differs, or why it is not there |\n|---|---|---|\n" + rows.String()
	if len(own) > 0 {
		text += "\nBrine's own: " + strings.Join(own, ", ") + ".\n"
	}
	return text
}

// otherProviders returns the functions that Salt has only in files whose
// functions brine does not have, for modules that several files provide: those
// of pkg for Windows, for one.
func (c *comparison) otherProviders() map[string]bool {
	other := map[string]bool{}
	for _, ours := range []bool{false, true} {
		for line := range strings.Lines(saltProviders) {
			words := strings.Fields(line)
			if words[0] == "#" || c.follows(words[0], "modules/"+words[1]+".py ") != ours {
				continue
			}
			for _, fn := range words[2:] {
				other[words[0]+"."+fn] = !ours
			}
		}
	}
	return other
}

// follows reports whether functions of an execution module follow those of a file
// of Salt.
func (c *comparison) follows(mod, file string) bool {
	return slices.ContainsFunc(c.table.Providers(fun.Exec, mod), func(m *fun.Module) bool {
		return slices.ContainsFunc(m.Specs, func(s fun.Spec) bool { return strings.HasPrefix(s.Src, file) })
	})
}
