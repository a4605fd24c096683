package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strings"
	"sync"
	"testing"
	"time"

	"brine/internal/py/value"
	"brine/internal/py/yamlsalt"
	"brine/internal/testkit/sshtest"
)

// The recordings of real Salt, see testdata/conformance/README.md. A case that
// brine does not match stands in conformance-open.txt with the reason; one
// that stands there and passes is a failure too, so that the list stays true.
const (
	corpusDir = "testdata/conformance"
	openFile  = "testdata/conformance-open.txt"
)

type recording struct {
	name, area string
	steps      []recStep
	setup      []string
	teardown   []string
	serial     bool
}

type recStep struct {
	program string
	argv    []string
	before  []string
	text    bool
	exit    int
}

func TestConformance(t *testing.T) {
	open := readOpen(t)
	dirs, err := os.ReadDir(corpusDir)
	if err != nil {
		t.Fatal(err)
	}
	var (
		mu            sync.Mutex
		passed, total = map[string]int{}, map[string]int{}
	)
	t.Run("case", func(t *testing.T) {
		for _, d := range dirs {
			if !d.IsDir() {
				continue
			}
			rec := readRecording(t, d.Name())
			t.Run(rec.name, func(t *testing.T) {
				if !rec.serial {
					t.Parallel()
				}
				if why := rec.lacks(); why != "" {
					t.Skip(why)
				}
				faults := rec.run(t, nil)
				mu.Lock()
				defer mu.Unlock()
				total[rec.area]++
				reason, isOpen := open[rec.name]
				delete(open, rec.name)
				switch {
				case len(faults) == 0 && isOpen:
					t.Errorf("passes, but stands in %s", openFile)
				case len(faults) == 0:
					passed[rec.area]++
				case isOpen:
					t.Logf("open: %s\n%s", reason, strings.Join(faults, "\n"))
				default:
					t.Error(strings.Join(faults, "\n"))
				}
			})
		}
	})
	areas := make([]string, 0, len(total))
	for a := range total {
		areas = append(areas, a)
	}
	sort.Strings(areas)
	for _, a := range areas {
		fmt.Printf("conformance: %-12s %3d/%d\n", a, passed[a], total[a])
	}
}

// readOpen reads the list of open cases: "NAME: reason" a line.
func readOpen(t *testing.T) map[string]string {
	t.Helper()
	open := map[string]string{}
	b, err := os.ReadFile(openFile)
	if errors.Is(err, fs.ErrNotExist) {
		return open
	}
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.SplitSeq(string(b), "\n") {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, reason, ok := strings.Cut(line, ": ")
		if !ok {
			t.Fatalf("%s: no reason given: %s", openFile, line)
		}
		open[name] = reason
	}
	return open
}

func readRecording(t *testing.T, name string) *recording {
	t.Helper()
	path := filepath.Join(corpusDir, name, "case.yaml")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	v, err := yamlsalt.Load(yamlsalt.LoadOptions{Name: path}, b)
	if err != nil {
		t.Fatal(err)
	}
	m, ok := v.(*value.Map)
	if !ok {
		t.Fatalf("%s: not a dict", path)
	}
	area, _, _ := strings.Cut(name, "-")
	rec := &recording{
		name: name, area: area, setup: texts(m.List("setup")), teardown: texts(m.List("teardown")),
		serial: value.Truth(m.At("serial")),
	}
	// A step without a setting of its own has the first one's.
	add := func(sm *value.Map) {
		s := recStep{argv: texts(sm.List("argv")), before: texts(sm.List("before")), program: sm.Str("program"), text: value.Truth(m.At("text"))}
		if s.program == "" {
			s.program = m.Str("program")
		}
		if v, ok := sm.Get("text"); ok {
			s.text = value.Truth(v)
		}
		n, _ := value.AsInt(sm.At("salt_exit"))
		s.exit = int(n)
		rec.steps = append(rec.steps, s)
	}
	add(m)
	if then := m.List("then"); then != nil {
		for _, x := range then.Items {
			add(x.(*value.Map))
		}
	}
	return rec
}

// texts returns a list of scalars as the recorder typed them on its command
// line.
func texts(l *value.List) []string {
	var out []string
	for i := range l.Len() {
		out = append(out, value.Str(l.Items[i]))
	}
	return out
}

// lacks says what this machine would need to run the case, or "".
func (r *recording) lacks() string {
	if r.needsRoot() && os.Geteuid() != 0 {
		return "creates users or runs as others: needs root"
	}
	for _, s := range r.steps {
		if _, err := exec.LookPath("/usr/bin/python3"); err != nil && slices.Contains(s.argv, "python3") {
			return "runs a line of Python: " + err.Error()
		}
	}
	return ""
}

// needsRoot reports whether the case makes accounts or becomes another user.
func (r *recording) needsRoot() bool {
	all := strings.Join(r.setup, "\n")
	for _, s := range r.steps {
		all += "\n" + strings.Join(s.argv, " ")
	}
	_ = filepath.WalkDir(filepath.Join(corpusDir, r.name, "tree"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			b, _ := os.ReadFile(path)
			all += "\n" + string(b)
		}
		return nil
	})
	return regexp.MustCompile(`runas|useradd|groupadd|chown|user: (nobody|daemon)|group: (nogroup|daemon)`).MatchString(all)
}

// world is where one case runs.
type world struct {
	rec                   *recording
	sshd                  *sshtest.Server // reaches the targets; nil: they are local
	tmp, tree, conf, root string
}

func (r *recording) run(t *testing.T, sshd *sshtest.Server) (faults []string) {
	root := t.TempDir()
	w := &world{rec: r, sshd: sshd, root: root, tmp: filepath.Join(root, "tmp"), tree: filepath.Join(root, "tree"), conf: filepath.Join(root, "conf")}
	w.layOut(t)
	defer func() {
		for _, c := range r.teardown {
			w.shell(t, c)
		}
	}()
	for _, c := range r.setup {
		w.shell(t, c)
	}
	for i, s := range r.steps {
		for _, c := range s.before {
			w.shell(t, c)
		}
		stdout, stderr, exit := w.exec(t, s)
		for _, f := range w.compare(i+1, s, stdout, stderr, exit) {
			faults = append(faults, fmt.Sprintf("step %d (%s %s): %s", i+1, s.program, strings.Join(s.argv, " "), f))
		}
	}
	return append(faults, w.compareFiles()...)
}

const (
	recorderHome = "/root" // of the account that made the recordings
	minionConf   = `id: minion1
file_client: local
file_roots: {base: ['@TREE@/salt']}
pillar_roots: {base: ['@TREE@/pillar']}
cachedir: '@CONF@/../cache'
`
	masterConf = `id: orch
file_roots: {base: ['@TREE@/salt']}
pillar_roots: {base: ['@TREE@/pillar']}
cachedir: '@CONF@/../cache'
timeout: 5
gather_job_timeout: 5
nodegroups:
  webs: 'G@role:web'
  pair: 'L@web1,db1'
roster_file: '@CONF@/roster'
`
	rosterConf = `web1: {host: 127.0.1.1, connection: local, grains: {role: web, dc: north, tags: [blue, canary]}}
web2: {host: 127.0.1.2, connection: local, grains: {role: web, dc: south, tags: [green]}}
db1: {host: 127.0.1.3, connection: local, grains: {role: db, dc: north, tags: [blue]}}
`
)

func (w *world) layOut(t *testing.T) {
	t.Helper()
	src := filepath.Join(corpusDir, w.rec.name, "tree")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, d := range []string{w.tmp, w.tree, w.conf, w.home(), filepath.Join(w.root, "cache")} {
		must(os.MkdirAll(d, 0o755))
	}
	if _, err := os.Stat(src); err == nil {
		must(filepath.WalkDir(src, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			rel, _ := filepath.Rel(src, path)
			dst := filepath.Join(w.tree, rel)
			info, err := d.Info()
			if err != nil {
				return err
			}
			switch {
			case d.IsDir():
				return os.MkdirAll(dst, 0o755)
			case d.Type()&fs.ModeSymlink != 0:
				target, err := os.Readlink(path)
				if err != nil {
					return err
				}
				return os.Symlink(w.fill(target), dst)
			}
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			return os.WriteFile(dst, []byte(w.fill(string(b))), info.Mode().Perm())
		}))
	}
	extra := func(name string) string {
		b, err := os.ReadFile(filepath.Join(w.tree, "etc", name))
		if err != nil {
			return ""
		}
		return string(b)
	}
	write := func(name, text string) {
		must(os.WriteFile(filepath.Join(w.conf, name), []byte(w.fill(text)), 0o644))
	}
	write("minion", minionConf+extra("minion"))
	roster := rosterConf
	master := masterConf + extra("master")
	if w.sshd != nil {
		roster = strings.ReplaceAll(roster, "connection: local, ", "")
		// The machines of other cases are the same account: they take turns.
		master += fmt.Sprintf("ssh_user: %s\nssh_priv: %s\nssh_port: %d\nssh_minion_opts: {state_queue: True}\n", w.sshd.User, w.sshd.Key, w.sshd.Port)
		must(os.MkdirAll(filepath.Join(w.home(), ".ssh"), 0o700))
		must(os.WriteFile(filepath.Join(w.home(), ".ssh", "known_hosts"), []byte(read(t, w.sshd.KnownHosts)), 0o600))
	}
	write("master", master)
	if r := extra("roster"); r != "" {
		roster = r
	}
	write("roster", roster)
	if g := extra("grains"); g != "" {
		write("grains", g)
	}
	for _, id := range []string{"web1", "web2", "db1"} {
		dir := filepath.Join(w.root, "minions", id, "conf")
		must(os.MkdirAll(dir, 0o755))
		must(os.WriteFile(filepath.Join(dir, "minion"), []byte(w.fill("id: "+id+"\nfile_client: local\ncachedir: '@CONF@/../cache'\n")), 0o644))
	}
}

func (w *world) fill(s string) string {
	self := brineProgram()
	return strings.NewReplacer("@TMP@", w.tmp, "@TREE@", w.tree, "@CONF@", w.conf, "@SALT@", "env BRINE_TEST_RUN=1 "+self).Replace(s)
}

// blank puts the placeholders back, and the recorder's account in place of the
// one that runs the test.
func (w *world) blank(s string) string {
	self := brineProgram()
	if me, err := user.Current(); err == nil {
		if g, err := user.LookupGroupId(me.Gid); err == nil {
			s = strings.ReplaceAll(s, "owned by "+me.Username+":"+g.Name, "owned by root:root")
		}
	}
	return strings.NewReplacer("env BRINE_TEST_RUN=1 "+self, "@SALT@", w.tmp, "@TMP@", w.tree, "@TREE@", w.conf, "@CONF@", w.home(), recorderHome).Replace(s)
}

// env is the environment of the machine that made the recordings, whatever this
// one has: commands print the shell, the home and the paths that they find.
func (w *world) env() []string {
	env := []string{
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "SHELL=/bin/bash", "HOME=" + w.home(),
		"LC_ALL=C.UTF-8", "COLUMNS=120", "TERM=", "NO_COLOR=", "BRINE_TEST_RUN=1", "XDG_RUNTIME_DIR=" + filepath.Join(w.root, "cache"),
		"TMPDIR=" + os.TempDir(), "BRINE_RUN_DIR=" + filepath.Join(w.root, "cache", "events"),
	}
	if w.sshd != nil {
		env = append(env, "XDG_CACHE_HOME="+filepath.Join(w.root, "xdg"))
	}
	return env
}

// home is the controller's.
func (w *world) home() string { return filepath.Join(w.root, "home") }

func (w *world) shell(t *testing.T, command string) {
	t.Helper()
	c := exec.Command("sh", "-c", w.fill(command))
	c.Dir, c.Env = w.tmp, w.env()
	if out, err := c.CombinedOutput(); err != nil {
		t.Logf("%s: %v: %s", command, err, out)
	}
}

func (w *world) exec(t *testing.T, s recStep) (stdout, stderr string, exit int) {
	t.Helper()
	words := strings.Fields(s.program)
	argv := append(words[1:], "-c", w.conf)
	has := func(prefixes ...string) bool {
		for _, a := range s.argv {
			for _, p := range prefixes {
				if strings.HasPrefix(a, p) {
					return true
				}
			}
		}
		return false
	}
	if s.text {
		if !has("--no-color", "--force-color") {
			argv = append(argv, "--no-color")
		}
	} else if !has("--out=", "--output=") {
		argv = append(argv, "--out=json")
	}
	if words[0] == "salt-ssh" {
		argv = append(argv, "-i")
	}
	for _, a := range s.argv {
		argv = append(argv, w.fill(a))
	}
	self := brineProgram()
	c := exec.Command(self)
	c.Args = append([]string{words[0]}, argv...)
	c.Dir, c.Env = w.tmp, w.env()
	var out, errb bytes.Buffer
	c.Stdout, c.Stderr = &out, &errb
	c.WaitDelay = 30 * time.Second
	err := c.Run()
	var ee *exec.ExitError
	if err != nil && !errors.As(err, &ee) && !errors.Is(err, exec.ErrWaitDelay) {
		t.Fatalf("%v: %v", c.Args, err)
	}
	return out.String(), errb.String(), c.ProcessState.ExitCode()
}

func (w *world) expected(name string) (string, bool) {
	b, err := os.ReadFile(filepath.Join(corpusDir, w.rec.name, name))
	return string(b), err == nil
}

func (w *world) compare(n int, s recStep, stdout, stderr string, exit int) (faults []string) {
	fault := func(format string, a ...any) { faults = append(faults, fmt.Sprintf(format, a...)) }
	if exit != s.exit {
		fault("exit status %d, want %d; stderr: %s", exit, s.exit, clip(stderr))
	}
	suffix := ""
	if n > 1 {
		suffix = fmt.Sprintf(".%d", n)
	}
	got := w.blank(stdout)
	if want, ok := w.expected("expected" + suffix + ".json"); ok {
		g, err := value.DecodeJSON(strings.NewReader(got))
		if err != nil {
			fault("stdout is no JSON: %v: %s; stderr: %s", err, clip(got), clip(stderr))
			return faults
		}
		wv, err := value.DecodeJSON(strings.NewReader(want))
		if err != nil {
			fault("the recording is no JSON: %v", err)
			return faults
		}
		if docs, ok := wv.(*value.Map).Get("@documents"); ok {
			// Salt printed several documents; brine prints the last one.
			wv = docs.(*value.List).Items[docs.(*value.List).Len()-1]
		}
		d := &differ{}
		d.diff("", wv, g)
		faults = append(faults, d.faults...)
		return faults
	}
	want, ok := w.expected("expected" + suffix + ".txt")
	if !s.text && (!ok || strings.Contains(want, "<docstring>")) && isErrorDocument(got) {
		// brine's error is JSON too where JSON was asked for.
		return faults
	}
	if strings.Contains(want, "<docstring>") {
		// Salt prints the function's documentation; ours are other words.
		return faults
	}
	faults = append(faults, diffText(want, got)...)
	return faults
}

// isErrorDocument reports whether s is brine's JSON for an error.
func isErrorDocument(s string) bool {
	var doc struct{ Error string }
	return json.Unmarshal([]byte(s), &doc) == nil && doc.Error != ""
}

func clip(s string) string {
	if len(s) > 600 {
		return s[:600] + "..."
	}
	return s
}

// A differ compares parsed JSON as the corpus's README asks.
type differ struct{ faults []string }

func (d *differ) fault(path, format string, a ...any) {
	d.faults = append(d.faults, path+": "+fmt.Sprintf(format, a...))
}

var maskedKeys = map[string]bool{
	"duration": true, "start_time": true, "jid": true, "__jid__": true, "__pub_jid": true, "__pub_pid": true, "pid": true,
}

func (d *differ) diff(path string, want, got value.Value) {
	if len(d.faults) > 12 {
		return
	}
	switch w := want.(type) {
	case *value.Map:
		g, ok := got.(*value.Map)
		if !ok {
			d.fault(path, "want a dict, got %s", clip(value.Repr(got)))
			return
		}
		for k, wv := range w.All() {
			gv, ok := g.Get(k)
			switch {
			case !ok:
				d.fault(path, "no key %s", value.Repr(k))
			case maskedKeys[value.Str(k)] && value.Str(wv) != "" && strings.HasPrefix(value.Str(wv), "<"):
				if gv == nil {
					d.fault(path+"/"+value.Str(k), "is empty")
				}
			default:
				d.diff(path+"/"+value.Str(k), wv, gv)
			}
		}
		for k := range g.All() {
			if !w.Has(k) {
				d.fault(path, "key too many: %s = %s", value.Repr(k), clip(value.Repr(g.At(k))))
			}
		}
		d.order(path, w, g)
	case *value.List:
		g, ok := got.(*value.List)
		if !ok || g.Len() != w.Len() {
			d.fault(path, "want %s\n\tgot  %s", clip(value.Repr(w)), clip(value.Repr(got)))
			return
		}
		gi := g.Items
		if strings.Contains(path, "/removed") {
			gi = append([]value.Value(nil), gi...)
			sort.Slice(gi, func(i, j int) bool { return value.Str(gi[i]) < value.Str(gi[j]) })
		}
		for i := range w.Items {
			d.diff(fmt.Sprintf("%s/%d", path, i), w.Items[i], gi[i])
		}
	case string:
		if !matchText(w, value.Str(got)) || value.TypeName(got) != "str" && !strings.HasPrefix(w, "<") {
			d.fault(path, "want %q\n\tgot  %s", w, value.Repr(got))
		}
	default:
		if !value.Equal(want, got) || value.TypeName(want) != value.TypeName(got) {
			d.fault(path, "want %s, got %s", value.Repr(want), clip(value.Repr(got)))
		}
	}
}

// order compares the order of execution of a run.
func (d *differ) order(path string, want, got *value.Map) {
	var w, g []string
	for k, v := range want.All() {
		if m, ok := v.(*value.Map); ok && m.Has("__run_num__") {
			w = append(w, value.Str(k))
		}
	}
	if len(w) < 2 {
		return
	}
	byNum := func(keys []string, m *value.Map) {
		sort.SliceStable(keys, func(i, j int) bool {
			a, _ := value.AsInt(m.Map(keys[i]).At("__run_num__"))
			b, _ := value.AsInt(m.Map(keys[j]).At("__run_num__"))
			return a < b
		})
	}
	for k, v := range got.All() {
		if m, ok := v.(*value.Map); ok && m.Has("__run_num__") {
			g = append(g, value.Str(k))
		}
	}
	byNum(w, want)
	byNum(g, got)
	if a, b := strings.Join(w, "\n"), strings.Join(g, "\n"); a != b && len(d.faults) == 0 {
		d.fault(path, "order of execution: want\n%s\ngot\n%s", a, b)
	}
}

var placeholders = regexp.MustCompile(`<(time|duration|jid|pid|path|addr|host)>`)

// matchText compares text whose masked places stand for anything; of a Python
// traceback only what stands before it counts.
func matchText(want, got string) bool {
	if before, _, ok := strings.Cut(want, "Traceback (most recent call last)"); ok {
		head := strings.TrimRight(before, "\n ")
		return strings.HasPrefix(got, head)
	}
	if want == got {
		return true
	}
	if sortNames(want) == sortNames(got) {
		return true
	}
	if !placeholders.MatchString(want) {
		return false
	}
	return maskPattern(want).MatchString(got)
}

func maskPattern(want string) *regexp.Regexp {
	var b strings.Builder
	b.WriteString(`(?s)\A`)
	last := 0
	for _, m := range placeholders.FindAllStringIndex(want, -1) {
		b.WriteString(regexp.QuoteMeta(want[last:m[0]]))
		b.WriteString(`.+?`)
		last = m[1]
	}
	b.WriteString(regexp.QuoteMeta(want[last:]))
	b.WriteString(`\z`)
	return regexp.MustCompile(b.String())
}

var nameLists = regexp.MustCompile(`(ran on|Updating|No changes made to|failed on minions:|requisite failed:) ([^\n]*?)(\.( |$)|$)`)

// sortNames sorts the comma lists of names whose order Salt leaves to chance.
func sortNames(s string) string {
	return nameLists.ReplaceAllStringFunc(s, func(m string) string {
		p := nameLists.FindStringSubmatch(m)
		names := strings.Split(p[2], ", ")
		sort.Strings(names)
		return p[1] + " " + strings.Join(names, ", ") + p[3]
	})
}

var runTime = regexp.MustCompile(`(Total run time:)\s+[0-9.]+ m?s`)

func diffText(want, got string) (faults []string) {
	w, g := textLines(want), textLines(runTime.ReplaceAllString(got, "$1 <duration>"))
	for i := 0; i < max(len(w), len(g)); i++ {
		switch {
		case i >= len(w):
			faults = append(faults, fmt.Sprintf("line %d too many: %q", i+1, g[i]))
		case i >= len(g):
			faults = append(faults, fmt.Sprintf("line %d missing: %q", i+1, w[i]))
		case w[i] != g[i] && !matchText(w[i], g[i]):
			faults = append(faults, fmt.Sprintf("line %d: want %q\n\tgot  %q", i+1, w[i], g[i]))
		}
		if len(faults) > 6 {
			break
		}
	}
	return faults
}

func textLines(s string) []string {
	lines := strings.Split(strings.TrimRight(s, " \n"), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return lines
}

// compareFiles compares what is below the scratch directory at the end.
func (w *world) compareFiles() (faults []string) {
	text, ok := w.expected("expected.files.json")
	if !ok {
		return nil
	}
	v, err := value.DecodeJSON(strings.NewReader(text))
	if err != nil {
		return []string{"expected.files.json: " + err.Error()}
	}
	want := v.(*value.Map)
	got := map[string]*value.Map{}
	_ = filepath.WalkDir(w.tmp, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == w.tmp {
			return nil
		}
		rel, _ := filepath.Rel(w.tmp, path)
		m := value.NewMap(3)
		info, err := d.Info()
		if err != nil {
			return nil
		}
		switch {
		case d.Type()&fs.ModeSymlink != 0:
			target, _ := os.Readlink(path)
			m.Set("type", "link")
			m.Set("target", w.blank(target))
		case d.IsDir():
			m.Set("type", "dir")
			m.Set("mode", unixMode(info.Mode()))
		default:
			b, _ := os.ReadFile(path)
			m.Set("type", "file")
			m.Set("mode", unixMode(info.Mode()))
			m.Set("text", w.blank(string(b)))
		}
		got[rel] = m
		return nil
	})
	for k, x := range want.All() {
		name := value.Str(k)
		g, ok := got[name]
		if !ok {
			faults = append(faults, "file "+name+" is missing")
			continue
		}
		delete(got, name)
		for f, wv := range x.(*value.Map).All() {
			gv := g.At(f)
			if !value.Equal(wv, gv) && !matchText(value.Str(wv), value.Str(gv)) {
				if f == "text" || f == "mode" || f == "type" || f == "target" {
					faults = append(faults, fmt.Sprintf("file %s: %s: want %s\n\tgot  %s", name, f, clip(value.Repr(wv)), clip(value.Repr(gv))))
				}
			}
		}
	}
	var extra []string
	for name := range got {
		extra = append(extra, name)
	}
	sort.Strings(extra)
	for _, name := range extra {
		faults = append(faults, "file too many: "+name)
	}
	return faults
}

func unixMode(m fs.FileMode) string {
	u := uint32(m.Perm())
	if m&fs.ModeSetuid != 0 {
		u |= 0o4000
	}
	if m&fs.ModeSetgid != 0 {
		u |= 0o2000
	}
	if m&fs.ModeSticky != 0 {
		u |= 0o1000
	}
	return fmt.Sprintf("0%03o", u)
}
