// Package apache has Salt's execution module "apache", and its provider deb_apache
// for Debian, which enables sites, modules and configurations as well.
package apache

import (
	"context"
	"maps"
	"strconv"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/modules/machine"
	"brine/modules/tool"
)

// Module returns the execution module "apache".
func Module() fun.Module {
	return fun.Module{Name: "apache", Kind: fun.Exec, Doc: "Manage the Apache web server.", Avail: installed, Specs: specs}
}

// Debian returns the provider deb_apache: "apache" with what only Debian has.
func Debian() fun.Module {
	m := fun.Module{Name: "apache", Kind: fun.Exec, Doc: "Manage the Apache web server of Debian.", Avail: onDebian, Specs: append(append([]fun.Spec{}, specs...), debianSpecs...)}
	m.SortSpecs()
	return m
}

// ctl returns the name of Apache's control program.
func ctl(env *fun.Env) string {
	switch machine.Grain(env, "os_family") {
	case "Debian", "Suse":
		return "apache2ctl"
	}
	return "apachectl"
}

func installed(env *fun.Env) (bool, string) {
	return tool.Has(env.Host, ctl(env)), "apache is not installed"
}

func onDebian(env *fun.Env) (bool, string) {
	if machine.Grain(env, "os_family") != "Debian" {
		return false, "only for Debian and what is made of it"
	}
	return installed(env)
}

// ask returns the lines that the control program prints for an option.
func ask(ctx context.Context, c *fun.Call, option string) ([]string, error) {
	out, err := tool.Look(ctx, c.Env.Host, ctl(c.Env), option)
	if err != nil {
		return nil, err
	}
	text := out.Stdout
	if out.Status != 0 && strings.TrimSpace(text) == "" {
		return nil, fun.Errorf("%s %s: %s", ctl(c.Env), option, out.Fault())
	}
	return strings.Split(strings.TrimRight(strings.ReplaceAll(text, "\r\n", "\n"), "\n"), "\n"), nil
}

func version(ctx context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	lines, err := ask(ctx, c, "-v")
	if err != nil {
		return fun.Result{}, err
	}
	_, v, ok := strings.Cut(lines[0], ": ")
	if !ok {
		return fun.Result{}, fun.Errorf("%s -v prints no version: %s", ctl(c.Env), lines[0])
	}
	return fun.Value(v)
}

func fullversion(ctx context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	lines, err := ask(ctx, c, "-V")
	if err != nil {
		return fun.Result{}, err
	}
	with := value.NewList()
	out := value.MapOf("compiled_with", with)
	for _, line := range lines {
		if k, v, ok := strings.Cut(line, ": "); ok {
			v, _, _ = strings.Cut(v, ": ")
			out.Set(strings.ReplaceAll(strings.ToLower(strings.TrimSpace(k)), " ", "_"), strings.TrimSpace(v))
		} else if strings.Contains(line, " -D") {
			with.Append(strings.TrimLeft(strings.TrimPrefix(strings.TrimLeft(line, " \t"), "-D"), " \t"))
		}
	}
	return fun.Value(out)
}

func modules(ctx context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	lines, err := ask(ctx, c, "-M")
	if err != nil {
		return fun.Result{}, err
	}
	static, shared := value.NewList(), value.NewList()
	for _, line := range lines {
		f := strings.Fields(line)
		switch {
		case len(f) == 0:
		case strings.Contains(line, "(static)"):
			static.Append(f[0])
		case strings.Contains(line, "(shared)"):
			shared.Append(f[0])
		}
	}
	return fun.Value(value.MapOf("static", static, "shared", shared))
}

func servermods(ctx context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	lines, err := ask(ctx, c, "-l")
	if err != nil {
		return fun.Result{}, err
	}
	out := value.NewList()
	for _, line := range lines {
		if strings.Contains(line, ".c") {
			out.Append(strings.TrimSpace(line))
		}
	}
	return fun.Value(out)
}

func directives(ctx context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	lines, err := ask(ctx, c, "-L")
	if err != nil {
		return fun.Result{}, err
	}
	out := value.NewMap(len(lines))
	for line := range strings.SplitSeq(strings.ReplaceAll(strings.Join(lines, "\n"), "\n\t", "\t"), "\n") {
		if name, rest, _ := strings.Cut(line, "\t"); name != "" {
			out.Set(name, strings.ReplaceAll(rest, "\t", "\n"))
		}
	}
	return fun.Value(out)
}

func vhosts(ctx context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	lines, err := ask(ctx, c, "-S")
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(parseVhosts(lines))
}

func parseVhosts(lines []string) *value.Map {
	out := value.NewMap(4)
	var cur *value.Map
	conf := func(s string) string { return strings.NewReplacer("(", "", ")", "").Replace(s) }
	for _, line := range lines {
		f := strings.Fields(line)
		switch {
		case len(f) == 0:
		case strings.Contains(line, "is a NameVirtualHost"):
			cur = value.NewMap(2)
			out.Set(f[0], cur)
		case cur == nil:
		case f[0] == "default" && len(f) > 3:
			cur.Set("default", value.MapOf("vhost", f[2], "conf", conf(f[3])))
		case f[0] == "port" && len(f) > 4:
			cur.Set(f[3], value.MapOf("vhost", f[3], "conf", conf(f[4]), "port", f[1]))
		}
	}
	return out
}

type signalArgs struct {
	_      fun.Arguments
	Signal string `arg:"signal" doc:"start, stop, restart, graceful, graceful-stop, configtest, status or fullstatus"`
}

// signal sends a signal to the server, or asks it for its status.
func signal(ctx context.Context, c *fun.Call, a *signalArgs) (fun.Result, error) {
	argv := []string{ctl(c.Env)}
	switch s := a.Signal; s {
	case "start", "stop", "restart", "graceful", "graceful-stop":
		argv = append(argv, "-k", s)
	case "configtest", "status", "fullstatus":
		argv = append(argv, s)
	default:
		return fun.Value(nil)
	}
	out, err := tool.Run(ctx, c.Env.Host, argv...)
	if err != nil {
		return fun.Result{}, err
	}
	for _, text := range []string{out.Stderr, out.Stdout} {
		if text = strings.TrimSpace(text); text != "" {
			return fun.Result{Value: text, Retcode: out.Status}, nil
		}
	}
	return fun.Result{Value: `Command: "` + strings.Join(argv, " ") + `" completed successfully!`, Retcode: out.Status}, nil
}

// refuse returns an error for a name that a program would take as an option.
func refuse(names ...string) error {
	for _, n := range names {
		if n == "" || n[0] == '-' {
			return fun.Errorf("invalid name: %q", n)
		}
	}
	return nil
}

type useraddArgs struct {
	fileArg
	userArg
	Password string `arg:"password,required,secret" doc:"the password"`
	Opts     string `arg:"opts" default:"" doc:"options of htpasswd: m for MD5, B for bcrypt, s for SHA"`
}

// useradd sets the password of a user in a file of htpasswd. The password goes to
// its standard input, where other users do not see it.
func useradd(ctx context.Context, c *fun.Call, a *useraddArgs) (fun.Result, error) {
	file, user := a.Pwfile, a.User
	if err := refuse(file, user); err != nil {
		return fun.Result{}, err
	}
	opts := "-i" + strings.TrimLeft(a.Opts, "-")
	if !machine.Exists(c.Env.Host, file) {
		opts += "c"
	}
	out, err := tool.RunWith(ctx, c.Env.Host, tool.Options{Stdin: strings.NewReader(a.Password + "\n")}, "htpasswd", opts, file, user)
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Result{Value: out.All(), Retcode: out.Status}, nil
}

type userdelArgs struct {
	fileArg
	userArg
}

func userdel(ctx context.Context, c *fun.Call, a *userdelArgs) (fun.Result, error) {
	file, user := a.Pwfile, a.User
	if err := refuse(file, user); err != nil {
		return fun.Result{}, err
	}
	if !machine.Exists(c.Env.Host, file) {
		return fun.Value("Error: The specified htpasswd file does not exist")
	}
	out, err := tool.Run(ctx, c.Env.Host, "htpasswd", "-D", file, user)
	if err != nil {
		return fun.Result{}, err
	}
	lines := value.NewList()
	for line := range strings.Lines(strings.TrimSpace(out.Stdout + "\n" + out.Stderr)) {
		lines.Append(strings.TrimRight(line, "\n"))
	}
	return fun.Result{Value: lines, Retcode: out.Status}, nil
}

type serverStatusArgs struct {
	_       fun.Arguments
	Profile string `arg:"profile" default:"default" doc:"profile in the configuration"`
}

// serverStatus returns what mod_status tells.
func serverStatus(ctx context.Context, c *fun.Call, a *serverStatusArgs) (fun.Result, error) {
	setting := func(key, def string) (value.Value, error) {
		return c.Env.Exec(ctx, "config.get", nil, "apache.server-status:"+a.Profile+":"+key, def)
	}
	url, err := setting("url", "http://localhost/server-status")
	if err != nil {
		return fun.Result{}, err
	}
	kw := value.NewMap(2)
	for arg, key := range map[string]string{"username": "user", "password": "pass"} {
		v, err := setting(key, "")
		if err != nil {
			return fun.Result{}, err
		}
		if v != "" {
			kw.Set(arg, v)
		}
	}
	res, err := c.Env.Exec(ctx, "http.query", kw, value.Str(url)+"?auto")
	if err != nil {
		return fun.Result{}, err
	}
	m, _ := res.(*value.Map)
	if m == nil || m.At("body") == nil {
		return fun.Value("error")
	}
	return fun.Value(parseStatus(value.Str(m.At("body"))))
}

func parseStatus(text string) *value.Map {
	counts := map[rune]int64{}
	board := value.NewMap(11)
	out := value.MapOf("Scoreboard", board)
	for line := range strings.Lines(text) {
		k, v, ok := strings.Cut(line, ":")
		k, v = strings.TrimSpace(k), strings.TrimSpace(v)
		switch n, err := strconv.ParseInt(v, 10, 64); {
		case !ok:
		case k == "Scoreboard":
			for _, r := range v {
				counts[r]++
			}
		case err == nil:
			out.Set(k, n)
		default:
			if f, err := strconv.ParseFloat(v, 64); err == nil {
				out.Set(k, f)
			} else {
				out.Set(k, v)
			}
		}
	}
	known := "_SRWKDCLGI."
	for _, r := range known {
		board.Set(string(r), counts[r])
	}
	for r := range maps.Keys(counts) {
		if !strings.ContainsRune(known, r) {
			board.Set(string(r), counts[r])
		}
	}
	return out
}

// Config returns the text of a configuration: a list of mappings of one directive
// or section each.
func Config(items []value.Value) (string, error) {
	var parts []string
	for _, item := range items {
		m, ok := item.(*value.Map)
		if !ok || m.Len() == 0 {
			return "", fun.Errorf("each item of config must be a mapping of a directive, not %s", value.Repr(item))
		}
		k, v := m.Entry(0)
		text, err := section(v, value.Str(k), 0)
		if err != nil {
			return "", err
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "\n"), nil
}

// scalar returns a value as a directive has it: truth is On or Off.
func scalar(v value.Value) string {
	switch v {
	case true:
		return "On"
	case false:
		return "Off"
	case nil:
		return ""
	}
	return value.Str(v)
}

// section returns a directive or section as text.
func section(v value.Value, slot string, depth int) (string, error) {
	if depth > 50 {
		return "", fun.Errorf("sections are nested too deeply")
	}
	var b strings.Builder
	switch x := v.(type) {
	case *value.List:
		return listSection(x, slot, depth)
	case *value.Map:
		this, ok := x.Get("this")
		if !ok {
			return "", fun.Errorf("Apache section container \"<%s>\" expects attribute. Specify it using key \"this\".", slot)
		}
		b.WriteString("<" + slot + " " + scalar(this) + ">\n")
		if err := members(&b, x, depth); err != nil {
			return "", err
		}
		b.WriteString("</" + slot + ">\n")
	default:
		b.WriteString(strings.TrimRight(slot+" "+scalar(x), " "))
	}
	return b.String(), nil
}

// members writes what is in a section.
func members(b *strings.Builder, m *value.Map, depth int) error {
	for k, v := range m.All() {
		if k == "this" {
			continue
		}
		text, err := section(v, value.Str(k), depth+1)
		if err != nil {
			return err
		}
		b.WriteString(text + "\n")
	}
	return nil
}

// listSection returns a list: a section where one of its mappings has the key this,
// else a directive for each item.
func listSection(l *value.List, slot string, depth int) (string, error) {
	var b strings.Builder
	this, isSection := value.Value(nil), false
	for _, item := range l.Items {
		if m, ok := item.(*value.Map); ok && m.Has("this") {
			this, isSection = m.At("this"), true
		}
	}
	if !isSection {
		for _, item := range l.Items {
			text, err := section(item, slot, depth+1)
			if err != nil {
				return "", err
			}
			b.WriteString(text + "\n")
		}
		return b.String(), nil
	}
	b.WriteString("<" + slot + " " + scalar(this) + ">\n")
	for _, item := range l.Items {
		m, ok := item.(*value.Map)
		if !ok {
			return "", fun.Errorf("the items of section <%s> must be mappings, not %s", slot, value.Repr(item))
		}
		if err := members(&b, m, depth); err != nil {
			return "", err
		}
	}
	b.WriteString("</" + slot + ">\n")
	return b.String(), nil
}

type configArgs struct {
	_      fun.Arguments
	Name   string        `arg:"name,required,path" doc:"file to write"`
	Config []value.Value `arg:"config,required" doc:"directives and sections, a mapping each; the key this is the argument of a section"`
	Edit   bool          `arg:"edit" default:"True" doc:"write the file"`
}

func config(_ context.Context, c *fun.Call, a *configArgs) (fun.Result, error) {
	text, err := Config(a.Config)
	if err != nil {
		return fun.Result{}, err
	}
	if a.Edit {
		if err := c.Env.Host.WriteFile(a.Name, strings.NewReader("# This file is managed by Salt.\n"+text), host.WriteOptions{FollowLinks: true}); err != nil {
			return fun.Result{}, fun.Errorf("%s", host.OSError(err))
		}
	}
	return fun.Value(text)
}
