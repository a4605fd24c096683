// Package rsync is Salt's execution module "rsync": copies of directories by rsync(1).
package rsync

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/modules/tool"
)

// Module returns the execution module "rsync".
func Module() fun.Module {
	return fun.Module{Name: "rsync", Kind: fun.Exec, Doc: "Copies of directories by rsync(1).", Avail: tool.Needs("rsync", "The rsync execution module cannot be loaded: the rsync binary is not in the path."), Specs: specs}
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "config", Doc: "Return the configuration of the rsync daemon.", Src: "modules/rsync.py config", Do: config,
	},
	{
		Name: "rsync", Src: "modules/rsync.py rsync", Do: rsync,
		Doc: "Copy a directory; return the output and status of rsync(1).\n\nWhat is not given is taken from the options rsync.src, rsync.dst and so on.",
	},
	{Name: "version", Doc: "Return the version of rsync(1).", Src: "modules/rsync.py version", Do: version},
}

// option returns the argument name as it is given, or the option rsync.NAME of configuration and pillar.
func option(ctx context.Context, c *fun.Call, name string, given value.Value) value.Value {
	if value.Truth(given) {
		return given
	}
	res, err := c.Env.Exec(ctx, "config.option", nil, "rsync."+name)
	if err != nil || !value.Truth(res) {
		return nil
	}
	return res
}

// texts returns the items of a list, or one text.
func texts(v value.Value) []string {
	if v == nil {
		return nil
	}
	if l, ok := v.(*value.List); ok {
		return l.Strs()
	}
	return []string{value.Str(v)}
}

type rsyncArgs struct {
	Src            string      `arg:"src,required" doc:"what to copy: a path, host:path, or salt://path"`
	Dst            string      `arg:"dst,required" doc:"where to"`
	Delete         bool        `arg:"delete" default:"False" doc:"remove what the source does not have"`
	Force          bool        `arg:"force" default:"False" doc:"also remove directories that are not empty"`
	Update         bool        `arg:"update" default:"False" doc:"leave files that are newer alone"`
	Passwordfile   string      `arg:"passwordfile,path" doc:"file with the password of a daemon"`
	Exclude        value.Value `arg:"exclude,list[str]" doc:"patterns of what to leave out"`
	Excludefrom    string      `arg:"excludefrom,path" doc:"file with such patterns; exclude does not count then"`
	Dryrun         bool        `arg:"dryrun" default:"False" doc:"change nothing, tell what would be done"`
	Rsh            string      `arg:"rsh" doc:"the remote shell"`
	AdditionalOpts []string    `arg:"additional_opts" doc:"further options of rsync(1)"`
	Saltenv        string      `arg:"saltenv" default:"base" doc:"environment of a salt:// source"`
	fun.SystemPath
}

// rsync copies. Salt: salt/modules/rsync.py rsync.
func rsync(ctx context.Context, c *fun.Call, a *rsyncArgs) (fun.Result, error) {
	text := func(name, given string) string {
		if v := option(ctx, c, name, given); v != nil {
			return value.Str(v)
		}
		return ""
	}
	src, dst := text("src", a.Src), text("dst", a.Dst)
	if src == "" || dst == "" {
		return fun.Result{}, &fun.InvocationError{Msg: "src and dst cannot be empty"}
	}
	if err := c.Env.Host.CheckSystem(dst, true); err != nil && option(ctx, c, "delete", a.Delete) != nil {
		return fun.Result{}, fun.Errorf("%s", err)
	}
	src, done, err := fetch(ctx, c, a, src)
	defer done()
	if err != nil {
		return fun.Result{}, err
	}
	argv := []string{"rsync", "-avz"}
	for _, flag := range [...]struct {
		name  string
		given bool
	}{{"delete", a.Delete}, {"force", a.Force}, {"update", a.Update}} {
		if option(ctx, c, flag.name, flag.given) != nil {
			argv = append(argv, "--"+flag.name)
		}
	}
	if rsh := text("rsh", a.Rsh); rsh != "" {
		argv = append(argv, "--rsh="+rsh)
	}
	if file := text("passwordfile", a.Passwordfile); file != "" {
		argv = append(argv, "--password-file", file)
	}
	if file := text("excludefrom", a.Excludefrom); file != "" {
		argv = append(argv, "--exclude-from", file)
	} else {
		for _, pattern := range texts(option(ctx, c, "exclude", a.Exclude)) {
			argv = append(argv, "--exclude", pattern)
		}
	}
	if option(ctx, c, "dryrun", a.Dryrun) != nil {
		argv = append(argv, "--dry-run")
	}
	argv = append(slices.Concat(argv, a.AdditionalOpts), "--", src, dst)
	out, err := tool.Run(ctx, c.Env.Host, argv...)
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Result{Value: out.All(), Retcode: out.Status}, nil
}

// fetch returns the source as a path; of a salt:// one that of a copy, which done
// removes.
func fetch(ctx context.Context, c *fun.Call, a *rsyncArgs, src string) (path string, done func(), err error) {
	done = func() {}
	rest, ok := strings.CutPrefix(src, "salt://")
	if !ok {
		return src, done, nil
	}
	h, saltenv := c.Env.Host, a.Saltenv
	dirs, err := c.Env.Up.Dirs(ctx, saltenv, "")
	if err != nil {
		return "", done, err
	}
	tmp, err := h.MkdirTemp("/tmp", "brine-rsync-")
	if err != nil {
		return "", done, fun.Errorf("%v", err)
	}
	done = func() { _ = h.RemoveAll(tmp) }
	name, path := "cp.get_file", tmp+"/"+rest[strings.LastIndexByte(rest, '/')+1:]
	to := path
	if slices.Contains(dirs, strings.Trim(rest, "/")) {
		name, to, path = "cp.get_dir", tmp, tmp+"/"
	}
	res, err := c.Env.Exec(ctx, name, nil, src, to, saltenv)
	if err != nil {
		return "", done, err
	}
	if !value.Truth(res) {
		return "", done, fun.Errorf("%s does not exist", src)
	}
	return path, done, nil
}

func version(ctx context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	out, err := tool.LookMerged(ctx, c.Env.Host, "rsync", "--version")
	if err != nil {
		return fun.Result{}, err
	}
	first, _, _ := strings.Cut(out.Text, "\n")
	f := strings.Fields(first)
	if len(f) < 3 {
		return fun.Result{}, fun.Errorf("Unable to determine rsync version")
	}
	return fun.Value(f[2])
}

type configArgs struct {
	_        fun.Arguments
	ConfPath string `arg:"conf_path,path" default:"/etc/rsyncd.conf" doc:"the file"`
}

func config(_ context.Context, c *fun.Call, a *configArgs) (fun.Result, error) {
	path := a.ConfPath
	if st, err := c.Env.Host.Stat(path); err == nil && st.Mode.IsDir() {
		return fun.Result{}, fun.Errorf("Unable to read %s, path is a directory", path)
	}
	b, err := c.Env.Host.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fun.Result{}, fun.Errorf("%s does not exist", path)
	case errors.Is(err, fs.ErrPermission):
		return fun.Result{}, fun.Errorf("Unable to read %s, access denied", path)
	case err != nil:
		return fun.Result{}, fun.Errorf("Error: %s", host.Strerror(err))
	}
	return fun.Value(value.DecodeReplace(b))
}
