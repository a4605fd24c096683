package file

import (
	"context"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/proc"
	"brine/internal/py/value"
	"brine/modules/tool"
)

// makeNode makes a device or a pipe.
func makeNode(ctx context.Context, c *fun.Call, n Node) (fun.Result, error) {
	f := on(c)
	n.Name = f.Expand(n.Name)
	r, err := f.MakeNode(ctx, n)
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(r.Value())
}

// mknodBlockArgs are the arguments of mknodBlock and mknodChar.
type mknodBlockArgs struct {
	nameArg
	Major int64 `arg:"major,required" doc:"major number"`
	Minor int64 `arg:"minor,required" doc:"minor number"`
	ownerOpt
	groupOpt
	nodeMode
}

func mknodBlock(ctx context.Context, c *fun.Call, a *mknodBlockArgs) (fun.Result, error) {
	return makeNode(ctx, c, Node{Name: a.Name, Kind: "b", Major: a.Major, Minor: a.Minor, User: a.User, Group: a.Group, Mode: a.Mode})
}

func mknodChar(ctx context.Context, c *fun.Call, a *mknodBlockArgs) (fun.Result, error) {
	return makeNode(ctx, c, Node{Name: a.Name, Kind: "c", Major: a.Major, Minor: a.Minor, User: a.User, Group: a.Group, Mode: a.Mode})
}

type mknodFIFOArgs struct {
	nameArg
	ownerOpt
	groupOpt
	nodeMode
}

func mknodFIFO(ctx context.Context, c *fun.Call, a *mknodFIFOArgs) (fun.Result, error) {
	return makeNode(ctx, c, Node{Name: a.Name, Kind: "p", User: a.User, Group: a.Group, Mode: a.Mode})
}

// A Node is a device or a pipe that is to be.
type Node struct {
	Name         string
	Kind         string // c, b or p
	Major, Minor int64
	User, Group  value.Value
	Mode         value.Value
}

// MakeNode makes a device or a pipe by mknod(1), with owner and mode. One that
// exists stays, and the comment says so.
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
	out, err := tool.Run(ctx, f.Host, argv...)
	if err != nil {
		return nil, err
	}
	if !out.OK() {
		return nil, fun.Errorf("%s", strings.TrimSpace(out.Stderr))
	}
	r.Result = fun.OK
	r.Changes.Set("new", made)
	return r, f.setPerms(ctx, n.Name, Perms{User: n.User, Group: n.Group, Mode: NormMode(n.Mode)})
}

type mknodArgs struct {
	nameArg
	Ntype string `arg:"ntype,required" doc:"c: character device, b: block device, p: pipe"`
	Major int64  `arg:"major" default:"0" doc:"major number"`
	Minor int64  `arg:"minor" default:"0" doc:"minor number"`
	ownerOpt
	groupOpt
	Mode value.Value `arg:"mode,mode" default:"0600" doc:"permissions"`
}

func mknod(ctx context.Context, c *fun.Call, a *mknodArgs) (fun.Result, error) {
	f := on(c)
	n := Node{Name: f.Expand(a.Name), Kind: a.Ntype, Major: a.Major, Minor: a.Minor, User: a.User, Group: a.Group, Mode: a.Mode}
	if !f.Test {
		if err := f.MakeDirs(ctx, n.Name, Perms{User: n.User, Group: n.Group}); err != nil {
			return fun.Result{}, fun.Errorf("%s", host.OSError(err))
		}
	}
	r, err := f.MakeNode(ctx, n)
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(r.Value())
}

// DeviceNumbers returns the major and minor number of a device, 0 and 0 of
// what is none. Salt: get_devmm.
func (f *FS) DeviceNumbers(ctx context.Context, path string) (major, minor int64, err error) {
	st, err := f.Stats(path, true)
	if err != nil || st.Type != "char" && st.Type != "block" {
		return 0, 0, nil // what is not there has no numbers
	}
	out, err := tool.Run(ctx, f.Host, "stat", "-L", "-c", "%t %T", path)
	if err != nil {
		return 0, 0, err
	}
	a, b, _ := strings.Cut(strings.TrimSpace(out.Stdout), " ")
	major, err = strconv.ParseInt(a, 16, 64)
	if err == nil {
		minor, err = strconv.ParseInt(b, 16, 64)
	}
	return major, minor, err
}

func getDevMM(ctx context.Context, c *fun.Call, a *nameArg) (fun.Result, error) {
	f := on(c)
	major, minor, err := f.DeviceNumbers(ctx, f.Expand(a.Name))
	return fun.Result{Value: value.Tuple{major, minor}}, err
}

// Patch runs patch(1). Salt: patch.
func (f *FS) Patch(ctx context.Context, path, patchFile string, options []string, dryRun bool) (*value.Map, error) {
	program, err := f.LookPath("patch", "")
	if err != nil {
		return nil, fun.Errorf("patch executable not found. Is the distribution's patch package installed?")
	}
	argv := append([]string{program}, options...)
	if dryRun {
		argv = append(argv, "--dry-run")
	}
	has := func(match func(string) bool) bool {
		return slices.ContainsFunc(argv, match)
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
		var alone []string
		if !dryRun {
			alone = []string{path}
		}
		if err := host.CheckOwn(f.Host, "", alone...); err != nil {
			return nil, fun.Errorf("Unable to run patch: %s", host.Strerror(err))
		}
		v, err := f.runAll(ctx, argv, alone...)
		m, _ := v.(*value.Map)
		return m, err
	}
	v, err := f.runOn(ctx, path, argv)
	m, _ := v.(*value.Map)
	return m, err
}

type patchRowArgs struct {
	_            fun.Arguments
	Originalfile string      `arg:"originalfile,required,path" doc:"the file or directory"`
	Patchfile    string      `arg:"patchfile,required,path" doc:"the patch"`
	Options      value.Value `arg:"options,str|list[str]" default:"''" doc:"options of patch"`
	DryRun       bool        `arg:"dry_run" default:"False" doc:"change nothing"`
}

func patchRow(ctx context.Context, c *fun.Call, a *patchRowArgs) (fun.Result, error) {
	f := on(c)
	var options []string
	switch o := a.Options.(type) {
	case *value.List:
		options = fun.StringsOf(a.Options)
	default:
		var err error
		if options, err = proc.Split(value.Str(o)); err != nil {
			return fun.Result{}, fun.Errorf("options: %v", err)
		}
	}
	m, err := f.Patch(ctx, f.Expand(a.Originalfile), f.Expand(a.Patchfile), options, a.DryRun)
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(m)
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

type rmdirArgs struct {
	pathArg
	Recurse   bool  `arg:"recurse" default:"False" doc:"also remove the empty directories in it"`
	Verbose   bool  `arg:"verbose" default:"False" doc:"return what was removed and what failed"`
	OlderThan int64 `arg:"older_than" unit:"days" doc:"only directories not changed for this long"`
	fun.SystemPath
}

func rmdir(_ context.Context, c *fun.Call, a *rmdirArgs) (fun.Result, error) {
	f := on(c)
	p := f.Expand(a.Path)
	if !filepath.IsAbs(p) {
		return fun.Result{}, invalid("File path must be absolute.")
	}
	if !f.IsDir(p) {
		return fun.Result{}, invalid("A valid directory was not specified.")
	}
	if err := f.CheckSystem(p, true); err != nil {
		return fun.Result{}, fun.Errorf("%s", err)
	}
	days := a.OlderThan
	r, err := f.Rmdir(p, a.Recurse, days)
	if err != nil {
		return fun.Result{}, err
	}
	if a.Verbose {
		return fun.Value(r.Map())
	}
	return fun.Value(r.OK)
}

func getContext(ctx context.Context, c *fun.Call, a *pathArg) (fun.Result, error) {
	f := on(c)
	return result(f.context(ctx, f.Expand(a.Path)))
}

func (f *FS) context(ctx context.Context, p string) (value.Value, error) {
	out, err := tool.Run(ctx, f.Host, "stat", "-c", "%C", p)
	if err != nil {
		return nil, err
	}
	if !out.OK() {
		return "No selinux context information is available for " + p, nil
	}
	return strings.TrimSpace(out.Stdout), nil
}

type restoreContextArgs struct {
	pathArg
	Recursive bool `arg:"recursive" default:"False" doc:"include everything under it"`
}

func restoreContext(ctx context.Context, c *fun.Call, a *restoreContextArgs) (fun.Result, error) {
	f := on(c)
	flag := "-F"
	if a.Recursive {
		flag = "-FR"
	}
	out, err := tool.Run(ctx, f.Host, "restorecon", flag, f.Expand(a.Path))
	return fun.Result{Value: out.OK()}, err
}

type setContextArgs struct {
	pathArg
	User    string `arg:"user" doc:"SELinux user"`
	Role    string `arg:"role" doc:"role"`
	Type    string `arg:"type" doc:"type"`
	Range   string `arg:"range" doc:"range"`
	Persist bool   `arg:"persist" default:"False" doc:"also store it in the policy"`
}

func setContext(ctx context.Context, c *fun.Call, a *setContextArgs) (fun.Result, error) {
	f := on(c)
	p := f.Expand(a.Path)
	chcon, semanage := []string{"chcon"}, []string{"semanage", "fcontext", "-a"}
	some := false
	for _, o := range []struct{ v, chcon, semanage string }{{a.User, "-u", "-s"}, {a.Role, "-r", ""}, {a.Type, "-t", "-t"}, {a.Range, "-l", "-r"}} {
		if o.v == "" {
			continue
		}
		some = true
		chcon = append(chcon, o.chcon, o.v)
		if o.semanage != "" {
			semanage = append(semanage, o.semanage, o.v)
		}
	}
	if !some {
		return fun.Value(false)
	}
	if a.Persist {
		out, err := tool.Run(ctx, f.Host, append(semanage, p)...)
		if err != nil {
			return fun.Result{}, err
		}
		if !out.OK() {
			return fun.Result{}, fun.Errorf("Problem setting fcontext: %s", strings.TrimSpace(out.Stderr))
		}
	}
	out, err := tool.Run(ctx, f.Host, append(chcon, p)...)
	if err != nil {
		return fun.Result{}, err
	}
	if !out.OK() {
		return fun.Value(false)
	}
	return result(f.context(ctx, p))
}

type sedContainsArgs struct {
	pathArg
	Text  value.Value `arg:"text,required,str" doc:"extended regular expression"`
	Limit value.Value `arg:"limit,str" default:"" doc:"pattern of the lines to search"`
	Flags string      `arg:"flags" default:"g" doc:"flags of the s command"`
}

func sedContains(ctx context.Context, c *fun.Call, a *sedContainsArgs) (fun.Result, error) {
	f := on(c)
	p := f.Expand(a.Path)
	if !f.Exists(p) {
		return fun.Value(false)
	}
	esc := func(v value.Value) string { return strings.ReplaceAll(value.Str(v), "/", `\/`) }
	limit := ""
	if s := esc(a.Limit); s != "" {
		limit = "/" + s + "/ "
	}
	r, err := f.Open(p)
	if err != nil {
		return fun.Result{}, fun.Errorf("%s", host.OSError(err))
	}
	defer r.Close()
	out, err := tool.RunWith(ctx, f.Host, tool.Options{Env: f.Environ(), Stdin: r, ReadOnly: true}, "sed", "-r", "-n", "-e", limit+"s/"+esc(a.Text)+"/$/p"+a.Flags)
	return fun.Result{Value: out.Stdout != ""}, err
}

type openFilesArgs struct {
	_     fun.Arguments
	ByPid bool `arg:"by_pid" default:"False" doc:"return the files by process"`
}

// openFiles reads /proc. Salt: open_files.
func openFiles(_ context.Context, c *fun.Call, a *openFilesArgs) (fun.Result, error) {
	f := on(c)
	pids, err := f.ReadDir("/proc")
	if err != nil {
		return fun.Result{}, fun.Errorf("%s", host.OSError(err))
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
	if a.ByPid {
		return fun.Value(byPID)
	}
	return fun.Value(byFile)
}
