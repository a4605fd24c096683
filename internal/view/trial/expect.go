package trial

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"brine/internal/core/host"
	"brine/internal/py/difflib"
	"brine/internal/py/source"
	"brine/internal/py/value"
	"brine/internal/view/casefile"
)

// callTime bounds a call of brine in a machine.
const callTime = 30 * time.Minute

// notFound is the exit status of what runs a program that is not there, or whose loader
// is not.
const notFound = 127

// call calls an execution function in the machine and returns its value, and what brine
// wrote to stderr.
func (p *plan) call(ctx context.Context, args ...string) (v value.Value, stderr string, err error) {
	v, _, stderr, err = p.callStatus(ctx, args...)
	return v, stderr, err
}

// callStatus is call, and returns the exit status too: that of a function that failed is not 0.
func (p *plan) callStatus(ctx context.Context, args ...string) (v value.Value, status int, stderr string, err error) {
	argv := append([]string{inside + "/brine", "call", "-c", inside + "/case/conf", "--out=json", "--no-progress", "--no-color"}, args...)
	out, err := p.m.Run(ctx, host.Cmd{Argv: argv, Timeout: callTime})
	status, stderr = out.Status, strings.TrimSpace(string(out.Stderr))
	switch {
	case err != nil:
		return nil, status, stderr, err
	case out.TimedOut:
		return nil, status, stderr, fmt.Errorf("%s did not end within %s", args[0], callTime)
	case out.Status == notFound && len(out.Stdout) == 0:
		return nil, status, stderr, fmt.Errorf("brine cannot be run in the machine: it must be a static program, made with CGO_ENABLED=0\n%s", stderr)
	}
	v, err = value.ParseJSON(string(out.Stdout))
	m, _ := v.(*value.Map)
	if err != nil || m.Len() == 0 {
		return nil, status, stderr, fmt.Errorf("%s: exit status %d: %s", args[0], out.Status, strings.TrimSpace(string(out.Stdout)+"\n"+stderr))
	}
	if local, ok := m.Get("local"); ok && m.Len() == 1 {
		return local, status, stderr, nil
	}
	return nil, status, stderr, errors.New(strings.TrimSpace(m.Str("error") + "\n" + m.Str("hint")))
}

// textOf is a value as people read it.
func textOf(v value.Value) string {
	switch v := v.(type) {
	case nil:
		return "None"
	case string:
		return v
	case *value.List:
		lines := make([]string, v.Len())
		for i, x := range v.Items {
			lines[i] = textOf(x)
		}
		return strings.Join(lines, "\n")
	case *value.Map:
		if diff, ok := v.At("diff").(string); ok {
			return strings.TrimRight(diff, "\n")
		}
		text, err := value.AppendJSON(nil, v, value.JSONOptions{Indent: 2})
		if err == nil {
			return string(text)
		}
	}
	return value.Str(v)
}

// expect checks what the case expects.
func (p *plan) expect(ctx context.Context) {
	e := &p.job.Case.Expect
	for _, f := range e.Functions {
		p.expected(f.Pos, f.Name+argText(f), func() (string, error) { return p.function(ctx, f) }, firstText(f.Args))
	}
	for _, f := range e.Files {
		p.expected(f.Pos, "file "+f.Path, func() (string, error) { return p.file(ctx, f) }, f.Path)
	}
	if len(e.Ports) > 0 {
		open, err := p.ports(ctx)
		for _, port := range e.Ports {
			p.expected(port.Pos, fmt.Sprintf("port %d", port.Number), func() (string, error) {
				if err == nil && !open[port.Number] {
					return fmt.Sprintf("nothing listens on it; what listens: %s", portList(open)), nil
				}
				return "", err
			}, "")
		}
	}
	if len(e.States) > 0 {
		p.expectedStates(ctx, e)
	}
	for _, s := range e.Scripts {
		p.expected(s.Pos, "script", func() (string, error) { return p.script(ctx, s) }, "")
	}
}

// expected adds the check of an expectation. look returns what is wrong, "" if nothing
// is; about is what the state is named that should have made it.
func (p *plan) expected(pos source.Pos, name string, look func() (string, error), about string) {
	began := time.Now()
	wrong, err := look()
	if err != nil {
		wrong = err.Error()
	}
	if wrong == "" {
		p.add(Check{Name: name}, began)
		return
	}
	p.add(Check{Name: name, Status: Failed, Text: wrong, Pos: pos, Hint: p.maker(about, moduleOf(name))}, began)
}

// maker names the state that should have made something: one of a module, if there is one.
func (p *plan) maker(about, module string) string {
	if about == "" {
		return ""
	}
	hint := "no state of the case is about " + about
	for _, s := range slices.Backward(p.made) {
		if s.ret.Str("name") != about && s.ret.Str("__id__") != about {
			continue
		}
		hint = fmt.Sprintf("it is made by %s (%s) in %s", s.ret.Str("__id__"), funOf(s.tag), s.ret.Str("__sls__"))
		if strings.HasPrefix(s.tag, module+"_|-") {
			break
		}
	}
	return hint
}

// moduleOf is the module of the states that an expectation is about, by its name.
func moduleOf(name string) string {
	word, _, _ := strings.Cut(name, " ")
	module, _, _ := strings.Cut(word, ".")
	return module
}

// argText shows the arguments of a call.
func argText(f casefile.Function) string {
	var parts []string
	for _, a := range f.Args {
		parts = append(parts, value.Str(a))
	}
	for k, v := range f.Kwargs.All() {
		parts = append(parts, value.Str(k)+"="+value.Str(v))
	}
	if len(parts) == 0 {
		return ""
	}
	return " " + strings.Join(parts, " ")
}

func firstText(args []value.Value) string {
	if len(args) == 0 {
		return ""
	}
	return value.Str(args[0])
}

// commands are functions that return what a command printed; that with its exit status is
// called instead.
var commands = []string{"cmd.run", "cmd.shell", "cmd.run_stdout", "cmd.retcode"}

// function checks a call.
func (p *plan) function(ctx context.Context, f casefile.Function) (string, error) {
	name := f.Name
	if slices.Contains(commands, name) {
		name = "cmd.run_all"
	}
	args := []string{name}
	for _, a := range f.Args {
		text, err := argument(a)
		if err != nil {
			return "", err
		}
		args = append(args, text)
	}
	for k, v := range f.Kwargs.All() {
		text, err := argument(v)
		if err != nil {
			return "", err
		}
		args = append(args, value.Str(k)+"="+text)
	}
	v, status, stderr, err := p.callStatus(ctx, args...)
	if err != nil {
		return "", err
	}
	wrong := compare(f, v, status)
	if wrong != "" && stderr != "" {
		wrong += "\n" + stderr
	}
	return wrong, nil
}

// argument writes a value as an argument of a command line that is read as YAML.
func argument(v value.Value) (string, error) {
	text, err := value.AppendJSON(nil, v, value.JSONOptions{})
	return string(text), err
}

// failedCall says why a call did not succeed, although it returned something that is true, or
// matches: its exit status, an error that it returned, or that of a command.
func failedCall(f casefile.Function, v value.Value, status int) string {
	m, _ := v.(*value.Map)
	code, _ := value.AsInt(m.At("retcode"))
	switch {
	case f.HasIs || f.Status != nil || f.Match == nil && !value.Truth(v):
	case value.Truth(m.At("error")) && !f.Has.Has("error"):
		return "expected no error, found " + textOf(m.At("error"))
	case (code != 0 || status != 0 && f.Match != nil) && !f.Has.Has("retcode"):
		return "expected that the call succeeds, found " + textOf(v)
	case status != 0 && f.Has == nil:
		return "expected that the call succeeds, found " + textOf(v)
	}
	return ""
}

// compare says what of a value is not as expected. Where the case says nothing of it, it must
// be true. status is the exit status of the call.
func compare(f casefile.Function, v value.Value, status int) string {
	text, given := textOf(v), f.Status != nil || f.HasIs || f.Has != nil || f.Match != nil
	m, _ := v.(*value.Map)
	command := slices.Contains(commands, f.Name)
	if f.Status != nil || command {
		n, _ := value.AsInt(m.At("retcode"))
		switch {
		case f.Name == "cmd.retcode" && f.HasIs:
		case f.Status == nil && (m == nil || n != 0): // what it printed does not make it good
			return "expected that the command succeeds (else write its status), found " + text
		case f.Status != nil && (m == nil || n != *f.Status):
			return fmt.Sprintf("expected the status %d, found %s", *f.Status, text)
		}
		given = given || command
		text = m.Str("stdout") + m.Str("stderr")
		switch {
		case f.Name == "cmd.retcode":
			v = m.At("retcode")
		case command:
			v = m.At("stdout")
		}
	}
	switch {
	case f.HasIs && !value.Equal(v, f.Is):
		return different(f.Is, v)
	case f.Match != nil && !f.Match.MatchString(text):
		return fmt.Sprintf("expected what matches %q, found %s", strings.TrimPrefix(f.Match.String(), "(?m)"), text)
	case !given && !value.Truth(v):
		return "expected a true value, found " + text
	}
	for k, want := range f.Has.All() {
		if m == nil {
			return "expected a mapping, found " + text
		}
		got, ok := m.Get(k)
		if !ok {
			return value.Str(k) + ": expected " + textOf(want) + ", found nothing"
		}
		if !value.Equal(got, want) {
			return value.Str(k) + ": " + different(want, got)
		}
	}
	if command {
		return ""
	}
	return failedCall(f, v, status)
}

// different says what was expected and what was found; the types are shown where the texts
// are the same.
func different(want, got value.Value) string {
	w, g := textOf(want), textOf(got)
	if w == g {
		w, g = value.Repr(want), value.Repr(got)
	}
	return "expected " + w + ", found " + g
}

// file checks a file.
func (p *plan) file(ctx context.Context, f casefile.FileWant) (string, error) {
	there, _, err := p.call(ctx, "file.access", f.Path, "f")
	if err != nil {
		return "", err
	}
	isLink, _, err := p.call(ctx, "file.is_link", f.Path)
	if err != nil {
		return "", err
	}
	exists := there == true || isLink == true
	switch {
	case f.Type == "absent" && exists:
		return "expected no file, and it exists", nil
	case f.Type == "absent":
		return "", nil
	case !exists:
		return "expected a " + f.Type + ", and it does not exist", nil
	}
	v, _, err := p.call(ctx, "file.stats", f.Path, "follow_symlinks=False")
	if err != nil {
		return "", err
	}
	stats, ok := v.(*value.Map)
	if !ok {
		return "", fmt.Errorf("file.stats returned %s", textOf(v))
	}
	kinds := map[string]string{"file": "file", "dir": "directory", "link": "link"}
	got := stats.Str("type")
	for _, x := range [][3]string{
		{"type", f.Type, kinds[got]}, {"mode", f.Mode, cmp.Or(strings.TrimLeft(stats.Str("mode"), "0"), "0")}, {"user", f.User, stats.Str("user")}, {"group", f.Group, stats.Str("group")},
	} {
		if x[1] != "" && x[1] != x[2] {
			return fmt.Sprintf("expected the %s %s, found %s", x[0], x[1], x[2]), nil
		}
	}
	if f.Target != "" && f.Target != stats.Str("target") {
		return fmt.Sprintf("expected a link to %s, found one to %s", f.Target, stats.Str("target")), nil
	}
	return p.content(ctx, f)
}

// content checks what is in a file.
func (p *plan) content(ctx context.Context, f casefile.FileWant) (string, error) {
	if f.Content == nil && f.Match == nil {
		return "", nil
	}
	v, _, err := p.call(ctx, "file.read", f.Path)
	if err != nil {
		return "", err
	}
	text, ok := v.(string)
	switch {
	case !ok:
		return "", fmt.Errorf("file.read returned %s", textOf(v))
	case f.Content != nil && text != *f.Content:
		return "the content differs\n" + strings.TrimRight(difflib.String(difflib.SplitLines(*f.Content), difflib.SplitLines(text), "expected", "found"), "\n"), nil
	case f.Match != nil && !f.Match.MatchString(text):
		return fmt.Sprintf("expected content that matches %q, found\n%s", strings.TrimPrefix(f.Match.String(), "(?m)"), strings.TrimRight(text, "\n")), nil
	}
	return "", nil
}

// listening is the state of a socket that waits for connections, in /proc/net/tcp.
const listening = "0A"

// ports returns the TCP ports on which something listens.
func (p *plan) ports(ctx context.Context) (map[int64]bool, error) {
	open := map[int64]bool{}
	for _, file := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		v, _, err := p.call(ctx, "file.read", file)
		if err != nil && file == "/proc/net/tcp" {
			return nil, err
		}
		text, _ := v.(string)
		for line := range strings.Lines(text) {
			parts := strings.Fields(line)
			if len(parts) < 4 || parts[3] != listening {
				continue
			}
			_, port, _ := strings.Cut(parts[1], ":")
			if n, err := strconv.ParseInt(port, 16, 64); err == nil {
				open[n] = true
			}
		}
	}
	return open, nil
}

func portList(open map[int64]bool) string {
	var nums []int64
	for n := range open {
		nums = append(nums, n)
	}
	slices.Sort(nums)
	if len(nums) == 0 {
		return "nothing"
	}
	return strings.Trim(fmt.Sprint(nums), "[]")
}

// expectedStates checks that states report no change.
func (p *plan) expectedStates(ctx context.Context, e *casefile.Expect) {
	began := time.Now()
	v, stderr, err := p.call(ctx, "state.apply", expectSLS, "test=True")
	rets, ok := statesOf(v)
	if err == nil && !ok {
		err = errors.New(strings.TrimSpace(textOf(v) + "\n" + stderr))
	}
	if err != nil {
		p.add(Check{Name: "states", Status: Failed, Text: err.Error(), Pos: e.States[0].Pos}, began)
		return
	}
	judged := map[int]bool{}
	for _, tag := range inOrder(rets) {
		ret := rets[tag]
		var n int
		if _, err := fmt.Sscanf(ret.Str("__id__"), "expected %d", &n); err != nil || n < 1 || n > len(e.States) {
			continue
		}
		judged[n] = true
		s := e.States[n-1]
		p.expected(s.Pos, s.Fun+" "+ret.Str("name"), func() (string, error) {
			switch {
			case stateRet{ret: ret}.idle():
				return "it was not run, so that nothing was looked at: " + textOf(ret.At("comment")), nil
			case ret.At("result") == true:
				return "", nil
			}
			return "expected no change: " + ret.Str("comment") + "\n" + textOf(ret.At("changes")), nil
		}, ret.Str("name"))
	}
	for i, s := range e.States {
		if !judged[i+1] {
			p.add(Check{Name: s.Fun, Status: Failed, Text: "the state did not run: " + stderr, Pos: s.Pos}, began)
		}
	}
}

// script runs a shell script in the machine.
func (p *plan) script(ctx context.Context, s casefile.Script) (string, error) {
	out, err := p.m.Run(ctx, host.Cmd{Argv: []string{"/bin/sh", "-euc", s.Text}, Merge: true, Timeout: callTime})
	if err != nil || out.Status == 0 && !out.TimedOut {
		return "", err
	}
	return strings.TrimSpace(fmt.Sprintf("it ended with status %d\n%s", out.Status, lastLines(string(out.Stdout), 20))), nil
}
