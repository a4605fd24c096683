package machine

import "testing"

func TestIsOf(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		got, want Release
		is        bool
	}{
		{Release{OS: "rocky", Version: "9.3"}, Release{OS: "Rocky", Version: "9"}, true},
		{Release{OS: "rocky", Version: "8.9"}, Release{OS: "Rocky", Version: "9"}, false},
		{Release{OS: "rocky", Version: "9.3"}, Release{OS: "AlmaLinux", Version: "9"}, false},
		{Release{OS: "centos", Version: "9"}, Release{OS: "CentOS Stream", Version: "9"}, true},
		{Release{OS: "opensuse-leap", Version: "15.5"}, Release{OS: "SUSE", Version: "15"}, true},
		{Release{OS: "sles", Version: "15.5"}, Release{OS: "SUSE", Version: "15.5"}, true},
		{Release{OS: "arch"}, Release{OS: "Arch", Version: "rolling"}, true},
		{Release{}, Release{OS: "Arch", Version: "rolling"}, false},
		{Release{OS: "debian", Version: "12"}, Release{OS: "Alpine", Version: "3.19.1"}, false},
	} {
		if is := isOf(tt.got, tt.want); is != tt.is {
			t.Errorf("%v is of %v: %v, want %v", tt.got, tt.want, is, tt.is)
		}
	}
}

func TestHasRepositories(t *testing.T) {
	t.Parallel()
	for path, has := range map[string]bool{
		"/a/rocky.repo": true, "/a/x.sources": true, "/a/x.list": true, "/a/pacman.conf": true, "/a/x.repositories": true,
		"/a/b.tar": false, "/a/b.tar.zst": false, "/a.repo/b": false,
	} {
		if hasRepositories(path) != has {
			t.Errorf("%s: %v, want %v", path, !has, has)
		}
	}
}

// TestHostilePacman: a configuration that would change this machine makes no image.
func TestHostilePacman(t *testing.T) {
	t.Parallel()
	const good = "[options]\n# x\nArchitecture = x86_64\nSigLevel=Never\n\n[core]\nInclude = /etc/pacman.d/mirrorlist\nServer = https://example.org\n"
	if line := refused([]byte(good)); line != "" {
		t.Errorf("%q is refused", line)
	}
	for _, line := range []string{
		"XferCommand = /bin/sh -c 'touch /x'", "LogFile=/etc/cron.d/x", "HookDir = /x", "RootDir = /", "DBPath = /x", "CacheDir = /x", "GPGDir = /x",
		"Include = /srv/x", "Include = /etc/pacman.d/../x", "Include = /etc/pacman.d",
	} {
		if got := refused([]byte(good + "  " + line + "\n")); got != line {
			t.Errorf("%q: refused is %q", line, got)
		}
	}
}
