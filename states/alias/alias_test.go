package alias_test

import (
	"strings"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/testkit/calltest"
	aliasesmod "brine/modules/aliases"
	"brine/modules/config"
	"brine/states/alias"
)

func TestAliases(t *testing.T) {
	t.Parallel()
	h := host.NewFake()
	h.PutExe("/usr/bin/newaliases")
	h.OnCommand("newaliases", host.Output{})
	const before = "# aliases\nroot: me # why\n\nlist: a,\n  b # two\nno colon\n\"a:b\" : |\"/bin/x # y\"\nroot: again\n"
	h.PutFile("/etc/aliases", before, 0o640)
	r := calltest.New(h,
		fun.Entry{Kind: fun.Exec, Name: "aliases", Load: aliasesmod.Module},
		fun.Entry{Kind: fun.Exec, Name: "config", Load: config.Module},
		fun.Entry{Kind: fun.State, Name: "alias", Load: alias.States})
	r.Steps(t, []calltest.Step{
		{"call aliases.list_aliases {}", `{'root': 'again', 'list': 'a, b', '"a:b"': '|"/bin/x # y"'}`},
		{"call aliases.get_target [none]", "''"},
		{"call aliases.has_target [list, [a, b]]", "True"},
		{"call aliases.has_target [list, '']", "error: target can not be an empty string"},
		{"call aliases.set_target ['', x]", "error: alias can not be an empty string"},
		{"call aliases.set_target ['a#b', x]", "error: 'a#b' cannot be the name of an alias"},
		{"call aliases.set_target [a, \"x\\ny\"]", "error: target must be one line, not 'x\\ny'"},
		{"call aliases.rm_alias [none]", "True"},
		{"test alias.present {name: root, target: [a, b]}", "None: Alias root -> ['a', 'b'] is set to be added {}"},
		{"state alias.present {name: root, target: [a, b]}", "True: Set email alias root -> ['a', 'b'] {'alias': 'root'}"},
		{"state alias.present {name: root, target: 'a, b'}", "True: Alias root already present {}"},
		{"state alias.present {name: new, target: n@x}", "True: Set email alias new -> n@x {'alias': 'new'}"},
		{"state alias.present {name: 'a b:', target: x}", "False: Failed to set alias a b: -> x: 'a b:' cannot be the name of an alias {}"},
		{"test alias.absent {name: list}", "None: Alias list is set to be removed {}"},
		{"state alias.absent {name: list}", "True: Removed alias list {'alias': 'list'}"},
		{"state alias.absent {name: list}", "True: Alias list already absent {}"},
	})
	if want, got := "# aliases\nroot: a, b # why\n\nno colon\n\"a:b\" : |\"/bin/x # y\"\nnew: n@x\n", h.Text("/etc/aliases"); got != want {
		t.Errorf("the file is %q, want %q", got, want)
	}
	if n := len(h.Calls()); n != 3 {
		t.Errorf("newaliases ran %d times", n)
	}
}

// FuzzParse reads files of aliases.
func FuzzParse(f *testing.F) {
	f.Add("a: b\n c # d\n\"x:y\": z\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, l := range aliasesmod.Parse(text) {
			if strings.TrimSpace(l.Alias) != l.Alias {
				t.Errorf("%q has the alias %q", text, l.Alias)
			}
		}
	})
}
