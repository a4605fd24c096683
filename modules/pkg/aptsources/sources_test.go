package aptsources_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"brine/internal/core/host"
	"brine/modules/pkg/aptsources"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ line, want string }{
		{"deb http://x/y stable main", "deb http://x/y stable main"},
		{"deb\thttp://x/y   stable  main  contrib\n", "deb http://x/y stable main contrib"},
		{"deb [ signed-by=/k.gpg  trusted=yes arch=amd64,i386 ] http://x ./ # why", "deb [arch=amd64,i386 signed-by=/k.gpg trusted=yes] http://x ./ # why"},
		{"#deb-src file:/srv x main", "# deb-src file:/srv x main"},
		{"deb cdrom:[Debian 12 x_]/ bookworm main", "deb cdrom:[Debian 12 x_]/ bookworm main"},
		{"deb cdrom:[Debian 12", ""},
		{"# deb is what a line begins with", ""},
		{"# a comment", ""},
		{"", ""},
		{"nonsense", ""},
		{"deb http://x", ""},
		{"deb [arch=amd64 http://x stable", ""},
		{"deb [arch] http://x stable", ""},
		{"deb x stable main", ""},
	} {
		e, ok := aptsources.Parse(tt.line)
		got := ""
		if ok {
			got = e.String()
		}
		if got != tt.want {
			t.Errorf("%q is %q, want %q", tt.line, got, tt.want)
		}
	}
}

const sources822 = `# of the installer
Types: deb deb-src
URIs: http://deb.debian.org/debian
Suites: bookworm bookworm-updates
Components: main
Signed-By: /k.gpg
X-Note: a
 b

Types: deb
URIs: http://x
Suites: ./
Enabled: no
Trusted: yes
`

func TestEdit(t *testing.T) {
	t.Parallel()
	const list = "# a list\ndeb   [trusted=yes] http://a   stable main\n\ndeb http://b stable main # two\n"
	for _, tt := range []struct {
		name string
		edit func(*aptsources.Sources)
		want map[string]string // what differs
	}{
		{"nothing", func(*aptsources.Sources) {}, nil},
		{"one line", func(s *aptsources.Sources) { s.Entries[1].Comps = []string{"main", "extra"} }, map[string]string{
			"a.list": "# a list\ndeb   [trusted=yes] http://a   stable main\n\ndeb http://b stable main extra # two\n",
		}},
		{"options stay", func(s *aptsources.Sources) { s.Entries[0].SignedBy = "/k" }, map[string]string{
			"a.list": "# a list\ndeb [signed-by=/k trusted=yes] http://a stable main\n\ndeb http://b stable main # two\n",
		}},
		{"move", func(s *aptsources.Sources) { s.Entries[1].File = aptsources.Dir + "/n.list" }, map[string]string{
			"a.list": "# a list\ndeb   [trusted=yes] http://a   stable main\n\n", "n.list": "deb http://b stable main # two\n",
		}},
		{"a field", func(s *aptsources.Sources) { s.Entries[6].Disabled = false }, map[string]string{
			"d.sources": sources822[:strings.Index(sources822, "Enabled")] + "Enabled: yes\nTrusted: yes\n",
		}},
		{"one of several", func(s *aptsources.Sources) { s.Entries[2].Comps = []string{"main", "contrib"} }, map[string]string{
			"d.sources": "# of the installer\nTypes: deb deb-src\nURIs: http://deb.debian.org/debian\nSuites: bookworm-updates\nComponents: main\nSigned-By: /k.gpg\nX-Note: a\n b\n\n" +
				"# of the installer\nTypes: deb-src\nURIs: http://deb.debian.org/debian\nSuites: bookworm\nComponents: main\nSigned-By: /k.gpg\nX-Note: a\n b\n\n" +
				"# of the installer\nTypes: deb\nURIs: http://deb.debian.org/debian\nSuites: bookworm\nComponents: main contrib\nSigned-By: /k.gpg\nX-Note: a\n b\n\n" +
				"Types: deb\nURIs: http://x\nSuites: ./\nEnabled: no\nTrusted: yes\n",
		}},
		{"a new stanza", func(s *aptsources.Sources) {
			e, _ := aptsources.Parse("# deb [arch=amd64,i386 lang=de,fr by-hash=no] http://c stable main # why")
			e.File = aptsources.Dir + "/d.sources"
			s.Add(&e)
		}, map[string]string{
			"d.sources": sources822 + "\n# why\nTypes: deb\nURIs: http://c\nSuites: stable\nComponents: main\nArchitectures: amd64 i386\nEnabled: no\nLanguages: de fr\nBy-Hash: no\n",
		}},
		{"all of a file", func(s *aptsources.Sources) { s.Clear(aptsources.Dir + "/a.list") }, map[string]string{"a.list": ""}},
		{"all of a stanza", func(s *aptsources.Sources) { s.Remove(s.Entries[6]) }, map[string]string{
			"d.sources": sources822[:strings.Index(sources822, "Types: deb\nURIs: http://x")],
		}},
		{"consolidate", func(s *aptsources.Sources) {
			e, _ := aptsources.Parse("deb http://b stable extra")
			e.File = aptsources.Dir + "/z.list"
			s.Add(&e)
			s.Consolidate()
		}, map[string]string{"a.list": "", aptsources.Main: "deb [trusted=yes] http://a stable main\ndeb http://b stable main extra # two\n"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := host.NewFake()
			before := map[string]string{aptsources.Dir + "/a.list": list, aptsources.Dir + "/d.sources": sources822, aptsources.Dir + "/note.txt": "deb http://n n n\n"}
			for p, text := range before {
				h.PutFile(p, text, 0o644)
			}
			s, err := aptsources.Read(h, "")
			if err != nil || len(s.Entries) != 7 {
				t.Fatalf("%v, %d entries", err, len(s.Entries))
			}
			h.Forget()
			tt.edit(s)
			done, err := s.Save(h)
			if err != nil {
				t.Fatal(err)
			}
			for p, text := range tt.want {
				if !strings.HasPrefix(p, "/") {
					p = aptsources.Dir + "/" + p
				}
				got, _ := h.ReadFile(p)
				if diff := cmp.Diff(text, string(got)); diff != "" {
					t.Errorf("%s\n%s", p, diff)
				}
			}
			if n := len(h.Writes()); n != len(tt.want) {
				t.Errorf("%d writes, want %d: %v", n, len(tt.want), h.Writes())
			}
			done.Undo(h)
			for p, text := range before {
				if got, _ := h.ReadFile(p); string(got) != text {
					t.Errorf("%s after undo: %q", p, got)
				}
			}
		})
	}
}

// FuzzRead reads lists, writes them without a change, and changes every entry.
func FuzzRead(f *testing.F) {
	f.Add("deb [a=b] http://x y z # c\n# deb cdrom:[a b]/ c\n", sources822)
	f.Add("deb http://x y", "Types: deb\n:\n x\nTypes: a\nURIs: :\nSuites: b b")
	f.Fuzz(func(t *testing.T, list, stanzas string) {
		h := host.NewFake()
		h.PutFile(aptsources.Main, list, 0o644)
		h.PutFile(aptsources.Dir+"/x.sources", stanzas, 0o644)
		s, err := aptsources.Read(h, "")
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range s.Entries {
			if again, ok := aptsources.Parse(e.String()); !e.Deb822() && (!ok || again.URI != e.URI || !slices.Equal(again.Comps, e.Comps)) {
				t.Errorf("%q is read as %q", e.String(), again.String())
			}
			e.Comps = append(e.Comps, "more")
		}
		if _, err := s.Save(h); err != nil {
			t.Fatal(err)
		}
	})
}
