//go:build linux

package assembly

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"brine/cmd/internal/reference"
	"brine/internal/core/dispatch"
	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/proc"
	"brine/internal/py/value"
)

// Root calls functions on paths in directories of mallory's, whose links lead to
// files of root's. Whatever function it is, the files of root stay as they are and
// what is in them is not shown.
//
// TestForeignLinks finds the functions by itself: all that have an argument of the
// type fun.Path. With BRINE_LINKS_ONLY it runs those whose name contains that. Their other arguments are those of their examples in the
// reference, or of linkArgs. It runs in a machine of its own (see jail_test.go).

const (
	mallory = 61234
	secret  = "root-only-content-7461"
	ownWord = "content-of-a-control" // in its place where a call is no attack
)

// victimText is what the file of root's has: the secret, and what examples look for.
const victimText = "# " + secret + "\n[section]\nkey = value\nPort 22\nfoo=1\n# begin\n# end\nlast\n"

// A linkKind is a way in which a link of mallory's is on a path.
type linkKind struct {
	name string
	path string // in the ground
	link string // that is made
	to   string
}

var linkKinds = []linkKind{
	{"a link to a file", "home/x", "home/x", "../etc/shadow"},
	{"a link to a new file", "home/x", "home/x", "../etc/new"},
	{"a link to a directory", "home/x", "home/x", "../etc"},
	{"a link on the way", "home/d/shadow", "home/d", "../etc"},
	{"a link on the way to a new file", "home/d/new", "home/d", "../etc"},
}

// A pathCall is a function with one of its path arguments.
type pathCall struct {
	kind fun.Kind
	mod  *fun.Module
	spec *fun.Spec
	arg  string
	list bool
	args *value.Map
}

func (p pathCall) String() string {
	return p.kind.Short() + " " + p.mod.Name + "." + p.spec.Name + " " + p.arg
}

// takesPath reports whether an argument is a path, and whether it is a list of them.
func takesPath(a *fun.Arg) (is, list bool) {
	list = fun.Elem(a.Type)&fun.Path != 0
	return list || a.Type&fun.Path != 0, list
}

// pathCalls returns all functions with each of their path arguments.
func pathCalls(t *testing.T, env *fun.Env) []pathCall {
	t.Helper()
	var out []pathCall
	for _, kind := range []fun.Kind{fun.Exec, fun.State} {
		for _, mod := range modules(kind) {
			for i := range mod.Specs {
				spec := &mod.Specs[i]
				for j := range spec.Args {
					a := &spec.Args[j]
					is, list := takesPath(a)
					if !is && !slices.Contains(alsoPaths, kind.Short()+" "+mod.Name+"."+spec.Name+" "+a.Name) {
						continue
					}
					for _, args := range argsOf(env, kind, mod, spec) {
						out = append(out, pathCall{kind, mod, spec, a.Name, list, args})
					}
				}
			}
		}
	}
	return out
}

// argsOf returns the arguments of calls that may succeed.
func argsOf(env *fun.Env, kind fun.Kind, mod *fun.Module, spec *fun.Spec) []*value.Map {
	name := mod.Name + "." + spec.Name
	if over := linkArgs[kind.Short()+" "+name]; over != nil {
		return over
	}
	args := value.NewMap(4)
	for _, a := range spec.Args {
		if a.Required {
			args.Set(a.Name, sampleOf(&a))
		}
	}
	example := reference.Example(mod, spec.Name)
	if kind == fun.State {
		for _, chunk := range chunksOf(env, mod, example) {
			if chunk.Str("state") == mod.Name && chunk.Str("fun") == spec.Name {
				for k, v := range chunk.All() {
					if s := value.Str(k); !strings.HasPrefix(s, "__") && !slices.Contains([]string{"state", "fun", "order", "require", "watch", "onchanges", "prereq"}, s) {
						args.Set(k, v)
					}
				}
			}
		}
	} else {
		for line := range strings.Lines(example) {
			words, err := proc.Split(strings.TrimSpace(line))
			if err != nil || len(words) < 2 || words[0] != "call" || words[1] != name {
				continue
			}
			words = slices.DeleteFunc(words[2:], func(w string) bool { return strings.HasPrefix(w, "--") })
			given := dispatch.ParseInput(words, nil)
			for i, v := range given.Pos {
				if i < len(spec.Args) {
					args.Set(spec.Args[i].Name, v)
				}
			}
			args.Update(given.Kw)
		}
	}
	return []*value.Map{args}
}

// chunksOf returns the low chunks of an example.
func chunksOf(env *fun.Env, mod *fun.Module, example string) []*value.Map {
	if example == "" || os.WriteFile("/srv/salt/example.sls", []byte(example+"\n"), 0o644) != nil {
		return nil
	}
	res, err := env.Invoker.Invoke(context.Background(), fun.Exec, "state.show_low_sls", fun.Args{Pos: []value.Value{"example"}})
	chunks, ok := res.Value.(*value.List)
	if err != nil || !ok {
		return nil
	}
	var out []*value.Map
	for _, c := range chunks.Items {
		if m, ok := c.(*value.Map); ok {
			out = append(out, m)
		}
	}
	return out
}

// run makes the call with a path and returns what it says.
func (p pathCall) run(env *fun.Env, path string) string {
	args := p.args.Copy()
	if args.Set(p.arg, path); p.list {
		args.Set(p.arg, value.Strings(path))
	}
	// What else is in the ground goes along: sources beside the path, for example.
	for k, v := range args.All() {
		if s, ok := v.(string); ok && strings.Contains(s, "@GROUND@") {
			args.Set(k, strings.ReplaceAll(s, "@GROUND@", groundOf(path)))
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), callTime)
	defer cancel()
	if p.kind == fun.State && args.At("name") == nil {
		args.Set("name", groundOf(path)+"/own/got")
	}
	c, err := env.Invoker.Bind(p.mod, p.spec, fun.Args{Kw: args})
	if err != nil {
		return err.Error()
	}
	if p.kind == fun.State {
		c.Low = &fun.Chunk{State: p.mod.Name, Fun: p.spec.Name, ID: "thing", Name: c.Name, SLS: "s", SaltEnv: "base", Low: args}
		ret := p.spec.State(ctx, c)
		if ret.Err != nil {
			return ret.Err.Error()
		}
		return value.Repr(ret.Changes) + value.Repr(ret.Comment)
	}
	res, err := p.spec.Fn(ctx, c)
	if err != nil {
		return err.Error()
	}
	return value.Repr(res.Value)
}

// groundOf returns the ground that a path is in.
func groundOf(path string) string {
	for _, part := range []string{"/home/", "/own/"} {
		if before, _, ok := strings.Cut(path, part); ok {
			return before
		}
	}
	return path
}

// A ground is a directory with files of root's (etc), what is mallory's (home), and
// a place where calls that are no attack are tried (own).
type ground string

func (g ground) at(p string) string { return filepath.Join(string(g), p) }

// lay makes the ground again, with the link of a kind.
func (g ground) lay(t *testing.T, k *linkKind) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, d := range []string{"etc", "home", "own"} {
		if os.RemoveAll(g.at(d)) != nil { // a call has made a file immutable
			_ = exec.Command("chattr", "-R", "-i", g.at(d)).Run()
			must(os.RemoveAll(g.at(d)))
		}
		must(os.MkdirAll(g.at(d), 0o755))
	}
	for _, d := range []string{"etc/sub", "etc/sub/empty", "own/sub/empty"} {
		must(os.MkdirAll(g.at(d), 0o700))
	}
	for _, repo := range []string{"etc/.git", "own/sub/.git"} {
		must(os.MkdirAll(g.at(repo+"/objects"), 0o755))
		must(os.MkdirAll(g.at(repo+"/refs"), 0o755))
		must(os.WriteFile(g.at(repo+"/HEAD"), []byte("ref: refs/heads/main\n"), 0o644))
	}
	old := time.Unix(1e9, 0)
	for p, mode := range map[string]os.FileMode{"etc/shadow": 0o600, "etc/sub/key": 0o600, "own/shadow": 0o600, "own/sub/key": 0o600, "own/x": 0o600} {
		must(os.MkdirAll(filepath.Dir(g.at(p)), 0o755))
		text := victimText
		if strings.HasPrefix(p, "own/") {
			text = strings.ReplaceAll(text, secret, ownWord)
		}
		must(os.WriteFile(g.at(p), []byte(text), mode))
		must(os.Chtimes(g.at(p), old, old))
	}
	_ = unix.Setxattr(g.at("etc/shadow"), "trusted.brine", []byte("x"), 0)
	must(os.Chown(g.at("home"), mallory, mallory))
	if k != nil {
		must(os.Symlink(k.to, g.at(k.link)))
		must(os.Lchown(g.at(k.link), mallory, mallory))
	}
}

// state lists all below a directory with all that can be known of it, but for when it
// was read.
func (g ground) state(dir string) string {
	var b strings.Builder
	_ = filepath.WalkDir(g.at(dir), func(p string, _ os.DirEntry, err error) error {
		var st unix.Stat_t
		if err != nil || unix.Lstat(p, &st) != nil {
			return nil
		}
		fmt.Fprintf(&b, "%s mode=%o owner=%d:%d size=%d mtime=%d ctime=%d links=%d ino=%d", p, st.Mode, st.Uid, st.Gid, st.Size, st.Mtim.Nano(), st.Ctim.Nano(), st.Nlink, st.Ino)
		names := make([]byte, 4096)
		if n, err := unix.Llistxattr(p, names); err == nil {
			for name := range strings.SplitSeq(string(names[:n]), "\x00") {
				v := make([]byte, 4096)
				if n, err := unix.Lgetxattr(p, name, v); err == nil && name != "" {
					fmt.Fprintf(&b, " %s=%q", name, v[:n])
				}
			}
		}
		if st.Mode&unix.S_IFMT == unix.S_IFREG {
			text, _ := os.ReadFile(p)
			fmt.Fprintf(&b, " %q", text)
		}
		b.WriteByte('\n')
		return nil
	})
	return b.String()
}

// told reports whether the secret is in a file of mallory's.
func (g ground) told() string {
	found := ""
	_ = filepath.WalkDir(g.at("home"), func(p string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if text, _ := os.ReadFile(p); strings.Contains(string(text), secret) {
				found = p
			}
		}
		return nil
	})
	return found
}

// matrix runs every call with every kind of link, and returns what escaped.
type matrix struct {
	calls, escapes int
	acted          map[string]bool // functions whose control wrote something
	showed         map[string]bool // those that returned what the file has
	slow           map[string]bool
	tried          map[*value.Map]bool
}

func (m *matrix) run(t *testing.T, g ground, p pathCall) {
	t.Helper()
	env := jailEnv()
	if !m.tried[p.args] || !m.acted[p.String()] { // the control: no attack
		m.tried[p.args] = true
		g.lay(t, nil)
		before, start := g.state("own"), time.Now()
		for _, path := range []string{"own/x", "own/new", "own/sub"} {
			said := p.run(env, g.at(path))
			if strings.Contains(said, ownWord) {
				m.showed[p.String()] = true
			}
			if os.Getenv("BRINE_LINKS_ONLY") != "" {
				t.Logf("%s %s: %.300s", p, path, said)
			}
		}
		m.acted[p.String()] = m.acted[p.String()] || g.state("own") != before
		m.slow[p.String()] = time.Since(start) > time.Second
	}
	for i := range linkKinds {
		k := &linkKinds[i]
		if m.slow[p.String()] && !m.acted[p.String()] && i != 0 && i != 3 {
			continue // a program that waits for a network
		}
		g.lay(t, k)
		before := g.state("etc")
		m.calls++
		m.look(t, g, p, k.name, before, p.run(env, g.at(k.path)))
	}
}

// look reports an escape.
func (m *matrix) look(t *testing.T, g ground, p pathCall, kind, before, said string) bool {
	t.Helper()
	why := ""
	switch after := g.state("etc"); {
	case after != before:
		why = "changed\n" + before + "to\n" + after
	case strings.Contains(said, secret):
		why = "showed what root's file has"
	case g.told() != "":
		why = "wrote what root's file has to " + g.told()
	default:
		return false
	}
	m.escapes++
	t.Errorf("%s: %s %s\nit said %.600s", p, kind, why, said)
	return true
}

// flip runs a call while mallory swaps a directory for a link to root's.
func (m *matrix) flip(t *testing.T, g ground, p pathCall) {
	t.Helper()
	env := jailEnv()
	g.lay(t, nil)
	sub, link, aside := g.at("home/sub"), g.at("home/evil"), g.at("home/aside")
	for _, err := range []error{os.Mkdir(sub, 0o755), os.Symlink("../etc", link), os.WriteFile(filepath.Join(sub, "shadow"), []byte("own\nfoo=1\n"), 0o644)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range []string{sub, link, filepath.Join(sub, "shadow")} {
		_ = os.Lchown(f, mallory, mallory)
	}
	before := g.state("etc")
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-stop:
				return
			default:
			}
			_ = os.Rename(sub, aside)
			_ = os.Rename(link, sub)
			_ = os.Rename(sub, link)
			_ = os.Rename(aside, sub)
		}
	}()
	said := ""
	for end := time.Now().Add(flipTime()); time.Now().Before(end); m.calls++ {
		said += p.run(env, filepath.Join(sub, "shadow"))
		if len(said) > 1<<16 {
			said = said[len(said)-1<<15:]
		}
	}
	close(stop)
	<-ended
	m.look(t, g, p, "a racing link", before, said)
}

// callTime is how long a call may take, whose program may wait for a network.
const callTime = 2 * time.Second

// flipTime is how long each call has its directory swapped. All calls reach files by one
// layer, so that a race which it does not see in one shows in another.
func flipTime() time.Duration {
	if os.Getenv("BRINE_SOAK") != "" {
		return 150 * time.Millisecond
	}
	return 40 * time.Millisecond
}

// jailEnv is the Env of a call on the machine itself.
func jailEnv() *fun.Env {
	env, _ := fakeEnv(host.NewLocal())
	env.CacheDir = "/var/cache/brine"
	env.Opts.Set("test", false)
	env.Opts.Set("cachedir", "/var/cache/brine")
	env.Opts.Set("file_roots", value.MapOf("base", value.Strings("/srv/salt")))
	newUpstream(env, nil).attach(context.Background(), env, nil)
	return env
}

// TestForeignLinks is the matrix, on several file systems.
func TestForeignLinks(t *testing.T) {
	if !enterJail(t) {
		return
	}
	prepareJail(t)
	calls := pathCalls(t, jailEnv())
	if only := os.Getenv("BRINE_LINKS_ONLY"); only != "" {
		calls = slices.DeleteFunc(calls, func(p pathCall) bool { return !strings.Contains(p.String(), only) })
	} else if len(calls) < 500 {
		t.Fatalf("only %d functions have a path", len(calls))
	}
	// Whatever waits for a network or a server, and further file systems, are for where
	// machines are required.
	thorough := strings.Contains(os.Getenv("BRINE_TEST_REQUIRE"), "machines")
	m := &matrix{acted: map[string]bool{}, showed: map[string]bool{}, slow: map[string]bool{}, tried: map[*value.Map]bool{}}
	for i, dir := range jailGrounds {
		if i > 0 && !thorough {
			break
		}
		started := time.Now()
		for _, p := range calls {
			if !thorough && notInJail[p.mod.Name] != "" {
				continue
			}
			if i > 0 && !m.acted[p.String()] {
				continue // it writes nowhere; the first file system is as good as the next
			}
			from := time.Now()
			m.run(t, ground(dir), p)
			if (m.acted[p.String()] || m.showed[p.String()]) && i == 0 {
				m.flip(t, ground(dir), p)
			}
			if d := time.Since(from); d > 5*time.Second {
				t.Logf("%s took %v", p, d)
			}
		}
		t.Logf("%s: %v", dir, time.Since(started))
	}
	acted := 0
	seen := map[string]bool{}
	for _, p := range calls {
		if seen[p.String()] {
			continue
		}
		seen[p.String()] = true
		if m.acted[p.String()] {
			acted++
		} else if p.kind == fun.State && notInJail[p.mod.Name] == "" && notInJail[p.mod.Name+"."+p.spec.Name+" "+p.arg] == "" {
			t.Errorf("%s does nothing here with the arguments of its example: give better ones in linkArgs, or say in notInJail why it cannot", p)
		}
	}
	t.Logf("%d calls of %d functions by path arguments, %d of which wrote there: %d escapes", m.calls, len(seen), acted, m.escapes)
}
