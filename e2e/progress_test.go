//go:build linux

package e2e

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"brine/internal/testkit/sshtest"
)

// openPTY returns the two ends of a terminal of a width.
func openPTY(t *testing.T, width uint16) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { master.Close() })
	fd := int(master.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Skip(err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Skip(err)
	}
	slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { slave.Close() })
	if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: width}); err != nil {
		t.Fatal(err)
	}
	return master, slave
}

// A vt is what a terminal of a width shows: enough of one for a progress line.
type vt struct {
	width    int
	lines    [][]rune
	row, col int
	seen     []string // every state that a line was in before it was erased
}

var escape = regexp.MustCompile(`^\x1b\[([?0-9;]*)([A-Za-z])`)

func (v *vt) put(r rune) {
	for v.row >= len(v.lines) {
		v.lines = append(v.lines, nil)
	}
	if v.col >= v.width {
		v.row, v.col = v.row+1, 0
		v.put(r)
		return
	}
	l := v.lines[v.row]
	for len(l) <= v.col {
		l = append(l, ' ')
	}
	l[v.col] = r
	v.lines[v.row] = l
	v.col++
}

func (v *vt) write(s string) error {
	for s != "" {
		if m := escape.FindStringSubmatch(s); m != nil {
			s = s[len(m[0]):]
			n, _ := strconv.Atoi(m[1])
			switch m[2] {
			case "K":
				if v.row < len(v.lines) {
					v.seen = append(v.seen, string(v.lines[v.row]))
					v.lines[v.row] = v.lines[v.row][:min(v.col, len(v.lines[v.row]))]
				}
			case "A", "F":
				v.row = max(0, v.row-max(1, n))
				if m[2] == "F" {
					v.col = 0
				}
			case "m", "h", "l":
			default:
				return fmt.Errorf("the terminal was sent %q", m[0])
			}
			continue
		}
		r, size := utf8.DecodeRuneInString(s)
		s = s[size:]
		switch r {
		case '\r':
			v.col = 0
		case '\n':
			v.row++
			v.col = 0
		default:
			v.put(r)
		}
	}
	return nil
}

func (v *vt) text() string {
	var b strings.Builder
	for _, l := range v.lines {
		b.WriteString(strings.TrimRight(string(l), " ") + "\n")
	}
	return b.String()
}

// onTerminal runs a brine whose stdin, stdout and stderr are a terminal.
func (s *site) onTerminal(width int, c *exec.Cmd) (*vt, string, int) {
	s.t.Helper()
	master, slave := openPTY(s.t, uint16(width))
	c.Stdin, c.Stdout, c.Stderr = slave, slave, slave
	c.Env = append(c.Env, "TERM=xterm")
	if err := c.Start(); err != nil {
		s.t.Fatal(err)
	}
	slave.Close()
	raw, err := io.ReadAll(master)
	if err != nil && !errors.Is(err, syscall.EIO) {
		s.t.Fatal(err)
	}
	_ = c.Wait()
	v := &vt{width: width}
	if err := v.write(string(raw)); err != nil {
		s.t.Errorf("%v", err)
	}
	return v, string(raw), c.ProcessState.ExitCode()
}

func TestProgressLine(t *testing.T) {
	t.Parallel()
	s := newSite(t, sshtest.Options{})
	s.roster(2, "dead: {host: 127.0.0.1, port: 1}")
	s.want(s.brine("ssh", "web1", "test.ping"), 0)
	// The first one returns while the line is shown.
	slow := "sleep {{ grains.id[3] }}; echo one; echo two"
	for _, width := range []int{200, 60, 24, 9} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			s := *s
			s.t = t
			v, raw, exit := s.onTerminal(width, s.command("ssh", "*", "cmd.run", slow, "template=jinja"))
			if exit != 20 {
				t.Errorf("exit status %d: %q", exit, raw)
			}
			text := v.text()
			if strings.Contains(text, "done") {
				t.Errorf("something of the line is left:\n%s", text)
			}
			for i := range 2 {
				if want := fmt.Sprintf("web%d:\n    one\n", i+1); width > 20 && !strings.Contains(text, want) {
					t.Errorf("no %q in:\n%s", want, text)
				}
			}
			seen := strings.Join(v.seen, "\n")
			want := map[int]string{
				200: `cmd\.run: \d/3 done, 1 failed, (1 connecting, )?\d running, slowest web\d \d+s`,
				60:  `cmd\.run: \d/3 done, 1 failed`,
				24:  `cmd\.run: \d/3 done`,
				9:   `\d/3 done`,
			}[width]
			if !regexp.MustCompile(`(?m)^` + want).MatchString(seen) {
				t.Errorf("the line was never like %s:\n%s", want, seen)
			}
			for _, l := range v.seen {
				if n := utf8.RuneCountInString(l); strings.Contains(l, "done") && n >= width {
					t.Errorf("a line of %d columns on a terminal of %d: %s", n, width, l)
				}
			}
		})
	}
	t.Run("steps", func(t *testing.T) {
		s := *s
		s.t = t
		s.write("salt/orch.sls", "deploy:\n  salt.function:\n    - name: cmd.run\n    - tgt: 'web*'\n    - arg: ['sleep 1']\nnext:\n  salt.function:\n    - name: test.ping\n    - tgt: 'web*'\n    - parallel: True\n")
		v, raw, exit := s.onTerminal(100, s.command("orchestrate", "orch"))
		if seen := strings.Join(v.seen, "\n"); exit != 0 || !strings.Contains(seen, "deploy: 0/2 done, 2 running, slowest web") {
			t.Errorf("exit status %d: %q", exit, raw)
		}
		if text := v.text(); strings.Contains(text, " done") || !strings.Contains(text, "Succeeded: 2") {
			t.Errorf("the report:\n%s", text)
		}
	})
	// Where there is nobody to see it, there is none.
	for _, tt := range []struct {
		name string
		env  string
		args []string
	}{
		{"dumb", "TERM=dumb", nil},
		{"off", "TERM=xterm", []string{"--no-progress"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := *s
			s.t = t
			c := s.command(append([]string{"ssh", "web1", "cmd.run", "sleep 1; echo back"}, tt.args...)...)
			master, slave := openPTY(t, 80)
			c.Stderr = slave
			c.Env = append(c.Env, tt.env)
			if err := c.Run(); err != nil {
				t.Error(err)
			}
			slave.Close()
			raw, _ := io.ReadAll(master)
			if len(raw) > 0 {
				t.Errorf("stderr has %q", raw)
			}
		})
	}
	r := s.brine("ssh", "web1", "cmd.run", "sleep 1; echo back")
	if s.want(r, 0); r.stderr != "" || r.stdout != "web1:\n    back\n" {
		t.Errorf("where stderr is no terminal: %q, %q", r.stdout, r.stderr)
	}
}

// TestGroups: a report on a terminal ends with who failed, and has equal results
// together where many targets answer.
func TestGroups(t *testing.T) {
	t.Parallel()
	s := newSite(t, sshtest.Options{})
	var lines []string
	for n := range 21 {
		lines = append(lines, fmt.Sprintf("n%d: {connection: local}", n+1))
	}
	s.roster(0, append(lines, "dead1: {host: 127.0.0.1, port: 1}", "dead2: {host: 127.0.0.1, port: 1}")...)
	for _, tt := range []struct {
		args []string
		exit int
		want string // a regular expression
	}{
		{[]string{"n*", "test.ping"}, 0, `^n\[1-21\]:\n    True\n21 targets, 0 failed\n$`},
		{[]string{"*", "test.ping"}, 20, `^n\[1-21\]:\n    True\ndead\[1-2\]:\n(.*\n)+.*connection refused(.*\n)+23 targets, 2 failed: dead\[1-2\]\n$`},
		{[]string{"n*", "test.ping", "--no-group"}, 0, `(?m)^n21:\n(.*\n)*21 targets, 0 failed\n$`},
		{[]string{"n*", "test.echo", "{{ grains.id }}"}, 0, `^n\[1-21\]:`},
		{[]string{"n*", "grains.get", "id"}, 0, `(?s)^n1:\n    n1\nn2:\n    n2\n.*n21:\n    n21\n21 targets, 0 failed\n$`},
		{[]string{"n[12]", "test.ping"}, 0, `^n[12]:\n    True\nn[12]:\n    True\n2 targets, 0 failed\n$`},
		{[]string{"n1", "test.ping"}, 0, `^n1:\n    True\n$`},
		{[]string{"n[12]", "test.ping", "--summary", "--static"}, 0, `# of targets: 2, failed: 0\n$`},
		{[]string{"n[12]", "test.ping", "--out=json"}, 0, `^\{\n    "n1": true,\n    "n2": true\n\}\n2 targets, 0 failed\n$`},
	} {
		v, raw, exit := s.onTerminal(200, s.command(append([]string{"ssh", "--no-progress"}, tt.args...)...))
		text := strings.TrimRight(v.text(), "\n") + "\n"
		if exit != tt.exit || !regexp.MustCompile(tt.want).MatchString(text) {
			t.Errorf("%v: exit status %d, want %d and %s: %q", tt.args, exit, tt.exit, tt.want, raw)
		}
	}
}
