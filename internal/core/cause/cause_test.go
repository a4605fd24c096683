package cause

import (
	"strings"
	"testing"
	"unicode/utf8"

	"brine/internal/py/value"
)

func ran(status int64, stdout, stderr string) *value.Map {
	return value.MapOf("result", false, "comment", `Command "make it so" run`, "__id__", "bad", "__run_num__", int64(0),
		"changes", value.MapOf("pid", int64(7), "retcode", status, "stdout", stdout, "stderr", stderr))
}

const tag = "cmd_|-bad_|-make it so_|-run"

func failed(comment value.Value) *value.Map {
	return value.MapOf("result", false, "comment", comment, "changes", value.NewMap(0))
}

func beside(v value.Value) *value.Map {
	ret := failed("Service nginx failed to start")
	ret.Set(Key, v)
	return ret
}

// TestLines: what a line says of the failures of states.
func TestLines(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, tag string
		ret       *value.Map
		want      string
	}{
		{"stderr", tag, ran(3, "out", "disk is on fire\n"), "web1: bad (cmd.run): exit status 3: disk is on fire"},
		{"stdout only", tag, ran(3, "disk is on fire\n", " \n"), "web1: bad (cmd.run): exit status 3: disk is on fire"},
		{"silence", tag, ran(4, "", ""), `web1: bad (cmd.run): exit status 4: Command "make it so" run`},
		{"several lines", tag, ran(1, "", "a\n\nb\n"), "web1: bad (cmd.run): exit status 1: a b"},
		{"an error among other lines", tag, ran(1, "", "Reading package lists...\nE: Unable to locate package x\nsee the manual\n"), "web1: bad (cmd.run): exit status 1: E: Unable to locate package x"},
		{"colours", tag, ran(1, "", "\x1b[31mred\x1b[0m"), "web1: bad (cmd.run): exit status 1: red"},
		{"control characters", tag, ran(1, "", "a\x1b]0;title\x07b\u202ec\xff"), `web1: bad (cmd.run): exit status 1: a\x1b]0;title\x07b\u202ec` + "\ufffd"},
		{"a program that reads its comment's text, too", tag, value.MapOf("result", false, "comment", "the unless condition is false", "changes", value.MapOf("retcode", int64(2), "stderr", "no", "stdout", "")), "web1: bad (cmd.run): exit status 2: the unless condition is false: no"},
		{
			"packages", "pkg_|-tools_|-tools_|-installed",
			failed("Problem encountered installing package(s). Additional info follows:\n\nerrors:\n    - E: Unable to locate package x\n    - E: Unable to locate package y"),
			"web1: tools (pkg.installed): E: Unable to locate package x E: Unable to locate package y",
		},
		{
			"lists of packages", "pkg_|-tools_|-tools_|-installed",
			failed("An error was encountered while installing package(s): E: Failed to fetch file:/x  File not found\nE: Some index files failed to download."),
			"web1: tools (pkg.installed): E: Failed to fetch file:/x File not found E: Some index files failed to download.",
		},
		{
			"packages, of which dpkg says more", "pkg_|-tools_|-tools_|-installed",
			func() *value.Map {
				ret := failed("Problem encountered installing package(s). Additional info follows:\n\nerrors:\n    - E: Sub-process /usr/bin/dpkg returned an error code (1)")
				ret.Set(Key, Beside(0, "dpkg: error processing package x (--configure)"))
				return ret
			}(),
			"web1: tools (pkg.installed): E: Sub-process /usr/bin/dpkg returned an error code (1): dpkg: error processing package x (--configure)",
		},
		{"dnf", "pkg_|-tools_|-tools_|-installed", failed("An error was encountered while installing package(s): x\nErrors follow:\nError: Unable to find a match: x"), "web1: tools (pkg.installed): Error: Unable to find a match: x"},
		{"a service", "service_|-nginx_|-nginx_|-running", failed("The named service nginx is not available\nand more"), "web1: nginx (service.running): The named service nginx is not available"},
		{
			"a service that says why in the journal", "service_|-nginx_|-nginx_|-running",
			beside(value.MapOf("exit_status", int64(1), "output", "nginx: [emerg] bind() to 0.0.0.0:80 failed\n")),
			"web1: nginx (service.running): exit status 1: Service nginx failed to start: nginx: [emerg] bind() to 0.0.0.0:80 failed",
		},
		{"a cause of another shape", "service_|-nginx_|-nginx_|-running", beside("no"), "web1: nginx (service.running): Service nginx failed to start"},
		{"a cause of other types", "service_|-nginx_|-nginx_|-running", beside(value.MapOf("exit_status", "9", "output", int64(3))), "web1: nginx (service.running): Service nginx failed to start"},
		{"a mount", "mount_|-/mnt_|-/mnt_|-mounted", failed("mount: /mnt: special device /dev/x does not exist."), "web1: /mnt (mount.mounted): mount: /mnt: special device /dev/x does not exist."},
		{
			"git", "git_|-app_|-app_|-latest",
			failed("Failed to check remote refs: Command 'git ls-remote https://example.org/x' failed:\nremote: not here\nfatal: repository 'https://example.org/x/' not found"),
			"web1: app (git.latest): fatal: repository 'https://example.org/x/' not found",
		},
		{
			"pip", "pip_|-x_|-x_|-installed",
			failed("Failed to install packages: x. Error: Looking in indexes\nERROR: No matching distribution found for x"),
			"web1: x (pip.installed): ERROR: No matching distribution found for x",
		},
		{"a database", "postgres_database_|-x_|-x_|-present", failed("Failed to create database x\npsql: error: FATAL:  role \"root\" does not exist"), "web1: x (postgres_database.present): psql: error: FATAL: role \"root\" does not exist"},
		{
			"an exception", "file_|-x_|-x_|-managed",
			failed("An exception occurred in this state: Traceback (most recent call last):\n  File \"/x.py\", line 3, in call\n    raise ValueError(1)\nValueError: no good\n"),
			"web1: x (file.managed): ValueError: no good",
		},
		{
			"an exception of an exception", "file_|-x_|-x_|-managed",
			failed("Traceback (most recent call last):\n  File \"a\"\nKeyError: 'a'\n\nDuring handling of the above exception, another exception occurred:\n\nTraceback (most recent call last):\n  File \"b\"\nmy.Fault: first\nsecond\n"),
			"web1: x (file.managed): my.Fault: first second",
		},
		{"a list", "x_|-a_|-a_|-y", failed(value.Strings("one", "two")), "web1: a (x.y): one"},
		{"no comment", "x_|-a_|-a_|-y", failed(""), "web1: a (x.y)"},
		{"a tag of somebody else", "what", failed("no"), "web1: what: no"},
	} {
		if got := OfState("web1", tt.tag, tt.ret, Options{}).Line(300); got != tt.want {
			t.Errorf("%s:\n%s\nwant\n%s", tt.name, got, tt.want)
		}
	}
}

// TestOf: the cause of what a host returned.
func TestOf(t *testing.T) {
	t.Parallel()
	unmet := func(num int64, of string) *value.Map {
		return value.MapOf("result", false, "comment", "One or more requisite failed: "+of, "changes", value.NewMap(0), "__run_num__", num)
	}
	later := failed("later")
	later.Set("__run_num__", int64(9))
	run := value.MapOf("test_|-after_|-after_|-nop", unmet(0, "x.bad"), "x_|-last_|-last_|-y", later, tag, ran(3, "", "disk is on fire"), "test_|-more_|-more_|-nop", unmet(4, "x.after"))
	lost := value.MapOf("result", false, "comment", "Run failed on minions: web1, web2", "no_return", value.MapOf("web1", "unreachable: refused"), "changes", value.MapOf("ret", value.MapOf("web1", false, "web2", run)))
	step := value.MapOf("result", false, "comment", "Run failed on minions: web2", "changes", value.MapOf("ret", value.MapOf("web1", value.MapOf(tag, value.MapOf("result", true)), "web2", run)))
	call := value.MapOf("result", false, "comment", "Running function cmd.run failed on minions: web2 Function cmd.run ran on web1, web2.", "changes", value.MapOf("ret", value.MapOf("web1", "fine", "web2", "disk is on fire")))
	calls := value.MapOf("result", false, "comment", "Running function cmd.run failed on minions: web1, web2, web3 Function cmd.run ran on web1, web2, web3, web4.", "changes", value.MapOf("ret", value.MapOf("web1", "no", "web2", "no", "web3", "no", "web4", "fine")))
	nested := func(v value.Value) *value.Map {
		return value.MapOf("result", false, "comment", "Runner function 'state.orchestrate' failed.", "changes", value.MapOf("return", value.MapOf("data", value.MapOf("ctl", v))))
	}
	odd := value.MapOf("result", false, "comment", "Run failed on minions: web9", "changes", value.MapOf("ret", value.MapOf("web1", "fine")))
	for _, tt := range []struct {
		name string
		c    Cause
		want string
	}{
		{"states", Of("web1", run, 2, Options{}), "web1: bad (cmd.run): exit status 3: disk is on fire (and 1 more failed, and 2 that required them)"},
		{"only what was left out", Of("web1", value.MapOf("test_|-after_|-after_|-nop", unmet(0, "x.bad")), 2, Options{}), "web1 (and 1 that required it)"},
		{"a command", Of("web1", "disk is on fire", 3, Options{}), "web1: return code 3: disk is on fire"},
		{"a long command", Of("web1", "a\ndisk is on fire", 3, Options{}), "web1: return code 3: a disk is on fire"},
		{"a command's outcome", Of("web1", value.MapOf("stdout", "x", "stderr", "disk is on fire", "retcode", int64(3)), 3, Options{}), "web1: exit status 3: disk is on fire"},
		{"an SLS that does not compile", Of("web1", value.Strings("Rendering SLS 'base:x' failed: no good", "more"), 1, Options{}), "web1: return code 1: Rendering SLS 'base:x' failed: no good more"},
		{"an error", Of("web1", "ERROR: no", 0, Options{}), "web1: ERROR: no"},
		{"nothing", Of("", nil, 0, Options{}), ""},
		{"a step that runs an orchestration", OfState("ctl", "salt_|-ship_|-state.orchestrate_|-runner", nested(value.MapOf("salt_|-deploy_|-deploy_|-state", step)), Options{}), "web2: ship (salt.runner) / deploy (salt.state) / bad (cmd.run): exit status 3: disk is on fire (and 1 more failed, and 2 that required them)"},
		{"a step whose orchestration does not compile", OfState("ctl", "salt_|-ship_|-state.orchestrate_|-runner", nested(value.Strings("Rendering SLS 'base:x' failed: no good")), Options{}), "ctl: ship (salt.runner): Rendering SLS 'base:x' failed: no good"},
		{"a runner that returns other things", OfState("ctl", "salt_|-ship_|-jobs.list_jobs_|-runner", value.MapOf("result", false, "comment", "Runner function 'jobs.list_jobs' failed.", "changes", value.MapOf("return", value.MapOf("data", "x"))), Options{}), "ctl: ship (salt.runner): Runner function 'jobs.list_jobs' failed."},
		{"a step with hosts that are away", OfState("ctl", "salt_|-deploy_|-deploy_|-state", lost, Options{}), "web1: deploy (salt.state): unreachable: refused (and 1 more failed)"},
		{"a step", OfState("ctl", "salt_|-deploy_|-deploy_|-state", step, Options{}), "web2: deploy (salt.state) / bad (cmd.run): exit status 3: disk is on fire (and 1 more failed, and 2 that required them)"},
		{"a step with a function", OfState("ctl", "salt_|-f_|-cmd.run_|-function", call, Options{}), "web2: f (salt.function): disk is on fire"},
		{"a step with a function that failed on several", OfState("ctl", "salt_|-f_|-cmd.run_|-function", calls, Options{}), "web1: f (salt.function): no (and 2 more failed)"},
		{"a step whose hosts do not say", OfState("ctl", "salt_|-f_|-f_|-state", odd, Options{}), "ctl: f (salt.state): Run failed on minions: web9"},
	} {
		if got := tt.c.Line(300); got != tt.want {
			t.Errorf("%s:\n%s\nwant\n%s", tt.name, got, tt.want)
		}
	}
}

// TestBounds: a cause is bounded, whatever a program wrote, and has its end.
func TestBounds(t *testing.T) {
	t.Parallel()
	for name, noise := range map[string]string{"lines": strings.Repeat("noise\n", 2_000_000), "one line": strings.Repeat("é", 5<<20)} {
		c := OfState("web1", tag, ran(3, "", noise+" disk is on fire"), Options{})
		if !c.Cut || len(c.Text()) > maxText+100 || !strings.HasSuffix(c.Text(), "disk is on fire") || !utf8.ValidString(c.Text()) {
			t.Errorf("%s: cut %v, %d bytes", name, c.Cut, len(c.Text()))
		}
		for _, most := range []int{80, 300} {
			line := c.Line(most)
			if n := utf8.RuneCountInString(line); n > most+least || !strings.HasSuffix(line, "disk is on fire") || !strings.HasPrefix(line, "web1: bad (cmd.run): exit status 3: ...") {
				t.Errorf("%s: %d characters: %s", name, n, line)
			}
		}
	}
	c := OfState("web1", tag, failed("begins so "+strings.Repeat("x", 1000)+" ends so"), Options{})
	if line := c.Line(200); utf8.RuneCountInString(line) > 200 || !strings.Contains(line, "begins so") || !strings.HasSuffix(line, "ends so") {
		t.Error(line)
	}
}

// TestSecrets: a secret is masked before a text is cut, so that none of it is left.
func TestSecrets(t *testing.T) {
	t.Parallel()
	const secret = "hunter2hunter2"
	mask := func(s string) string { return strings.ReplaceAll(s, secret, "**********") }
	for _, pad := range []int{0, maxText - len(secret)/2, maxText - 3, maxRead - maxText} {
		c := OfState("web1", tag, ran(3, "", "password "+secret+strings.Repeat("x", pad)+" end"), Options{Mask: mask})
		for _, s := range []string{c.Text(), c.Line(300), c.Why(80)} {
			if strings.Contains(s, secret[len(secret)-3:]) || strings.Contains(s, secret[:3]) {
				t.Errorf("%d: a part of the secret is left: %.100s", pad, s)
			}
		}
	}
}

func FuzzOfState(f *testing.F) {
	f.Add("a\nb", "Traceback (most recent call last):\n x\ny", "\x1b[31m", int64(3))
	f.Fuzz(func(t *testing.T, comment, stdout, stderr string, status int64) {
		ret := ran(status, stdout, stderr)
		ret.Set("comment", comment)
		for _, s := range []string{OfState("h", tag, ret, Options{}).Line(100), OfState("h", tag, failed(comment), Options{}).Line(100)} {
			if strings.ContainsAny(s, "\n\x1b\u202e") || !utf8.ValidString(s) {
				t.Errorf("%q", s)
			}
		}
	})
}
