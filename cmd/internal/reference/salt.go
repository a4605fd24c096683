package reference

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"brine/internal/core/absent"
	"brine/internal/core/fun"
	"brine/internal/core/printable"
	"brine/internal/core/saltnames"
)

// The facts about Salt 3006, recorded by salt/record.py, and what brine has to
// say about them. The generator and 'brine check' read them.
var (
	//go:embed salt/functions.txt.gz
	saltFunctions []byte
	//go:embed salt/reasons.txt
	saltReasons string
)

// Tables returns the generated parts of docs/compatibility by their names, "state
// functions" and "renderer" for two. offers returns the modules of a kind without
// functions that brine has. The error lists what the data files lack, or have without
// need, such as an absent function without a reason.
func Tables(t *fun.Table, offers func(kind string) []string) (map[string]string, error) {
	c := newComparison(t)
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
	salt      map[string]map[string]map[string]args
	different map[string][]string // by state function, or kind and module
	used      map[string]bool
	faults    []string
}

func newComparison(t *fun.Table) *comparison {
	return &comparison{table: t, salt: saltArgs(), different: parseDifferences(saltReasons), used: map[string]bool{}}
}

func (c *comparison) faultf(format string, args ...any) {
	c.faults = append(c.faults, fmt.Sprintf(format, args...))
}

// args are the arguments of a function of Salt by the file that has it.
type args map[string][]string

// saltArgs returns the functions of Salt with their arguments, by kind, module and
// function. What functions of the modules that brine lacks take is not recorded.
func saltArgs() map[string]map[string]map[string]args {
	z, err := gzip.NewReader(bytes.NewReader(saltFunctions))
	if err != nil {
		panic("the functions of Salt are damaged: " + err.Error())
	}
	text, err := io.ReadAll(z)
	if err != nil {
		panic("the functions of Salt are damaged: " + err.Error())
	}
	salt := map[string]map[string]map[string]args{}
	var kind, mod, file string
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		if words[0] == "of" { // the module that the lines after it are of
			kind, mod, file = words[1], words[2], words[3]
			continue
		}
		if salt[kind] == nil {
			salt[kind] = map[string]map[string]args{}
		}
		if salt[kind][mod] == nil {
			salt[kind][mod] = map[string]args{}
		}
		if salt[kind][mod][words[0]] == nil {
			salt[kind][mod][words[0]] = args{}
		}
		salt[kind][mod][words[0]][file] = words[1:]
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
type Catalog struct{ c *comparison }

// NewCatalog returns the catalog of the functions of a table.
func NewCatalog(t *fun.Table) *Catalog { return &Catalog{newComparison(t)} }

// Of returns the status of the function "module.function", and what differs or why
// it is missing, "" where nothing is known of that.
func (k *Catalog) Of(kind fun.Kind, name string) (status Status, note string) {
	if k.c.table.Spec(kind, name) == nil {
		return Missing, k.c.table.WhyAbsent(kind, name)
	}
	if note = k.c.differences(kind, name); note != "" {
		return Different, note
	}
	return There, ""
}

// ModuleDiffers returns what differs in a module of a kind without functions.
func ModuleDiffers(kind, name string) string {
	return strings.Join(parseDifferences(saltReasons)[kind+" "+name], " ")
}

func (c *comparison) states() string {
	salt := c.salt[fun.State.Short()]
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
			if what := c.differences(fun.State, name); what != "" {
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

// differences returns what a function does otherwise than Salt's, and which of its
// arguments it lacks.
func (c *comparison) differences(kind fun.Kind, name string) string {
	mod, fn, _ := strings.Cut(name, ".")
	salt := c.salt[kind.Short()][mod][fn]
	about := name
	if kind != fun.State {
		about = kind.Short() + " " + name
	}
	c.used[about] = true
	what := slices.Clone(c.different[about])
	have := map[string]bool{"*": true, "**": true, "name": kind == fun.State} // any state has a name
	ours := map[string]bool{}
	open := false
	var lacks, idle []string
	for _, m := range c.table.Providers(kind, mod) {
		for i := range m.Specs {
			if m.Specs[i].Name != fn {
				continue
			}
			ours[saltFile(m, &m.Specs[i])] = true
			open = open || kind != fun.State && (m.Specs[i].VarKw || m.Specs[i].VarArg)
			if _, d, ok := strings.Cut(m.Specs[i].Doc, "Difference: "); ok && len(what) == 0 {
				d, _, _ = strings.Cut(d, "\n")
				what = append(what, strings.ToUpper(d[:1])+d[1:])
			}
			for _, a := range m.Specs[i].Args {
				switch {
				case have[a.Name]:
				case a.Type == fun.None:
					lacks = append(lacks, a.Name)
				case isIdle(a.Doc):
					idle = append(idle, a.Name)
				}
				have[a.Name] = true
			}
		}
	}
	if !open {
		lacks = append(lacks, lackedOf(salt, ours, have)...)
	}
	if len(lacks) > 0 {
		what = append(what, "No "+strings.Join(lacks, ", ")+".")
	}
	if len(idle) > 0 {
		what = append(what, "Accepted without effect: "+strings.Join(idle, ", ")+".")
	}
	return strings.Join(what, " ")
}

// lackedOf returns the arguments in files of Salt that a function does not have. Files that
// serve on other systems than ours have other arguments.
func lackedOf(salt args, ours, have map[string]bool) (lacks []string) {
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
	return lacks
}

// saltFile returns the name of the file of Salt that a function follows.
func saltFile(m *fun.Module, s *fun.Spec) string {
	if m.Kind == fun.State {
		return m.Provider
	}
	file, _, _ := strings.Cut(s.Src, ".py")
	return file[strings.LastIndex(file, "/")+1:]
}

// isIdle reports whether the documentation of an argument says that it has no
// effect. Arguments that are for Windows have none in Salt either.
func isIdle(doc string) bool {
	begins := func(prefix string) bool { return strings.HasPrefix(doc, prefix) }
	idle := doc == "accepted" || slices.ContainsFunc([]string{"accepted without effect", "accepted, has no effect", "accepted for compatibility", "accepted; output", "accepted; text"}, begins)
	return idle && !strings.Contains(doc, "Windows")
}

// execution lists the modules of execution functions in short: how many of Salt's
// functions are there, what differs, and why the others are absent.
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
		c.row(&rows, fun.Exec, mod, others)
	}
	var absentText strings.Builder
	for _, why := range whole.order {
		fmt.Fprintf(&absentText, "\n%s:\n%s.\n", title(why), printable.Wrap(whole.names[why], 119))
	}
	return fmt.Sprintf("%s%s\n%d modules with %d functions are absent as a whole.\n%s", rowsHead, rows.String(), modules, functions, absentText.String())
}

const rowsHead = "| module | there | differs | absent |\n|---|---|---|---|\n"

// row writes the row of a module: how many of Salt's functions are there, what
// differs, and why the others are absent. others are functions for other systems.
func (c *comparison) row(rows *strings.Builder, kind fun.Kind, mod string, others map[string]bool) {
	salt := saltnames.Functions(kind.Short(), mod)
	var lacks, differs grouped
	there, other := 0, 0
	for _, fn := range salt {
		switch name := mod + "." + fn; {
		case c.table.Spec(kind, name) != nil:
			there++
			if what := c.differences(kind, name); what != "" {
				differs.add(what, fn)
			}
		case others[name]:
			other++
		default:
			lacks.add(c.why(kind.Short(), name), fn)
		}
	}
	text := lacks.String()
	if other > 0 {
		if text != "" {
			text += "; "
		}
		text += fmt.Sprintf("%d for other systems", other)
	}
	name := mod
	if _, ok := c.table.Module(kind, mod); ok {
		name = fmt.Sprintf("[%s](reference/%s/%s.md)", mod, dirs[kind], mod)
	}
	fmt.Fprintf(rows, "| %s | %d of %d | %s | %s |\n", name, there, len(salt), cell(differs.sentences()), cell(text))
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

// sentences returns reasons that are sentences.
func (g *grouped) sentences() string {
	text := make([]string, len(g.order))
	for i, why := range g.order {
		text[i] = strings.Join(g.names[why], ", ") + ": " + why
	}
	return strings.Join(text, " ")
}

// few lists the modules of runner or wheel functions: how many of Salt's functions are
// there, and why the others are absent.
func (c *comparison) few(kind fun.Kind) string {
	var rows strings.Builder
	for _, mod := range saltnames.ModulesOf(kind.Short()) {
		c.row(&rows, kind, mod, nil)
	}
	return rowsHead + rows.String()
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
	for mod, functions := range c.salt[fun.Exec.Short()] {
		all := map[string]bool{}
		for _, files := range functions {
			for file := range files {
				all[file] = true
			}
		}
		for fn, files := range functions {
			if len(all) == 1 {
				break
			}
			other[mod+"."+fn] = true
			for file := range files {
				if c.follows(mod, "modules/"+file+".py ") {
					delete(other, mod+"."+fn)
				}
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
