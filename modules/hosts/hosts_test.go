package hosts_test

import (
	"strings"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/testkit/calltest"
	"brine/modules/hosts"
)

const before = "127.0.0.1\tlocalhost\n# a comment\n10.0.0.1 old.example.org old   # trailing\n\n10.0.0.1 again # more\n10.0.0.2\n"

func TestFunctions(t *testing.T) {
	t.Parallel()
	h := host.NewFake()
	h.PutFile("/etc/hosts", before, 0o640)
	h.PutOwner("/etc/hosts", 7, 8)
	r := calltest.New(h, fun.Entry{Kind: fun.Exec, Name: "hosts", Load: hosts.Module})
	r.Steps(t, []calltest.Step{
		{"call hosts.list_hosts []", "{'127.0.0.1': {'aliases': ['localhost']}, 'comment-0': ['# a comment'], '10.0.0.1': {'aliases': ['old.example.org', 'old', 'again'], 'comment': 'trailing # more'}, '10.0.0.2': {'aliases': []}}"},
		{"call hosts.get_ip [old]", "'10.0.0.1'"},
		{"call hosts.get_ip [none]", "''"},
		{"call hosts.get_alias [10.0.0.1]", "['old.example.org', 'old', 'again']"},
		{"call hosts.get_alias [10.9.9.9]", "[]"},
		{"call hosts.has_pair [10.0.0.1, [old, again]]", "True"},
		{"call hosts.has_pair [10.0.0.1, new]", "False"},
		{"call hosts.rm_host [10.0.0.1, again]", "True"},
		{"call hosts.rm_host [10.0.0.1, none]", "True"},
		{"call hosts.set_host [10.0.0.3, 'a b', note]", "True"},
	})
	if got, want := h.Text("/etc/hosts"), strings.Replace(before, "10.0.0.1 again # more\n", "", 1)+"10.0.0.3\t\ta b\t\t# note\n"; got != want {
		t.Errorf("hosts:\n%s\nwant:\n%s", got, want)
	}
	r.Steps(t, []calltest.Step{
		{"call hosts.add_host [10.0.0.3, c]", "True"},
		{"call hosts.add_host [10.0.0.3, c]", "True"},
		{"call hosts.add_host [10.0.0.3, 'c d']", "error: Invalid host name 'c d'"},
		{"call hosts.set_comment [10.0.0.3, other]", "True"},
		{"call hosts.set_comment [10.0.0.9, other]", "False"},
		{`call hosts.set_comment [10.0.0.3, "a\nb"]`, "error: comment must be a single line"},
		{"call hosts.set_host [10.0.0.2, '']", "True"},
	})
	if got, want := h.Text("/etc/hosts"), "127.0.0.1\t\tlocalhost\n# a comment\n10.0.0.1\t\told.example.org old\t\t# trailing\n10.0.0.3\t\ta b c\t\t# other\n"; got != want {
		t.Errorf("hosts:\n%s\nwant:\n%s", got, want)
	}
	if st, _ := h.Stat("/etc/hosts"); st.Perm() != 0o640 || st.UID != 7 || st.GID != 8 {
		t.Errorf("mode and owner: %o %d %d", st.Perm(), st.UID, st.GID)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(before)
	f.Add("#\n1 #\n  2\ta#b#c\n2 d # e\n")
	f.Fuzz(func(t *testing.T, text string) {
		once := hosts.Parse(text)
		again := hosts.Parse(once.String())
		if again.String() != once.String() {
			t.Errorf("not stable: %q, then %q", once.String(), again.String())
		}
		for _, e := range once {
			if e.Addr != "" && !again.Has(e.Addr, e.Aliases...) {
				t.Errorf("%q lost %v", once.String(), e)
			}
		}
	})
}
