package selinux

import (
	"context"
	"regexp"
	"strings"
	"sync"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/tool"
)

// fileTypes are the letters of types of files, and their names in listings.
var fileTypes = [...][2]string{
	{"a", "all files"},
	{"f", "regular file"},
	{"d", "directory"},
	{"c", "character device"},
	{"b", "block device"},
	{"s", "socket"},
	{"l", "symbolic link"},
	{"p", "named pipe"},
}

// FileType returns the name of a type of files by its letter.
func FileType(letter string) (string, error) {
	for _, t := range fileTypes {
		if t[0] == letter {
			return t[1], nil
		}
	}
	return "", fun.Errorf("Invalid filetype given: %s", letter)
}

type filetypeIDToStringArgs struct {
	_        fun.Arguments
	Filetype string `arg:"filetype" default:"a" doc:"letter of the type"`
}

func filetypeIDToString(_ context.Context, c *fun.Call, a *filetypeIDToStringArgs) (fun.Result, error) {
	name, err := FileType(a.Filetype)
	return fun.Result{Value: name}, err
}

// A Context is a security context.
type Context struct{ User, Role, Type, Level string }

// fields returns the parts of a context with Salt's names.
func (x Context) fields() [4][2]string {
	return [4][2]string{{"sel_user", x.User}, {"sel_role", x.Role}, {"sel_type", x.Type}, {"sel_level", x.Level}}
}

// parseContext reads "user:role:type:level"; the level may have colons.
func parseContext(s string) (Context, bool) {
	f := strings.SplitN(s, ":", 4)
	if len(f) != 4 || f[0] == "" || f[1] == "" || f[2] == "" || f[3] == "" {
		return Context{}, false
	}
	return Context{f[0], f[1], f[2], f[3]}, true
}

// An FContext says which context files have, or is a question for that: empty
// fields are open.
type FContext struct {
	Spec     string // regular expression of paths
	FileType string // letter; "" is any
	Context
}

// listing splits the listing of a tool at its blanks into columns.
func column(l string) (first, rest string) {
	first, rest, _ = strings.Cut(l, " ")
	return first, strings.TrimLeft(rest, " ")
}

// FindFContext returns the policy for files, as semanage lists it last: local
// policies come after those of the base policy and override them. nil is none.
// Type of file in the return is a name.
func FindFContext(ctx context.Context, env *fun.Env, q FContext) (*FContext, error) {
	name := ""
	if q.FileType != "" {
		var err error
		if name, err = FileType(q.FileType); err != nil {
			return nil, err
		}
	}
	out, err := run(ctx, env, "semanage", "fcontext", "-l")
	if err != nil {
		return nil, err
	}
	if !out.OK() {
		return nil, fun.Errorf("cannot list the policies of files: %s", out.Fault())
	}
	var found *FContext
	for l := range strings.Lines(out.Stdout) {
		rest, ok := strings.CutPrefix(strings.TrimRight(l, " \t\r\n"), q.Spec+" ")
		at := strings.LastIndexByte(rest, ' ')
		if !ok || at < 0 {
			continue
		}
		have, ok := parseContext(rest[at+1:])
		kind := strings.TrimSpace(rest[:at])
		if !ok || name != "" && kind != name || strings.ContainsAny(kind, "/:") {
			continue
		}
		if (q.Type == "" || q.Type == have.Type) && (q.User == "" || q.User == have.User) && (q.Level == "" || q.Level == have.Level) {
			found = &FContext{Spec: q.Spec, FileType: kind, Context: have}
		}
	}
	return found, nil
}

// Value returns a policy as Salt shows it.
func (f *FContext) Value() *value.Map {
	m := value.MapOf("filespec", f.Spec, "filetype", f.FileType)
	for _, kv := range f.fields() {
		m.Set(kv[0], kv[1])
	}
	return m
}

// fcontextOf returns what the arguments of a call say about files.
func fcontextOf(a *fcontextArgs) FContext {
	return FContext{Spec: a.Name, FileType: a.Filetype, Context: Context{User: a.SelUser, Type: a.SelType, Level: a.SelLevel}}
}

func fcontextGetPolicy(ctx context.Context, c *fun.Call, a *fcontextArgs) (fun.Result, error) {
	f, err := FindFContext(ctx, c.Env, fcontextOf(a))
	if f == nil {
		return fun.Result{}, err
	}
	return fun.Result{Value: f.Value()}, err
}

// ChangeFContext adds or deletes a policy for files: action is "add" or "delete".
func ChangeFContext(ctx context.Context, env *fun.Env, action string, f FContext) (tool.Out, error) {
	argv := []string{"semanage", "fcontext", "--" + action}
	if f.FileType != "" && f.FileType != "a" { // a is the default, which old versions do not take
		if _, err := FileType(f.FileType); err != nil {
			return tool.Out{}, err
		}
		argv = append(argv, "--ftype", f.FileType)
	}
	for _, o := range [...][2]string{{"--type", f.Type}, {"--seuser", f.User}, {"--range", f.Level}} {
		if o[1] != "" {
			if err := named(o[0][2:], o[1]); err != nil {
				return tool.Out{}, err
			}
			argv = append(argv, o[0], o[1])
		}
	}
	if err := named("name", f.Spec); err != nil {
		return tool.Out{}, err
	}
	return run(ctx, env, append(argv, f.Spec)...)
}

func all(out tool.Out, err error) (fun.Result, error) {
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Result{Value: out.All(), Retcode: out.Status}, nil
}

func fcontextAddPolicy(ctx context.Context, c *fun.Call, a *fcontextArgs) (fun.Result, error) {
	return all(ChangeFContext(ctx, c.Env, "add", fcontextOf(a)))
}

func fcontextDeletePolicy(ctx context.Context, c *fun.Call, a *fcontextArgs) (fun.Result, error) {
	return all(ChangeFContext(ctx, c.Env, "delete", fcontextOf(a)))
}

// restorecon runs restorecon for a path.
func restorecon(ctx context.Context, env *fun.Env, path string, recursive bool, options ...string) (tool.Out, error) {
	if err := named("name", path); err != nil {
		return tool.Out{}, err
	}
	argv := append([]string{"restorecon"}, options...)
	if recursive {
		argv = append(argv, "-R")
	}
	return run(ctx, env, append(argv, path)...)
}

// Unapplied returns what restorecon would change, as it prints it; "" is nothing.
func Unapplied(ctx context.Context, env *fun.Env, path string, recursive bool) (string, error) {
	out, err := restorecon(ctx, env, path, recursive, "-n", "-v")
	if err == nil && !out.OK() {
		return "", fun.Errorf("restorecon failed: %s", out.Fault())
	}
	return out.Text(), err
}

func fcontextPolicyIsApplied(ctx context.Context, c *fun.Call, a *pathArgs) (fun.Result, error) {
	text, err := Unapplied(ctx, c.Env, a.Name, a.Recursive)
	return fun.Result{Value: text}, err
}

// relabels match a line of restorecon -n -v, of new and of old versions.
var relabels = sync.OnceValue(func() [2]*regexp.Regexp {
	return [2]*regexp.Regexp{
		regexp.MustCompile(`^Would relabel (.*) from (\S+) to (\S+)$`),
		regexp.MustCompile(`^restorecon reset (.*) context (\S+)->(\S+)$`),
	}
})

// Relabelled reads what restorecon would change: by path, the parts of the context
// that differ. It fails for a text that it cannot read.
func Relabelled(text string) (*value.Map, error) {
	changes := value.NewMap(1)
	for _, l := range value.SplitLines(text, false) {
		l = strings.TrimRight(l, " ")
		m := relabels()[0].FindStringSubmatch(l)
		if m == nil {
			m = relabels()[1].FindStringSubmatch(l)
		}
		if m == nil {
			continue
		}
		from, ok1 := parseContext(m[2])
		to, ok2 := parseContext(m[3])
		if !ok1 || !ok2 {
			return nil, fun.Errorf(`Invalid SELinux context string: %s. Expected "sel_user:sel_role:sel_type:sel_level"`, l)
		}
		before, after := value.NewMap(1), value.NewMap(1)
		now := to.fields()
		for i, kv := range from.fields() {
			if kv[1] != now[i][1] {
				before.Set(kv[0], kv[1])
				after.Set(kv[0], now[i][1])
			}
		}
		changes.Set(m[1], value.MapOf("old", before, "new", after))
	}
	if changes.Len() == 0 && text != "" {
		return nil, fun.Errorf("Unrecognized response from restorecon command.")
	}
	return changes, nil
}

// Apply gives files the contexts of the policy, and returns what changed.
func Apply(ctx context.Context, env *fun.Env, path string, recursive bool) (out tool.Out, changes *value.Map, err error) {
	text, err := Unapplied(ctx, env, path, recursive)
	if err != nil {
		return out, nil, err
	}
	if changes, err = Relabelled(text); err != nil {
		return out, nil, err
	}
	out, err = restorecon(ctx, env, path, recursive, "-v", "-F")
	return out, changes, err
}

func fcontextApplyPolicy(ctx context.Context, c *fun.Call, a *pathArgs) (fun.Result, error) {
	out, changes, err := Apply(ctx, c.Env, a.Name, a.Recursive)
	if err != nil {
		return fun.Result{}, err
	}
	ret := out.All()
	if out.OK() && changes.Len() > 0 {
		ret.Set("changes", changes)
	}
	return fun.Result{Value: ret, Retcode: out.Status}, nil
}

// A Port is a port or range of ports with its type.
type Port struct{ Protocol, Port, Type, Range string }

// ports match a protocol with a port or range.
var ports = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(tcp|udp|dccp|sctp)/(\d+(?:-\d+)?)$`)
})

// ParsePort reads a name such as tcp/8080, else protocol and port.
func ParsePort(name, protocol, port string) (Port, error) {
	m := ports().FindStringSubmatch(name)
	if m == nil {
		m = ports().FindStringSubmatch(protocol + "/" + port)
	}
	if m == nil {
		return Port{}, fun.Errorf(`Invalid name "%s" format and protocol and port not provided or invalid: "%s" "%s".`, name, protocol, port)
	}
	return Port{Protocol: m[1], Port: m[2]}, nil
}

// FindPort returns the policy that has a port, of a type unless p.Type is "", with
// all its ports. nil is none.
func FindPort(ctx context.Context, env *fun.Env, p Port) (*Port, error) {
	out, err := run(ctx, env, "semanage", "port", "-l")
	if err != nil {
		return nil, err
	}
	if !out.OK() {
		return nil, fun.Errorf("cannot list the policies of ports: %s", out.Fault())
	}
	for l := range strings.Lines(out.Stdout) {
		kind, rest := column(strings.TrimSpace(l))
		protocol, list := column(rest)
		if protocol != p.Protocol || p.Type != "" && p.Type != kind {
			continue
		}
		for s := range strings.SplitSeq(list, ",") {
			if strings.TrimSpace(s) == p.Port {
				return &Port{Protocol: protocol, Port: list, Type: kind}, nil
			}
		}
	}
	return nil, nil
}

// Value returns the policy of ports as Salt shows it.
func (p *Port) Value() *value.Map {
	return value.MapOf("sel_type", p.Type, "protocol", p.Protocol, "port", p.Port)
}

type portGetPolicyArgs struct {
	portNameArg
	SelType string `arg:"sel_type" doc:"only a policy with this type"`
	protocolArg
	portArg
}

func portGetPolicy(ctx context.Context, c *fun.Call, a *portGetPolicyArgs) (fun.Result, error) {
	p, err := ParsePort(a.Name, a.Protocol, a.Port)
	if err != nil {
		return fun.Result{}, err
	}
	p.Type = a.SelType
	found, err := FindPort(ctx, c.Env, p)
	if found == nil {
		return fun.Result{}, err
	}
	return fun.Result{Value: found.Value()}, err
}

// ChangePort adds or deletes the policy of a port: action is "add" or "delete".
func ChangePort(ctx context.Context, env *fun.Env, action string, p Port) (tool.Out, error) {
	argv := []string{"semanage", "port", "--" + action, "--proto", p.Protocol}
	for _, o := range [...][2]string{{"--type", p.Type}, {"--range", p.Range}} {
		if o[1] != "" {
			if err := named(o[0][2:], o[1]); err != nil {
				return tool.Out{}, err
			}
			argv = append(argv, o[0], o[1])
		}
	}
	return run(ctx, env, append(argv, p.Port)...)
}

type portAddPolicyArgs struct {
	portNameArg
	SelType string `arg:"sel_type" doc:"type of the port; needed"`
	protocolArg
	portArg
	SelRange string `arg:"sel_range" doc:"range of levels"`
}

func portAddPolicy(ctx context.Context, c *fun.Call, a *portAddPolicyArgs) (fun.Result, error) {
	p, err := ParsePort(a.Name, a.Protocol, a.Port)
	if err != nil {
		return fun.Result{}, err
	}
	p.Type, p.Range = a.SelType, a.SelRange
	if p.Type == "" {
		return fun.Result{}, fun.Errorf("SELinux Type is required to add a policy")
	}
	return all(ChangePort(ctx, c.Env, "add", p))
}

type portDeletePolicyArgs struct {
	portNameArg
	protocolArg
	portArg
}

func portDeletePolicy(ctx context.Context, c *fun.Call, a *portDeletePolicyArgs) (fun.Result, error) {
	p, err := ParsePort(a.Name, a.Protocol, a.Port)
	if err != nil {
		return fun.Result{}, err
	}
	return all(ChangePort(ctx, c.Env, "delete", p))
}
