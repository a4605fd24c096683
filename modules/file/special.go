package file

import (
	"context"
	"path/filepath"
	"sort"
	"strconv"
	"strings"

	"brine/internal/fun"
	"brine/internal/host"
	"brine/internal/proc"
	"brine/internal/value"
)

// specialRows are the rows of devices, pipes, patches and security contexts.
func specialRows() []fun.Spec {
	name := fun.Need("name", fun.Str, "the path")
	user, group := fun.Opt("user", fun.Any, nil, "owner"), fun.Opt("group", fun.Any, nil, "group")
	mode := func(def string) fun.Arg { return fun.Opt("mode", fun.Any, def, "permissions") }
	major, minor := fun.Opt("major", fun.Int, int64(0), "major number"), fun.Opt("minor", fun.Int, int64(0), "minor number")
	device := func(kind string) func(context.Context, *FS, *fun.Call) (value.Value, error) {
		return func(ctx context.Context, f *FS, c *fun.Call) (value.Value, error) {
			n := nodeOf(f, c)
			n.Kind = kind
			r, err := f.MakeNode(ctx, n)
			if err != nil {
				return nil, err
			}
			return r.Value(), nil
		}
	}
	return []fun.Spec{
		row("get_devmm", "Return the major and minor number of a device, 0 and 0 of what is none.", getDevMM, name),
		row("get_selinux_context", "Return the SELinux context of a path.", getContext, pathArg()),
		row("list_backup", "The same as list_backups.", listBackups, pathArg(), fun.Opt("limit", fun.Any, nil, "at most this many")),
		row("mknod", "Make a device or a named pipe, and missing directories above it.", mknod, name,
			fun.Need("ntype", fun.Str, "c: character device, b: block device, p: pipe"), major, minor, user, group, mode("0600")),
		row("mknod_blkdev", "Make a block device.", device("b"), name, fun.Need("major", fun.Int, "major number"), fun.Need("minor", fun.Int, "minor number"), user, group, mode("0660")),
		row("mknod_chrdev", "Make a character device.", device("c"), name, fun.Need("major", fun.Int, "major number"), fun.Need("minor", fun.Int, "minor number"), user, group, mode("0660")),
		row("mknod_fifo", "Make a named pipe.", device("p"), name, user, group, mode("0660")),
		row("open_files", "Return the ids of the processes that have each file open.", openFiles, fun.Opt("by_pid", fun.Bool, false, "return the files by process")),
		row("patch", "Run patch(1) on a file or directory; return pid, retcode, stdout and stderr.", patchRow,
			fun.Need("originalfile", fun.Str, "what to patch"), fun.Need("patchfile", fun.Str, "the patch"),
			fun.Opt("options", fun.Any, "", "options of patch"), fun.Opt("dry_run", fun.Bool, false, "change nothing")),
		row("restorecon", "Set the SELinux context that the policy has for a path; return whether that worked.", restoreContext, pathArg(),
			fun.Opt("recursive", fun.Bool, false, "and of all below")),
		row("sed_contains", "Tell whether sed(1) finds a text in a file.", sedContains, pathArg(), fun.Need("text", fun.Any, "extended regular expression"),
			fun.Opt("limit", fun.Any, "", "pattern of the lines to look at"), fun.Opt("flags", fun.Str, "g", "flags of the s command")),
		row("set_selinux_context", "Set parts of the SELinux context of a path; return it, or False.", setContext, pathArg(),
			fun.Opt("user", fun.Any, nil, "SELinux user"), fun.Opt("role", fun.Any, nil, "role"), fun.Opt("type", fun.Any, nil, "type"), fun.Opt("range", fun.Any, nil, "range"),
			fun.Opt("persist", fun.Bool, false, "keep it in the policy, too")),
	}
}

// A Node is a device or a pipe that is to be.
type Node struct {
	Name         string
	Kind         string // c, b or p
	Major, Minor int64
	User, Group  value.Value
	Mode         value.Value
}

func nodeOf(f *FS, c *fun.Call) Node {
	n := Node{Name: f.Expand(c.Str("name")), User: c.Value("user"), Group: c.Value("group"), Mode: c.Value("mode")}
	if c.Declares("major") {
		n.Major = c.Int("major")
		n.Minor = c.Int("minor")
	}
	return n
}

// MakeNode makes a device or a pipe by mknod(1), with owner and mode. One that
// is there stays, and the comment says so.
// Salt: mknod_chrdev, mknod_blkdev, mknod_fifo.
func (f *FS) MakeNode(ctx context.Context, n Node) (*Return, error) {
	kind := map[string]string{"c": "Character device", "b": "Block device", "p": "Fifo pipe"}[n.Kind]
	if kind == "" {
		return nil, invalid("Node type unavailable: '%s'. Available node types are character ('c'), block ('b'), and pipe ('p').", n.Kind)
	}
	r := NewReturn(n.Name)
	r.Result = fun.Failed
	made := kind + " " + n.Name + " created."
	if f.Test {
		r.Result = fun.WouldChange
		r.Changes.Set("new", made)
		return r, nil
	}
	if f.LExists(n.Name) {
		r.Comment = "File " + n.Name + " exists and cannot be overwritten"
		return r, nil
	}
	argv := []string{"mknod", "-m", strings.TrimPrefix(NormMode(n.Mode), "0"), n.Name, n.Kind}
	if n.Kind != "p" {
		argv = append(argv, strconv.FormatInt(n.Major, 10), strconv.FormatInt(n.Minor, 10))
	}
	out, err := f.Run(ctx, host.Cmd{Argv: argv})
	if err != nil {
		return nil, fun.Errorf("Unable to run mknod: %s", host.Strerror(err))
	}
	if out.Status != 0 {
		return nil, fun.Errorf("%s", strings.TrimSpace(string(out.Stderr)))
	}
	r.Result = fun.OK
	r.Changes.Set("new", made)
	if _, err := f.CheckPerms(ctx, n.Name, NewReturn(n.Name), Perms{User: n.User, Group: n.Group, Mode: NormMode(n.Mode)}); err != nil {
		return nil, err
	}
	return r, nil
}

func mknod(ctx context.Context, f *FS, c *fun.Call) (value.Value, error) {
	n := nodeOf(f, c)
	n.Kind = c.Str("ntype")
	if !f.Test {
		if err := f.MakeDirs(ctx, n.Name, Perms{User: n.User, Group: n.Group}); err != nil {
			return nil, fun.Errorf("%s", host.OSError(err))
		}
	}
	r, err := f.MakeNode(ctx, n)
	if err != nil {
		return nil, err
	}
	return r.Value(), nil
}

// DeviceNumbers returns the major and minor number of a device, 0 and 0 of
// what is none. Salt: get_devmm.
func (f *FS) DeviceNumbers(ctx context.Context, path string) (major, minor int64, err error) {
	st, err := f.Stats(path, true)
	if err != nil || st.Type != "char" && st.Type != "block" {
		return 0, 0, nil //nolint:nilerr // what is not there has no numbers
	}
	out, err := f.Run(ctx, host.Cmd{Argv: []string{"stat", "-L", "-c", "%t %T", path}})
	if err != nil {
		return 0, 0, fun.Errorf("Unable to run stat: %s", host.Strerror(err))
	}
	a, b, _ := strings.Cut(strings.TrimSpace(string(out.Stdout)), " ")
	major, err = strconv.ParseInt(a, 16, 64)
	if err == nil {
		minor, err = strconv.ParseInt(b, 16, 64)
	}
	return major, minor, err
}

func getDevMM(ctx context.Context, f *FS, c *fun.Call) (value.Value, error) {
	major, minor, err := f.DeviceNumbers(ctx, f.Expand(c.Str("name")))
	return value.Tuple{major, minor}, err
}

// Patch runs patch(1). Salt: patch.
func (f *FS) Patch(ctx context.Context, path, patchFile string, options []string, dryRun bool) (*value.Map, error) {
	tool, err := f.LookPath("patch", "")
	if err != nil {
		return nil, fun.Errorf("patch executable not found. Is the distribution's patch package installed?")
	}
	argv := append([]string{tool}, options...)
	if dryRun {
		argv = append(argv, "--dry-run")
	}
	has := func(match func(string) bool) bool {
		for _, o := range argv {
			if match(o) {
				return true
			}
		}
		return false
	}
	if !has(func(o string) bool { return o == "-N" || o == "--forward" }) {
		argv = append(argv, "--forward") // asks nothing
	}
	if !has(func(o string) bool { return o == "-r" || strings.HasPrefix(o, "--reject-file") }) {
		argv = append(argv, "--reject-file=-")
	}
	argv = append(argv, "-i", patchFile)
	if f.IsDir(path) {
		argv = append(argv, "-d", path)
		if !has(func(o string) bool { return strings.HasPrefix(o, "-p") || strings.HasPrefix(o, "--strip=") }) {
			argv = append(argv, "--strip=0")
		}
	} else {
		argv = append(argv, path)
	}
	v, err := f.runAll(ctx, argv)
	m, _ := v.(*value.Map)
	return m, err
}

func patchRow(ctx context.Context, f *FS, c *fun.Call) (value.Value, error) {
	var options []string
	switch o := c.Value("options").(type) {
	case *value.List:
		options = c.Strings("options")
	default:
		var err error
		if options, err = proc.Split(value.Str(o)); err != nil {
			return nil, fun.Errorf("options: %v", err)
		}
	}
	m, err := f.Patch(ctx, f.Expand(c.Str("originalfile")), f.Expand(c.Str("patchfile")), options, c.Bool("dry_run"))
	if err != nil {
		return nil, err
	}
	return m, nil
}

// An Rmdir is what came of removing empty directories.
type Rmdir struct {
	Deleted []string
	Errors  []*value.List // path and cause
	OK      bool
}

// Map returns r as file.rmdir does with verbose.
func (r *Rmdir) Map() *value.Map {
	errs := value.NewList()
	for _, e := range r.Errors {
		errs.Append(e)
	}
	return value.MapOf("deleted", value.Strings(r.Deleted...), "errors", errs, "result", r.OK)
}

// Rmdir removes an empty directory; recurse also those below it, deepest
// first. Of days, where not 0, only directories that old go. Salt: rmdir.
func (f *FS) Rmdir(dir string, recurse bool, days int64) (*Rmdir, error) {
	r := &Rmdir{}
	remove := func(p string) bool {
		if days > 0 {
			st, err := f.Stat(p)
			if err != nil || f.Now().Sub(st.Mtime).Hours() <= float64(days)*24 {
				return true
			}
		}
		if err := f.Host.Remove(p); err != nil {
			r.Errors = append(r.Errors, value.NewList(p, host.OSError(err)))
			return false
		}
		r.Deleted = append(r.Deleted, p)
		return true
	}
	if recurse {
		var dirs []string
		if err := f.Walk(dir, false, func(d string, _, _ []string) error {
			dirs = append(dirs, d)
			return nil
		}); err != nil {
			return nil, err
		}
		for i := len(dirs) - 1; i > 0; i-- {
			remove(dirs[i])
		}
	}
	clean, before := len(r.Errors) == 0, len(r.Deleted)
	if remove(dir) {
		r.OK = clean && (recurse || len(r.Deleted) > before)
	}
	return r, nil
}

func rmdir(_ context.Context, f *FS, c *fun.Call) (value.Value, error) {
	p := f.Expand(c.Str("path"))
	if !filepath.IsAbs(p) {
		return nil, invalid("File path must be absolute.")
	}
	if !f.IsDir(p) {
		return nil, invalid("A valid directory was not specified.")
	}
	days := c.Int("older_than")
	r, err := f.Rmdir(p, c.Bool("recurse"), days)
	if err != nil {
		return nil, err
	}
	if c.Bool("verbose") {
		return r.Map(), nil
	}
	return r.OK, nil
}

func getContext(ctx context.Context, f *FS, c *fun.Call) (value.Value, error) {
	return f.context(ctx, f.Expand(c.Str("path")))
}

func (f *FS) context(ctx context.Context, p string) (value.Value, error) {
	out, err := f.Run(ctx, host.Cmd{Argv: []string{"stat", "-c", "%C", p}})
	if err != nil {
		return nil, fun.Errorf("Unable to run stat: %s", host.Strerror(err))
	}
	if out.Status != 0 {
		return "No selinux context information is available for " + p, nil
	}
	return strings.TrimSpace(string(out.Stdout)), nil
}

func restoreContext(ctx context.Context, f *FS, c *fun.Call) (value.Value, error) {
	flag := "-F"
	if c.Bool("recursive") {
		flag = "-FR"
	}
	out, err := f.Run(ctx, host.Cmd{Argv: []string{"restorecon", flag, f.Expand(c.Str("path"))}})
	if err != nil {
		return nil, fun.Errorf("Unable to run restorecon: %s", host.Strerror(err))
	}
	return out.Status == 0, nil
}

func setContext(ctx context.Context, f *FS, c *fun.Call) (value.Value, error) {
	p := f.Expand(c.Str("path"))
	chcon, semanage := []string{"chcon"}, []string{"semanage", "fcontext", "-a"}
	some := false
	for _, o := range []struct{ name, chcon, semanage string }{{"user", "-u", "-s"}, {"role", "-r", ""}, {"type", "-t", "-t"}, {"range", "-l", "-r"}} {
		v := c.Value(o.name)
		if !value.Truth(v) {
			continue
		}
		some = true
		chcon = append(chcon, o.chcon, value.Str(v))
		if o.semanage != "" {
			semanage = append(semanage, o.semanage, value.Str(v))
		}
	}
	if !some {
		return false, nil
	}
	if c.Bool("persist") {
		out, err := f.Run(ctx, host.Cmd{Argv: append(semanage, p)})
		if err != nil {
			return nil, fun.Errorf("Unable to run semanage: %s", host.Strerror(err))
		}
		if out.Status != 0 {
			return nil, fun.Errorf("Problem setting fcontext: %s", strings.TrimSpace(string(out.Stderr)))
		}
	}
	out, err := f.Run(ctx, host.Cmd{Argv: append(chcon, p)})
	if err != nil {
		return nil, fun.Errorf("Unable to run chcon: %s", host.Strerror(err))
	}
	if out.Status != 0 {
		return false, nil
	}
	return f.context(ctx, p)
}

func sedContains(ctx context.Context, f *FS, c *fun.Call) (value.Value, error) {
	p := f.Expand(c.Str("path"))
	if !f.Exists(p) {
		return false, nil
	}
	esc := func(v value.Value) string { return strings.ReplaceAll(value.Str(v), "/", `\/`) }
	limit := ""
	if s := esc(c.Value("limit")); s != "" {
		limit = "/" + s + "/ "
	}
	out, err := f.Run(ctx, host.Cmd{Argv: []string{"sed", "-r", "-n", "-e", limit + "s/" + esc(c.Value("text")) + "/$/p" + c.Str("flags"), p}})
	if err != nil {
		return nil, fun.Errorf("Unable to run sed: %s", host.Strerror(err))
	}
	return len(out.Stdout) > 0, nil
}

// openFiles reads /proc. Salt: open_files.
func openFiles(_ context.Context, f *FS, c *fun.Call) (value.Value, error) {
	pids, err := f.ReadDir("/proc")
	if err != nil {
		return nil, fun.Errorf("%s", host.OSError(err))
	}
	sort.Strings(pids)
	byPID, byFile := value.NewMap(0), value.NewMap(0)
	for _, pid := range pids {
		n, err := strconv.ParseInt(pid, 10, 64)
		if err != nil {
			continue
		}
		fds, err := f.ReadDir("/proc/" + pid + "/fd")
		if err != nil {
			continue // it ended, or is not ours to see
		}
		files := value.NewList()
		for _, fd := range fds {
			to, err := f.Readlink("/proc/" + pid + "/fd/" + fd)
			if err != nil || !filepath.IsAbs(to) || !f.IsFile(to) {
				continue
			}
			files.Append(to)
			holders := byFile.List(to)
			if holders == nil {
				holders = value.NewList()
				byFile.Set(to, holders)
			}
			if k := holders.Len(); k == 0 || !value.Equal(holders.Items[k-1], n) {
				holders.Append(n)
			}
		}
		if files.Len() > 0 {
			byPID.Set(n, files)
		}
	}
	if c.Bool("by_pid") {
		return byPID, nil
	}
	return byFile, nil
}
