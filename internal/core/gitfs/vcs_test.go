package gitfs

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"brine/internal/core/fileserver"
	"brine/internal/core/host"
	"brine/internal/testkit/servertest"
	"brine/internal/testkit/turn"
)

// cli runs a client, which the test needs.
func cli(t *testing.T, dir string, argv ...string) {
	t.Helper()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HGPLAIN=1", "HGUSER=test")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(argv, " "), err, out)
	}
}

func put(t *testing.T, dir, name, text string) {
	t.Helper()
	p := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// hgRepo has the branch default with the tag v1, the branch dev, and the bookmark mark.
func hgRepo(t *testing.T) string {
	t.Helper()
	servertest.Need(t, "mercurial", "hg")
	dir := filepath.Join(t.TempDir(), "hg")
	cli(t, "/", "hg", "init", dir)
	put(t, dir, "a.sls", "one")
	put(t, dir, "sub/b.sls", "below")
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "out.sls")); err != nil {
		t.Fatal(err)
	}
	cli(t, dir, "hg", "add", "-q")
	cli(t, dir, "hg", "commit", "-qm", "1")
	cli(t, dir, "hg", "tag", "v1")
	put(t, dir, "a.sls", "two")
	cli(t, dir, "hg", "commit", "-qm", "2")
	cli(t, dir, "hg", "bookmark", "-r", "0", "mark")
	cli(t, dir, "hg", "branch", "-q", "dev")
	put(t, dir, "a.sls", "dev")
	cli(t, dir, "hg", "commit", "-qm", "3")
	return dir
}

// svnRepo has the trunk, the branch "dev @x" and the tag v1.
func svnRepo(t *testing.T) string {
	t.Helper()
	servertest.Need(t, "subversion", "svn")
	dir := filepath.Join(t.TempDir(), "svn")
	cli(t, "/", "svnadmin", "create", dir)
	url := "file://" + dir
	tree := t.TempDir()
	put(t, tree, "trunk/a.sls", "one")
	put(t, tree, "trunk/sub/b.sls", "below")
	if err := os.Symlink("/etc/passwd", filepath.Join(tree, "trunk/out.sls")); err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{"branches", "tags"} {
		if err := os.Mkdir(filepath.Join(tree, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	cli(t, tree, "svn", "import", "-q", "-m", "first", ".", url)
	cli(t, tree, "svn", "copy", "-q", "-m", "tag", url+"/trunk", url+"/tags/v1")
	cli(t, tree, "svn", "copy", "-q", "-m", "branch", url+"/trunk", url+"/branches/dev-@x@")
	commitTo(t, url+"/trunk", "a.sls", "two")
	commitTo(t, url+"/branches/dev-@x@", "a.sls", "dev")
	return url
}

// commitTo changes a file of a directory of Subversion.
func commitTo(t *testing.T, url, name, text string) {
	t.Helper()
	work := filepath.Join(t.TempDir(), "work")
	cli(t, "/", "svn", "checkout", "-q", url, work)
	put(t, work, name, text)
	cli(t, work, "svn", "commit", "-q", "-m", "change")
}

func vcsStore(t *testing.T, dir string) *fixture {
	f := newStore(t, filepath.Join(dir, "gitfs"))
	f.Run = host.NewLocal().Run
	return f
}

func (f *fixture) over(t *testing.T, role, conf string) *fileserver.Server {
	t.Helper()
	return fileserver.Over(host.NewLocal(), &fileserver.Roots{}, NewBackend(f.Store, role, load(t, conf), "base"))
}

func readFile(t *testing.T, s *fileserver.Server, env, name string) ([]byte, error) {
	t.Helper()
	r, err := s.Open(t.Context(), env, name)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}

// texts is what a.sls has in each environment.
func texts(t *testing.T, s *fileserver.Server) string {
	t.Helper()
	envs, err := s.Envs(t.Context())
	if err != nil {
		return "error: " + err.Error()
	}
	var out []string
	for _, env := range envs {
		b, err := readFile(t, s, env, "a.sls")
		if err != nil {
			return "error: " + err.Error()
		}
		out = append(out, env+"="+string(b))
	}
	return strings.Join(out, " ")
}

func TestMercurial(t *testing.T) {
	t.Parallel()
	turn.Skip(t)
	dir := hgRepo(t)
	for _, tt := range []struct{ url, conf, want string }{
		{"file://", "hgfs_remotes: [URL]", "base=two dev=dev v1=one"},
		{"", "hgfs_remotes: [{URL: [{branch_method: bookmarks}, {base: mark}]}]", "base=one v1=one"},
		{"", "hgfs_remotes: [URL]\nhgfs_branch_method: mixed\nhgfs_saltenv_blacklist: [v*]", "base=two dev=dev mark=one"},
		{"", "hgfs_remotes: [URL]\nhgfs_base: v1\nhgfs_saltenv_whitelist: [base]", "base=one"},
	} {
		f := vcsStore(t, t.TempDir())
		if got := texts(t, f.over(t, Mercurial, strings.ReplaceAll(tt.conf, "URL", "'"+tt.url+dir+"'"))); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.conf, got, tt.want)
		}
	}
}

func TestSubversion(t *testing.T) {
	t.Parallel()
	url := svnRepo(t)
	for _, tt := range []struct{ conf, want string }{
		{"svnfs_remotes: [URL]", "base=two dev-@x=dev v1=one"},
		{"svnfs_remotes: [{URL: [{trunk: tags/v1}, {branches: none}, {tags: branches}]}]", "base=one dev-@x=dev"},
		{"svnfs_remotes: ['URL/trunk']\nsvnfs_trunk: .", "base=two"},
		{"svnfs_remotes: ['URL/tags']\nsvnfs_branches: .", "v1=one"},
		{"svnfs_remotes: [URL]\nsvnfs_trunk: main\nsvnfs_saltenv_whitelist: [v*]", "v1=one"},
	} {
		f := vcsStore(t, t.TempDir())
		conf := strings.ReplaceAll(strings.ReplaceAll(tt.conf, "'URL", "'"+url), "URL", "'"+url+"'")
		if got := texts(t, f.over(t, Subversion, conf)); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.conf, got, tt.want)
		}
	}
}

// TestNoBase: what has no environment base says why.
func TestNoBase(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ role, url, conf, want string }{
		{Subversion, svnRepo(t), "svnfs_trunk: main", `no remote of svnfs has the environment base: svnfs remote URL has no directory "main" (option trunk or svnfs_trunk)`},
		{Mercurial, hgRepo(t), "hgfs_base: defalt", `no remote of hgfs has the environment base: hgfs remote URL has no branch, tag or commit "defalt" (option base or hgfs_base) (did you mean "default"?); its branches are default, dev`},
	} {
		f := vcsStore(t, t.TempDir())
		b := NewBackend(f.Store, tt.role, load(t, tt.role+"_remotes: ['"+tt.url+"']\n"+tt.conf), "base")
		if src, err := b.Sources(t.Context()); err != nil || src.Len() != 0 {
			t.Errorf("%s: %v, %v", tt.role, src, err)
		}
		if want := strings.ReplaceAll(tt.want, "URL", tt.url); len(f.warns) != 1 || f.warns[0] != want {
			t.Errorf("%s: %q, want %q", tt.role, f.warns, want)
		}
	}
}

// TestProgramsServe: roots, mount points, links that lead out, updates and the cache.
func TestProgramsServe(t *testing.T) {
	t.Parallel()
	for _, role := range []string{Mercurial, Subversion} {
		t.Run(role, func(t *testing.T) {
			t.Parallel()
			turn.Skip(t)
			var url string
			var change func(text string)
			if role == Mercurial {
				url = hgRepo(t)
				cli(t, url, "hg", "update", "-q", "default")
				change = func(text string) {
					put(t, url, "sub/b.sls", text)
					cli(t, url, "hg", "commit", "-qm", text)
					cli(t, url, "hg", "bookmark", "-f", "-d", "mark")
				}
			} else {
				url = svnRepo(t)
				change = func(text string) { commitTo(t, url+"/trunk", "sub/b.sls", text) }
			}
			cache := t.TempDir()
			f := vcsStore(t, cache)
			conf := role + "_remotes: [{'" + url + "': [{root: sub}, {mountpoint: 'salt://m'}, {name: states}]}, '" + url + "']\n"
			if role == Mercurial {
				conf += "hgfs_branch_method: mixed\n"
			}
			s := f.over(t, role, conf)
			if b, err := readFile(t, s, "base", "m/b.sls"); err != nil || string(b) != "below" {
				t.Errorf("m/b.sls: %q, %v", b, err)
			}
			if b, err := readFile(t, s, "base", "out.sls"); err == nil {
				t.Errorf("a link that leads out was read: %q", b)
			}
			if _, err := readFile(t, s, "base", ".hg_archival.txt"); err == nil {
				t.Error("a file that hg adds is served")
			}
			change("changed")
			if role == Mercurial { // a pull that was killed
				repos, _ := filepath.Glob(filepath.Join(cache, role, "*", "repo-hgfs"))
				for _, dir := range repos {
					put(t, dir, ".hg/store/journal", "")
				}
				if len(repos) != 1 {
					t.Errorf("repositories %v", repos)
				}
			}
			f = vcsStore(t, cache)
			s = f.over(t, role, conf)
			if b, _ := readFile(t, s, "base", "sub/b.sls"); string(b) != "below" {
				t.Errorf("within the interval: %q", b)
			}
			f = vcsStore(t, cache)
			f.now = f.now.Add(2 * time.Minute)
			s = f.over(t, role, conf)
			if b, err := readFile(t, s, "base", "sub/b.sls"); string(b) != "changed" {
				t.Errorf("after the interval: %q, %v, %v", b, err, f.warns)
			}
			if envs, _ := s.Envs(t.Context()); slices.Contains(envs, "mark") {
				t.Errorf("a bookmark that the remote no longer has is an environment: %v", envs)
			}
			b := NewBackend(f.Store, role, load(t, conf), "base")
			src, err := b.Sources(t.Context())
			if err != nil || src.Len() != 2 {
				t.Fatalf("sources %v, %v", src, err)
			}
			// What is in the cache is served when the remote is away, with a warning.
			if err := os.Rename(strings.TrimPrefix(url, "file://"), strings.TrimPrefix(url, "file://")+".away"); err != nil {
				t.Fatal(err)
			}
			f = vcsStore(t, cache)
			f.now = f.now.Add(time.Hour)
			s = f.over(t, role, conf)
			if b, err := readFile(t, s, "base", "sub/b.sls"); string(b) != "changed" || len(f.warns) == 0 || !strings.Contains(f.warns[0], "cannot be updated") {
				t.Errorf("with the remote away: %q, %v, %v", b, err, f.warns)
			}
			b = NewBackend(f.Store, role, load(t, conf), "base")
			if err := b.Update(t.Context()); err == nil {
				t.Error("an update of a remote that is away is no error")
			}
			if got, err := b.ClearCache(t.Context()); err != nil || len(got) == 0 {
				t.Errorf("cleared %v, %v", got, err)
			}
			f = vcsStore(t, cache)
			if got := texts(t, f.over(t, role, conf)); !strings.HasPrefix(got, "error: ") || !strings.Contains(got, "the cache has nothing of it") {
				t.Errorf("without a cache: %s", got)
			}
		})
	}
}

func TestHostilePrograms(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ role, conf, want string }{
		{Mercurial, "hgfs_remotes: ['--config=hooks.pre-pull=touch /x']", "not a URL"},
		{Mercurial, "hgfs_remotes: ['ssh://-oProxyCommand=x/repo']", "would be an option of ssh"},
		{Mercurial, "hgfs_remotes: ['https://u:plugh@example.com/r']", "the URL has a password, which other users could see"},
		{Mercurial, "hgfs_remotes: ['static-http://example.com/r']", "not a URL that begins with one of file, http, https, ssh"},
		{Mercurial, "hgfs_remotes: [/r]\nhgfs_branch_method: branch", `branch_method "branch" (did you mean "branches"?); there are branches, bookmarks, mixed`},
		{Mercurial, "hgfs_remotes: [/r]\nhgfs_bas: x", `unknown option "hgfs_bas" (did you mean "hgfs_base"?)`},
		{Mercurial, "hgfs_remotes: [{/r: [{roots: x}]}]", `remotes have no option "roots" (did you mean "root"?)`},
		{Mercurial, "hgfs_remotes: [{/r: [{root: ../x}]}]", "leads out of the tree"},
		{Subversion, "svnfs_remotes: ['svn+sh://example.com/r']", "not a URL that begins with one of file, http, https, svn, svn+ssh"},
		{Subversion, "svnfs_remotes: ['svn+ssh://-x@example.com/r']", "would be an option of ssh"},
		{Subversion, "svnfs_remotes: [/r]", "not a URL that begins"},
		{Subversion, "svnfs_remotes: ['file:///r']\nsvnfs_trunk: /trunk", "trunk must be a path in the repository, not /trunk"},
		{Subversion, "svnfs_remotes: ['file:///r']\nsvnfs_tags: ../tags", "leads out of the tree"},
	} {
		b := NewBackend(vcsStore(t, t.TempDir()).Store, tt.role, load(t, tt.conf), "base")
		if err := b.Err(); err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "plugh") {
			t.Errorf("%s: %v, want %s", tt.conf, err, tt.want)
		}
	}
	// Programs that are not there, that fail, or that answer with something else.
	for _, tt := range []struct {
		role string
		run  func(argv []string) (host.Output, error)
		want string
	}{
		{Mercurial, func([]string) (host.Output, error) { return host.Output{}, os.ErrNotExist }, "hgfs needs the program hg, which is not installed"},
		{Subversion, func([]string) (host.Output, error) { return host.Output{}, os.ErrNotExist }, "svnfs needs the program svn, which is not installed"},
		{Subversion, func([]string) (host.Output, error) {
			return host.Output{Status: 1, Stderr: []byte("a\nsvn: E1: \x1b[31mno\n")}, nil
		}, `svn info ended with status 1: svn: E1: \x1b[31mno`},
		{Subversion, func([]string) (host.Output, error) { return host.Output{Stdout: []byte("<html>")}, nil }, "svn info: XML syntax error"},
		{Mercurial, func(argv []string) (host.Output, error) {
			if argv[1] == "init" {
				return host.Output{}, os.MkdirAll(argv[len(argv)-1], 0o700)
			}
			return host.Output{Stdout: []byte("{")}, nil
		}, "hg branches: "},
		{Mercurial, func([]string) (host.Output, error) {
			return host.Output{Status: 255, Stderr: []byte("a\nabort: why\n(run 'hg x')\n")}, nil
		}, "hg init ended with status 255: abort: why;"},
		{Mercurial, func(argv []string) (host.Output, error) { return host.Output{TimedOut: true}, nil }, "hg init was ended after 1h0m0s"},
	} {
		f := vcsStore(t, t.TempDir())
		f.Run = func(_ context.Context, c host.Cmd) (host.Output, error) { return tt.run(c.Argv) }
		url := map[string]string{Mercurial: "/none", Subversion: "file:///none"}[tt.role]
		if got := texts(t, f.over(t, tt.role, tt.role+"_remotes: ['"+url+"']")); !strings.Contains(got, tt.want) {
			t.Errorf("%s, want %s", got, tt.want)
		}
	}
	// More than a tree may have is not written.
	f := vcsStore(t, t.TempDir())
	f.Run = func(_ context.Context, c host.Cmd) (host.Output, error) {
		switch {
		case slices.Contains(c.Argv, "export"):
			t.Error("exported")
		case slices.Contains(c.Argv, "info"):
			return host.Output{Stdout: []byte(`<info><entry revision="1"><commit revision="1"/></entry></info>`)}, nil
		case slices.Contains(c.Argv, "-R"):
			return host.Output{Stdout: []byte(`<lists><list><entry kind="file"><name>a</name><size>9000000000</size></entry></list></lists>`)}, nil
		}
		return host.Output{Stdout: []byte(`<lists><list><entry kind="dir"><name>trunk</name><commit revision="1"/></entry></list></lists>`)}, nil
	}
	if got := texts(t, f.over(t, Subversion, "svnfs_remotes: ['file:///r']")); !strings.Contains(got, "its files have more than 8589934592 bytes") {
		t.Error(got)
	}
}
