// Command all measures brine and its peers in one run, and prints the tables of
// docs/scale.md: on this machine (beside salt-call), over a real sshd (bench/ssh: ssh
// with and without open connections, pssh, clush, ansible) and as the controller of a
// simulated fleet (bench/scale). Each row has the median of its runs, the ratio to the
// quickest peer and, where one is known, what the machine itself needs for the same: the
// start of a program, dpkg's reading of its database, the sums of the files.
//
// Nothing here passes or fails. The load of the machine is printed before and after: on
// one that does other work, believe the CPU, not the wall time.
//
// usage: go run ./bench/all [-r RUNS] [-hosts N] [-targets COUNTS] [-only PARTS] [BRINE]
//
// SALT_CALL is the command of salt-call, with its arguments, such as "salt-call" or
// "/opt/salt/bin/python /opt/salt/bin/salt-call"; without it, that of PATH is measured.
package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

func main() {
	b := bench{out: os.Stdout}
	flag.IntVar(&b.runs, "r", 5, "runs of each command; the median is shown")
	flag.IntVar(&b.hosts, "hosts", 100, "hosts of the real sshd")
	flag.StringVar(&b.targets, "targets", "100 1000 10000", "targets of the simulated fleets")
	only := flag.String("only", "local,ssh,scale", "parts to measure")
	flag.Parse()
	if err := b.run(strings.Split(*only, ","), flag.Arg(0)); err != nil {
		fmt.Fprintln(os.Stderr, "all:", err)
		os.Exit(1)
	}
}

type bench struct {
	out     io.Writer
	runs    int
	hosts   int
	targets string
	tmp     string
	brine   string
	salt    []string // how salt-call is started; empty: it is not there
}

func (b *bench) run(parts []string, brine string) error {
	var err error
	if b.tmp, err = os.MkdirTemp("", "bench"); err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(b.tmp) }()
	if b.brine = brine; brine == "" {
		b.brine = filepath.Join(b.tmp, "brine")
		if err := b.script(os.Stderr, ".ci/build", b.brine); err != nil {
			return fmt.Errorf("build brine: %w", err)
		}
	}
	if b.brine, err = filepath.Abs(b.brine); err != nil {
		return err
	}
	if b.salt = strings.Fields(os.Getenv("SALT_CALL")); len(b.salt) == 0 {
		if path, err := exec.LookPath("salt-call"); err == nil {
			b.salt = []string{path}
		}
	}
	fmt.Fprintf(b.out, "%d cores, load %s at the start\n", runtime.NumCPU(), load())
	for _, part := range parts {
		switch part {
		case "local":
			err = b.local()
		case "ssh":
			err = b.ssh()
		case "scale":
			err = b.scale()
		default:
			err = fmt.Errorf("%q is not a part: local, ssh, scale", part)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", part, err)
		}
	}
	fmt.Fprintf(b.out, "\nload %s at the end\n", load())
	return nil
}

// script runs a script of this repository with its output to w.
func (b *bench) script(w io.Writer, argv ...string) error {
	c := exec.Command("sh", argv...)
	c.Stdout, c.Stderr = w, os.Stderr
	return c.Run()
}

func load() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	first, _, _ := strings.Cut(string(text), " ")
	return first
}

// A cost is what one run of a command needed.
type cost struct {
	wall, cpu time.Duration
	memory    int64 // KiB at most, of the largest process
}

// longest is how long a peer may take for one run: real Salt needs hours for some rows.
const longest = 5 * time.Minute

// errLong is of a run that was ended after [longest].
var errLong = errors.New("takes longer than " + longest.String())

// measure returns the median of the runs of a command, by their wall time. What takes more
// than a tenth of longest is run once.
func (b *bench) measure(argv ...string) (cost, error) {
	runs := make([]cost, 0, b.runs)
	for range b.runs {
		ctx, cancel := context.WithTimeout(context.Background(), longest)
		c := exec.CommandContext(ctx, argv[0], argv[1:]...)
		c.WaitDelay = time.Second
		var said bytes.Buffer
		c.Stderr = &said
		start := time.Now()
		err := c.Run()
		wall := time.Since(start)
		long := ctx.Err() != nil
		cancel()
		if long {
			return cost{}, errLong
		}
		if err != nil {
			return cost{}, fmt.Errorf("%s: %w\n%s", strings.Join(argv, " "), err, said.String())
		}
		runs = append(runs, cost{wall, c.ProcessState.UserTime() + c.ProcessState.SystemTime(), peak(c.ProcessState)})
		if wall > longest/10 {
			break
		}
	}
	slices.SortFunc(runs, func(a, b cost) int { return cmp.Compare(a.wall, b.wall) })
	return runs[len(runs)/2], nil
}

// A job is a row of the table of this machine.
type job struct {
	what  string
	args  []string // of "brine call" and of salt-call
	limit []string // a command that does no more than has to be done; nil: none
	of    string   // what limit is
}

// local measures runs on this machine, that change nothing but in a temporary directory.
func (b *bench) local() error {
	jobs, err := b.tree()
	if err != nil {
		return err
	}
	fmt.Fprintf(b.out, "\n| on this machine | brine: wall, ms | CPU, ms | memory, MiB | salt-call: wall, ms | ratio | limit: wall, ms |\n|---|---|---|---|---|---|---|\n")
	for _, j := range jobs {
		own := append([]string{b.brine, "call", "-c", b.tmp + "/conf", "--out=quiet"}, j.args...)
		if _, err := b.once(own); err != nil { // makes what the next ones find
			return err
		}
		got, err := b.measure(own...)
		if err != nil {
			return err
		}
		theirs, ratio := "-", "-"
		if len(b.salt) > 0 {
			c, err := b.measure(slices.Concat(b.salt, []string{"--local", "-c", b.tmp + "/salt.conf", "--out=quiet"}, j.args)...)
			switch {
			case errors.Is(err, errLong):
				theirs, ratio = "> "+millis(longest), fmt.Sprintf("> %.0f", float64(longest)/float64(got.wall))
			case err != nil:
				fmt.Fprintln(os.Stderr, "all: salt:", err)
			default:
				theirs, ratio = millis(c.wall), fmt.Sprintf("%.0f", float64(c.wall)/float64(got.wall))
			}
		}
		limit := "-"
		if j.limit != nil {
			c, err := b.measure(j.limit...)
			if err != nil {
				return err
			}
			limit = millis(c.wall) + " (" + j.of + ")"
		}
		fmt.Fprintf(b.out, "| %s | %s | %s | %d | %s | %s | %s |\n", j.what, millis(got.wall), millis(got.cpu), (got.memory+512)/1024, theirs, ratio, limit)
	}
	return nil
}

func (b *bench) once(argv []string) (cost, error) {
	one := *b
	one.runs = 1
	return one.measure(argv...)
}

func millis(d time.Duration) string {
	ms := float64(d) / float64(time.Millisecond)
	if ms < 10 {
		return strconv.FormatFloat(ms, 'f', 1, 64)
	}
	return strconv.FormatFloat(ms, 'f', 0, 64)
}

// tree writes the tree and the configurations, and returns what to run.
func (b *bench) tree() ([]job, error) {
	var forty, nop, requires, large strings.Builder
	for i := range 25 {
		fmt.Fprintf(&forty, "%s/out/f%d:\n  file.managed:\n    - source: salt://src\n    - template: jinja\n    - makedirs: true\n", b.tmp, i)
	}
	for i := range 5 {
		fmt.Fprintf(&forty, "%[1]s/out/d%[2]d:\n  file.directory:\n    - mode: '0755'\n%[1]s/out/l%[2]d:\n  file.symlink:\n    - target: f%[2]d\nc%[2]d:\n  cmd.run:\n    - name: 'false'\n    - unless: 'true'\n", b.tmp, i)
	}
	for i := range 2000 {
		fmt.Fprintf(&nop, "s%d:\n  test.nop: []\n", i)
	}
	for i := range 20000 {
		fmt.Fprintf(&requires, "s%d:\n  test.nop:\n    - require:\n", i)
		if i == 0 {
			requires.Reset()
			requires.WriteString("s0:\n  test.nop: []\n")
		}
		for k := i - 1; k >= max(0, i-5); k-- {
			fmt.Fprintf(&requires, "      - test: s%d\n", k)
		}
	}
	large.WriteString(b.tmp + "/out/lines:\n  file.managed:\n    - source: salt://lines\n    - template: jinja\n    - show_changes: false\n")
	files := map[string]string{
		"conf/minion":       fmt.Sprintf("file_client: local\nid: here\nfile_roots: {base: [%[1]s/salt]}\ncachedir: %[1]s/cache\n", b.tmp),
		"salt.conf/minion":  fmt.Sprintf("file_client: local\nid: here\nfile_roots: {base: [%[1]s/salt]}\nroot_dir: %[1]s/root\nlog_level: error\n", b.tmp),
		"salt/src":          strings.Repeat("line of {{ grains.id }}\n", 30),
		"salt/lines":        "{% for i in range(100000) %}line {{ i }} of {{ grains.id }}\n{% endfor %}",
		"salt/forty.sls":    forty.String(),
		"salt/nop.sls":      nop.String(),
		"salt/requires.sls": requires.String(),
		"salt/loop.sls":     large.String(),
		"salt/recurse.sls":  b.tmp + "/out/many:\n  file.recurse:\n    - source: salt://many\n",
	}
	for i := range 10000 {
		files[fmt.Sprintf("salt/many/%d/%d", i/100, i)] = fmt.Sprintf("content of %d\n", i)
	}
	jobs := []job{
		{"`test.ping`", []string{"test.ping"}, []string{"/bin/true"}, "the start of a program"},
		{"40 states of files and commands, nothing to do", []string{"state.apply", "forty"}, nil, ""},
		{"2,000 states `test.nop`", []string{"state.apply", "nop"}, nil, ""},
		{"20,000 states, 5 requisites each", []string{"state.apply", "requires"}, nil, ""},
		{"a template loop of 100,000 lines", []string{"state.apply", "loop"}, nil, ""},
		{"`file.recurse` of 10,000 files, nothing to do", []string{"state.apply", "recurse"}, []string{"sh", "-c", "find " + b.tmp + "/salt/many " + b.tmp + "/out/many -type f -print0 | xargs -0 sha256sum >/dev/null"}, "sha256sum of both sides"},
	}
	if names, err := installed(300); err == nil {
		files["salt/packages.sls"] = "packages:\n  pkg.installed:\n    - pkgs:\n      - " + strings.Join(names, "\n      - ") + "\n"
		jobs = append(jobs, job{fmt.Sprintf("%d packages that are installed, `test=True`", len(names)), []string{"state.apply", "packages", "test=True"}, []string{"dpkg-query", "-W"}, "dpkg-query"})
	}
	for name, text := range files {
		path := filepath.Join(b.tmp, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return nil, err
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return nil, err
		}
	}
	return jobs, os.MkdirAll(filepath.Join(b.tmp, "out"), 0o755)
}

// installed returns the names of some packages of dpkg.
func installed(n int) ([]string, error) {
	out, err := exec.Command("dpkg-query", "-W", "-f", "${db:Status-Abbrev} ${Package}\n").Output()
	if err != nil {
		return nil, err
	}
	var names []string
	for line := range strings.Lines(string(out)) {
		if f := strings.Fields(line); len(f) == 2 && f[0] == "ii" && !slices.Contains(names, f[1]) {
			names = append(names, f[1])
		}
	}
	if len(names) == 0 {
		return nil, errors.New("dpkg knows no packages")
	}
	return names[:min(n, len(names))], nil
}

// A line is one of bench/ssh.
type line struct {
	label          string
	wall, cpu, far float64 // s; ms a host; ms a host
	memory         int64   // KiB
	hasFar         bool
}

// parseLine reads a line of bench/ssh; ok is false for any other.
func parseLine(text string) (l line, ok bool) {
	f := strings.Fields(text)
	at := slices.Index(f, "load")
	if len(f) < 17 || f[1] != "hosts" || at < 0 || at+2 >= len(f) {
		return line{}, false
	}
	num := func(before ...string) float64 {
		for i := range f {
			if i > 0 && i+len(before) <= len(f) && slices.Equal(f[i:i+len(before)], before) {
				v, err := strconv.ParseFloat(strings.TrimPrefix(f[i-1], "("), 64)
				if err == nil {
					return v
				}
			}
		}
		return -1
	}
	l = line{label: strings.Join(f[at+2:], " "), wall: num("s", "wall"), cpu: num("ms", "a", "host)"), far: num("ms", "a", "host"), memory: int64(num("KiB"))}
	l.hasFar = l.far > 0 && !strings.Contains(l.label, "kept") && !strings.Contains(l.label, "ControlMaster")
	return l, l.wall >= 0 && l.cpu >= 0
}

// ssh runs bench/ssh, with the peers that are installed.
func (b *bench) ssh() error {
	var out bytes.Buffer
	if err := b.script(io.MultiWriter(&out, os.Stderr), "bench/ssh", "-p", "-n", strconv.Itoa(b.hosts), "-r", strconv.Itoa(b.runs), b.brine); err != nil {
		return err
	}
	var all []line
	for s := bufio.NewScanner(&out); s.Scan(); {
		if l, ok := parseLine(s.Text()); ok {
			all = append(all, l)
		}
	}
	if len(all) == 0 {
		return errors.New("bench/ssh printed no measurement")
	}
	wall := func(label string) float64 {
		for _, l := range all {
			if strings.HasPrefix(l.label, label) {
				return l.wall
			}
		}
		return 0
	}
	fmt.Fprintf(b.out, "\n| %d hosts of one sshd | wall, s | CPU of the program, ms per host | remote, ms per host | memory, MiB | limit, s | times the limit |\n|---|---|---|---|---|---|---|\n", b.hosts)
	for _, l := range all {
		far, limit, times := "-", "-", "-"
		if l.hasFar {
			far = fmt.Sprintf("%.1f", l.far)
		}
		// What the hosts themselves need: a plain command over the same kind of connection.
		own, of := wall("brine ssh -r true"), "sshd and `true`"
		if strings.Contains(l.label, "kept") || strings.Contains(l.label, "ControlMaster") {
			own, of = wall("ssh over open ControlMasters"), "ssh over open connections"
		}
		if own > 0 {
			limit, times = fmt.Sprintf("%.2f (%s)", own, of), fmt.Sprintf("%.1f", l.wall/own)
		}
		fmt.Fprintf(b.out, "| %s | %.2f | %.1f | %s | %d | %s | %s |\n", l.label, l.wall, l.cpu, far, (l.memory+512)/1024, limit, times)
	}
	return nil
}

// scale runs bench/scale and shows its lines.
func (b *bench) scale() error {
	fmt.Fprintf(b.out, "\nSimulated targets (CPU, peak memory and wall time of the controller):\n\n")
	return b.script(b.out, "bench/scale", "-n", b.targets, b.brine)
}
