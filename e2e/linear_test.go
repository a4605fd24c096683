package e2e

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// A shape is a kind of run that grows.
type shape struct {
	name  string
	args  []string // @ is the size
	sizes [3]int   // each twice the one before
	slack int      // runs of a block that are none of the growth
	sls   func(n int) string
}

// state is a state of an SLS with a requisite on others.
func state(i int, fun, requisite string, on ...int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "s%d:\n  %s:\n    - name: x%d\n", i, fun, i)
	for k, j := range on {
		if k == 0 {
			fmt.Fprintf(&b, "    - %s:\n", requisite)
		}
		fmt.Fprintf(&b, "      - %s: s%d\n", strings.Split(fun, ".")[0], j)
	}
	return b.String()
}

// each joins what f says of all numbers below n.
func each(n int, f func(i int) string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(f(i))
	}
	return b.String()
}

// five are five earlier states, near and far; fewer for the first ones.
func five(i int) []int {
	var on []int
	for _, j := range []int{i - 1, i - 2, i / 2, i / 3, 0} {
		if j >= 0 && j < i && !slices.Contains(on, j) {
			on = append(on, j)
		}
	}
	return on
}

// later is the state after i, and the last of n.
func later(i, n int) []int {
	var on []int
	for _, j := range []int{i + 1, n - 1} {
		if j > i && j < n && !slices.Contains(on, j) {
			on = append(on, j)
		}
	}
	return on
}

func shapes() []shape {
	apply, states := []string{"call", "--local", "state.apply", "sls@"}, [3]int{150, 300, 600}
	local := func(name string, sls func(n int) string, more ...string) shape {
		return shape{name: name, args: append(slices.Clone(apply), more...), sizes: states, slack: 1500, sls: sls}
	}
	nop := func(n int) string { return each(n, func(i int) string { return state(i, "test.nop", "") }) }
	const ping = "    - name: test.ping\n    - tgt: '*'\n"
	pings := func(n int, more string) string {
		return each(n, func(i int) string {
			s := fmt.Sprintf("s%d:\n  salt.function:\n%s%s", i, ping, more)
			if i > 0 {
				s += fmt.Sprintf("    - require:\n      - salt: s%d\n", i-1)
			}
			return s
		})
	}
	return []shape{
		local("nop", nop),
		local("lines", nop, "--progress=plain", "--out=json"),
		local("events", nop, "--progress=json", "--report=report.html,report.xml,report.md,report.ndjson,report.sarif"),
		local("require", func(n int) string {
			return each(n, func(i int) string { return state(i, "test.nop", "require", five(i)...) })
		}),
		local("watch", func(n int) string {
			return each(n, func(i int) string { return state(i, "test.succeed_with_changes", "watch", five(i)...) })
		}),
		local("require_in", func(n int) string {
			return each(n, func(i int) string { return state(i, "test.nop", "require_in", later(i, n)...) })
		}),
		local("prereq", func(n int) string {
			return each(n, func(i int) string { return state(i, "test.nop", "prereq", later(i, min(i+2, n))...) })
		}),
		local("listen", func(n int) string {
			return each(n, func(i int) string { return state(i, "test.succeed_with_changes", "listen", (i*7)%n) })
		}),
		local("parallel", func(n int) string {
			return each(n, func(i int) string { return state(i, "test.nop", "") + "    - parallel: True\n" })
		}),
		local("names", func(n int) string {
			return "all:\n  test.nop:\n    - names:\n" + each(n, func(i int) string { return fmt.Sprintf("      - n%d\n", i) })
		}),
		local("failed", func(n int) string {
			return each(n, func(i int) string {
				if i == 0 {
					return state(0, "test.fail_without_changes", "")
				}
				return state(i, "test.nop", "require", i-1)
			})
		}),
		{name: "steps", args: []string{"orchestrate", "sls@", "roster=10"}, sizes: [3]int{10, 20, 40}, slack: 600, sls: func(n int) string { return pings(n, "") }},
		{name: "hosts", args: []string{"orchestrate", "sls", "roster=@"}, sizes: [3]int{20, 40, 80}, slack: 1500, sls: func(int) string { return pings(20, "") }},
		{name: "plan", args: []string{"plan", "sls@", "roster=0"}, sizes: states, slack: 1500, sls: func(n int) string { return pings(n, "") }},
	}
}

// TestLinear counts how often each block of the program is run, for trees of
// three sizes: what is run for each state, step or host may not be run more often
// for each of them where there are more of them. Counts are the same on every
// machine, whatever its load.
func TestLinear(t *testing.T) {
	t.Parallel()
	bin := os.Getenv("BRINE_TEST_LINEAR")
	if bin == "" {
		t.Skip("BRINE_TEST_LINEAR names no directory with a brine that counts: make linear builds one and runs this test")
	}
	hosts := servedHosts(t, bin, 80)
	for _, s := range shapes() {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			var counts [3]map[string]int
			for i, n := range s.sizes {
				counts[i] = s.count(t, bin, hosts, n)
			}
			var bad []string
			for block, c := range counts[2] {
				first, second := counts[1][block]-counts[0][block], c-counts[1][block]
				// Sorting is a little more than twice, the square four times as much.
				if second > 3*first+s.slack {
					bad = append(bad, fmt.Sprintf("%s is run %d, %d and %d times", block, counts[0][block], counts[1][block], c))
				}
			}
			slices.Sort(bad)
			if len(bad) > 0 {
				t.Errorf("sizes %d: not linear:\n%s", s.sizes, strings.Join(bad, "\n"))
			}
			if len(counts[2]) == 0 {
				t.Error("nothing was counted")
			}
		})
	}
}

// count runs s with a size, and returns how often each block of the program was
// run.
func (s *shape) count(t *testing.T, bin, hosts string, n int) map[string]int {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("sls"+strconv.Itoa(n)+".sls", s.sls(n))
	write("sls.sls", s.sls(n))
	conf := fmt.Sprintf("cachedir: %s/cache\nfile_client: local\nfile_roots: {base: [%s]}\nssh_config_file: %s/ssh_config\ntimeout: 600\ngather_job_timeout: 300\n", dir, dir, hosts)
	write("minion", conf)
	write("master", conf)
	var args []string
	for _, a := range s.args {
		a = strings.ReplaceAll(a, "@", strconv.Itoa(n))
		if k, ok := strings.CutPrefix(a, "roster="); ok {
			count, _ := strconv.Atoi(k)
			write("roster", each(count, func(i int) string { return fmt.Sprintf("h%03d:\n  host: 127.0.0.%d\n", i, i+1) }))
			continue
		}
		args = append(args, strings.ReplaceAll(a, "report.", dir+"/report."))
	}
	cover := t.TempDir()
	c := exec.Command(filepath.Join(bin, "brine"), append([]string{args[0], "-c", dir}, args[1:]...)...)
	c.Dir = dir
	c.Env = append(os.Environ(), "GOCOVERDIR="+cover, "HOME="+dir)
	var out, fault bytes.Buffer
	c.Stdout, c.Stderr = &out, &fault
	if err := c.Run(); err != nil && s.name != "failed" && s.name != "plan" {
		t.Fatalf("%s: %v\n%s%s", strings.Join(c.Args, " "), err, tail(out.String()), tail(fault.String()))
	}
	text := filepath.Join(dir, "counts")
	if out, err := exec.Command("go", "tool", "covdata", "textfmt", "-i="+cover, "-o="+text).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	b, err := os.ReadFile(text)
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	for line := range strings.Lines(string(b)) { // brine/cmd/x.go:1.2,3.4 STATEMENTS COUNT
		if f := strings.Fields(line); len(f) == 3 {
			k, err := strconv.Atoi(f[2])
			if err != nil {
				t.Fatal(err)
			}
			counts[f[0]] += k
		}
	}
	return counts
}

func tail(s string) string { return s[max(0, len(s)-2000):] }

// servedHosts starts n hosts, and returns a directory with what connects to them.
func servedHosts(t testing.TB, bin string, n int) string {
	t.Helper()
	dir := t.TempDir()
	c := exec.Command(filepath.Join(bin, "hosts"), dir, strconv.Itoa(n))
	var fault bytes.Buffer
	c.Stderr = &fault
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	t.Cleanup(func() {
		_ = c.Process.Kill()
		<-ended
	})
	for {
		port, err := os.ReadFile(filepath.Join(dir, "port"))
		_, known := os.Stat(filepath.Join(dir, "known_hosts"))
		_, id := os.Stat(filepath.Join(dir, "id"))
		if err == nil && known == nil && id == nil {
			conf := fmt.Sprintf("Host *\n\tUser bench\n\tPort %s\tIdentityFile %s/id\n\tIdentitiesOnly yes\n\tUserKnownHostsFile %s/known_hosts\n", port, dir, dir)
			if err := os.WriteFile(filepath.Join(dir, "ssh_config"), []byte(conf), 0o600); err != nil {
				t.Fatal(err)
			}
			return dir
		}
		select {
		case err := <-ended:
			ended <- err
			t.Fatalf("hosts: %v: %s", err, &fault)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// BenchmarkApply is the processor time of the whole program for runs of three
// sizes: that of a state is to be the same in all of them.
func BenchmarkApply(b *testing.B) {
	bin, err := buildBrine()
	if err != nil {
		b.Fatal(err)
	}
	for _, s := range shapes() {
		if !slices.Contains([]string{"nop", "require", "watch", "parallel"}, s.name) {
			continue
		}
		for _, n := range []int{10000, 20000, 40000} {
			b.Run(fmt.Sprintf("%s/%d", s.name, n), func(b *testing.B) {
				dir := b.TempDir()
				for name, text := range map[string]string{
					"sls.sls": s.sls(n),
					"minion":  fmt.Sprintf("cachedir: %s/cache\nfile_client: local\nfile_roots: {base: [%s]}\n", dir, dir),
				} {
					if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
						b.Fatal(err)
					}
				}
				var cpu time.Duration
				for b.Loop() {
					c := exec.Command(bin, "call", "-c", dir, "--local", "state.apply", "sls")
					if err := c.Run(); err != nil {
						b.Fatal(err)
					}
					cpu += c.ProcessState.UserTime() + c.ProcessState.SystemTime()
				}
				b.ReportMetric(float64(cpu.Microseconds())/float64(b.N*n), "cpu-µs/state")
			})
		}
	}
}
