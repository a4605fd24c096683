package e2e

import (
	"context"
	"database/sql"
	"encoding/binary"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"brine/internal/fleet/jobs"
	"brine/internal/py/value"
	"brine/internal/testkit/sshtest"
	"brine/sshexec/wire"
)

// forged is in everything that a hostile agent says in the name of others.
const forged = "FORGED"

// tty are what a terminal would act on: ESC, the one byte CSI, and BEL.
const tty = "\x1b]0;owned\x07\x1b[2J\u009b31m\x07"

// stdio is the channel of an agent.
type stdio struct{}

func (stdio) Read(p []byte) (int, error)  { return os.Stdin.Read(p) }
func (stdio) Write(p []byte) (int, error) { return os.Stdout.Write(p) }
func (stdio) Close() error                { return os.Stdin.Close() }

// hostileKinds are what hostile agents do.
var hostileKinds = []func() error{
	func() error { return repeat(make([]byte, 64<<10)) }, // before the greeting, and without end
	func() error { return repeat([]byte("brine: warning: " + forged + tty + "\r\n")) },
	func() error { return greet(large(60<<20, 0), false) },
	func() error { return greet(large(1<<20, 63), false) },
	func() error { return greet(echo, true) },
	func() error { return greet(never, false) },
	func() error { return greet(never, true) },
	brokenFrames,
	func() error { return nil }, // it ends
}

// hostileAgent is the agent of a hostile machine, in place of the shell that sshd
// would have started. It does not end before its connection.
func hostileAgent(number string) int {
	n, _ := strconv.Atoi(number)
	if err := hostileKinds[n%len(hostileKinds)](); err != nil {
		fmt.Fprintln(os.Stderr, forged, err, tty)
		return 1
	}
	return 0
}

func repeat(b []byte) error {
	for {
		if _, err := os.Stdout.Write(b); err != nil {
			return err
		}
	}
}

// brokenFrames greets and then sends what is no frame, and frames of which it says
// that they are large.
func brokenFrames() error {
	_, err := io.WriteString(os.Stdout, "\x00brine wire\x00\r\n\xff\xff\xff\xff\x02"+strings.Repeat(forged+tty, 100_000))
	return err
}

// greet serves as an agent; loud ones tell what nobody asked for.
func greet(handle func(context.Context, *wire.Stream) error, loud bool) error {
	ctx := context.Background()
	m, err := wire.Greet(ctx, stdio{}, wire.Options{
		Role: wire.Agent, Noise: 1 << 20, Hello: value.MapOf("is", "brine agent", "version", "1"+tty+"\n"+forged, "os", "linux"),
		Handle: func(ctx context.Context, st *wire.Stream) error {
			switch st.Method() {
			case "invoke":
				return handle(ctx, st)
			case "grains":
				return st.Answer(value.MapOf("id", "honest1", "os", forged+tty, "master", forged))
			case "running":
				return st.Answer(value.NewList(value.MapOf("jid", os.Getenv("JID"), "fun", "test.echo"+tty)))
			}
			return wire.Refusef("no")
		},
	})
	if err != nil {
		return err
	}
	for i := 0; loud && m.Err() == nil; i++ {
		for _, tag := range []string{"salt/job/" + os.Getenv("JID") + "/ret/honest1", "x\nsalt/job/" + os.Getenv("JID") + "/ret/honest1", "salt/auth", "salt/run/1/new"} {
			_ = m.Note("event", value.MapOf("tag", tag, "data", value.MapOf("id", "honest1", "jid", os.Getenv("JID"), "return", forged, "fun", "test.echo", "retcode", int64(0), "success", true)))
		}
		_ = m.Note("warn", value.MapOf("text", "x\nbrine: warning: honest1: "+forged+tty))
		_ = m.Note("fault", value.MapOf("text", "x\nhonest1:\n    "+forged+tty))
		if i > 1000 {
			time.Sleep(time.Millisecond)
		}
	}
	<-m.Done()
	return nil
}

// echo returns for itself and for others.
func echo(_ context.Context, st *wire.Stream) error {
	_, _ = io.WriteString(st, "\x00"+`"lie\n\nhonest1:\n    `+forged+`\u001b[2J"`)
	return st.CloseWrite(nil, value.MapOf("retcode", int64(0), "raised", false, "id", "honest1", "out", "nested"+tty))
}

// never works on the call for ever.
func never(ctx context.Context, _ *wire.Stream) error {
	<-ctx.Done()
	return ctx.Err()
}

// large returns lists that take many times their size, after records.
func large(size, records int) func(context.Context, *wire.Stream) error {
	chunk := []byte(strings.Repeat("[],", 20_000))
	return func(_ context.Context, st *wire.Stream) error {
		for range records {
			if _, err := st.Write(append(binary.AppendUvarint([]byte{1}, 1<<20), make([]byte, 1<<20)...)); err != nil {
				return err
			}
		}
		_, err := io.WriteString(st, "\x00[")
		for n := 0; n < size && err == nil; n += len(chunk) {
			_, err = st.Write(chunk)
		}
		if err != nil {
			return err
		}
		_, _ = io.WriteString(st, "0]")
		return st.CloseWrite(nil, value.MapOf("retcode", int64(0), "raised", false))
	}
}

// TestHostileMachines has machines behind a real sshd lie at once, beside as many
// honest ones (with BRINE_SOAK, 200 and 200): what honest ones return is complete,
// nothing forged is recorded, stored or printed, and the memory is bounded.
func TestHostileMachines(t *testing.T) { // not parallel: there are many processes
	count := soakCount(2*len(hostileKinds), 200)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	const jid = "20261121090807000001"
	shell := filepath.Join(t.TempDir(), "shell")
	script := fmt.Sprintf(`#!/bin/sh
set -- "$1" "$2" $SSH_CONNECTION
case $5 in
127.9.*) n=${5#127.9.}; BRINE_TEST_HOSTILE=$((${n%%%%.*}*250+${n#*.})) JID=%s exec %s;;
esac
exec sh "$1" "$2"
`, jid, self)
	if err := os.WriteFile(shell, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	s := newSite(t, sshtest.Options{Shell: shell})
	config := read(t, s.path("master")) + fmt.Sprintf(`ssh_max_procs: %d
event_return: [sqlite3]
return: [sqlite3]
sqlite3: {database: %s, timeout: 60}
`, 2*count, s.path("x.db"))
	s.write("master", config)
	var roster strings.Builder
	for i := 1; i <= count; i++ {
		fmt.Fprintf(&roster, "honest%d: {host: 127.8.%d.%d, timeout: 600}\nliar%d: {host: 127.9.%d.%d, timeout: 60}\n", i, i/250, i%250, i, i/250, i%250)
	}
	s.write("roster", roster.String())
	if s.want(s.brine("ssh", "honest1", "test.ping"), 0); t.Failed() { // the agent is placed
		return
	}
	// Only what follows has those that never answer.
	s.write("master", config+fmt.Sprintf("max_wait: %d\ngather_job_timeout: 5\n", soakCount(20, 180)))

	c := s.command("ssh", "*", "test.echo", "what is honest", "--jid", jid, "--out=json", "--static")
	var out, errs strings.Builder
	c.Stdout, c.Stderr = &out, &errs
	begin := time.Now()
	_ = c.Run()
	for line := range strings.Lines(errs.String()) {
		if strings.Contains(line, "returner") {
			t.Logf("%.300s", line)
		}
	}
	took := time.Since(begin)
	peak := c.ProcessState.SysUsage().(*syscall.Rusage).Maxrss >> 10
	if runtime.GOOS == "darwin" { // bytes there
		peak >>= 10
	}
	t.Logf("%d hostile and %d honest machines: %s, %d MiB at most", count, count, took.Round(time.Second), peak)
	if peak > 1<<10 {
		t.Errorf("the controller took %d MiB", peak)
	}
	s.want(result{out.String(), "", c.ProcessState.ExitCode()}, 20)
	doc := s.decode(result{stdout: out.String(), stderr: errs.String()})
	if len(doc) != 2*count {
		t.Errorf("%d of %d targets are reported", len(doc), 2*count)
	}
	for i := 1; i <= count; i++ {
		if v := doc[fmt.Sprint("honest", i)]; v != "what is honest" {
			t.Errorf("honest%d: %v", i, v)
		}
	}
	for name, text := range map[string]string{"stdout": out.String(), "stderr": errs.String()} {
		if strings.ContainsAny(text, "\x1b\x07\u009b") {
			t.Errorf("%s has what a terminal acts on", name)
		}
		for line := range strings.Lines(text) {
			// A line of a liar's has its name in front, or marks that it goes on.
			if strings.Contains(line, forged) && !strings.Contains(line, "liar") && !strings.HasPrefix(line, "  ") {
				t.Errorf("%s: %q", name, line)
			}
			if strings.HasPrefix(line, "brine: warning: honest") || strings.HasPrefix(line, "honest") {
				t.Errorf("%s is forged: %q", name, line)
			}
		}
	}
	s.checkForged(jid, count)
	// The text outputters and the log of a liar that returns what a terminal acts on.
	r := s.brine("ssh", "liar4", "test.echo", "x", "-l", "debug")
	s.want(r, 0, "lie", "FORGED")
	if strings.ContainsAny(r.stdout+r.stderr, "\x1b\x07\u009b") {
		t.Errorf("the report has what a terminal acts on: %q, %q", r.stdout, r.stderr)
	}
}

// checkForged looks at what a job with hostile targets left in the job cache, in the
// tables of a returner and in everything else that the controller keeps.
func (s *site) checkForged(jid string, count int) {
	t := s.t
	t.Helper()
	// What the returner did not take before the end of the run is sent by later ones.
	for range 60 {
		dirs, _ := filepath.Glob(s.path("cache/spool/sqlite3-*"))
		if !slices.ContainsFunc(dirs, jobs.Spooled) {
			break
		}
		s.brine("run", "jobs.active")
	}
	doc := s.decode(s.brine("run", "jobs.lookup_jid", jid, "--out=json"))
	for i := 1; i <= count; i++ {
		if v := doc[fmt.Sprint("honest", i)]; v != "what is honest" {
			t.Errorf("the job cache has of honest%d: %v", i, v)
		}
	}
	db, err := sql.Open("sqlite", s.path("x.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for query, want := range map[string]int{
		"SELECT COUNT(*) FROM salt_returns WHERE id LIKE 'honest%' AND full_ret LIKE '%what is honest%' AND jid = '" + jid + "'": count,
		"SELECT COUNT(*) FROM salt_returns WHERE id LIKE 'honest%' AND full_ret LIKE '%" + forged + "%'":                         0,
		"SELECT COUNT(*) FROM salt_returns WHERE id LIKE 'liar%' AND jid = '" + jid + "'":                                        count,
	} {
		var n int
		if err := db.QueryRow(query).Scan(&n); err != nil || n != want {
			t.Errorf("%s: %d, %v, want %d", query, n, err, want)
		}
	}
	err = filepath.WalkDir(s.path("cache"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !d.Type().IsRegular() {
			return err
		}
		if strings.Contains(path, "honest") {
			if b, err := os.ReadFile(path); err == nil && strings.Contains(string(b), forged) {
				t.Errorf("%s has what is forged", path)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
