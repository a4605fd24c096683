//go:build linux

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"brine/internal/testkit/machine"
	"brine/internal/testkit/turn"
)

// firstHosts makes 20 hosts of a machine: each has the machine's files below its own, a
// name, and an sshd at 127.0.1.N. web7 has no sshd, the disk of web9 at /var/www is full after
// 64 kB, and web15 does not know the user's key.
const firstHosts = `set -e
systemctl stop ssh ssh.socket 2> /dev/null || systemctl stop ssh
useradd -m -s /bin/bash zoe
su zoe -c 'mkdir -m 700 ~/.ssh; ssh-keygen -q -t ed25519 -N "" -f ~/.ssh/id_ed25519'
ssh-keygen -q -t ed25519 -N '' -f /root/other
mkdir -p /hosts /run/sshd
mount -t tmpfs -o size=2500m tmpfs /hosts
cat > /root/host <<'EOF'
set -e
n=$1 dir=/hosts/$1
mkdir -p $dir/up $dir/work $dir/root
mount -t overlay overlay -o lowerdir=/,upperdir=$dir/up,workdir=$dir/work $dir/root
mount -t proc proc $dir/root/proc
mount --rbind /dev $dir/root/dev
mount -t tmpfs tmpfs $dir/root/run
mkdir -p $dir/root/run/sshd
[ $n != 9 ] || mount -t tmpfs -o size=64k tmpfs $dir/root/var/www
hostname web$n
echo web$n > $dir/root/etc/hostname
mkdir -p -m 700 $dir/root/root/.ssh
if [ $n = 15 ]; then key=/root/other.pub; else key=/home/zoe/.ssh/id_ed25519.pub; fi
cp $key $dir/root/root/.ssh/authorized_keys
exec chroot $dir/root /usr/sbin/sshd -D -p 22 -o ListenAddress=127.0.1.$n -o PidFile=none -o UsePAM=no -o PermitRootLogin=yes
EOF
for n in 1 2 3 4 5 6 8 9 10 11 12 13 14 15 16 17 18 19 20; do
	setsid unshare --mount --uts sh /root/host $n > /root/log.$n 2>&1 < /dev/null &
done
for n in 1 2 3 4 5 6 8 9 10 11 12 13 14 15 16 17 18 19 20; do
	i=0
	until ssh-keyscan -T 1 127.0.1.$n 2> /dev/null | grep -q ed25519; do i=$((i + 1)); [ $i -lt 60 ] || { cat /root/log.$n; exit 1; }; sleep 0.2; done
done
`

// firstTree is what a new user writes.
const firstTree = `set -e
cd
brine init fleet
cd fleet
{ for n in $(seq 20); do echo "web$n: {host: 127.0.1.$n, user: root}"; done; } > roster
mkdir -p salt/site
head -c 200000 /dev/urandom | base64 > salt/site/page.html
cat > salt/site/init.sls <<'EOF'
tools:
  pkg.installed:
    - name: {{ 'brine-fail' if grains['id'] == 'web12' else 'brine-a' }}

page:
  file.managed:
    - name: /var/www/page.html
    - source: salt://site/page.html
    - require:
      - pkg: tools

marker:
  file.managed:
    - name: /etc/site.conf
    - contents: "host: {{ grains['id'] }}"

ready:
  test.nop:
    - require:
      - file: page
EOF
`

// TestFirstReport: what a new user with 20 hosts is shown when one is off, one has a full
// disk, a package fails on one, and one does not know the key: what, where, and how to
// mend it.
func TestFirstReport(t *testing.T) {
	turn.Skip(t)
	image := machine.Image(t)
	t.Parallel()
	brine := staticBrine(t)
	m := machine.Boot(t, image)
	m.Install(t, brineInside, brine)
	if agent := os.Getenv("BRINE_TEST_SLIM"); agent != "" { // 18 hosts get it
		m.Install(t, "/usr/local/share/brine/agents/"+filepath.Base(agent), agent)
	}
	if r := m.Run(5*time.Minute, "/", "sh", "-c", firstHosts); r.Exit != 0 {
		t.Fatalf("hosts: %s%s", r.Stdout, r.Stderr)
	}
	as := func(line string) machine.Result {
		return m.Run(8*time.Minute, "/home/zoe", "su", "zoe", "-c", "cd ~/fleet 2>/dev/null || cd; "+line)
	}
	if r := as(firstTree); r.Exit != 0 {
		t.Fatalf("tree: %s%s", r.Stdout, r.Stderr)
	}
	run := func(status int, line string) machine.Result {
		t.Helper()
		r := as(line)
		t.Logf("$ %s\n%s%s", line, r.Stdout, r.Stderr)
		if r.Exit != status {
			t.Errorf("%s: exit status %d, want %d", line, r.Exit, status)
		}
		return r
	}
	has := func(where, text string, want ...string) {
		t.Helper()
		for _, w := range want {
			if !strings.Contains(text, w) {
				t.Errorf("%s has no %q:\n%s", where, w, text)
			}
		}
	}
	const (
		off    = "connection refused; check that sshd is listening on this port"
		locked = "unable to authenticate by publickey; tried as root: 1 key (/home/zoe/.ssh/id_ed25519); see user, priv and passwd in the roster, or deploy the key with --key-deploy"
		full   = "No space left on device"
		broken = "installed brine-fail package post-installation script subprocess returned error exit status"
	)

	// New hosts are one block, which says what to do for all of them.
	r := run(20, "brine ssh '*' test.ping")
	has("what new hosts show", r.Stdout, "web[1-6],web[8-20]:\n", "compare the keys (--group=never shows each), then add them to /home/zoe/.ssh/known_hosts: ssh-keyscan HOST", "--host-keys accept-new", "web7", off)
	if n := strings.Count(r.Stdout, "\n"); n > 20 {
		t.Errorf("new hosts take %d lines", n)
	}
	r = run(20, "brine ssh web1 test.ping")
	has("what one new host shows", r.Stdout, "the host's key is not known: ssh-ed25519 SHA256:", "ssh-keyscan -p 22 127.0.1.1 >> /home/zoe/.ssh/known_hosts")

	r = run(20, "brine ssh '*' test.ping --host-keys=accept-new")
	has("the ping", r.Stdout, "web[1-6],web[8-14],web[16-20]:\n    True\n", off, locked)

	r = run(64, "brine ssh '*' state.apply site --report ~/r.xml,~/r.md")
	has("the error", r.Stderr, "~/r.md: there is no directory ~", "hint: the shell replaces ~ only at the beginning of a word")

	r = run(20, "brine ssh '*' state.apply site --report ~/r.xml --report ~/r.md --report ~/r.html --report ~/r.ndjson")
	_, sum, _ := strings.Cut(r.Stdout, "\nSummary\n-------\n")
	has("the summary", sum, "web[1-6],web8,web[10-11],web[13-14],web[16-20]: ok=4 changed=3",
		"FAILED web7: unreachable: connect: "+off, "FAILED web15: unreachable: authentication: ", locked,
		"FAILED web9: ok=2 changed=2 failed=1 not_run=1: page (file.managed): ", full,
		"FAILED web12: ok=1 changed=2 failed=1 not_run=2: tools (pkg.installed): E: Sub-process /usr/bin/dpkg returned an error code (1)", broken,
		"# of targets: 20, failed: 4")
	for _, name := range []string{"r.xml", "r.md", "r.html", "r.ndjson"} {
		has(name, read(t, filepath.Join(m.Root, "home/zoe", name)), "web7", off, "web15", locked, "web9", full, "web12", broken)
	}
	r = run(20, "brine ssh '*' state.apply site --state-output=terse --limit @failed")
	has("the terse output", r.Stderr, "4 targets failed in job", "web7,web9,web12,web15", "page (file.managed) failed on web9: ", full, "tools (pkg.installed) failed on web12: ", broken)
}
