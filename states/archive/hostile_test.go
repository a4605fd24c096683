package archive_test

import (
	"io/fs"
	"slices"
	"strings"
	"testing"

	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/internal/testkit/archivetest"
)

// TestHostileArchives has the state compare, remove and give away what an
// archive names outside of its directory.
func TestHostileArchives(t *testing.T) {
	t.Parallel()
	const siblings = 3
	for name, entries := range map[string][]archivetest.Entry{
		"siblings":     {{Name: "../", Mode: 0o755 | fs.ModeDir}, archivetest.File("top/ok")},
		"new file":     {archivetest.Dir("top"), archivetest.File("../newfile")},
		"directory":    {archivetest.Dir("top"), archivetest.Dir("top/../../victim")},
		"by three":     {archivetest.Dir("top"), archivetest.File("top/ok"), archivetest.Dir("top/../../../x")},
		"absolute":     {archivetest.Dir("top"), archivetest.File("/victim/a")},
		"link and all": {archivetest.Dir("top"), archivetest.Link("top/up", "../.."), archivetest.File("top/up/victim/a")},
		"link at top":  {archivetest.Link("top", ".."), archivetest.File("top/victim/a")},
	} {
		for _, args := range [][]value.Value{
			{"clean", true},
			{"user", "bob", "group", "bob"},
			{"force", true},
			{"overwrite", true},
			{"force", true, "clean", true, "user", "bob", "enforce_toplevel", false},
			{"skip_files_list_verify", true, "user", "bob", "enforce_ownership_on", "/t/dest/top"},
			{"clean_parent", true, "user", "bob"},
		} {
			r := newRig(t)
			f := r.fake
			f.PutUser(host.Account{Name: "bob", UID: 1001, GID: 1001, Home: "/home/bob"})
			f.PutGroup(host.Group{Name: "bob", GID: 1001})
			f.PutFile("/t/victim/a", "kept", 0o600)
			f.PutFile("/t/sibling", "kept", 0o600)
			f.PutDir("/x", 0o755)
			f.PutFile("/x/in", "kept", 0o600)
			f.PutFile("/victim/a", "kept", 0o600)
			f.PutFile("/t/dest/top/ok", "old", 0o644)
			f.PutFile("/salt/evil.tar", string(archivetest.Tar(t, entries...)), 0o644)
			outside := func() []string {
				lines := append(append(f.Tree("/t"), f.Tree("/x")...), f.Tree("/victim")...)
				return slices.DeleteFunc(lines, func(l string) bool { return strings.HasPrefix(l, "/t/dest/") || strings.HasPrefix(l, "/t/dest ") })
			}
			before := outside()
			if len(before) < siblings {
				t.Fatal(before)
			}
			got := r.run(false, append([]value.Value{"name", "/t/dest", "source", "salt://evil.tar"}, args...)...)
			if after := outside(); !slices.Equal(after, before) {
				t.Errorf("%s %v: %s\n%q\nbefore:\n%q", name, args, got, after, before)
			}
			if name != "link at top" && name != "link and all" && !strings.HasPrefix(got, "False") {
				t.Errorf("%s %v: %s", name, args, got)
			}
			if name != "link at top" && name != "link and all" && f.Text("/t/dest/top/ok") != "old" {
				t.Errorf("%s %v: what is there was removed before the archive was refused", name, args)
			}
		}
	}
}
