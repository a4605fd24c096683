package reference

import (
	"strings"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

func TestParseExamples(t *testing.T) {
	t.Parallel()
	got := parseExamples("-- a --\ncall m.a\n\ncall m.a x\n\n-- b one --\ncall m.b -- -x\n")
	for name, want := range map[string]string{"a": "call m.a\n\ncall m.a x", "b one": "call m.b -- -x"} {
		if got[name] != want {
			t.Errorf("%q = %q, want %q", name, got[name], want)
		}
	}
	if len(got) != 2 {
		t.Errorf("%d examples, want 2", len(got))
	}
}

// table has a virtual module with two providers that differ, one of them with a
// function that the other does not have.
func table() *fun.Table {
	row := func(name string, args ...fun.Arg) fun.Spec {
		return fun.Spec{Name: name, Doc: "Do <it> | so.", Src: "modules/x.py " + name, Args: args}
	}
	load := func(specs ...fun.Spec) func() fun.Module {
		return func() fun.Module {
			return fun.Module{Name: "thing", Kind: fun.Exec, Doc: "Manage things.", Specs: specs}
		}
	}
	size := fun.Arg{Name: "size", Type: fun.Int, Default: int64(3), Unit: "bytes", Doc: "a|b"}
	how := fun.Arg{Name: "how", Type: fun.Str, Required: true, OneOf: []string{"x", "y"}, Doc: "how"}
	return fun.NewTable([]fun.Entry{
		{Kind: fun.Exec, Name: "one", Virtual: "thing", Load: load(row("do", size), row("same", how))},
		{Kind: fun.Exec, Name: "two", Virtual: "thing", Load: load(row("do", how), row("more"), row("same", how))},
	})
}

func TestPages(t *testing.T) {
	t.Parallel()
	pages := Pages(table())
	page := pages["modules/thing.md"]
	for _, want := range []string{
		"# Execution module thing\n\nThese providers have it.", "- `one`: Manage things.\n- `two`: Manage things.\n\n[do]",
		"[do](#do),\n[more](#more),\n[same](#same)\n",
		"## do\n\n**With `one`:**\n\nDo \\<it> | so.\n",
		"| `size` | integer, bytes | `3` | a\\|b |\n",
		"**With `two`:**\n",
		"| `how` | string: x, y | required | how |\n",
		"## more\n\nOnly with `two`.\n",
		"## same\n\nDo",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
	if index := pages["README.md"]; !strings.Contains(index, "| [thing](modules/thing.md) | 3 | One of one, two. |\n") {
		t.Errorf("the index lacks the module:\n%s", index)
	}
}

// An absent function without a reason is an error, and so is a reason for one
// that is there.
func TestTablesNeedReasons(t *testing.T) {
	t.Parallel()
	_, err := Tables(table(), func(kind string) []string { return []string{"dson"} })
	if err == nil || !strings.Contains(err.Error(), "state test is absent without a reason") ||
		!strings.Contains(err.Error(), "renderer jinja is absent without a reason") || !strings.Contains(err.Error(), "renderer dson is listed as absent, and it is not") || !strings.Contains(err.Error(), "file.managed is listed as different") {
		t.Errorf("%v, want the states that have no reason", err)
	}
}

func TestDifferences(t *testing.T) {
	t.Parallel()
	states := fun.NewTable([]fun.Entry{{Kind: fun.State, Name: "thing", Load: func() fun.Module {
		return fun.Module{Name: "thing", Kind: fun.State, Specs: []fun.Spec{{Name: "done", Args: []fun.Arg{{Name: "size", Default: value.Value(nil)}, {Name: "log", Doc: "accepted without effect; there is none"}, {Name: "gzip", Doc: "accepted"}, {Name: "mark", Type: fun.None}}}}}
	}}})
	c := &comparison{table: states, different: parseDifferences("# note\n\ndifferent thing.done: It is better.\n"), used: map[string]bool{}}
	for _, tt := range []struct {
		salt args
		want string
	}{
		{args{"thing": {"name", "size", "*", "**"}}, "It is better. No mark. Accepted without effect: log, gzip."},
		{args{"thing": {"name", "size", "age"}}, "It is better. No mark, age. Accepted without effect: log, gzip."},
		{args{"thing": {"name", "size"}, "win_thing": {"name", "colour"}}, "It is better. No mark. Accepted without effect: log, gzip."},
		{args{"other": {"name", "colour", "age"}}, "It is better. No mark, colour, age. Accepted without effect: log, gzip."},
	} {
		c.salt = map[string]map[string]map[string]args{"state": {"thing": {"done": tt.salt}}}
		if got := c.differences(fun.State, "thing.done"); got != tt.want {
			t.Errorf("%v: %q, want %q", tt.salt, got, tt.want)
		}
	}
	if c.why("runner", "asam.x") == "" || c.why("runner", "c") != "" || len(c.faults) != 1 || !c.used["runner asam"] {
		t.Errorf("the faults are %q", c.faults)
	}
}

// TestFunctionsDiffer: what differs in an execution function comes from the list, else from
// its documentation, with the arguments that it lacks unless it takes any.
func TestFunctionsDiffer(t *testing.T) {
	t.Parallel()
	doc := "Do it.\nDifference: it says so.\n\nMore."
	c := &comparison{
		table: fun.NewTable([]fun.Entry{{Kind: fun.Exec, Name: "thing", Load: func() fun.Module {
			return fun.Module{Name: "thing", Kind: fun.Exec, Specs: []fun.Spec{
				{Name: "any", Src: "modules/thing.py any", VarKw: true},
				{Name: "listed", Src: "modules/thing.py listed", Doc: doc},
				{Name: "said", Src: "modules/thing.py said", Doc: doc},
			}}
		}}}),
		salt: map[string]map[string]map[string]args{"execution": {"thing": {
			"any": {"thing": {"age"}}, "listed": {"thing": {"age"}, "win_thing": {"colour"}}, "said": {"thing": {}},
		}}},
		different: parseDifferences("different execution thing.listed: It is so.\n"), used: map[string]bool{},
	}
	for name, want := range map[string]string{"any": "", "listed": "It is so. No age.", "said": "It says so."} {
		if got := c.differences(fun.Exec, "thing."+name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestCatalog(t *testing.T) {
	t.Parallel()
	k := NewCatalog(fun.NewTable([]fun.Entry{{Kind: fun.State, Name: "file", Load: func() fun.Module {
		return fun.Module{Name: "file", Kind: fun.State, Specs: []fun.Spec{{Name: "touch", Args: []fun.Arg{{Name: "name"}, {Name: "atime"}, {Name: "mtime"}, {Name: "makedirs"}}}, {Name: "own"}, {Name: "symlink"}}}
	}}}))
	for _, tt := range []struct {
		name string
		want Status
		note string // the note begins so
	}{
		{"file.touch", There, ""},
		{"file.own", There, ""},
		{"file.symlink", Different, "force replaces"},
		{"file.shortcut", Missing, "it is for Windows"},
		{"lgpo.set", Missing, "it is for Windows"},
		{"nope.nope", Missing, ""},
	} {
		got, note := k.Of(fun.State, tt.name)
		if got != tt.want || !strings.HasPrefix(note, tt.note) || tt.note == "" && note != "" {
			t.Errorf("%s is %s %q, want %s %q", tt.name, got, note, tt.want, tt.note)
		}
	}
}
