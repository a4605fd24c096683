// Package alternatives is Salt's execution module "alternatives": which of several
// programs serves under a name, by update-alternatives.
package alternatives

import (
	"context"
	"path"
	"strconv"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/modules/machine"
	"brine/modules/tool"
)

// dir has a link for each name.
const dir = "/etc/alternatives"

// Module returns the execution module "alternatives".
func Module() fun.Module {
	return fun.Module{Name: "alternatives", Kind: fun.Exec, Doc: "Choose between programs that do the same.", Avail: available, Specs: specs}
}

func available(env *fun.Env) (bool, string) {
	if st, err := env.Host.Stat(dir); err != nil || !st.Mode.IsDir() {
		return false, "Cannot load alternatives module: /etc/alternatives dir not found"
	}
	return true, ""
}

// program is the program's name on this system.
func program(env *fun.Env) string {
	if machine.Grain(env, "os_family") == "RedHat" {
		return "alternatives"
	}
	return "update-alternatives"
}

// check refuses arguments that the program would take for options, and names that
// lead elsewhere.
func check(name string, more ...string) error {
	if name == "" || strings.HasPrefix(name, "-") || strings.ContainsAny(name, "/\x00") {
		return fun.Errorf("'%s' is not the name of an alternative", name)
	}
	for _, s := range more {
		if strings.HasPrefix(s, "-") {
			return fun.Errorf("'%s' is not a path", s)
		}
	}
	return nil
}

// printed is what the program printed: where it failed and gave a reason, that.
func printed(out tool.Out, always bool) string {
	stderr := strings.TrimRight(out.Stderr, "\n")
	if out.Status > 0 && (always || stderr != "") {
		return stderr
	}
	return strings.TrimRight(out.Stdout, "\n")
}

type displayKey struct{ name string }

// show runs --display.
func show(ctx context.Context, env *fun.Env, name string) (tool.Out, error) {
	if err := check(name); err != nil {
		return tool.Out{}, err
	}
	return machine.Keep(env, displayKey{name}, func() (tool.Out, error) {
		return tool.Look(ctx, env.Host, program(env), "--display", name)
	})
}

// A Choice is a path that may serve under a name.
type Choice struct {
	Path     string
	Priority int64
}

// parseChoices reads the lines of --display that say "PATH - priority N"; families
// stand between on Red Hat.
func parseChoices(text string) []Choice {
	var all []Choice
	for line := range strings.Lines(text) {
		p, rest, ok := strings.Cut(strings.TrimRight(line, "\n"), " - ")
		i := strings.LastIndex(rest, "priority ")
		if !ok || i < 0 || !strings.HasPrefix(p, "/") {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSpace(rest[i+len("priority "):]), 10, 64)
		if err == nil {
			all = append(all, Choice{p, n})
		}
	}
	return all
}

// Registered returns how a path is registered for a name; ok is false where it is
// not.
func Registered(ctx context.Context, env *fun.Env, name, p string) (c Choice, ok bool, err error) {
	out, err := show(ctx, env, name)
	if err != nil || out.Status > 0 {
		return Choice{}, false, err
	}
	for _, c := range parseChoices(out.Stdout) {
		if c.Path == p {
			return c, true, nil
		}
	}
	return Choice{}, false, nil
}

func display(ctx context.Context, c *fun.Call, a *nameArg) (fun.Result, error) {
	out, err := show(ctx, c.Env, a.Name)
	return fun.Result{Value: printed(out, false), Out: "txt"}, err
}

func showLink(ctx context.Context, c *fun.Call, a *nameArg) (fun.Result, error) {
	name := a.Name
	if err := check(name); err != nil {
		return fun.Result{}, err
	}
	switch machine.Grain(c.Env, "os_family") {
	case "RedHat":
		return fromFile(c.Env.Host, "/var/lib/alternatives", name)
	case "Suse":
		return fromFile(c.Env.Host, "/var/lib/rpm/alternatives", name)
	}
	out, err := tool.Look(ctx, c.Env.Host, program(c.Env), "--query", name)
	if err != nil || out.Status > 0 {
		return fun.Result{Value: false}, err
	}
	first, _, _ := strings.Cut(out.Stdout, "\n\n")
	for line := range strings.Lines(first) {
		if link, ok := strings.CutPrefix(line, "Link:"); ok {
			return fun.Value(strings.TrimSpace(link))
		}
	}
	return fun.Value(false)
}

// fromFile reads the link of a name, which is the second line of its file.
func fromFile(h host.Host, in, name string) (fun.Result, error) {
	text, err := h.ReadFile(path.Join(in, name))
	lines := strings.Split(value.DecodeReplace(text), "\n")
	if err != nil || len(lines) < 2 || lines[1] == "" {
		return fun.Value(false)
	}
	return fun.Value(lines[1])
}

// current returns the path that serves under a name, "" where none does.
func current(c *fun.Call, a *nameArg) (string, error) {
	name := a.Name
	if err := check(name); err != nil {
		return "", err
	}
	to, err := c.Env.Host.Readlink(path.Join(dir, name))
	if err != nil {
		return "", nil
	}
	return to, nil
}

func showCurrent(_ context.Context, c *fun.Call, a *nameArg) (fun.Result, error) {
	to, err := current(c, a)
	if to == "" {
		return fun.Result{Value: false}, err
	}
	return fun.Value(to)
}

// checkExistsArgs are the arguments of checkExists, checkInstalled, remove and set.
type checkExistsArgs struct {
	nameArg
	pathArg
}

func checkExists(ctx context.Context, c *fun.Call, a *checkExistsArgs) (fun.Result, error) {
	_, ok, err := Registered(ctx, c.Env, a.Name, a.Path)
	return machine.Bool(ok, err)
}

func checkInstalled(_ context.Context, c *fun.Call, a *checkExistsArgs) (fun.Result, error) {
	to, err := current(c, &a.nameArg)
	return machine.Bool(to != "" && to == a.Path, err)
}

// change runs the program. The return is what it printed.
func change(ctx context.Context, c *fun.Call, always bool, argv ...string) (fun.Result, error) {
	out, err := tool.Run(ctx, c.Env.Host, append([]string{program(c.Env)}, argv...)...)
	return fun.Result{Value: printed(out, always), Retcode: out.Status}, err
}

type installArgs struct {
	nameArg
	Link string `arg:"link,required,path" doc:"link by which the name is used"`
	pathArg
	Priority int64 `arg:"priority,required" doc:"in automatic mode the path with the highest priority serves"`
}

func install(ctx context.Context, c *fun.Call, a *installArgs) (fun.Result, error) {
	name, link, p := a.Name, a.Link, a.Path
	if err := check(name, link, p); err != nil {
		return fun.Result{}, err
	}
	res, err := change(ctx, c, false, "--install", link, name, p, strconv.FormatInt(a.Priority, 10))
	res.Out = "txt"
	return res, err
}

func remove(ctx context.Context, c *fun.Call, a *checkExistsArgs) (fun.Result, error) {
	if err := check(a.Name, a.Path); err != nil {
		return fun.Result{}, err
	}
	res, err := change(ctx, c, true, "--remove", a.Name, a.Path)
	res.Out = "txt"
	return res, err
}

func auto(ctx context.Context, c *fun.Call, a *nameArg) (fun.Result, error) {
	if err := check(a.Name); err != nil {
		return fun.Result{}, err
	}
	return change(ctx, c, true, "--auto", a.Name)
}

func set(ctx context.Context, c *fun.Call, a *checkExistsArgs) (fun.Result, error) {
	if err := check(a.Name, a.Path); err != nil {
		return fun.Result{}, err
	}
	return change(ctx, c, true, "--set", a.Name, a.Path)
}
