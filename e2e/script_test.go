package e2e

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// update rewrites the files that scripts compare with cmp: go test ./e2e -update.
var update = flag.Bool("update", false, "rewrite the expected output of scripts")

// scriptCommands are the commands of testdata/script beside testscript's own.
func scriptCommands() map[string]func(*testscript.TestScript, bool, []string) {
	return map[string]func(*testscript.TestScript, bool, []string){
		"copytree":  copyTreeCmd,
		"mask":      maskCmd,
		"interrupt": interruptCmd,
	}
}

// scriptCondition adds the conditions root (the tests run as root), full (there
// is a device that is always full), mako (python3 has that package) and tmpfs (small file systems can be mounted
// where no other process sees them).
func scriptCondition(cond string) (bool, error) {
	switch cond {
	case "root":
		return os.Geteuid() == 0, nil
	case "full":
		_, err := os.Stat("/dev/full")
		return err == nil, nil
	case "mako":
		err := exec.Command("python3", "-I", "-c", "import mako").Run()
		if err != nil && slices.Contains(strings.Split(os.Getenv("BRINE_TEST_REQUIRE"), ","), "mako") {
			return false, err
		}
		return err == nil, nil
	case "tmpfs":
		return os.Geteuid() == 0 && exec.Command("unshare", "-m", "mount", "-t", "tmpfs", "tmpfs", "/mnt").Run() == nil, nil
	}
	return false, &fs.PathError{Op: "condition", Path: cond, Err: fs.ErrInvalid}
}

// scriptHome makes what a script finds below its working directory: a home, and
// a configuration that says no more than where the cache is, so that neither
// /etc/salt nor the machine's caches have a part in it.
func scriptHome(work string, setenv func(k, v string)) error {
	setenv("HOME", filepath.Join(work, "home"))
	setenv("XDG_CACHE_HOME", filepath.Join(work, "cache"))
	setenv("BRINE_CACHE_DIR", filepath.Join(work, "cache", "brine"))
	setenv("BRINE_RUN_DIR", filepath.Join(work, ".events"))
	setenv("NO_COLOR", "1")
	setenv("BRINE_CONFIG_DIR", filepath.Join(work, "home", "conf"))
	if err := os.MkdirAll(filepath.Join(work, "home"), 0o700); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(work, "home", "conf"), 0o755); err != nil {
		return err
	}
	text := fmt.Appendf(nil, "cachedir: %s\n", filepath.Join(work, "cache"))
	for _, kind := range []string{"minion", "master"} {
		if err := os.WriteFile(filepath.Join(work, "home", "conf", kind), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// copyTreeCmd is "copytree FROM TO": a directory of testdata, without what runs
// have left in it.
func copyTreeCmd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: copytree DIR-OF-TESTDATA TO")
	}
	ts.Check(copyTree(filepath.Join(ts.Getenv("REPO"), "testdata", args[0]), ts.MkAbs(args[1])))
}

func copyTree(from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		dst := filepath.Join(to, rel)
		switch {
		case d.IsDir() && d.Name() == "scratch":
			return fs.SkipDir
		case d.IsDir():
			return os.MkdirAll(dst, 0o755)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		return os.WriteFile(dst, text, info.Mode().Perm())
	})
}

// masks are what differs between two runs of the same command.
var masks = []struct{ re, to string }{
	{`(?m)^( *Started: )\S+$`, `${1}<time>`},
	{`(?m)^( *Duration: )[\d.]+ ms$`, `${1}<duration>`},
	{`(?m)^( *Total run time:) +[\d.]+ (?:ms|s)$`, `${1} <duration>`},
	{`"start_time": "[^"]*"`, `"start_time": "<time>"`},
	{`"duration": [\d.e-]+`, `"duration": "<duration>"`},
	{`"(__jid__|jid)": "\d{20}"`, `"$1": "<jid>"`},
	{`"(pid|__pub_pid)": \d+`, `"$1": "<pid>"`},
	{`"__pub_jid": "\d{20}"`, `"__pub_jid": "<jid>"`},
	{`(__pub_pid): \d+`, `$1: <pid>`},
	{`(__pub_jid): '\d{20}'`, `$1: <jid>`},
	{`(?m)^( *pid:\n *)\d+$`, `${1}<pid>`},
}

// maskCmd is "mask stdout TO" or "mask FILE TO": the text with times, durations,
// jids, pids and the working directory masked.
func maskCmd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: mask {stdout | stderr | FILE} TO")
	}
	text := ts.ReadFile(args[0])
	text = strings.ReplaceAll(text, ts.Getenv("WORK"), "<work>")
	for _, m := range masks {
		text = regexp.MustCompile(m.re).ReplaceAllString(text, m.to)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(text), 0o666))
}

// interruptCmd is "interrupt TIMES|TERM STATUS FILE COMMAND...": it starts the
// command, waits until FILE is there, sends SIGTERM or SIGINT that many times a tenth of a
// second apart, and wants the exit status. Its output is in interrupt.out and
// interrupt.err.
func interruptCmd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 4 {
		ts.Fatalf("usage: interrupt TIMES|TERM STATUS FILE COMMAND...")
	}
	sig, count := syscall.SIGINT, args[0]
	if count == "TERM" {
		sig, count = syscall.SIGTERM, "1"
	}
	times, err := strconv.Atoi(count)
	ts.Check(err)
	want, err := strconv.Atoi(args[1])
	ts.Check(err)
	path, err := exec.LookPath(args[3])
	ts.Check(err)
	cmd := exec.Command(path, args[4:]...)
	cmd.Args[0] = args[3]
	cmd.Dir = ts.MkAbs(".")
	for _, k := range []string{"PATH", "HOME", "XDG_CACHE_HOME", "BRINE_CACHE_DIR", "BRINE_CONFIG_DIR", "NO_COLOR", "WORK", "TMPDIR", "BRINE_RUN_DIR", "BRINE_TERM_GRACE"} {
		cmd.Env = append(cmd.Env, k+"="+ts.Getenv(k))
	}
	out, err := os.Create(ts.MkAbs("interrupt.out"))
	ts.Check(err)
	defer out.Close()
	errs, err := os.Create(ts.MkAbs("interrupt.err"))
	ts.Check(err)
	defer errs.Close()
	cmd.Stdout, cmd.Stderr = out, errs
	ts.Check(cmd.Start())
	defer cmd.Process.Kill()
	for start := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(ts.MkAbs(args[2])); err == nil {
			break
		}
		if time.Since(start) > time.Minute {
			ts.Fatalf("%s did not make %s within a minute", args[3], args[2])
		}
	}
	for i := range times {
		if i > 0 {
			time.Sleep(100 * time.Millisecond)
		}
		ts.Check(cmd.Process.Signal(sig))
	}
	_ = cmd.Wait()
	if got := cmd.ProcessState.ExitCode(); got != want {
		ts.Fatalf("exit status %d, want %d; stderr:\n%s", got, want, ts.ReadFile("interrupt.err"))
	}
}
