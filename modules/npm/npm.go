// Package npm is Salt's execution module "npm": packages of Node.js.
//
// [Client] runs npm; the state module "npm" uses it, too.
package npm

import (
	"context"
	"strconv"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/redact"
	"brine/internal/py/value"
	"brine/modules/cmd"
	"brine/modules/tool"
)

// Module returns the execution module "npm".
func Module() fun.Module {
	return fun.Module{Name: "npm", Kind: fun.Exec, Doc: "Manage packages of Node.js.", Specs: specs, Avail: tool.Needs("npm", "npm execution module could not be loaded because the npm binary could not be located")}
}

// A Client runs npm as one account.
type Client struct {
	Env     *fun.Env
	User    string
	EnvVars *value.Map
}

// run runs npm in a directory; "" is the home directory.
func (n *Client) run(ctx context.Context, dir string, vars *value.Map, args ...string) (cmd.Out, error) {
	env := value.NewMap(4)
	if n.EnvVars != nil {
		env.Update(n.EnvVars)
	}
	if vars != nil {
		env.Update(vars)
	}
	if n.User != "" {
		if a, err := n.Env.Host.LookupUser(n.User); err == nil && a.UID != 0 {
			env.Set("SUDO_UID", strconv.Itoa(a.UID))
			env.Set("SUDO_USER", "")
		}
	}
	o := cmd.Options{Cwd: dir, RunAs: n.User, Env: env, AloneArg: "runas (in states, user)"}
	if dir != "" {
		o.Alone = []string{dir}
	}
	out, err := cmd.RunWords(ctx, n.Env, append([]string{"npm"}, args...), o)
	out.Stdout, out.Stderr = redact.URLs(out.Stdout), redact.URLs(out.Stderr)
	return out, err
}

func checkName(names ...string) error {
	for _, n := range names {
		if n == "" || strings.HasPrefix(n, "-") {
			return fun.Errorf("invalid package '%s': it must not be empty or start with a dash", n)
		}
	}
	return nil
}

// An Install is what npm install is to do.
type Install struct {
	Pkgs     []string // none: what package.json in Dir names
	Dir      string   // "" is the global directory
	Registry string
	DryRun   bool
	Loud     bool // show npm's messages
}

// Install runs npm install and returns what it reports: data, or text where it
// cannot be read.
func (n *Client) Install(ctx context.Context, in Install) (value.Value, error) {
	if err := checkName(in.Pkgs...); err != nil {
		return nil, err
	}
	args := []string{"install", "--json"}
	if !in.Loud {
		args = append(args, "--silent")
	}
	dir := in.Dir
	if dir == "" {
		dir = "/tmp"
		args = append(args, "--global")
	}
	vars := value.NewMap(1)
	if _, rest, _ := strings.Cut(in.Registry, "://"); strings.Contains(rest, "@") {
		vars.Set("npm_config_registry", in.Registry) // it may have a password
	} else if in.Registry != "" {
		args = append(args, "--registry="+in.Registry)
	}
	if in.DryRun {
		args = append(args, "--dry-run")
	}
	out, err := n.run(ctx, dir, vars, append(args, in.Pkgs...)...)
	if err != nil {
		return nil, err
	}
	if out.Retcode != 0 {
		return nil, out.Err()
	}
	said := out.Stdout
	if said == "" {
		said = out.Stderr
	}
	if v, ok := findJSON(said); ok {
		return v, nil
	}
	return said, nil
}

// findJSON returns the first JSON object or array in a text that starts a line.
func findJSON(s string) (value.Value, bool) {
	for rest := s; rest != ""; {
		line, tail, _ := strings.Cut(rest, "\n")
		if t := strings.TrimLeft(line, " \t"); strings.HasPrefix(t, "{") || strings.HasPrefix(t, "[") {
			end := strings.TrimRight(rest, " \t\r\n")
			for tries := 0; end != "" && tries < 20; tries++ {
				if v, err := value.ParseJSON(end); err == nil {
					return v, true
				}
				i := strings.LastIndexByte(end, '\n')
				if i < 0 {
					break
				}
				end = strings.TrimRight(end[:i], " \t\r\n")
			}
		}
		rest = tail
	}
	return nil, false
}

// Uninstall runs npm uninstall and reports whether it worked, and what npm said.
func (n *Client) Uninstall(ctx context.Context, pkg, dir string) (ok bool, said string, err error) {
	if err := checkName(pkg); err != nil {
		return false, "", err
	}
	args := []string{"uninstall", pkg}
	if dir == "" {
		args = append(args, "--global")
	}
	out, err := n.run(ctx, dir, nil, args...)
	return err == nil && out.Retcode == 0, out.Stderr, err
}

// List returns the installed packages: by name, mappings that have the version.
// depth is how deep dependencies are shown; below 0 as npm does.
func (n *Client) List(ctx context.Context, pkg, dir string, depth int) (*value.Map, error) {
	args := []string{"list", "--json", "--silent"}
	if dir == "" {
		args = append(args, "--global")
	}
	if depth >= 0 {
		args = append(args, "--depth="+strconv.Itoa(depth))
	}
	if pkg != "" {
		if err := checkName(pkg); err != nil {
			return nil, err
		}
		args = append(args, pkg)
	}
	out, err := n.run(ctx, dir, nil, args...)
	if err != nil {
		return nil, err
	}
	// npm fails where there is no package, too, but says nothing.
	if out.Retcode != 0 && out.Stderr != "" {
		return nil, out.Err()
	}
	if out.Stdout == "" {
		return value.NewMap(0), nil
	}
	v, err := value.ParseJSON(out.Stdout)
	m, ok := v.(*value.Map)
	if err != nil || !ok {
		return nil, fun.Errorf("npm list did not print a JSON object")
	}
	if deps := m.Map("dependencies"); deps != nil {
		return deps, nil
	}
	return value.NewMap(0), nil
}

// CacheClean cleans npm's cache and reports whether that worked, and what npm
// said.
func (n *Client) CacheClean(ctx context.Context, path string, force bool) (ok bool, said string, err error) {
	args := []string{"cache", "clean"}
	if path != "" {
		if err := checkName(path); err != nil {
			return false, "", err
		}
		args = append(args, path)
	}
	if force {
		args = append(args, "--force")
	}
	out, err := n.run(ctx, "", nil, args...)
	return err == nil && out.Retcode == 0, out.Stderr, err
}

// CacheList returns what npm says is in its cache.
func (n *Client) CacheList(ctx context.Context, path string) (string, error) {
	args := []string{"cache", "ls"}
	if path != "" {
		if err := checkName(path); err != nil {
			return "", err
		}
		args = append(args, path)
	}
	out, err := n.run(ctx, "", nil, args...)
	if err == nil && out.Retcode != 0 && out.Stderr != "" {
		err = out.Err()
	}
	return out.Stdout, err
}

func client(c *fun.Call, env *value.Map, runas string) *Client {
	return &Client{Env: c.Env, User: runas, EnvVars: env}
}

type installArgs struct {
	_        fun.Arguments
	Pkg      string     `arg:"pkg" doc:"package, with name@version for a version"`
	Pkgs     []string   `arg:"pkgs" doc:"packages, where no pkg is given"`
	Dir      string     `arg:"dir,path" doc:"directory of the project; default: the global packages"`
	Runas    string     `arg:"runas" doc:"account that runs the program"`
	Registry string     `arg:"registry,secret" doc:"URL of the registry"`
	Env      *value.Map `arg:"env" doc:"environment variables for npm"`
	DryRun   bool       `arg:"dry_run" default:"False" doc:"only report what would be installed"`
	Silent   bool       `arg:"silent" default:"True" doc:"do not let npm show messages"`
}

func install(ctx context.Context, c *fun.Call, a *installArgs) (fun.Result, error) {
	pkgs := a.Pkgs
	if a.Pkg != "" {
		pkgs = []string{a.Pkg}
	}
	v, err := client(c, a.Env, a.Runas).Install(ctx, Install{Pkgs: pkgs, Dir: a.Dir, Registry: a.Registry, DryRun: a.DryRun, Loud: !a.Silent})
	return fun.Result{Value: v}, err
}

type uninstallArgs struct {
	_     fun.Arguments
	Pkg   string     `arg:"pkg,required" doc:"package, with name@version for a version"`
	Dir   string     `arg:"dir,path" doc:"directory of the project; default: the global packages"`
	Runas string     `arg:"runas" doc:"account that runs the program"`
	Env   *value.Map `arg:"env" doc:"environment variables for npm"`
}

func uninstall(ctx context.Context, c *fun.Call, a *uninstallArgs) (fun.Result, error) {
	ok, said, err := client(c, a.Env, a.Runas).Uninstall(ctx, a.Pkg, a.Dir)
	if !ok && said != "" {
		c.Env.Log().Error("npm uninstall failed", "stderr", said)
	}
	return fun.Result{Value: ok}, err
}

type listArgs struct {
	_     fun.Arguments
	Pkg   string         `arg:"pkg" doc:"package, with name@version for a version"`
	Dir   string         `arg:"dir,path" doc:"directory of the project; default: the global packages"`
	Runas string         `arg:"runas" doc:"account that runs the program"`
	Env   *value.Map     `arg:"env" doc:"environment variables for npm"`
	Depth fun.Opt[int64] `arg:"depth" doc:"how deep dependencies are shown"`
}

func list(ctx context.Context, c *fun.Call, a *listArgs) (fun.Result, error) {
	depth := -1
	if a.Depth.Given {
		depth = int(max(0, a.Depth.V))
	}
	deps, err := client(c, a.Env, a.Runas).List(ctx, a.Pkg, a.Dir, depth)
	return fun.Result{Value: deps}, err
}

type cacheCleanArgs struct {
	_     fun.Arguments
	Path  string     `arg:"path" doc:"package or path in the cache"`
	Runas string     `arg:"runas" doc:"account that runs the program"`
	Env   *value.Map `arg:"env" doc:"environment variables for npm"`
	Force bool       `arg:"force" default:"False" doc:"clean the cache although npm thinks that this is not needed; npm 5 and later want it"`
}

func cacheClean(ctx context.Context, c *fun.Call, a *cacheCleanArgs) (fun.Result, error) {
	ok, said, err := client(c, a.Env, a.Runas).CacheClean(ctx, a.Path, a.Force)
	if !ok && said != "" {
		c.Env.Log().Error("npm cache clean failed", "stderr", said)
	}
	return fun.Result{Value: ok}, err
}

type cacheListArgs struct {
	_     fun.Arguments
	Path  string     `arg:"path" doc:"package or path in the cache"`
	Runas string     `arg:"runas" doc:"account that runs the program"`
	Env   *value.Map `arg:"env" doc:"environment variables for npm"`
}

func cacheList(ctx context.Context, c *fun.Call, a *cacheListArgs) (fun.Result, error) {
	text, err := client(c, a.Env, a.Runas).CacheList(ctx, a.Path)
	return fun.Result{Value: text}, err
}

type cachePathArgs struct {
	_     fun.Arguments
	Runas string     `arg:"runas" doc:"account that runs the program"`
	Env   *value.Map `arg:"env" doc:"environment variables for npm"`
}

func cachePath(ctx context.Context, c *fun.Call, a *cachePathArgs) (fun.Result, error) {
	out, err := client(c, a.Env, a.Runas).run(ctx, "", nil, "config", "get", "cache")
	if out.Stdout == "" {
		return fun.Result{Value: out.Stderr}, err
	}
	return fun.Result{Value: out.Stdout}, err
}
