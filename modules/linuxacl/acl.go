// Package linuxacl is Salt's execution module "linux_acl", which serves as "acl":
// access control lists of files, by getfacl and setfacl.
package linuxacl

import (
	"context"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/textfile"
	"brine/modules/tool"
)

// Module returns the execution module "acl" of Linux.
func Module() fun.Module {
	return fun.Module{Name: "acl", Kind: fun.Exec, Doc: "Manage access control lists.", Specs: specs, Avail: tool.Needs("getfacl", "The linux_acl execution module cannot be loaded: the getfacl binary is not in the path.")}
}

// An Entry is a line of an access control list.
type Entry struct {
	Default bool
	Kind    string // user, group, mask, other
	Name    string // "" is the owner or owning group, and nobody for mask and other
	Perm    int    // 4 read, 2 write, 1 execute
}

// An ACL is the access control list of a file.
type ACL struct {
	File, Owner, Group string
	Flags              string // such as "s-t"
	Entries            []Entry
}

// Parse reads the output of getfacl. It takes any text.
func Parse(text string) []*ACL {
	var all []*ACL
	for _, l := range textfile.Lines(text) {
		if key, val, ok := strings.Cut(strings.TrimPrefix(l, "# "), ": "); ok && strings.HasPrefix(l, "#") {
			if key == "file" {
				all = append(all, &ACL{File: unescape(val)})
			}
			if len(all) == 0 {
				continue
			}
			switch a := all[len(all)-1]; key {
			case "owner":
				a.Owner = unescape(val)
			case "group":
				a.Group = unescape(val)
			case "flags":
				a.Flags = val
			}
			continue
		}
		if e, ok := parseEntry(l); ok && len(all) > 0 {
			a := all[len(all)-1]
			a.Entries = append(a.Entries, e)
		}
	}
	return all
}

func parseEntry(l string) (e Entry, ok bool) {
	l, remark, _ := strings.Cut(l, "\t")
	l, e.Default = strings.CutPrefix(l, "default:")
	kind, rest, ok := strings.Cut(l, ":")
	i := strings.LastIndexByte(rest, ':')
	if !ok || i < 0 {
		return e, false
	}
	switch kind {
	case "user", "group", "mask", "other":
	default:
		return e, false
	}
	perms := rest[i+1:]
	if left, ok := strings.CutPrefix(strings.TrimSpace(remark), "#effective:"); ok {
		perms = left // what the mask leaves of them: the rest lets nobody in
	}
	e.Kind, e.Name, e.Perm = kind, unescape(rest[:i]), bits(perms)
	return e, true
}

// unescape reads the \ooo of getfacl.
func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) {
			n := 0
			octal := true
			for _, c := range []byte(s[i+1 : i+4]) {
				octal = octal && c >= '0' && c <= '7'
				n = n*8 + int(c-'0')
			}
			if octal && n < 256 {
				b.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

func bits(perms string) (n int) {
	for _, p := range []struct {
		c   string
		bit int
	}{{"r", 4}, {"w", 2}, {"x", 1}} {
		if strings.Contains(perms, p.c) {
			n |= p.bit
		}
	}
	return n
}

// Text returns permissions as getfacl writes them: r-x.
func Text(perm int) string {
	t := []byte("---")
	for i, c := range "rwx" {
		if perm&(4>>i) != 0 {
			t[i] = byte(c)
		}
	}
	return string(t)
}

// Find returns the entry of a kind and name.
func (a *ACL) Find(def bool, kind, name string) (Entry, bool) {
	owner := map[string]string{"user": a.Owner, "group": a.Group}[kind]
	for _, e := range a.Entries {
		if e.Default == def && e.Kind == kind && (e.Name == name || e.Name == "" && name == owner && !a.named(def, kind, name)) {
			return e, true
		}
	}
	return Entry{}, false
}

// named reports whether a name has an entry of its own.
func (a *ACL) named(def bool, kind, name string) bool {
	for _, e := range a.Entries {
		if e.Default == def && e.Kind == kind && e.Name == name {
			return true
		}
	}
	return false
}

// Has reports whether there are entries of a kind.
func (a *ACL) Has(def bool, kind string) bool {
	for _, e := range a.Entries {
		if e.Default == def && e.Kind == kind {
			return true
		}
	}
	return false
}

// value returns the list as acl.getfacl does.
func (a *ACL) value() *value.Map {
	comment := value.MapOf("file", a.File, "owner", a.Owner, "group", a.Group)
	m := value.MapOf("comment", comment, "user", value.NewList(), "group", value.NewList())
	if a.Flags != "" {
		comment.Set("flags", a.Flags)
		for i, k := range []string{"suid", "sgid", "sticky"} {
			if i < len(a.Flags) && a.Flags[i] != '-' {
				m.Set(k, true)
			}
		}
	}
	for _, e := range a.Entries {
		to := m
		if e.Default {
			if to = m.Map("defaults"); to == nil {
				to = value.NewMap(4)
				m.Set("defaults", to)
			}
		}
		l := to.List(e.Kind)
		if l == nil {
			l = value.NewList()
			to.Set(e.Kind, l)
		}
		name := e.Name
		if name == "" {
			name = map[string]string{"user": a.Owner, "group": a.Group}[e.Kind]
		}
		perms := value.MapOf("read", e.Perm&4 != 0, "write", e.Perm&2 != 0, "execute", e.Perm&1 != 0)
		l.Append(value.MapOf(name, value.MapOf("permissions", perms, "octal", int64(e.Perm))))
	}
	return m
}

// An Admin changes the lists of files.
type Admin struct {
	Env       *fun.Env
	Recursive bool
}

func (a Admin) run(ctx context.Context, files []string, argv ...string) (tool.Out, error) {
	if len(files) == 0 {
		return tool.Out{}, fun.Errorf("You need to specify at least one file or directory to work with!")
	}
	return tool.Run(ctx, a.Env.Host, append(append(argv, "--"), files...)...)
}

// change runs setfacl. A recursive one is refused for system directories.
func (a Admin) change(ctx context.Context, files []string, op ...string) (tool.Out, error) {
	for _, f := range files {
		if err := a.CheckSystem(f); err != nil {
			return tool.Out{}, fun.Errorf("%s", err)
		}
	}
	return a.run(ctx, files, append(a.recurse("setfacl"), op...)...)
}

// CheckSystem returns an error for a system directory, where the Admin is recursive.
func (a Admin) CheckSystem(file string) error {
	if !a.Recursive {
		return nil
	}
	return a.Env.Host.CheckSystem(file, true)
}

// recurse returns -R where the Admin is recursive.
func (a Admin) recurse(argv ...string) []string {
	if a.Recursive {
		return append(argv, "-R")
	}
	return argv
}

// Get returns the lists of files.
func (a Admin) Get(ctx context.Context, files ...string) ([]*ACL, int, error) {
	out, err := a.run(ctx, files, a.recurse("getfacl", "--absolute-names")...)
	return Parse(out.Stdout), out.Status, err
}

// Wipe removes all entries but those of owner, group and others.
func (a Admin) Wipe(ctx context.Context, files ...string) (tool.Out, error) {
	return a.change(ctx, files, "-b")
}

// ParseType reads a type of an entry: user, group, mask or other, or their first
// letter, with default: or d: in front of it for the default list of a directory.
func ParseType(s string) (def bool, kind string, ok bool) {
	for _, p := range []string{"default:", "d:"} {
		if rest, is := strings.CutPrefix(s, p); is {
			def, s = true, rest
			break
		}
	}
	for _, k := range []string{"user", "group", "mask", "other"} {
		if s == k || s == k[:1] {
			return def, k, true
		}
	}
	return def, s, false
}

// prefix returns how setfacl writes a type and a name.
func prefix(acltype, name string) (string, error) {
	def, kind, ok := ParseType(acltype)
	if !ok {
		return "", fun.Errorf("ACL type %s is not user, group, mask or other", value.Repr(acltype))
	}
	if strings.ContainsAny(name, ":,\r\n\x00") {
		return "", fun.Errorf("invalid name of a user or group: %s", value.Repr(name))
	}
	p := kind[:1] + ":" + name
	if def {
		p = "d:" + p
	}
	return p, nil
}

// Set gives a user or group permissions.
func (a Admin) Set(ctx context.Context, acltype, name, perms string, files ...string) (tool.Out, error) {
	p, err := prefix(acltype, name)
	if err != nil {
		return tool.Out{}, err
	}
	if strings.Trim(perms, "rwxX-01234567") != "" {
		return tool.Out{}, fun.Errorf("permissions are letters of rwxX-, not %s", value.Repr(perms))
	}
	return a.change(ctx, files, "-m", p+":"+perms)
}

// Remove takes the entry of a user or group out.
func (a Admin) Remove(ctx context.Context, acltype, name string, files ...string) (tool.Out, error) {
	p, err := prefix(acltype, name)
	if err != nil {
		return tool.Out{}, err
	}
	return a.change(ctx, files, "-x", p)
}

// of returns the Admin and the files of a call: they are further arguments.
func of(c *fun.Call, more fun.Varargs, r *recursiveArg) (Admin, []string) {
	files := make([]string, 0, len(more))
	for _, f := range more {
		files = append(files, value.Str(f))
	}
	return Admin{c.Env, r.Recursive}, files
}

type recursiveArg struct {
	_         fun.Arguments
	Recursive bool `arg:"recursive,kw" default:"False" doc:"include what is under directories"`
}

type raiseArg struct {
	_        fun.Arguments
	RaiseErr bool `arg:"raise_err,kw" default:"False" doc:"a failing setfacl is an error"`
}

// done returns True. That a tool failed is an error only with raise.
func done(raise *raiseArg, out tool.Out, err error) (fun.Result, error) {
	if err == nil && !out.OK() && raise.RaiseErr {
		err = fun.Errorf("%s", out.Fault())
	}
	return fun.Result{Value: err == nil, Retcode: out.Status}, err
}

type getfaclArgs struct {
	recursiveArg
	More fun.Varargs
	_    fun.Kwargs
}

func getfacl(ctx context.Context, c *fun.Call, args *getfaclArgs) (fun.Result, error) {
	a, files := of(c, args.More, &args.recursiveArg)
	all, status, err := a.Get(ctx, files...)
	if err != nil {
		return fun.Result{}, err
	}
	m := value.NewMap(len(all))
	for _, acl := range all {
		m.Set(acl.File, acl.value())
	}
	return fun.Result{Value: m, Retcode: status}, nil
}

type wipefaclsArgs struct {
	fun.SystemPath
	recursiveArg
	raiseArg
	More fun.Varargs
	_    fun.Kwargs
}

func wipefacls(ctx context.Context, c *fun.Call, args *wipefaclsArgs) (fun.Result, error) {
	a, files := of(c, args.More, &args.recursiveArg)
	out, err := a.Wipe(ctx, files...)
	return done(&args.raiseArg, out, err)
}

type modfaclArgs struct {
	typeArg
	nameArg
	Perms string `arg:"perms" default:"" doc:"permissions as letters of rwxX"`
	fun.SystemPath
	recursiveArg
	raiseArg
	More fun.Varargs
	_    fun.Kwargs
}

func modfacl(ctx context.Context, c *fun.Call, args *modfaclArgs) (fun.Result, error) {
	a, files := of(c, args.More, &args.recursiveArg)
	out, err := a.Set(ctx, args.ACLType, args.ACLName, args.Perms, files...)
	return done(&args.raiseArg, out, err)
}

type delfaclArgs struct {
	typeArg
	nameArg
	fun.SystemPath
	recursiveArg
	raiseArg
	More fun.Varargs
	_    fun.Kwargs
}

func delfacl(ctx context.Context, c *fun.Call, args *delfaclArgs) (fun.Result, error) {
	a, files := of(c, args.More, &args.recursiveArg)
	out, err := a.Remove(ctx, args.ACLType, args.ACLName, files...)
	return done(&args.raiseArg, out, err)
}

func version(ctx context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	out, err := tool.Run(ctx, c.Env.Host, "getfacl", "--version")
	if err != nil {
		return fun.Result{}, err
	}
	f := strings.Fields(out.Stdout)
	if len(f) < 2 {
		return fun.Result{}, fun.Errorf("getfacl did not print its version: %s", out.Fault())
	}
	return fun.Value(f[1])
}
