package aptpkg

import "testing"

func TestDpkgErrors(t *testing.T) {
	for _, tt := range []struct{ name, out, want string }{
		{"nothing", "Setting up a (1.0) ...", ""},
		{
			"a script", "Setting up b (1.0) ...\nSetting up a (1.0) ...\nno room for a\ndpkg: error processing package a (--configure):\n" +
				" installed a package post-installation script subprocess returned error exit status 1\nErrors were encountered while processing:\n a",
			"no room for a dpkg: error processing package a (--configure): installed a package post-installation script subprocess returned error exit status 1",
		},
		{"without a step", "1\n2\n3\n4\n5\n6\n7\n8\ndpkg: error: x\x1b[2J", `dpkg: error: x\x1b[2J`},
		{
			"a full disk", "Unpacking a (1.0) ...\ndpkg: unrecoverable fatal error, aborting:\n failed to write: No space left on device",
			"dpkg: unrecoverable fatal error, aborting: failed to write: No space left on device",
		},
	} {
		if got := dpkgErrorsOf(tt.out); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestUnfetched(t *testing.T) {
	got := unfetched("W: Failed to fetch http://m/ ./InRelease  Could not connect\nW: Some index files failed to download.\nW: other")
	if len(got) != 1 || got[0] != "Failed to fetch http://m/ ./InRelease Could not connect" {
		t.Errorf("%q", got)
	}
}
