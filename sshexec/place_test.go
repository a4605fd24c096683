package sshexec

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"brine/internal/core/fun"
	"brine/internal/core/roster"
	"brine/internal/core/version"
	"brine/internal/py/value"
	"brine/internal/testkit/sshtest"
)

// box is a host whose commands run here, in a home of their own.
type box struct {
	*sshtest.Fake
	home string
	env  []string
	pre  string // shell words before each command
}

// newBox returns a host; set it up, then Start it.
func newBox(t *testing.T) *box {
	t.Helper()
	sshtest.Require(t, "sh")
	b := &box{Fake: sshtest.NewFake(t), home: t.TempDir()}
	b.Exec = func(s *sshtest.Session) int {
		c := exec.Command("sh", "-c", b.pre+s.Command)
		c.Env = append([]string{"HOME=" + b.home, "PATH=" + os.Getenv("PATH")}, b.env...)
		stdin, err := c.StdinPipe()
		if err != nil {
			return 255
		}
		c.Stdout, c.Stderr = s, s.Stderr()
		if err := c.Start(); err != nil {
			fmt.Fprintln(s.Stderr(), err)
			return 127
		}
		go func() {
			_, _ = io.Copy(stdin, s)
			stdin.Close()
		}()
		_ = c.Wait()
		return c.ProcessState.ExitCode()
	}
	return b
}

func (b *box) placer(t *testing.T, size int) (*placer, *roster.Entry) {
	t.Helper()
	// A program that is no agent, but can be placed.
	exe := filepath.Join(t.TempDir(), "prog")
	if err := os.WriteFile(exe, program(size), 0o755); err != nil {
		t.Fatal(err)
	}
	e := entry(b.Fake)
	e.ThinDir = filepath.Join(b.home, "thin")
	return &placer{images: &Images{Exe: exe}}, e
}

// program is a program that can be placed, and says the version that an agent
// would, but is no agent.
func program(size int) []byte {
	return []byte("#!/bin/sh\n# " + version.Stamp() + "\n[ \"$1\" = version ] && exit 0\nexit 7\n#" + strings.Repeat("x", size))
}

const ownPlatform = runtime.GOOS + "-" + runtime.GOARCH

// own is the image that a placer has for this machine.
func own(t *testing.T, p *placer) *image {
	t.Helper()
	i, err := p.images.lookup(ownPlatform)
	if err != nil || i == nil {
		t.Fatal(i, err)
	}
	return i
}

// place logs in and pushes.
func (b *box) place(t *testing.T, p *placer, e *roster.Entry, unzip string) error {
	t.Helper()
	b.Start()
	c, err := dial(t, options(t, known(t, line(b.Fake))), e)
	if err != nil {
		t.Fatal(err)
	}
	u, err := exec.Command("uname", "-sm").Output()
	if err != nil {
		t.Skip(err)
	}
	f := strings.Fields(string(u))
	return p.pushInTurn(t.Context(), c, e, &absent{f[0], f[1], unzip})
}

func TestPush(t *testing.T) {
	t.Parallel()
	for _, unzip := range []string{"cat,gzip,zstd", "cat,gzip", "cat,zstd", "cat"} {
		b := newBox(t)
		p, e := b.placer(t, 3<<20)
		dir := filepath.Join(e.ThinDir, "agent")
		for i := range 6 { // old versions
			mkdir(t, dir)
			old := filepath.Join(dir, fmt.Sprintf("brine-%064d", i))
			if err := os.WriteFile(old, nil, 0o700); err != nil {
				t.Fatal(err)
			}
			at := time.Now().Add(-time.Hour * time.Duration(i+1))
			_ = os.Chtimes(old, at, at)
		}
		stale := filepath.Join(dir, ".new-stale")
		_ = os.WriteFile(stale, nil, 0o600)
		_ = os.Chtimes(stale, time.Now().Add(-72*time.Hour), time.Now().Add(-72*time.Hour))
		if err := b.place(t, p, e, unzip); err != nil {
			t.Fatal(unzip, err)
		}
		own := own(t, p)
		got, err := os.ReadFile(filepath.Join(dir, "brine-"+own.hash))
		want, _ := os.ReadFile(own.path)
		if err != nil || string(got) != string(want) {
			t.Errorf("%s: the agent is not there whole: %v", unzip, err)
		}
		names, _ := os.ReadDir(dir)
		if len(names) != 3 {
			t.Errorf("%s: %d files are left, want the three newest: %v", unzip, len(names), names)
		}
	}
}

func TestPushFullDisk(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.pre = "ulimit -f 8; trap '' XFSZ; "
	p, e := b.placer(t, 3<<20)
	err := b.place(t, p, e, "cat")
	wantStage(t, err, Push, "could not be written whole to "+e.ThinDir, "see the room")
	var np interface{ NotPlaced() bool } = err.(*Error) //nolint:errorlint // the very error
	if !np.NotPlaced() {
		t.Error("the agent counts as placed")
	}
	for _, dir := range []string{filepath.Join(e.ThinDir, "agent"), filepath.Join(b.home, ".cache/brine/agent"), fmt.Sprintf("/var/tmp/.brine-%d", os.Geteuid())} {
		for i := 0; ; i++ { // another test may be just about to fill it
			if names, err := os.ReadDir(dir); err != nil || len(names) > 0 {
				break
			}
			if i == 300 {
				t.Errorf("%s is left, empty", dir)
				break
			}
			time.Sleep(100 * time.Millisecond)
		}
	}
}

func TestPushDamaged(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	bin := t.TempDir()
	// A gzip that loses the end.
	if err := os.WriteFile(filepath.Join(bin, "gzip"), []byte("#!/bin/sh\nPATH="+os.Getenv("PATH")+"\ngzip -dc | head -c 1000\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	b.env = []string{"PATH=" + bin + ":" + os.Getenv("PATH")}
	p, e := b.placer(t, 1<<20)
	// Another way is found, and the directory is the same.
	if err := b.place(t, p, e, "cat,gzip"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(e.ThinDir, "agent", "brine-"+own(t, p).hash)); err != nil {
		t.Error(err)
	}
	if got := tempFiles(t, b.home); len(got) != 0 {
		t.Errorf("left: %v", got)
	}
}

// tempFiles lists what a push that failed must not leave.
func tempFiles(t *testing.T, dirs ...string) (out []string) {
	t.Helper()
	for _, d := range dirs {
		_ = filepath.WalkDir(d, func(path string, e fs.DirEntry, err error) error {
			if err == nil && (strings.HasPrefix(e.Name(), ".new-") || strings.HasPrefix(e.Name(), ".brine-stage-")) {
				out = append(out, path)
			}
			return nil
		})
	}
	return out
}

// TestPushLosesBytes: nothing that comes over the shell arrives whole, and SFTP
// is not served.
func TestPushLosesBytes(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	bin := t.TempDir()
	for _, name := range []string{"gzip", "cat"} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\nexec head -c 1000\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	b.env = []string{"PATH=" + bin + ":" + os.Getenv("PATH")}
	p, e := b.placer(t, 1<<20)
	wantStage(t, b.place(t, p, e, "cat,gzip"), Push, "SFTP is not served", "Subsystem sftp")
	if got := tempFiles(t, b.home); len(got) != 0 {
		t.Errorf("left: %v", got)
	}
}

// TestPushChangesBytes: what arrives is as long as what was sent, and runs, but it is
// another program.
func TestPushChangesBytes(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "cat"), []byte("#!/bin/sh\nexec sed 's/xxxx/yyyy/g'\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	b.env = []string{"PATH=" + bin + ":" + os.Getenv("PATH")}
	p, e := b.placer(t, 1<<16)
	wantStage(t, b.place(t, p, e, "cat"), Push, "SFTP is not served")
	if got, _ := filepath.Glob(filepath.Join(e.ThinDir, "agent", "brine-*")); len(got) != 0 {
		t.Errorf("left: %v", got)
	}
}

// until waits for a condition.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for range 3000 {
		if is() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("it does not come to it that %s", what)
}

// TestPushDoesNotRun: a program that the host does not run is not left there.
func TestPushDoesNotRun(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	p, e := b.placer(t, 100)
	if err := os.WriteFile(p.images.Exe, []byte("#!/bin/sh\n# "+version.Stamp()+"\necho 'FATAL: kernel too old' >&2; exit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	wantStage(t, b.place(t, p, e, "cat"), Push, "does not run there: "+e.ThinDir+"/agent: FATAL: kernel too old", "processor or kernel")
	if names, _ := filepath.Glob(filepath.Join(e.ThinDir, "agent", "*")); len(names) != 0 {
		t.Errorf("left: %v", names)
	}
}

func TestPushOtherPlatform(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.Start()
	p, e := b.placer(t, 10)
	c, err := dial(t, options(t, known(t, line(b.Fake))), e)
	if err != nil {
		t.Fatal(err)
	}
	err = p.pushInTurn(t.Context(), c, e, &absent{"Linux", "s390x", "cat,gzip"})
	wantStage(t, err, Push, "there is no agent for linux/s390x (only for "+PlatformName(ownPlatform)+")", "brine agent build linux/s390x")
	err = p.pushInTurn(t.Context(), c, e, &absent{"Linux", "armv6l", "cat,gzip"})
	wantStage(t, err, Push, "there is no agent for linux/arm/v6", "brine agent build linux/arm/v6")
	err = p.pushInTurn(t.Context(), c, e, &absent{"SunOS", "sun4v", "cat,gzip"})
	wantStage(t, err, Push, "there is no agent for SunOS sun4v", "brine ssh -r works without")
	dir := t.TempDir()
	name := filepath.Join(dir, "brine-linux-s390x")
	if err := os.WriteFile(name, []byte("#!/bin/sh\n# "+strings.Replace(version.Stamp(), version.Number(), "0.0.9", 1)+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	p.images = &Images{Dir: dir, Named: true}
	err = p.pushInTurn(t.Context(), c, e, &absent{"Linux", "s390x", "cat,gzip"})
	wantStage(t, err, Push, name+" is an agent of brine 0.0.9, and this is brine "+version.Number(), "brine agent build --agent-dir "+dir+" linux/s390x")
	if err := os.WriteFile(name, program(0), 0o755); err != nil {
		t.Fatal(err)
	}
	p.images = &Images{Dir: dir}
	if err := p.pushInTurn(t.Context(), c, e, &absent{"Linux", "s390x", "cat,gzip"}); err != nil {
		t.Error(err)
	}
}

// TestNoAgent: hosts that do not run what they are given.
func TestNoAgent(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		exec  func(s *sshtest.Session) int
		stage Stage
		text  string
	}{
		{"no log-in shell", func(s *sshtest.Session) int {
			fmt.Fprintln(s, "This account is currently not available.")
			return 1
		}, Shell, "This account is currently not available."},
		{"no sh", func(s *sshtest.Session) int {
			fmt.Fprintln(s.Stderr(), "rbash: sh: command not found")
			return 127
		}, Shell, "no command can be run there: rbash: sh: command not found"},
		{"forbids the agent", func(s *sshtest.Session) int {
			fmt.Fprintln(s.Stderr(), "sh: 12: ./brine-0123: Operation not permitted")
			return 126
		}, Agent, "a policy of the host (SELinux, AppArmor, fapolicyd)"},
		{"wants a terminal for sudo", func(s *sshtest.Session) int {
			fmt.Fprintln(s.Stderr(), "sudo: sorry, you must have a tty to run sudo")
			return 1
		}, Shell, "set tty: True for it in the roster"},
		{"a router", func(s *sshtest.Session) int {
			fmt.Fprintln(s, "% Invalid input detected")
			return 0
		}, Shell, "Invalid input detected"},
		{"no sudoer", func(s *sshtest.Session) int {
			fmt.Fprintln(s.Stderr(), "me is not in the sudoers file.")
			return 1
		}, Shell, "not in the sudoers file"},
		{"closes at once", func(*sshtest.Session) int { return 0 }, Agent, ""},
		{"floods", func(s *sshtest.Session) int {
			for range 1000 {
				if _, err := s.Write([]byte(strings.Repeat("noise ", 1000))); err != nil {
					break
				}
			}
			return 0
		}, Shell, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newBox(t)
			b.Exec = tt.exec
			b.Start()
			p, e := b.placer(t, 10)
			c, err := dial(t, options(t, known(t, line(b.Fake))), e)
			if err != nil {
				t.Fatal(err)
			}
			_, err = p.agent(t.Context(), c, e, false)
			wantStage(t, err, tt.stage, tt.text)
		})
	}
}

func TestDeploy(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.Password = "s3cret"
	b.Start()
	e := entry(b.Fake)
	e.Passwd = roster.NewSecret("s3cret")
	e.Priv = filepath.Join(t.TempDir(), "key")
	key := sshtest.WriteKey(t, e.Priv, "")
	auth := filepath.Join(mkdir(t, b.home, ".ssh"), "authorized_keys")
	if err := os.WriteFile(auth, []byte("ssh-ed25519 AAAAother no end of line"), 0o600); err != nil {
		t.Fatal(err)
	}
	d := NewDialer(options(t, known(t, line(b.Fake))))
	defer d.Close()
	for range 2 {
		p := NewProvider(Settings{Entries: []*roster.Entry{e}, Dialer: d, Images: &Images{}, Deploy: true, Now: time.Now, Opts: value.NewMap(0)})
		ret := p.Run(t.Context(), fun.Job{Shell: "echo hi", JID: "1"}, "web1", func() {})
		if ret.Err != nil {
			t.Fatal(ret.Err)
		}
		_ = p.Close()
	}
	got, _ := os.ReadFile(auth)
	lines := strings.Split(strings.TrimSpace(string(got)), "\n")
	if len(lines) != 2 || !strings.Contains(lines[1], strings.Fields(authorized(key.PublicKey()))[1]) {
		t.Errorf("authorized_keys:\n%s", got)
	}
}

func authorized(k ssh.PublicKey) string { return string(ssh.MarshalAuthorizedKey(k)) }

// TestPushNoexec: where programs cannot run, the next directory is taken.
func TestPushNoexec(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	bin := t.TempDir()
	chmod, err := exec.LookPath("chmod")
	if err != nil {
		t.Skip(err)
	}
	// A file that is not executable is refused as on a noexec file system.
	script := "#!/bin/sh\ncase $PWD in */thin/*) exit 0;; esac\nexec " + chmod + " \"$@\"\n"
	if err := os.WriteFile(filepath.Join(bin, "chmod"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	b.env = []string{"PATH=" + bin + ":" + os.Getenv("PATH")}
	p, e := b.placer(t, 100)
	if err := b.place(t, p, e, "cat"); err != nil {
		t.Fatal(err)
	}
	if names, _ := filepath.Glob(filepath.Join(b.home, ".cache/brine/agent/brine-*")); len(names) != 1 {
		t.Errorf("the agent is not in the next directory: %v", names)
	}
	if names, _ := filepath.Glob(filepath.Join(e.ThinDir, "agent", "*")); len(names) != 0 {
		t.Errorf("left where it cannot run: %v", names)
	}
}

// TestFoundAgentIsTheOneLookedAt: whoever can write above the agent's directory
// puts another one in its place once it was looked at; what runs is still what
// was there.
func TestFoundAgentIsTheOneLookedAt(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	p, e := b.placer(t, 100)
	if err := os.WriteFile(p.images.Exe, []byte("#!/bin/sh\n# "+version.Stamp()+"\n[ \"$1\" = version ] && exit 0\necho the one >&2; exit 3\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := b.place(t, p, e, "cat"); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(e.ThinDir, "agent")
	evil := mkdir(t, b.home, "evil")
	if err := os.WriteFile(filepath.Join(evil, "brine-"+own(t, p).hash), []byte("#!/bin/sh\necho another >&2; exit 3\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	ls, err := exec.LookPath("ls")
	if err != nil {
		t.Skip(err)
	}
	bin := t.TempDir()
	swap := "#!/bin/sh\n[ -d " + evil + " ] && mv " + dir + " " + dir + ".was && mv " + evil + " " + dir + "\nexec " + ls + " \"$@\"\n"
	if err := os.WriteFile(filepath.Join(bin, "ls"), []byte(swap), 0o755); err != nil {
		t.Fatal(err)
	}
	b.env = []string{"PATH=" + bin + ":" + os.Getenv("PATH")}
	c, err := dial(t, options(t, known(t, line(b.Fake))), e)
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = p.try(t.Context(), c, e, false)
	wantStage(t, err, Shell, "the one")
	if _, err := os.Stat(dir + ".was"); err != nil {
		t.Errorf("nothing was swapped: %v", err)
	}
}

// TestFoundAgentIsChecked: a directory that others may enter, one behind a
// link, one of another account, a file of another size and one that is no program
// are passed over.
func TestFoundAgentIsChecked(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(dir, exe string) error{
		"open": func(dir, _ string) error { return os.Chmod(dir, 0o750) },
		"size": func(_, exe string) error { return os.Truncate(exe, 5) },
		"mode": func(_, exe string) error { return os.Chmod(exe, 0o600) },
		"gone": func(_, exe string) error { return os.Remove(exe) },
		"link": func(dir, _ string) error {
			return errors.Join(os.Rename(dir, dir+".there"), os.Symlink("agent.there", dir))
		},
		"owner": func(dir, _ string) error { return os.Chown(dir, 61234, -1) },
		"is ok": func(_, _ string) error { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name == "owner" && os.Geteuid() != 0 {
				t.Skip("only root can give a directory away")
			}
			b := newBox(t)
			p, e := b.placer(t, 100)
			if err := os.WriteFile(p.images.Exe, []byte("#!/bin/sh\n# "+version.Stamp()+"\n[ \"$1\" = version ] && exit 0\necho it runs >&2; exit 3\n"), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := b.place(t, p, e, "cat"); err != nil {
				t.Fatal(err)
			}
			dir := filepath.Join(e.ThinDir, "agent")
			if err := spoil(dir, filepath.Join(dir, "brine-"+own(t, p).hash)); err != nil {
				t.Fatal(err)
			}
			c, err := dial(t, options(t, known(t, line(b.Fake))), e)
			if err != nil {
				t.Fatal(err)
			}
			_, missing, err := p.try(t.Context(), c, e, false)
			if ran := err != nil && strings.Contains(err.Error(), "it runs"); ran != (name == "is ok") || !ran && missing == nil {
				t.Errorf("%v, %v", missing, err)
			}
		})
	}
}

// TestHostilePrompt has a sudo stand-in say all prompts and marks of earlier calls
// before it asks: what another program, which somebody else wrote, could say in its
// place. The password goes to the one that was asked for in this call.
func TestHostilePrompt(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	dir := t.TempDir()
	said, got := filepath.Join(dir, "said"), filepath.Join(dir, "got")
	// Its arguments are -S -p PROMPT -H -u USER -- sh -c SCRIPT.
	script := fmt.Sprintf(`#!/bin/sh
{ echo Password: [sudo] password for root: %[1]s %[1]s: %[2]s; cat %[3]s 2>/dev/null; } >&2
m=${10#*%[2]s}
echo "$3 %[2]s${m%%%% *}" >>%[3]s
printf %%s "$3" >&2
IFS= read -r l
echo "$l" >>%[4]s
shift 7
exec "$@"
`, promptMark, begunMark, said, got)
	if err := os.WriteFile(filepath.Join(dir, "sudo"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	b.env = []string{"PATH=" + dir + ":" + os.Getenv("PATH")}
	b.Start()
	e := entry(b.Fake)
	e.Sudo, e.Passwd = true, roster.NewSecret("s3cret")
	c, err := dial(t, options(t, known(t, line(b.Fake))), e)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for i := range 3 {
		s, err := c.start(ctx, launchOf(e, "echo ran"))
		if err != nil {
			t.Fatalf("call %d: %v", i, err)
		}
		stop := context.AfterFunc(ctx, func() { _ = s.Close() })
		out, err := io.ReadAll(s)
		stop()
		if status, serr := s.settled(ctx); err != nil || serr != nil || status != 0 || string(out) != "ran\n" {
			t.Errorf("call %d: %q, %d, %v, %v", i, out, status, err, serr)
		}
		_ = s.Close()
	}
	words, err := os.ReadFile(said)
	f := strings.Fields(string(words))
	if err != nil || len(f) != 6 {
		t.Fatalf("said %q, %v", words, err)
	}
	slices.Sort(f)
	if f = slices.Compact(f); len(f) != 6 || !strings.HasPrefix(f[0], begunMark) || !strings.HasPrefix(f[5], promptMark) {
		t.Errorf("prompts and marks come again: %q", f)
	}
	if text, err := os.ReadFile(got); err != nil || string(text) != strings.Repeat("s3cret\n", 3) {
		t.Errorf("it read %q, %v", text, err)
	}
}
