package undo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
)

// envOf returns an Env of a run on a fake machine, which keeps what it changes in dir.
func envOf(h host.Host, dir, jid string) *fun.Env {
	return &fun.Env{
		Identity: fun.Identity{ID: "web1", JID: jid},
		Data:     fun.Data{Opts: value.NewMap(0), Memo: &fun.Memo{}},
		Machine:  fun.Machine{Host: h, CacheDir: dir},
	}
}

const (
	firstRun  = "20261121090807123456"
	secondRun = "20261121090808123456"
	thirdRun  = "20261121090809123456"
)

// act runs do as a state of a run.
func act(t *testing.T, r *Run, env *fun.Env, id string, do func(h host.Host) error) {
	t.Helper()
	c := &fun.Chunk{State: "file", Fun: "managed", ID: id, Name: id, Low: value.NewMap(0)}
	h, after := r.State(t.Context(), env, c, &fun.Spec{Files: true})
	_ = do(h) // that it fails is a change as well
	after(value.MapOf("result", true, "changes", value.MapOf("x", true)))
}

// tree is all that a machine has, a line a path.
func tree(t *testing.T, h host.Host, dir string) string {
	t.Helper()
	var out []string
	var walk func(name string)
	walk = func(name string) {
		names, err := h.ReadDir(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, base := range names {
			at := path.Join(name, base)
			st, err := h.Lstat(at)
			if err != nil {
				t.Fatal(err)
			}
			line := fmt.Sprintf("%s %v %d:%d", at, st.Mode, st.UID, st.GID)
			switch st.Mode.Type() {
			case fs.ModeDir:
				line += fmt.Sprint(" ", st.Mtime.UnixNano())
			case 0:
				b, err := h.ReadFile(at)
				if err != nil {
					t.Fatal(err)
				}
				line += fmt.Sprintf(" %q %d", b, st.Mtime.UnixNano())
			case fs.ModeSymlink:
				to, _ := h.Readlink(at)
				line += " -> " + to
			}
			out = append(out, line)
			if st.Mode.IsDir() {
				walk(at)
			}
		}
	}
	walk(dir)
	sort.Strings(out)
	return strings.Join(out, "\n")
}

// The methods of host.Files that change nothing, and so need not be kept.
var looking = []string{"CheckSystem", "EvalSymlinks", "Lstat", "Open", "ReadDir", "ReadFile", "ReadTarget", "Readlink", "Stat", "Target"}

// TestKeeperSeesAll: what changes a machine through its files goes through the Keeper, also
// a method that is added one day.
func TestKeeperSeesAll(t *testing.T) {
	t.Parallel()
	check := func(of reflect.Type, by any, none []string) {
		for m := range of.Methods() {
			own, ok := reflect.TypeOf(by).MethodByName(m.Name)
			if !ok {
				t.Fatalf("%T has no method %s", by, m.Name)
			}
			file, _ := runtime.FuncForPC(own.Func.Pointer()).FileLine(own.Func.Pointer())
			if kept := filepath.Base(file) == "keeper.go"; kept == slices.Contains(none, m.Name) {
				t.Errorf("%T.%s: kept is %v", by, m.Name, kept)
			}
		}
	}
	check(reflect.TypeFor[host.Files](), &Keeper{}, looking)
	check(reflect.TypeFor[host.Root](), &root{}, []string{"Close", "Lstat"})
	check(reflect.TypeFor[host.Processes](), &Keeper{}, []string{"LookPath", "SignalGroups", "CloseAll", "Environ", "Setenv", "Unsetenv", "Getwd", "Getpid"})
}

// change makes one random change below /srv.
func change(rnd *rand.Rand, h host.Host, n int) error {
	name := func() string {
		at := "/srv"
		for range 1 + rnd.IntN(3) {
			at = path.Join(at, string(rune('a'+rnd.IntN(4))))
		}
		return at
	}
	p, text := name(), fmt.Sprintf("text %d\n", n)
	mode := []fs.FileMode{0o600, 0o644, 0o755}[rnd.IntN(3)]
	uid := rnd.IntN(3)
	switch rnd.IntN(15) {
	case 0, 1:
		return h.WriteFile(p, strings.NewReader(text), host.WriteOptions{Mode: &mode})
	case 2:
		return h.WriteFile(p, strings.NewReader(text), host.WriteOptions{FollowLinks: true})
	case 3:
		return h.AppendFile(p, []byte(text), 0o644)
	case 4:
		return h.Mkdir(p, 0o755)
	case 5:
		return h.MkdirAll(p, 0o755)
	case 6:
		return h.Remove(p)
	case 7:
		return h.RemoveAll(p)
	case 8:
		return h.Rename(p, name())
	case 9:
		return h.Symlink(name(), p)
	case 10:
		return h.Link(name(), p)
	case 11:
		return h.Chmod(p, mode)
	case 12:
		return h.Lchown(p, uid, uid)
	case 13:
		return h.Chtimes(p, time.Unix(1, 0), time.Unix(int64(n), 0))
	}
	r, err := h.OpenRoot("/srv")
	if err != nil {
		return err
	}
	defer r.Close()
	rel := strings.TrimPrefix(p, "/srv/")
	switch rnd.IntN(5) {
	case 0:
		return r.WriteFile(rel, strings.NewReader(text), host.WriteOptions{Mode: &mode})
	case 1:
		return r.MkdirAll(rel, 0o755)
	case 2:
		return r.RemoveAll(rel)
	case 3:
		return r.Symlink("to", rel)
	}
	return r.Chmod(rel, mode)
}

// TestUndoIsTheInverse: whatever a run does to files, the machine is as before when it is
// undone, and as the run left it when that is undone in turn.
func TestUndoIsTheInverse(t *testing.T) {
	t.Parallel()
	for seed := range uint64(120) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		h := host.NewFake()
		if err := h.MkdirAll("/srv", 0o755); err != nil {
			t.Fatal(err)
		}
		for n := range 20 {
			_ = change(rnd, h, n)
		}
		before := tree(t, h, "/srv")
		dir := t.TempDir()
		env := envOf(h, dir, firstRun)
		r, err := Begin(env)
		if err != nil {
			t.Fatal(err)
		}
		for n := range 1 + rnd.IntN(12) {
			act(t, r, env, fmt.Sprint("s", n), func(h host.Host) error { return change(rnd, h, 100+n) })
		}
		r.End(env)
		after := tree(t, h, "/srv")
		if after == before {
			continue
		}
		store := StoreOf(env)
		undo := func(of, by string, want string) {
			planned, err := store.Undo(t.Context(), envOf(h, dir, by), of, Options{Test: true})
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			now := tree(t, h, "/srv")
			items, err := store.Undo(t.Context(), envOf(h, dir, by), of, Options{})
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			if got := tree(t, h, "/srv"); got != want {
				t.Errorf("seed %d: undo of %s: want\n%s\n\nwas\n%s\n\ngot\n%s\n\nitems %s", seed, of, want, now, got, shown(items))
			}
			for i, it := range items {
				if strings.Contains(it.Comment, "a file of its own") && strings.Contains(planned[i].Comment, "a file of its own") {
					continue // all but its further names is as before, which is said before and behind
				}
				if it.Verdict != Back && it.Verdict != Already {
					t.Errorf("seed %d: undo of %s: %s: %d %s", seed, of, it.Name, it.Verdict, it.Comment)
				}
				if planned[i].Name != it.Name || planned[i].Verdict != it.Verdict {
					t.Errorf("seed %d: %s was to be %d, and is %d: %s", seed, it.Name, planned[i].Verdict, it.Verdict, it.Comment+shown(planned)+"\nwas\n"+before+"\nleft\n"+now)
				}
			}
		}
		undo(firstRun, secondRun, before)
		undo(secondRun, thirdRun, after)
		if t.Failed() {
			return
		}
	}
}

func shown(items []*Item) string {
	var b strings.Builder
	for _, it := range items {
		fmt.Fprintf(&b, "\n%s %s (%s): %d %s", it.Kind, it.Name, it.ID, it.Verdict, it.Comment)
	}
	return b.String()
}

// ranFiles is a machine on which a run has changed and made files.
func ranFiles(t *testing.T) (*host.Fake, string) {
	t.Helper()
	h := host.NewFake()
	dir := t.TempDir()
	write(t, h, "/etc/app/conf", "old\n")
	write(t, h, "/etc/app/other", "other\n")
	write(t, h, "/srv/there", "there\n")
	env := envOf(h, dir, firstRun)
	r, err := Begin(env)
	if err != nil {
		t.Fatal(err)
	}
	act(t, r, env, "conf", func(h host.Host) error {
		return h.WriteFile("/etc/app/conf", strings.NewReader("new\n"), host.WriteOptions{})
	})
	act(t, r, env, "made", func(h host.Host) error {
		if err := h.MkdirAll("/srv/made", 0o755); err != nil {
			return err
		}
		return h.WriteFile("/srv/made/file", strings.NewReader("made\n"), host.WriteOptions{})
	})
	act(t, r, env, "gone", func(h host.Host) error { return h.Remove("/etc/app/other") })
	r.End(env)
	return h, dir
}

func write(t *testing.T, h host.Host, name, text string) {
	t.Helper()
	if err := h.MkdirAll(path.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := h.WriteFile(name, strings.NewReader(text), host.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
}

// What others have changed since a run is left as it is, and named.
func TestChangedSince(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		do    func(h host.Host) error
		at    string
		want  string
		force bool
	}{
		"content":         {func(h host.Host) error { return h.AppendFile("/etc/app/conf", []byte("mine\n"), 0o644) }, "/etc/app/conf", "its content is another one", false},
		"mode":            {func(h host.Host) error { return h.Chmod("/etc/app/conf", 0o600) }, "/etc/app/conf", "its mode is 0600 now", false},
		"owner":           {func(h host.Host) error { return h.Chown("/etc/app/conf", 5, 5) }, "/etc/app/conf", "it belongs to 5:5 now", false},
		"gone":            {func(h host.Host) error { return h.Remove("/etc/app/conf") }, "/etc/app/conf", "it is gone", false},
		"there again":     {func(h host.Host) error { return h.AppendFile("/etc/app/other", []byte("mine\n"), 0o644) }, "/etc/app/other", "there is a file now", false},
		"others' files":   {func(h host.Host) error { return h.AppendFile("/srv/made/mine", []byte("mine\n"), 0o644) }, "/srv/made", "it holds what the run did not make: mine", false},
		"content, forced": {func(h host.Host) error { return h.AppendFile("/etc/app/conf", []byte("mine\n"), 0o644) }, "/etc/app/conf", "", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, dir := ranFiles(t)
			if err := x.do(h); err != nil {
				t.Fatal(err)
			}
			env := envOf(h, dir, secondRun)
			before := tree(t, h, "/")
			planned, err := StoreOf(env).Undo(t.Context(), env, firstRun, Options{Test: true, Force: x.force})
			if err != nil {
				t.Fatal(err)
			}
			if now := tree(t, h, "/"); now != before {
				t.Errorf("test mode changed the machine:\n%s\n\n%s", before, now)
			}
			items, err := StoreOf(env).Undo(t.Context(), env, firstRun, Options{Force: x.force})
			if err != nil {
				t.Fatal(err)
			}
			found := false
			for i, it := range items {
				if it.Verdict != planned[i].Verdict {
					t.Errorf("%s was to be %d and is %d", it.Name, planned[i].Verdict, it.Verdict)
				}
				if it.Name != x.at {
					if it.Verdict != Back {
						t.Errorf("%s: %d %s", it.Name, it.Verdict, it.Comment)
					}
					continue
				}
				found = true
				if x.force != (it.Verdict == Back) || !strings.Contains(it.Comment, x.want) || !x.force && it.Verdict != Since {
					t.Errorf("%s: %d %s", it.Name, it.Verdict, it.Comment)
				}
			}
			if !found {
				t.Errorf("%s is not among %s", x.at, shown(items))
			}
			if x.force {
				if b, _ := h.ReadFile("/etc/app/conf"); string(b) != "old\n" {
					t.Errorf("conf is %q", b)
				}
			}
			rec, err := StoreOf(env).Read(firstRun)
			if err != nil || (rec.Undone != "") != x.force {
				t.Errorf("undone by %q, %v", rec.Undone, err)
			}
		})
	}
}

// timeless is a host that does not set times, and says nothing of it.
type timeless struct{ host.Host }

func (timeless) Chtimes(string, time.Time, time.Time) error { return nil }

// TestNotAsBefore: what is not as it was after all is named, not what was brought back.
func TestNotAsBefore(t *testing.T) {
	t.Parallel()
	h, dir := ranFiles(t)
	env := envOf(timeless{h}, dir, secondRun)
	items, err := StoreOf(env).Undo(t.Context(), env, firstRun, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, it := range items {
		const want = "it was brought back, and is not as it was before the run: the time of its content is another one"
		if it.Name == "/etc/app/conf" && it.Verdict == Fault && it.Comment == want {
			return
		}
		t.Logf("%s: %d %s", it.Name, it.Verdict, it.Comment)
	}
	t.Error("/etc/app/conf is not told as it is")
}

// A run that was killed keeps what it had done: what it had not looked at any more is not
// touched without a word.
func TestKilledRun(t *testing.T) {
	t.Parallel()
	h := host.NewFake()
	dir := t.TempDir()
	write(t, h, "/etc/a", "old a\n")
	write(t, h, "/etc/b", "old b\n")
	env := envOf(h, dir, firstRun)
	r, err := Begin(env)
	if err != nil {
		t.Fatal(err)
	}
	act(t, r, env, "a", func(h host.Host) error {
		return h.WriteFile("/etc/a", strings.NewReader("new a\n"), host.WriteOptions{})
	})
	c := &fun.Chunk{State: "file", Fun: "managed", ID: "b", Name: "b", Low: value.NewMap(0)}
	k, _ := r.State(t.Context(), env, c, nil)
	if err := k.WriteFile("/etc/b", strings.NewReader("new b\n"), host.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	// The process ends here, in the middle of a line.
	if _, err := r.log.file.WriteString(`{"path":"/etc/b","now":{"ty`); err != nil {
		t.Fatal(err)
	}
	r.log.file.Close()
	env = envOf(h, dir, secondRun)
	items, err := StoreOf(env).Undo(t.Context(), env, firstRun, Options{})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]Verdict{}
	for _, it := range items {
		got[it.Name] = it.Verdict
	}
	if got["/etc/a"] != Back || got["/etc/b"] != Since {
		t.Errorf("items %s", shown(items))
	}
	env = envOf(h, dir, thirdRun)
	if items, err = StoreOf(env).Undo(t.Context(), env, firstRun, Options{Force: true}); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"/etc/a": "old a\n", "/etc/b": "old b\n"} {
		if b, _ := h.ReadFile(name); string(b) != want {
			t.Errorf("%s is %q: %s", name, b, shown(items))
		}
	}
}

// What cannot be kept is not changed, and what is kept damaged is not brought back.
func TestStoreFaults(t *testing.T) {
	t.Parallel()
	t.Run("damaged", func(t *testing.T) {
		t.Parallel()
		h, dir := ranFiles(t)
		env := envOf(h, dir, secondRun)
		rec, err := StoreOf(env).Read(firstRun)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range rec.Paths {
			if p.Name == "/etc/app/conf" {
				name := filepath.Join(rec.dir, packFile)
				b, _ := os.ReadFile(name)
				b[rec.packed[p.Was.Sum].at] ^= 1
				if err := os.WriteFile(name, b, 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
		items, err := StoreOf(env).Undo(t.Context(), env, firstRun, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, it := range items {
			if it.Name == "/etc/app/conf" && it.Verdict != Fault {
				t.Errorf("%d %s", it.Verdict, it.Comment)
			}
		}
		if b, _ := h.ReadFile("/etc/app/conf"); string(b) != "new\n" {
			t.Errorf("conf is %q", b)
		}
	})
	t.Run("others can enter it", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		env := envOf(host.NewFake(), dir, firstRun)
		if err := os.MkdirAll(filepath.Join(dir, "undo", "web1", firstRun), 0o755); err != nil {
			t.Fatal(err)
		}
		if _, err := Begin(env); err == nil {
			t.Error("a directory that others can enter was used")
		}
	})
	t.Run("jids", func(t *testing.T) {
		t.Parallel()
		env := envOf(host.NewFake(), t.TempDir(), secondRun)
		for _, jid := range []string{"", "..", "../../x", "2026112109080712345", "20261121090807123456/..", "2026112109080712345x"} {
			if _, err := StoreOf(env).Read(jid); err == nil {
				t.Errorf("%q was read", jid)
			}
			if err := StoreOf(env).Drop(jid); err == nil {
				t.Errorf("%q was dropped", jid)
			}
		}
		if _, err := StoreOf(env).Read(firstRun); !IsNone(err) {
			t.Errorf("a run of which nothing is kept: %v", err)
		}
	})
	t.Run("old runs go", func(t *testing.T) {
		t.Parallel()
		h, dir := ranFiles(t)
		env := envOf(h, dir, secondRun)
		s := StoreOf(env)
		s.bytes = 1
		if got := s.sweep(secondRun); !slices.Equal(got, []string{firstRun}) {
			t.Errorf("dropped %v", got)
		}
		if got := s.sweep(firstRun); len(got) > 0 {
			t.Errorf("dropped %v", got)
		}
	})
	t.Run("a run that changes nothing leaves nothing", func(t *testing.T) {
		t.Parallel()
		env := envOf(host.NewFake(), t.TempDir(), firstRun)
		r, err := Begin(env)
		if err != nil {
			t.Fatal(err)
		}
		_, after := r.State(t.Context(), env, &fun.Chunk{State: "file", Fun: "managed", Low: value.NewMap(0)}, nil)
		after(value.MapOf("result", true, "changes", value.NewMap(0)))
		r.End(env)
		if jids, err := StoreOf(env).JIDs(); err != nil || len(jids) > 0 {
			t.Errorf("%v, %v", jids, err)
		}
	})
}

// Files of all sizes come back: small ones share a file, large ones have one of their own.
func TestSizes(t *testing.T) {
	t.Parallel()
	h := host.NewFake()
	dir := t.TempDir()
	env := envOf(h, dir, firstRun)
	old := map[string]string{}
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, size := range []int{0, 1, minDeflated - 1, minDeflated, maxPacked, maxPacked + 1, 1 << 20} {
		b := make([]byte, size)
		for i := range b {
			b[i] = byte(rnd.IntN(7))
			if size == maxPacked {
				b[i] = byte(rnd.Uint32())
			}
		}
		name := fmt.Sprint("/srv/f", size)
		old[name] = string(b)
		write(t, h, name, string(b))
	}
	r, err := Begin(env)
	if err != nil {
		t.Fatal(err)
	}
	for name := range old {
		act(t, r, env, name, func(h host.Host) error {
			return h.WriteFile(name, strings.NewReader("new"), host.WriteOptions{})
		})
	}
	r.End(env)
	env = envOf(h, dir, secondRun)
	if _, err := StoreOf(env).Undo(t.Context(), env, firstRun, Options{}); err != nil {
		t.Fatal(err)
	}
	for name, want := range old {
		if b, err := h.ReadFile(name); err != nil || string(b) != want {
			t.Errorf("%s has %d bytes, %v", name, len(b), err)
		}
	}
}

func TestMergeLines(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct{ was, left, cur, next, back, since string }{
		"added":                {"a:1\n", "a:1\nb:2\n", "a:1\nb:2\n", "a:1\n", "b", ""},
		"removed":              {"a:1\nb:2\n", "a:1\n", "a:1\nc:3\n", "a:1\nc:3\nb:2\n", "b", ""},
		"changed":              {"a:1\nb:2\n", "a:1\nb:9\n", "b:9\na:1\n", "b:2\na:1\n", "b", ""},
		"others' lines stay":   {"a:1\n", "a:1\nb:2\n", "a:5\nb:2\nc:3\n", "a:5\nc:3\n", "b", ""},
		"changed since":        {"a:1\n", "a:2\n", "a:3\n", "a:3\n", "", "a"},
		"as before already":    {"a:1\n", "a:2\n", "a:1\n", "a:1\n", "", ""},
		"several of one name":  {"a:1\na:2\n", "a:1\n", "a:1\nb:1\n", "a:1\na:2\nb:1\n", "a", ""},
		"several of one, gone": {"b:1\n", "a:1\na:2\nb:1\n", "a:1\na:2\nb:1\n", "b:1\n", "a", ""},
		"no newline at end":    {"a:1\nb:2", "a:1\n", "a:1\nc:3", "a:1\nc:3\nb:2", "b", ""},
	} {
		next, back, since := mergeLines([]byte(x.was), []byte(x.left), []byte(x.cur))
		if string(next) != x.next || strings.Join(back, " ") != x.back || strings.Join(since, " ") != x.since {
			t.Errorf("%s: %q, back %v, since %v", name, next, back, since)
		}
	}
}

// FuzzRead: a log of any content is read or refused.
func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"run":"20261121090807123456","version":1}` + "\n" + `{"path":"/etc/a","was":{"type":"file","mode":420,"sum":"../../etc/shadow"}}` + "\n" + `{"fact":"service","name":"x","was":null,"now":{}}` + "\n" + `{"state":"a","did":[1]}`))
	f.Add([]byte(`{"run":"20261121090807123456","version":1}` + "\n" + `{"fact":":service","name":"x","was":null}` + "\n"))
	f.Fuzz(func(t *testing.T, log []byte) {
		dir := t.TempDir()
		h := host.NewFake()
		env := envOf(h, dir, secondRun)
		env.Invoker = nothing{}
		at := filepath.Join(dir, "undo", "web1", firstRun)
		if err := os.MkdirAll(at, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(at, logFile), log, 0o600); err != nil {
			t.Fatal(err)
		}
		items, _ := StoreOf(env).Undo(t.Context(), env, firstRun, Options{Test: true, Force: true})
		Folded(items)
	})
}

// TestUnreadLines: what was kept and cannot be read is named, and not counted as undone.
func TestUnreadLines(t *testing.T) {
	for _, line := range []string{"{torn", "[]", `{"fact":"moon","name":"x","was":null}`, `{"shape":"unknown"}`} {
		dir := t.TempDir()
		at := filepath.Join(dir, "undo", "web1", firstRun)
		if err := os.MkdirAll(at, 0o700); err != nil {
			t.Fatal(err)
		}
		log := `{"run":"` + firstRun + `","version":1}` + "\n" + line + "\n" + `{"end":true}` + "\n"
		if err := os.WriteFile(filepath.Join(at, logFile), []byte(log), 0o600); err != nil {
			t.Fatal(err)
		}
		env := envOf(host.NewFake(), dir, secondRun)
		items, err := StoreOf(env).Undo(t.Context(), env, firstRun, Options{Test: true})
		if err != nil || len(items) != 1 || items[0].Verdict != Cannot || !strings.Contains(items[0].Comment, "cannot be read: 1") {
			t.Errorf("%s: %v, %v", line, items, err)
		}
	}
}

// TestHardLinks: a file that had further names has them again, under which they are found; else
// it is brought back as a file of its own, and that is said, before and behind, and again.
func TestHardLinks(t *testing.T) {
	t.Parallel()
	write := func(h host.Host, at string) error {
		return h.WriteFile(at, strings.NewReader("new"), host.WriteOptions{})
	}
	for name, x := range map[string]struct {
		change func(h host.Host) error
		items  int
		far    bool // its other name is where the run does nothing
	}{
		"replaced":      {func(h host.Host) error { return write(h, "/d/a") }, 1, false},
		"added to":      {func(h host.Host) error { return h.AppendFile("/d/a", []byte("more"), 0o644) }, 1, false},
		"removed":       {func(h host.Host) error { return h.Remove("/d/a") }, 1, false},
		"both replaced": {func(h host.Host) error { return errors.Join(write(h, "/d/a"), write(h, "/d/b")) }, 2, false},
		"both removed":  {func(h host.Host) error { return errors.Join(h.Remove("/d/a"), h.Remove("/d/b")) }, 2, false},
		"tree removed":  {func(h host.Host) error { return h.RemoveAll("/d") }, 3, false},
		"moved":         {func(h host.Host) error { return h.Rename("/d/a", "/d/c") }, 2, false},
		"added to, other removed": {func(h host.Host) error {
			return errors.Join(h.AppendFile("/d/a", []byte("more"), 0o644), h.Remove("/d/b"))
		}, 2, false},
		"mode, other replaced": {func(h host.Host) error { return errors.Join(h.Chmod("/d/a", 0o600), write(h, "/d/b")) }, 2, false},
		"mode":                 {func(h host.Host) error { return h.Chmod("/d/a", 0o600) }, 1, false},
		"far":                  {func(h host.Host) error { return write(h, "/d/a") }, 1, true},
		"far, added to":        {func(h host.Host) error { return h.AppendFile("/d/a", []byte("more"), 0o644) }, 1, true},
	} {
		dir, h := t.TempDir(), host.NewFake()
		b := "/d/b"
		if x.far {
			b = "/far/b"
		}
		if err := errors.Join(h.Mkdir("/d", 0o755), h.Mkdir("/far", 0o755), h.WriteFile("/d/a", strings.NewReader("old"), host.WriteOptions{}), h.Link("/d/a", b)); err != nil {
			t.Fatal(err)
		}
		env := envOf(h, dir, firstRun)
		r, err := Begin(env)
		if err != nil {
			t.Fatal(err)
		}
		before := tree(t, h, "/d")
		act(t, r, env, "a", x.change)
		r.End(env)
		env = envOf(h, dir, secondRun)
		wants, says := []Verdict{Back, Back, Already}, ""
		if x.far {
			wants, says = []Verdict{Back, Fault, Cannot}, "a file of its own"
		}
		for i, want := range wants {
			items, err := StoreOf(env).Undo(t.Context(), env, firstRun, Options{Test: i == 0})
			if err != nil || len(items) != x.items {
				t.Errorf("%s, %d: %s, %v", name, i, shown(items), err)
			}
			for _, it := range items {
				if it.Verdict != want || !strings.Contains(it.Comment, says) {
					t.Errorf("%s, %d: %s", name, i, shown(items))
				}
			}
			env = envOf(h, dir, thirdRun)
		}
		if got := tree(t, h, "/d"); got != before && !x.far {
			t.Errorf("%s:\nwas %s\nis %s", name, before, got)
		}
		one, err1 := h.Lstat("/d/a")
		two, err2 := h.Lstat(b)
		if err := errors.Join(err1, err2); err != nil || (one.Inode == two.Inode) == x.far {
			t.Errorf("%s: inodes %d and %d, %v", name, one.Inode, two.Inode, err)
		}
	}
}

// TestGoesOnIdle: what a run has kept stays where it goes on and then changes nothing.
func TestGoesOnIdle(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	env := envOf(host.NewFake(), dir, firstRun)
	for i := range 3 {
		r, err := Begin(env)
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			act(t, r, env, "a", func(h host.Host) error { return h.WriteFile("/a", strings.NewReader("x"), host.WriteOptions{}) })
		}
		r.End(env)
		if rec, err := StoreOf(env).Read(firstRun); err != nil || len(rec.Paths) != 1 || !rec.Ended || rec.Unread != 0 {
			t.Fatalf("after part %d: %+v, %v", i, rec, err)
		}
	}
	env = envOf(env.Host, dir, secondRun)
	r, err := Begin(env)
	if err != nil {
		t.Fatal(err)
	}
	r.End(env)
	if _, err := StoreOf(env).Read(secondRun); !IsNone(err) {
		t.Errorf("a run that changed nothing is kept: %v", err)
	}
}

// TestLongLog: of a log beyond its bound, what is not read is an item that cannot be undone.
func TestLongLog(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	env := envOf(host.NewFake(), dir, firstRun)
	r, err := Begin(env)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 50 {
		act(t, r, env, fmt.Sprint(i), func(h host.Host) error {
			return h.WriteFile(fmt.Sprintf("/f%d", i), strings.NewReader("x"), host.WriteOptions{})
		})
	}
	r.End(env)
	s := StoreOf(env)
	whole, err := s.Read(firstRun)
	if err != nil || whole.Unread != 0 || len(whole.Paths) != 50 {
		t.Fatalf("the whole log: %+v, %v", whole, err)
	}
	size := s.Size(firstRun)
	for _, bound := range []int64{size / 2, 1, 0} {
		s.maxLog = bound
		rec, err := s.Read(firstRun)
		if err != nil || rec.Unread == 0 || len(rec.Paths) >= 50 {
			t.Errorf("a bound of %d of %d bytes: %+v, %v", bound, size, rec, err)
		}
	}
	s.maxLog = size / 2
	env = envOf(env.Host, dir, secondRun)
	items, err := s.Undo(t.Context(), env, firstRun, Options{Test: true})
	if err != nil || !slices.ContainsFunc(items, func(it *Item) bool { return it.Verdict == Cannot && strings.Contains(it.Comment, "cannot be read") }) {
		t.Errorf("the undo of a part: %v, %v", items, err)
	}
}

// TestTornLine: a last line that a killed run did not write to its end is nothing that is
// not read, whatever is appended behind it; a line in the midst is.
func TestTornLine(t *testing.T) {
	t.Parallel()
	head := `{"run":"` + firstRun + `","version":1}` + "\n"
	for _, tt := range []struct {
		log    string
		unread int
	}{
		{head + `{"path":"/a","was`, 0},
		{head + `{"path":"/a","was":null}`, 0},
		{head + "{broken\n" + `{"path":"/a`, 1},
		{head + "{broken\n", 1},
		{head + "{broken\n" + `{"torn":true}` + "\n" + `{"pa`, 0},
	} {
		dir := t.TempDir()
		at := filepath.Join(dir, "undo", "web1", firstRun)
		if err := os.MkdirAll(at, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(at, logFile), []byte(tt.log), 0o600); err != nil {
			t.Fatal(err)
		}
		env := envOf(host.NewFake(), dir, firstRun)
		s := StoreOf(env)
		look := func(when string) {
			rec, err := s.Read(firstRun)
			if err != nil || rec.Unread != tt.unread {
				t.Errorf("%q %s: %+v, %v, want %d unread", tt.log, when, rec, err, tt.unread)
			}
		}
		look("at first")
		if err := s.note(firstRun, value.MapOf("undone", secondRun)); err != nil {
			t.Fatal(err)
		}
		look("with a note behind it")
		for range 2 { // a run that goes on
			r, err := Begin(env)
			if err != nil {
				t.Fatal(err)
			}
			r.End(env)
			look("after a run that goes on")
		}
	}
}

// nothing is an Invoker without functions.
type nothing struct{}

func (nothing) Invoke(context.Context, fun.Kind, string, fun.Args) (fun.Result, error) {
	return fun.Result{}, fun.Errorf("there is no such function")
}

func (nothing) Bind(*fun.Module, *fun.Spec, fun.Args) (*fun.Call, error) {
	return nil, fun.Errorf("there is no such function")
}
