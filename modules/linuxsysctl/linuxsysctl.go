// Package linuxsysctl is Salt's execution module "linux_sysctl", which serves as
// "sysctl": the parameters of the Linux kernel.
package linuxsysctl

import (
	"context"
	"path"
	"regexp"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/modules/machine"
	"brine/modules/textfile"
	"brine/modules/tool"
)

// Module returns the execution module "sysctl" of Linux.
func Module() fun.Module {
	return fun.Module{Name: "sysctl", Kind: fun.Exec, Doc: "Manage kernel parameters.", Specs: specs, Avail: machine.OnLinux("The linux_sysctl execution module cannot be loaded: only available on Linux systems.")}
}

// file returns the file of a parameter below /proc/sys. Dots separate the parts
// of a name; a slash is a dot in a part.
func file(name string) (string, error) {
	p := strings.Map(func(r rune) rune {
		switch r {
		case '.':
			return '/'
		case '/':
			return '.'
		}
		return r
	}, name)
	full := "/proc/sys/" + p
	if name == "" || name[0] == '-' || strings.ContainsAny(name, "= \t\r\n\x00") || path.Clean(full) != full || !strings.HasPrefix(full, "/proc/sys/") {
		return "", fun.Errorf("invalid name of a kernel parameter: %s", value.Repr(name))
	}
	return full, nil
}

// defaultFile returns the file of parameters that are kept.
// Salt: salt/modules/linux_sysctl.py default_config.
func defaultFile(h host.Host) string {
	if st, err := h.Stat("/run/systemd/system"); err == nil && st.Mode.IsDir() {
		return "/etc/sysctl.d/99-salt.conf"
	}
	return "/etc/sysctl.conf"
}

func defaultConfig(_ context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	return fun.Value(defaultFile(c.Env.Host))
}

type showArgs struct {
	_          fun.Arguments
	ConfigFile value.Value `arg:"config_file,bool|path" default:"False" doc:"file of parameters; False is the running kernel"`
}

func show(ctx context.Context, c *fun.Call, a *showArgs) (fun.Result, error) {
	m := value.NewMap(8)
	config, _ := value.AsText(a.ConfigFile)
	if config == "" {
		out, err := tool.Run(ctx, c.Env.Host, "sysctl", "-a")
		if err != nil {
			return fun.Result{}, err
		}
		for l := range strings.Lines(out.Stdout) {
			if name, val, ok := strings.Cut(strings.TrimRight(l, "\n"), " = "); ok {
				m.Set(name, val)
			}
		}
		return fun.Result{Value: m, Retcode: out.Status}, nil
	}
	if _, err := c.Env.Host.Stat(config); err != nil {
		return fun.Value(value.NewList())
	}
	text, err := c.Env.Host.ReadFile(config)
	if err != nil {
		c.Env.Log().Error("cannot read the file of kernel parameters", "file", config, "err", err)
		return fun.Value(nil)
	}
	for _, l := range textfile.Lines(value.DecodeReplace(text)) {
		l = strings.TrimSpace(l)
		if k, v, ok := strings.Cut(l, "="); ok && l[0] != '#' {
			m.Set(strings.TrimRight(k, " \t"), strings.TrimLeft(v, " \t"))
		}
	}
	return fun.Value(m)
}

// current returns the value of a parameter. Where it cannot be read, sysctl(8) says
// why, and status is its exit status.
func current(ctx context.Context, h host.Host, name string) (val string, status int, err error) {
	p, err := file(name)
	if err != nil {
		return "", 0, err
	}
	if b, err := h.ReadFile(p); err == nil {
		return strings.TrimRight(string(b), " \t\r\n"), 0, nil
	}
	out, err := tool.Look(ctx, h, "sysctl", "-n", name)
	if err != nil {
		return "", 0, err
	}
	if out.OK() {
		return out.Text(), 0, nil
	}
	return out.Fault(), out.Status, nil
}

func get(ctx context.Context, c *fun.Call, a *nameArg) (fun.Result, error) {
	val, status, err := current(ctx, c.Env.Host, a.Name)
	return fun.Result{Value: val, Retcode: status}, err
}

// set gives a parameter of the running kernel a value and returns what sysctl(8)
// says that it has then.
func set(ctx context.Context, h host.Host, name, val string) (*value.Map, error) {
	p, err := file(name)
	if err != nil {
		return nil, err
	}
	if strings.ContainsAny(val, "\r\n\x00") {
		return nil, fun.Errorf("the value of %s must be a single line", name)
	}
	if _, err := h.Stat(p); err != nil {
		return nil, fun.Errorf("sysctl %s does not exist", name)
	}
	if over := host.PlannedOn(h); over != nil {
		return value.MapOf(name, val), over.WriteFile(p, strings.NewReader(val+"\n"), host.WriteOptions{})
	}
	out, err := tool.Run(ctx, h, "sysctl", "-w", name+"="+val)
	if err != nil {
		return nil, err
	}
	said := out.Text()
	re, err := regexp.Compile(`^` + regexp.QuoteMeta(name) + `\s+=\s+` + regexp.QuoteMeta(val) + `$`)
	if err != nil {
		return nil, err
	}
	if !re.MatchString(said) || strings.Contains(out.Stderr, "Invalid argument") {
		if !out.OK() {
			said = out.Fault()
		}
		return nil, fun.Errorf("sysctl -w failed: %s", said)
	}
	key, now, _ := strings.Cut(said, " = ")
	return value.MapOf(key, now), nil
}

type assignArgs struct {
	nameArg
	valueArg
}

func assign(ctx context.Context, c *fun.Call, a *assignArgs) (fun.Result, error) {
	m, err := set(ctx, c.Env.Host, a.Name, a.Value)
	return fun.Result{Value: m}, err
}

// squeeze makes all blanks between words one, as they are compared.
func squeeze(s string) string { return strings.Join(strings.Fields(s), "\t") }

// sameName reports whether a line of a configuration is about a parameter, and
// returns the "-" in front of it. There the first separator says how the name is
// written.
func sameName(key, name string) (prefix string, same bool) {
	if k, ok := strings.CutPrefix(key, "-"); ok {
		prefix, key = "-", strings.TrimSpace(k)
	}
	if key == name {
		return prefix, true
	}
	i := strings.IndexAny(key, "./")
	if i < 0 || key[i] == '.' {
		return prefix, false
	}
	p, err := file(name)
	return prefix, err == nil && "/proc/sys/"+key == p
}

// edit returns a configuration in which a parameter has a value, and whether it is
// another one. Other lines stay as they are.
func edit(text, name, val string) (string, bool) {
	var out []string
	found, changed := false, false
	for _, l := range textfile.Lines(text) {
		key, have, ok := strings.Cut(l, "=")
		key = strings.TrimSpace(key)
		if prefix, same := sameName(key, name); ok && same && !strings.HasPrefix(key, "#") && !strings.HasPrefix(key, ";") {
			found = true
			if squeeze(have) != squeeze(val) {
				l, changed = prefix+name+" = "+val, true
			}
		}
		out = append(out, l)
	}
	if !found {
		out, changed = append(out, name+" = "+val), true
	}
	return textfile.Join(out), changed
}

type persistArgs struct {
	nameArg
	valueArg
	Config string `arg:"config,path" doc:"file in which the parameter is kept; default: that of default_config"`
}

// persist keeps a parameter in a file and gives it to the running kernel.
// Salt: salt/modules/linux_sysctl.py persist.
func persist(ctx context.Context, c *fun.Call, a *persistArgs) (fun.Result, error) {
	h := c.Env.Host
	name, val, config := a.Name, a.Value, a.Config
	if config == "" {
		config = defaultFile(h)
	}
	if _, err := file(name); err != nil {
		return fun.Result{}, err
	}
	if strings.ContainsAny(val, "\r\n\x00") {
		return fun.Result{}, fun.Errorf("the value of %s must be a single line", name)
	}
	defer textfile.Lock(c.Env, config)()
	text, err := textfile.Read(h, config)
	if err != nil {
		return fun.Result{}, fun.Errorf("Could not read from file: %s", config)
	}
	if _, err := h.Stat(config); err != nil {
		text = "#\n# Kernel sysctl configuration\n#\n"
	}
	now, changed := edit(text, name, val)
	if changed {
		if err := h.MkdirAll(path.Dir(config), 0o755); err != nil {
			return fun.Result{}, fun.Errorf("Could not write to file: %s", host.OSError(err))
		}
		if err := textfile.Write(h, config, now); err != nil {
			return fun.Result{}, fun.Errorf("Could not write to file: %s", host.OSError(err))
		}
	} else {
		have, _, err := current(ctx, h, name)
		if err != nil {
			return fun.Result{}, err
		}
		if squeeze(have) == squeeze(val) {
			return fun.Value("Already set")
		}
	}
	if _, err := set(ctx, h, name, val); err != nil {
		return fun.Result{}, err
	}
	return fun.Value("Updated")
}
