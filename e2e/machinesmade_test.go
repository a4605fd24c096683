//go:build linux

package e2e

import (
	"strings"
	"testing"
	"time"

	"brine/internal/testkit/machine"
)

// miniPackages make a repository of each kind with one package, the smallest system that a
// state can be applied to.
const miniPackages = `set -e
mkdir -p /tmp/mini/etc /srv/mini /etc/rpm /var/lib/rpm
printf 'NAME="Rocky Linux"\nID=rocky\nVERSION_ID=9.4\n' >/tmp/mini/etc/os-release
echo 'root:x:0:0::/root:/bin/sh' >/tmp/mini/etc/passwd
echo 'root:x:0:' >/tmp/mini/etc/group
printf '%%_build_id_links none\n' >/etc/rpm/macros
cat >/tmp/mini.spec <<X
Name: mini
Version: 1.0
Release: 1
Summary: x
License: MIT
BuildArch: noarch
%description
x
%install
cp -r /tmp/mini/. %{buildroot}
%files
/etc/*
X
rpmbuild -bb --quiet --define '_rpmdir /srv/mini' /tmp/mini.spec
createrepo_c -q /srv/mini
mkdir -p /srv/arch/mini-1.0-1
cd /tmp/mini
printf 'pkgname = mini\npkgver = 1.0-1\narch = any\n' >.PKGINFO
tar -czf /srv/arch/mini-1.0-1-any.pkg.tar.gz .PKGINFO etc
printf '%%FILENAME%%\nmini-1.0-1-any.pkg.tar.gz\n\n%%NAME%%\nmini\n\n%%VERSION%%\n1.0-1\n\n%%CSIZE%%\n%s\n\n%%ARCH%%\nany\n' "$(stat -c %s /srv/arch/mini-1.0-1-any.pkg.tar.gz)" >/srv/arch/mini-1.0-1/desc
tar -czf /srv/arch/brine.db -C /srv/arch mini-1.0-1
`

// TestTrialMade: images are made of the packages of a repository by the programs of several
// distributions, once, and what is wrong with one is said.
func TestTrialMade(t *testing.T) {
	image := managersImage(t)
	t.Parallel()
	m := machine.Boot(t, image)
	m.Install(t, "/usr/local/bin/brine", staticBrine(t))
	m.Write(t, "/srv/tree/app.sls", "/etc/app.conf:\n  file.managed:\n    - contents: {{ grains.os }}\n", 0o644)
	m.Write(t, "/srv/tree/tests/a.yml", "systems: [rockylinux-9]\ndriver: namespace\ncases: {a: {sls: app, expect: {files: {/etc/app.conf: {match: ^Rocky$}}}}}\n", 0o644)
	if r := m.Shell("/", miniPackages); r.Exit != 0 {
		t.Fatalf("make packages: %s%s", r.Stdout, r.Stderr)
	}
	run := func(status int, image string, want ...string) string {
		t.Helper()
		r := m.Run(2*time.Minute, "/srv/tree", "brine", "test", "--image", "rockylinux-9="+image)
		text := r.Stdout + r.Stderr
		if r.Exit != status {
			t.Errorf("--image rockylinux-9=%s: status %d, want %d\n%s", image, r.Exit, status, text)
		}
		for _, w := range want {
			if !strings.Contains(text, w) {
				t.Errorf("--image rockylinux-9=%s: no %q in\n%s", image, w, text)
			}
		}
		return text
	}
	for _, from := range []string{"dnf:/srv/mini#mini", "zypper:file:///srv/mini#mini", "pacman:/srv/arch#mini"} {
		run(0, from, "making an image of rockylinux-9 with ", "1 test: 1 passed")
		if text := run(0, from, "1 test: 1 passed"); strings.Contains(text, "making an image") {
			t.Errorf("%s: the image was made twice:\n%s", from, text)
		}
	}
	run(1, "dnf:/srv/mini#mini,nosuch", "there is no image of rockylinux-9: dnf ended with status 1", "nosuch")
	run(1, "dnf:/srv/none#mini", "there is no image of rockylinux-9: dnf ended with status 1", "/srv/none")
	run(1, "zypper:/srv/mini#nosuch", "there is no image of rockylinux-9: zypper ended with status 104", "nosuch")
	run(1, "pacman:/srv/arch#nosuch", "error: target not found: nosuch")
	run(1, "apk:/srv/alpine", "there is no program apk", "hint: install it (Debian: apk-tools), or make the image elsewhere")
	if r := m.Shell("/", "ls -A /root/.cache/brine/test/images /root/.cache/brine/test/machines"); strings.Contains(r.Stdout, ".new-") || strings.Count(r.Stdout, "rockylinux-9-") != 3 {
		t.Errorf("images that could not be made left something, or there are others than three:\n%s", r.Stdout)
	}
}
