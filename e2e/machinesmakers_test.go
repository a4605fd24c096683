//go:build linux

package e2e

import (
	"strings"
	"testing"
	"time"

	"brine/internal/testkit/machine"
	"brine/internal/testkit/turn"
)

// TestTrialMakers: brine test makes images with the package managers of other systems, tests
// on them, and leaves nothing of one that it was making when it was killed.
func TestTrialMakers(t *testing.T) {
	turn.Skip(t)
	image := managersImage(t)
	t.Parallel()
	m := machine.Boot(t, image)
	m.Install(t, brineInside, staticBrine(t))
	m.Write(t, "/srv/images.sh", text(t, "testdata/packages/images.sh"), 0o755)
	if r := m.Run(3*time.Minute, "/", "bash", "/srv/images.sh"); r.Exit != 0 {
		t.Fatalf("the repositories cannot be made: %s%s", r.Stdout, r.Stderr)
	}
	m.Write(t, "/case/app.sls", "/etc/app.conf:\n  file.managed:\n    - contents: {{ grains.os }}\n", 0o644)
	m.Write(t, "/case/tests/a.yml", `systems: [rockylinux-9, opensuse-leap-15, arch]
images: {rockylinux-9: /srv/Rocky.repo, opensuse-leap-15: /srv/Leap.repo, arch: /srv/Arch.conf}
cases:
  a: {sls: app}
`, 0o644)
	// A program that makes an image in its own time.
	m.Write(t, "/usr/local/bin/mmdebstrap", "#!/bin/sh\nmount -t tmpfs making /mnt\nsleep 10888 & sleep 10888\n", 0o755)

	for _, step := range []struct {
		line string
		want []string
	}{
		{"brine test --driver namespace", []string{
			"brine: making an image of rockylinux-9 with dnf, once: this takes minutes; quicker are one that you have (--image rockylinux-9=PATH) and --compile, which needs none",
			"brine: making an image of opensuse-leap-15 with zypper, once: ",
			"brine: making an image of arch with pacman, once: ",
			"a on rockylinux-9      ok      machine: namespace; test: no file changed; apply: 1 state; again: nothing changed; plan: empty",
			"3 tests: 3 passed, 0 failed",
		}},
		// They are used again.
		{"brine test --driver namespace --system arch ; rpm --root /root/.cache/brine/test/images/rocky* -q dnf", []string{
			"1 test: 1 passed, 0 failed", "dnf-1-1.noarch",
		}},
		{"brine test --driver namespace --system 'rocky*' --image rockylinux-9=/srv/Leap.repo", []string{
			"brine: there is no image of rockylinux-9: dnf ended with status 1\n", "Unable to find a match: dnf iproute procps-ng shadow-utils",
		}},
		{"sed -i s/rockylinux-9/almalinux-9/g tests/a.yml; brine test --driver namespace --system 'alma*'", []string{
			"brine: there is no image of almalinux-9: dnf made one of rocky 9.3 from these repositories\n",
		}},
		{"brine test --driver namespace --system 'alma*' --image almalinux-9=/srv/Arch.conf", []string{
			"brine: there is no image of almalinux-9: dnf makes images of it, from a file *.repo, and not from /srv/Arch.conf\n",
		}},
		{"sed -i 's/^images.*//; s/^systems.*/systems: [rockylinux-9]/' tests/a.yml; brine test --driver namespace", []string{
			"there is no image of rockylinux-9: the case file names none, and the repositories of this machine are of another system\n",
			"hint: name a file with repositories of rockylinux-9: --image rockylinux-9=PATH.repo; or name a directory or an archive",
		}},
		{"sed -i 's/^systems.*/systems: [alpine]/' tests/a.yml; brine test --driver namespace --image alpine=/srv/x.repositories", []string{
			"there is no image of alpine: stat /srv/x.repositories: no such file or directory",
		}},
		{"touch /srv/x.repositories; brine test --driver namespace --image alpine=/srv/x.repositories", []string{
			"there is no image of alpine: /srv/x.repositories has repositories, and not an image, and there is no apk to make one\n",
		}},
		{"ls -A /root/.cache/brine/test/images | sed 's/-[^-]*$//' | paste -sd' '", []string{"arch opensuse-leap-15 rockylinux-9\n"}},
		{`sed -i 's/^systems.*/systems: [debian-12]/' tests/a.yml
making() { cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\0' ' ' | grep -q 'sleep 1088[8]'; }
begin() {
	brine test --driver namespace >/tmp/out 2>&1 & p=$!
	until making; do sleep 0.05; done
	kill -$1 $p; wait $p; echo "status $?"
	while making; do sleep 0.05; done
	grep -v '^brine: still making' /tmp/out; grep making /proc/mounts; ls -A /root/.cache/brine/test/images | grep -c new
}
begin INT; begin KILL; begin INT`, []string{
			"status 130\nbrine: making an image of debian-12 with mmdebstrap, once: this takes minutes; quicker are one that you have (--image debian-12=PATH) and --compile, which needs none\nbrine: interrupted: the machines were removed\n0\n" +
				"status 137\nbrine: making an image of debian-12 with mmdebstrap, once: this takes minutes; quicker are one that you have (--image debian-12=PATH) and --compile, which needs none\n1\n" +
				"status 130\n",
		}},
		{"ls -A /root/.cache/brine/test/images | grep -c new", []string{"0\n"}},
	} {
		r := m.Shell("/case", "export PATH=$PATH:/usr/local/bin; "+step.line)
		for _, want := range step.want {
			if out := r.Stdout + r.Stderr; !strings.Contains(out, want) {
				t.Errorf("%s: no %q in\n%s", step.line, want, out)
			}
		}
	}
}
