// Package locale is Salt's execution module "locale": the locale of the system,
// and which locales there are.
package locale

import (
	"context"
	"path"
	"slices"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/modules/machine"
	"brine/modules/tool"
)

// Module returns the execution module "locale".
func Module() fun.Module {
	return fun.Module{Name: "locale", Kind: fun.Exec, Doc: "Locale of the system.", Avail: available, Specs: specs}
}

func available(env *fun.Env) (bool, string) {
	if k := machine.Grain(env, "kernel"); k == "Windows" {
		return false, "Cannot load locale module: windows platforms are unsupported"
	}
	return true, ""
}

// Parts are what the name of a locale is made of: ca_ES.UTF-8@valencia UTF-8.
type Parts struct{ Language, Territory, Codeset, Modifier, Charmap string }

// Split takes the name of a locale apart. Salt: salt/utils/locales.py split_locale.
func Split(name string) Parts {
	var p Parts
	name, p.Charmap, _ = strings.Cut(name, " ")
	name, p.Modifier, _ = strings.Cut(name, "@")
	name, p.Codeset, _ = strings.Cut(name, ".")
	p.Language, p.Territory, _ = strings.Cut(name, "_")
	return p
}

// String returns the name of a locale.
func (p Parts) String() string {
	var s strings.Builder
	s.WriteString(p.Language)
	for _, x := range []struct{ sep, part string }{{"_", p.Territory}, {".", p.Codeset}, {"@", p.Modifier}, {" ", p.Charmap}} {
		if x.part != "" {
			s.WriteString(x.sep + x.part)
		}
	}
	return s.String()
}

// normal returns the name as locale -a writes it.
func normal(name string) string {
	p := Split(name)
	p.Territory = strings.ToUpper(p.Territory)
	p.Codeset = strings.ReplaceAll(strings.ToLower(p.Codeset), "-", "")
	p.Charmap = ""
	return p.String()
}

// check refuses what is not the name of a locale: it goes into files and to programs.
func check(name string) error {
	for i := range len(name) {
		if c := name[i]; c|0x20 < 'a' || c|0x20 > 'z' {
			if (c < '0' || c > '9') && strings.IndexByte("_.@- ", c) < 0 || i == 0 && (c == '-' || c == '.') {
				return fun.Errorf("'%s' is not the name of a locale", name)
			}
		}
	}
	if name == "" {
		return fun.Errorf("'' is not the name of a locale")
	}
	return nil
}

// booted reports whether systemd keeps the locale; SLE 12 rewrites what it keeps.
func booted(env *fun.Env) bool {
	old := strings.Contains(machine.Grain(env, "os_family"), "Suse") && machine.Grain(env, "osmajorrelease") == "12"
	return machine.Booted(env.Host) && !old
}

type statusKey struct{}

// status returns the variables of the system's locale, by localectl.
func status(ctx context.Context, env *fun.Env) (*value.Map, error) {
	return machine.Keep(env, statusKey{}, func() (*value.Map, error) {
		if !tool.Has(env.Host, "localectl") {
			return nil, fun.Errorf(`Unable to find "localectl"`)
		}
		out, err := tool.Look(ctx, env.Host, "localectl", "--no-pager", "status")
		if err == nil && out.Status != 0 {
			err = fun.Errorf("localectl failed: %s", out.Fault())
		}
		return parseStatus(out.Stdout), err
	})
}

// parseStatus reads the variables below "System Locale:", which are one to a line.
func parseStatus(text string) *value.Map {
	vars := value.NewMap(2)
	in := false
	for line := range strings.Lines(text) {
		key, rest, ok := strings.Cut(line, ": ")
		if ok {
			in = strings.EqualFold(strings.TrimSpace(key), "system locale")
		} else {
			rest = line
		}
		if k, v, ok := strings.Cut(strings.TrimSpace(rest), "="); in && ok {
			vars.Set(k, v)
		}
	}
	return vars
}

// where returns the file that has the locale without systemd, and its variable.
func where(env *fun.Env) (file, key string) {
	family := machine.Grain(env, "os_family")
	for _, f := range []struct{ family, file, key string }{
		{"Suse", "/etc/sysconfig/language", "RC_LANG"},
		{"RedHat", "/etc/sysconfig/i18n", "LANG"},
		{"Debian", "/etc/default/locale", "LANG"},
		{"Solaris", "/etc/default/init", "LANG"},
	} {
		if strings.Contains(family, f.family) {
			return f.file, f.key
		}
	}
	return "", ""
}

func gentoo(env *fun.Env) bool { return strings.Contains(machine.Grain(env, "os_family"), "Gentoo") }

func getLocale(ctx context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	if booted(c.Env) {
		vars, err := status(ctx, c.Env)
		if err != nil {
			return fun.Result{}, err
		}
		return fun.Value(vars.Str("LANG"))
	}
	if gentoo(c.Env) {
		out, err := tool.Look(ctx, c.Env.Host, "eselect", "--brief", "locale", "show")
		return fun.Result{Value: strings.TrimSpace(out.Stdout)}, err
	}
	file, key := where(c.Env)
	if file == "" {
		return fun.Result{}, fun.Errorf(`Error: "%s" is unsupported!`, machine.Grain(c.Env, "oscodename"))
	}
	v, _ := machine.Setting(c.Env.Host, file, key)
	return fun.Value(v)
}

func setLocale(ctx context.Context, c *fun.Call, a *localeArgs) (fun.Result, error) {
	name := a.Locale
	if err := check(name); err != nil {
		return fun.Result{}, err
	}
	h := c.Env.Host
	if booted(c.Env) {
		return setBySystemd(ctx, c, name)
	}
	if gentoo(c.Env) {
		return tool.Succeeds(ctx, h, "eselect", "--brief", "locale", "set", name)
	}
	file, key := where(c.Env)
	switch {
	case file == "":
		return fun.Result{}, fun.Errorf("Error: Unsupported platform!")
	case file == "/etc/default/locale" && !tool.Has(h, "update-locale"):
		return fun.Result{}, fun.Errorf(`Cannot set locale: "update-locale" was not found.`)
	case file == "/etc/default/locale":
		if _, err := tool.Run(ctx, h, "update-locale"); err != nil {
			return fun.Result{}, err
		}
	}
	return machine.Bool(true, machine.Set(h, file, key, key+`="`+name+`"`, true))
}

// setBySystemd sets LANG and keeps the other variables.
func setBySystemd(ctx context.Context, c *fun.Call, name string) (fun.Result, error) {
	vars, err := status(ctx, c.Env)
	if err != nil {
		return fun.Result{}, err
	}
	argv := []string{"localectl", "--no-ask-password", "set-locale"}
	all := vars.Copy()
	all.Set("LANG", name)
	for k, v := range all.All() {
		argv = append(argv, value.Str(k)+"="+value.Str(v))
	}
	out, err := tool.Run(ctx, c.Env.Host, argv...)
	if err == nil && out.Status != 0 {
		c.Env.Log().Error("localectl set-locale failed", "stderr", out.Fault())
	}
	return fun.Result{Value: out.Status == 0, Retcode: out.Status}, err
}

type listKey struct{}

// list returns the locales that there are.
func list(ctx context.Context, env *fun.Env) ([]string, error) {
	return machine.Keep(env, listKey{}, func() ([]string, error) {
		out, err := tool.Look(ctx, env.Host, "locale", "-a")
		return strings.Split(strings.TrimRight(out.Stdout, "\n"), "\n"), err
	})
}

func listAvail(ctx context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	return machine.Strings(list(ctx, c.Env))
}

func avail(ctx context.Context, c *fun.Call, a *localeArgs) (fun.Result, error) {
	all, err := list(ctx, c.Env)
	want := normal(a.Locale)
	return machine.Bool(slices.ContainsFunc(all, func(n string) bool { return normal(strings.TrimSpace(n)) == want }), err)
}

// A request is a locale that is to be made.
type request struct {
	h          host.Host
	os, family string
	name       string // with its charmap, as locale.gen has it
	Parts
}

// newRequest completes the name of a locale: without a charmap it is the codeset.
func newRequest(env *fun.Env, name string) *request {
	r := &request{h: env.Host, os: machine.Grain(env, "os"), family: machine.Grain(env, "os_family"), name: name, Parts: Split(name)}
	if r.Charmap == "" && r.os != "Ubuntu" {
		r.Charmap = r.Codeset
		r.name = r.String()
	}
	return r
}

// base is the locale's source: its language and territory.
func (r *request) base() string { return r.Language + "_" + r.Territory }

// known reports whether there is a source for the locale.
func (r *request) known() (bool, error) {
	if r.os == "Debian" || r.family == "Gentoo" {
		text, _ := r.h.ReadFile("/usr/share/i18n/SUPPORTED")
		return slices.Contains(strings.Split(string(text), "\n"), r.name), nil
	}
	dir := "/usr/share/i18n/locales"
	if r.family == "Suse" {
		dir = "/usr/share/locale"
	}
	names, err := r.h.ReadDir(dir)
	if err != nil {
		return false, fun.Errorf(`Locale "%s" is not available.`, r.name)
	}
	return slices.Contains(names, r.base()), nil
}

// Known reports whether gen_locale finds the source of a locale.
func Known(env *fun.Env, name string) bool {
	ok, err := newRequest(env, name).known()
	return err == nil && ok
}

// list writes the locale into the file that names the ones to make: its line is
// uncommented, or added.
func (r *request) list() error {
	const gen = "/etc/locale.gen"
	file, line := gen, r.name
	if !machine.Exists(r.h, gen) {
		if r.os != "Ubuntu" {
			return nil
		}
		file = path.Join("/var/lib/locales/supported.d", r.Language)
	}
	text, _ := r.h.ReadFile(file)
	var lines []string
	if len(text) > 0 {
		lines = strings.Split(strings.TrimRight(string(text), "\n"), "\n")
	}
	found := false
	for i, l := range lines {
		if bare := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(l), "#")); bare == line {
			lines[i], found = line, true
		}
	}
	if !found {
		lines = append(lines, line)
	}
	return machine.Write(r.h, file, strings.Join(lines, "\n")+"\n")
}

// maker returns the command that makes the locale.
func (r *request) maker(verbose bool) ([]string, error) {
	switch {
	case tool.Has(r.h, "locale-gen") && r.family == "Gentoo":
		return []string{"locale-gen", "--generate", r.name}, nil
	case tool.Has(r.h, "locale-gen") && r.os == "Ubuntu":
		return []string{"locale-gen", normal(r.name)}, nil
	case tool.Has(r.h, "locale-gen"):
		return []string{"locale-gen", r.name}, nil
	case tool.Has(r.h, "localedef"):
		quiet := "--quiet"
		if verbose {
			quiet = "--verbose"
		}
		return []string{"localedef", "--force", "-i", r.base(), "-f", r.Codeset, r.base() + "." + r.Codeset, quiet}, nil
	}
	return nil, fun.Errorf(`Command "locale-gen" or "localedef" was not found on this system.`)
}

type genLocaleArgs struct {
	Locale  string `arg:"locale,required" doc:"name of the locale; \"ca_ES.UTF-8@valencia UTF-8\" names its charmap, too"`
	Verbose bool   `arg:"verbose" default:"False" doc:"return the output of the program that makes it"`
	_       fun.Kwargs
}

func genLocale(ctx context.Context, c *fun.Call, a *genLocaleArgs) (fun.Result, error) {
	name, verbose := a.Locale, a.Verbose
	if err := check(name); err != nil {
		return fun.Result{}, err
	}
	if machine.Grain(c.Env, "os_family") == "Solaris" {
		all, err := list(ctx, c.Env)
		return machine.Bool(slices.Contains(all, name), err)
	}
	r := newRequest(c.Env, name)
	ok, err := r.known()
	if err != nil || !ok {
		if err == nil {
			c.Env.Log().Error("the locale is not among those that can be made", "locale", r.name)
		}
		return fun.Result{Value: false}, err
	}
	argv, err := r.maker(verbose)
	if err != nil {
		return fun.Result{}, err
	}
	if err := r.list(); err != nil {
		return fun.Result{}, err
	}
	out, err := tool.Run(ctx, r.h, argv...)
	if err != nil {
		return fun.Result{}, err
	}
	if verbose {
		return fun.Result{Value: value.MapOf("pid", int64(out.PID), "retcode", int64(out.Status), "stdout", strings.TrimRight(out.Stdout, "\n"), "stderr", strings.TrimRight(out.Stderr, "\n")), Retcode: out.Status}, nil
	}
	return fun.Result{Value: out.Status == 0, Retcode: out.Status}, nil
}
