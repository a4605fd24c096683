//go:build linux

package assembly

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// Root has programs work in directories of root's in mallory's home: that works, and
// what mallory does with the names in his home meanwhile leads them nowhere else.

// stopWrapper stands before a program. At its first start with the word home/app in
// its arguments or its directory it waits until mallory has changed his home.
const stopWrapper = `#!/bin/sh
case "$* $(pwd -P)" in
*/home/app*) if [ -p /tmp/started ]; then echo >/tmp/started; read x </tmp/go; fi;;
esac
exec "$REAL" "$@"
`

// callOf returns the call of a function of the table.
func callOf(t *testing.T, kind fun.Kind, name, arg string, a *value.Map) pathCall {
	t.Helper()
	for _, mod := range modules(kind) {
		for i := range mod.Specs {
			if mod.Name+"."+mod.Specs[i].Name == name {
				return pathCall{kind: kind, mod: mod, spec: &mod.Specs[i], arg: arg, args: a}
			}
		}
	}
	t.Fatalf("no function %s", name)
	return pathCall{}
}

// rootOnly reports what below a directory is not root's.
func rootOnly(t *testing.T, dir string) {
	t.Helper()
	n := 0
	err := filepath.WalkDir(dir, func(p string, _ os.DirEntry, err error) error {
		var st unix.Stat_t
		if err != nil || unix.Lstat(p, &st) != nil {
			return err
		}
		if n++; st.Uid != 0 {
			t.Errorf("%s is of user %d", p, st.Uid)
		}
		return nil
	})
	if err != nil || n < 2 {
		t.Errorf("%s has %d files, %v", dir, n, err)
	}
}

func sh(t *testing.T, line string) {
	t.Helper()
	if out, err := exec.Command("sh", "-ec", line).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v %s", line, err, out)
	}
}

// TestApart runs the programs in a home of mallory's.
func TestApart(t *testing.T) {
	if !enterJail(t, unix.CAP_SYS_ADMIN) {
		return
	}
	prepareJail(t)
	sh(t, "cd /srv/repo && git checkout -q -b other && for i in 1 2 3 4 5 6 7 8; do echo $i >file$i; done && git add . && git commit -qm two && git checkout -q main")
	g := ground(jailGrounds[0])
	app := g.at("home/app")
	env := jailEnv()

	t.Run("works", func(t *testing.T) {
		g.lay(t, nil)
		// What mallory put beside it is not run.
		sh(t, "git init -q "+g.at("home")+" && git config -f "+g.at("home/.git/config")+" core.fsmonitor 'touch "+g.at("etc/pwned")+"; false' && chown -R 61234 "+g.at("home/.git"))
		before := g.state("etc")
		latest := callOf(t, fun.State, "git.latest", "target", value.MapOf("name", "/srv/repo", "rev", "main"))
		if said := latest.run(env, app); !strings.Contains(said, "/srv/repo cloned to "+app) {
			t.Errorf("git.latest: %s", said)
		}
		rootOnly(t, app)
		if said := latest.run(env, app); !strings.HasPrefix(said, "{}") || !strings.Contains(said, "up-to-date") {
			t.Errorf("git.latest again: %s", said)
		}
		other := callOf(t, fun.State, "git.latest", "target", value.MapOf("name", "/srv/repo", "rev", "other", "branch", "other"))
		if said := other.run(env, app); !strings.Contains(said, "updated") && !strings.Contains(said, "checked out") {
			t.Errorf("git.latest of another branch: %s", said)
		}
		if _, err := os.Stat(filepath.Join(app, "file8")); err != nil {
			t.Error(err)
		}
		for _, c := range []struct {
			p    pathCall
			path string
			file string
		}{
			{callOf(t, fun.State, "git.cloned", "target", value.MapOf("name", "/srv/repo")), "home/new/cloned", "shadow"},
			{callOf(t, fun.State, "git.present", "name", value.MapOf("bare", true)), "home/bare", "HEAD"},
			{callOf(t, fun.Exec, "git.clone", "cwd", value.MapOf("url", "/srv/repo", "opts", "--mirror")), "home/mirror", "HEAD"},
			{callOf(t, fun.Exec, "git.clone", "cwd", value.MapOf("url", "/srv/repo", "name", "sub")), "home/parent", "sub/shadow"},
			{callOf(t, fun.Exec, "git.pull", "cwd", value.MapOf()), "home/app/.git/../../app", "shadow"},
			{callOf(t, fun.Exec, "archive.tar", "dest", value.MapOf("options", "xf", "tarfile", "/srv/a.tar")), "home/app", "sub/shadow"},
			{callOf(t, fun.Exec, "archive.cmd_unzip", "dest", value.MapOf("zip_file", "/srv/a.zip", "options", "-o")), "home/app", "sub/shadow"},
		} {
			said := c.p.run(env, g.at(c.path))
			if _, err := os.Stat(filepath.Join(g.at(c.path), c.file)); err != nil {
				if strings.Contains(said, "no program") {
					continue
				}
				t.Errorf("%s: %s: %v", c.p, said, err)
				continue
			}
			rootOnly(t, g.at(c.path))
		}
		if after := g.state("etc"); after != before {
			t.Errorf("etc was\n%sand is\n%s", before, after)
		}
		if mounts, err := os.ReadFile("/proc/self/mounts"); err != nil || strings.Contains(string(mounts), app) {
			t.Errorf("a mount is left: %v\n%s", err, mounts)
		}
	})

	t.Run("refused", func(t *testing.T) {
		latest := callOf(t, fun.State, "git.latest", "target", value.MapOf("name", "/srv/repo", "rev", "main"))
		for name, c := range map[string]struct{ line, want string }{
			"his repository": {"mkdir home/app && cp -r /srv/repo/. home/app && chown -R 61234 home/app", "can be changed by user mallory"},
			"his .git":       {"mkdir home/app && cp -r /srv/repo/. home/app && chown -R 61234 home/app/.git", "can be changed by user mallory"},
			"his empty one":  {"mkdir home/app && chown 61234 home/app", "can be changed by user mallory"},
			"everybody's":    {"mkdir home/app && chmod 777 home/app", "can be changed by everybody"},
			"a group's":      {"mkdir home/app && chgrp 61234 home/app && chmod 775 home/app", "can be changed by members of the group mallory"},
		} {
			g.lay(t, nil)
			sh(t, "cd "+string(g)+" && "+c.line)
			before := g.state("home")
			if said := latest.run(env, app); !strings.Contains(said, c.want) || !strings.Contains(said, "with the argument user") {
				t.Errorf("%s: %s", name, said)
			}
			if after := g.state("home"); after != before {
				t.Errorf("%s: home was\n%sand is\n%s", name, before, after)
			}
		}
		// In a directory like /tmp he can give his own another name.
		sh(t, "mkdir -p /tmp/his && chown 61234 /tmp/his && mkdir -p /tmp/his/app")
		if said := latest.run(env, "/tmp/his/app"); !strings.Contains(said, "can be changed by user mallory") {
			t.Errorf("in a directory like /tmp: %s", said)
		}
		// A source that the program would not see.
		g.lay(t, nil)
		sh(t, "cp -r /srv/repo "+g.at("home/up"))
		clone := callOf(t, fun.Exec, "git.clone", "cwd", value.MapOf("url", g.at("home/up")))
		if said := clone.run(env, app); !strings.Contains(said, "home/up is in ") {
			t.Errorf("a source beside it: %s", said)
		}
		// What failed leaves nothing.
		clone = callOf(t, fun.Exec, "git.clone", "cwd", value.MapOf("url", "/srv/none"))
		if said := clone.run(env, g.at("home/deep/app")); !strings.Contains(said, "failed") {
			t.Errorf("no source: %s", said)
		}
		for _, p := range []string{"home/app", "home/deep"} {
			if _, err := os.Lstat(g.at(p)); err == nil {
				t.Errorf("%s was left", p)
			}
		}
	})

	t.Run("swapped at the start", func(t *testing.T) {
		for _, name := range []string{"git", "tar", "unzip"} {
			real, err := exec.LookPath(name)
			if err != nil {
				continue
			}
			if err := os.WriteFile("/usr/local/bin/"+name, []byte(strings.ReplaceAll(stopWrapper, "$REAL", real)), 0o755); err != nil {
				t.Fatal(err)
			}
			defer os.Remove("/usr/local/bin/" + name)
		}
		for _, p := range []pathCall{
			callOf(t, fun.Exec, "git.clone", "cwd", value.MapOf("url", "/srv/repo")),
			callOf(t, fun.Exec, "git.init", "cwd", value.MapOf()),
			callOf(t, fun.State, "git.latest", "target", value.MapOf("name", "/srv/repo", "rev", "main")),
			callOf(t, fun.State, "git.cloned", "target", value.MapOf("name", "/srv/repo")),
			callOf(t, fun.State, "git.present", "name", value.MapOf("bare", true)),
			callOf(t, fun.Exec, "archive.tar", "dest", value.MapOf("options", "xf", "tarfile", "/srv/a.tar")),
			callOf(t, fun.Exec, "archive.cmd_unzip", "dest", value.MapOf("zip_file", "/srv/a.zip", "options", "-o")),
		} {
			if p.mod.Name == "archive" {
				if _, err := os.Stat("/usr/local/bin/" + strings.TrimPrefix(p.spec.Name, "cmd_")); err != nil {
					continue
				}
			}
			g.lay(t, nil)
			sh(t, "mkdir "+app+" && rm -f /tmp/started /tmp/go && mkfifo /tmp/started /tmp/go")
			before := g.state("etc")
			swapped := make(chan error, 1)
			go func() {
				if _, err := os.ReadFile("/tmp/started"); err != nil {
					swapped <- err
					return
				}
				_ = os.Remove("/tmp/started")
				_ = os.Rename(app, g.at("home/aside"))
				err := os.Symlink("../etc/sub/empty", app)
				if err == nil {
					err = os.Lchown(app, mallory, mallory)
				}
				swapped <- err
				_ = os.WriteFile("/tmp/go", []byte("\n"), 0)
			}()
			said := p.run(env, app)
			t.Logf("%s: %.300s", p, said)
			select {
			case err := <-swapped:
				if err != nil {
					t.Errorf("%s: %v", p, err)
				}
			default:
				t.Errorf("%s: no program was started: %s", p, said)
				_ = os.Remove("/tmp/started")
			}
			if after := g.state("etc"); after != before {
				t.Errorf("%s: etc was\n%sand is\n%sit said %s", p, before, after, said)
			}
		}
		_ = os.Remove("/tmp/started")
	})

	t.Run("racing", func(t *testing.T) {
		g.lay(t, nil)
		sh(t, "git config --system safe.directory '*'") // git's own guard is not the one that is tried
		mark := g.at("etc/pwned")
		latest := callOf(t, fun.State, "git.latest", "target", value.MapOf("name", "/srv/repo", "rev", "main"))
		if said := latest.run(env, app); !strings.Contains(said, "cloned") {
			t.Fatal(said)
		}
		hook := "printf '#!/bin/sh\\ntouch " + mark + "\\n' >.git/hooks/post-checkout && chmod 755 .git/hooks/post-checkout && git config core.fsmonitor .git/hooks/post-checkout"
		sh(t, "cp -r /srv/repo "+g.at("home/evil")+" && cd "+g.at("home/evil")+" && "+hook+" && chown -R 61234 . && ln -s ../etc "+g.at("home/link")+" && chown -h 61234 "+g.at("home/link"))
		before := g.state("etc")
		// The names are exchanged in one step, so that brine never finds none and makes
		// one, and for long enough that a call gets past its checks.
		swap := func(other string) {
			_ = unix.Renameat2(unix.AT_FDCWD, app, unix.AT_FDCWD, other, unix.RENAME_EXCHANGE)
			time.Sleep(time.Duration(rand.Int64N(int64(4 * time.Millisecond))))
		}
		swaps := 0
		stop, ended := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(ended)
			for ; ; swaps++ {
				select {
				case <-stop:
					return
				default:
				}
				for _, other := range []string{g.at("home/evil"), g.at("home/link")} {
					swap(other)
					swap(other)
				}
			}
		}()
		worked, refused := 0, 0
		for i, end := 0, time.Now().Add(time.Minute); (worked < 100 || refused < 100) && time.Now().Before(end); i++ {
			for _, p := range []pathCall{
				callOf(t, fun.Exec, "git.checkout", "cwd", value.MapOf("rev", []string{"main", "other"}[i%2], "force", true)),
				latest, callOf(t, fun.Exec, "git.reset", "cwd", value.MapOf("opts", "--hard")),
			} {
				switch said := p.run(env, app); {
				case strings.Contains(said, "can be changed by user mallory"), strings.Contains(said, "not following the link"):
					refused++
				case strings.Contains(said, "HEAD is now at"), strings.Contains(said, "to branch"):
					worked++
				}
			}
		}
		close(stop)
		<-ended
		t.Logf("%d calls worked and %d were refused, %d swaps", worked, refused, swaps)
		if worked < 10 || refused < 10 {
			t.Errorf("%d calls that worked and %d that were refused are no race", worked, refused)
		}
		if after := g.state("etc"); after != before {
			t.Errorf("etc was\n%sand is\n%s", before, after)
		}
	})
}
