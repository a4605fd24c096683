// Package rvm is Salt's execution module "rvm": versions of Ruby and sets of gems,
// managed by RVM.
//
// [Client] runs rvm; the state module "rvm" uses it, too.
package rvm

import (
	"context"
	"regexp"
	"strings"
	"sync"

	"brine/internal/core/fun"
	"brine/internal/py/proc"
	"brine/internal/py/value"
	"brine/modules/cmd"
	"brine/modules/machine"
)

// Module returns the execution module "rvm".
func Module() fun.Module {
	return fun.Module{Name: "rvm", Kind: fun.Exec, Doc: "Manage versions of Ruby and sets of gems with RVM.", Specs: specs}
}

// installer is the script that installs RVM.
const installer = "https://raw.githubusercontent.com/rvm/rvm/master/binscripts/rvm-installer"

// A Client runs rvm as one account.
type Client struct {
	Env  *fun.Env
	User string // "" is the setting rvm.runas, else one's own
}

// New returns the client of an account.
func New(ctx context.Context, env *fun.Env, user string) *Client {
	if user == "" {
		if v := machine.Option(ctx, env, "rvm.runas"); value.Truth(v) {
			user = value.Str(v)
		}
	}
	return &Client{Env: env, User: user}
}

// Path returns the path of rvm: the account's own, or that of the system.
func (r *Client) Path() string {
	if r.User != "" {
		if a, err := r.Env.Host.LookupUser(r.User); err == nil && a.Home != "" {
			if own := strings.TrimRight(a.Home, "/") + "/.rvm/bin/rvm"; machine.Exists(r.Env.Host, own) {
				return own
			}
		}
	}
	return "/usr/local/rvm/bin/rvm"
}

// Installed reports whether RVM is there.
func (r *Client) Installed() bool { return machine.Executable(r.Env.Host, r.Path()) }

// options are how rvm is run.
type options struct {
	cwd   string
	env   *value.Map
	looks bool
}

// run runs rvm. ok is false where it is not there or fails; what it said then is
// logged.
func (r *Client) run(ctx context.Context, o options, args ...string) (said string, ok bool, err error) {
	if !r.Installed() {
		return "", false, nil
	}
	out, err := cmd.RunWords(ctx, r.Env, append([]string{r.Path()}, args...), cmd.Options{RunAs: r.User, Cwd: o.cwd, Env: o.env, ReadOnly: o.looks})
	if err == nil && out.Retcode != 0 {
		r.Env.Log().Error("rvm failed", "command", strings.Join(args, " "), "status", out.Retcode, "stderr", out.Stderr)
	}
	return out.Stdout, err == nil && out.Retcode == 0, err
}

// in runs a command with a version of Ruby, "" is the default one.
func (r *Client) in(ctx context.Context, o options, ruby string, args ...string) (said string, ok bool, err error) {
	if ruby == "" {
		ruby = "default"
	}
	if err := plain("ruby", ruby); err != nil {
		return "", false, err
	}
	return r.run(ctx, o, append([]string{ruby, "do"}, args...)...)
}

// plain refuses a value that rvm would take for an option. Pairs of what a value
// is and the value.
func plain(pairs ...string) error {
	for i := 0; i+1 < len(pairs); i += 2 {
		if v := pairs[i+1]; v == "" || strings.HasPrefix(v, "-") {
			return fun.Errorf("invalid %s '%s': it must not be empty or start with a dash", pairs[i], v)
		}
	}
	return nil
}

// Install installs RVM by its own script.
func (r *Client) Install(ctx context.Context) error {
	out, err := cmd.Run(ctx, r.Env, "curl -fLsS "+installer+" | bash -s stable", cmd.Options{RunAs: r.User, PythonShell: true})
	if err != nil {
		return err
	}
	// Where curl fails, bash runs nothing and succeeds.
	if out.Retcode == 0 && r.Installed() {
		return nil
	}
	msg := "Error encountered while downloading the RVM installer"
	if out.Stderr != "" {
		msg += ". stderr follows:\n\n" + out.Stderr
	}
	return fun.Errorf("%s", msg)
}

// InstallRuby builds and installs a version of Ruby, and returns what rvm said.
func (r *Client) InstallRuby(ctx context.Context, ruby string, opts []string, env *value.Map) (said string, ok bool, err error) {
	if err := plain("ruby", ruby); err != nil {
		return "", false, err
	}
	args := append([]string{"install", ruby}, opts...)
	if r.User != "" && r.User != "root" {
		if _, _, err := r.run(ctx, options{}, append([]string{"autolibs", "disable", ruby}, opts...)...); err != nil {
			return "", false, err
		}
		args = append(args, "--disable-binary")
	}
	return r.run(ctx, options{env: env}, args...)
}

// A Ruby is an installed version.
type Ruby struct {
	Kind, Version string // "ruby", "3.2.2"
	Default       bool
}

var listRE = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[= ]([*> ]) ([^- ]+)-([^ ]+) \[ (.*) \]`)
})

// List returns the installed versions.
func (r *Client) List(ctx context.Context) ([]Ruby, error) {
	said, _, err := r.run(ctx, options{looks: true}, "list")
	var out []Ruby
	for _, l := range value.SplitLines(said, false) {
		if m := listRE().FindStringSubmatch(l); m != nil {
			out = append(out, Ruby{Kind: m[2], Version: m[3], Default: m[1] == "*"})
		}
	}
	return out, err
}

// SetDefault makes a version the default one, and reports whether that worked.
func (r *Client) SetDefault(ctx context.Context, ruby string) (said string, ok bool, err error) {
	if err := plain("ruby", ruby); err != nil {
		return "", false, err
	}
	return r.run(ctx, options{}, "alias", "create", "default", ruby)
}

// Gemsets returns the sets of gems of a version.
func (r *Client) Gemsets(ctx context.Context, ruby string) ([]string, error) {
	said, _, err := r.in(ctx, options{looks: true}, ruby, "rvm", "gemset", "list")
	var out []string
	for _, l := range value.SplitLines(said, false) {
		if name, ok := gemset(l); ok {
			out = append(out, name)
		}
	}
	return out, err
}

// gemset returns the name in a line of a list of gem sets; the one in use has an
// arrow before it.
func gemset(line string) (name string, ok bool) {
	line = strings.Replace(line, "=>", "  ", 1)
	if !strings.HasPrefix(line, "   ") {
		return "", false
	}
	name, _, _ = strings.Cut(line[3:], " ")
	return name, name != ""
}

// CreateGemset makes a set of gems, and reports whether that worked.
func (r *Client) CreateGemset(ctx context.Context, ruby, name string) (said string, ok bool, err error) {
	if err := plain("gemset", name); err != nil {
		return "", false, err
	}
	return r.in(ctx, options{}, ruby, "rvm", "gemset", "create", name)
}

func client(ctx context.Context, c *fun.Call, a *runas) *Client { return New(ctx, c.Env, a.Runas) }

// result returns what rvm said, or false where it failed.
func result(said string, ok bool, err error) (fun.Result, error) {
	if !ok {
		return fun.Result{Value: false}, err
	}
	return fun.Result{Value: said}, err
}

type doArgs struct {
	ruby
	Command string `arg:"command,required" doc:"command line; no shell sees it"`
	runas
	Cwd string `arg:"cwd,path" doc:"directory; default: the home directory"`
	vars
}

func do(ctx context.Context, c *fun.Call, a *doArgs) (fun.Result, error) {
	words, err := proc.Split(a.Command)
	if err != nil || len(words) == 0 {
		return fun.Result{}, fun.Errorf("invalid command %s", value.Repr(a.Command))
	}
	env, slip := cmd.ParseEnv(a.Env)
	if slip != "" {
		return fun.Result{}, fun.Errorf("%s", slip)
	}
	return result(client(ctx, c, &a.runas).in(ctx, options{cwd: a.Cwd, env: env}, a.Ruby, words...))
}

type gemsetCopyArgs struct {
	Source      string `arg:"source,required" doc:"set of gems, with its version of Ruby: 3.2.2@name"`
	Destination string `arg:"destination,required" doc:"set of gems that gets them"`
	runas
}

func gemsetCopy(ctx context.Context, c *fun.Call, a *gemsetCopyArgs) (fun.Result, error) {
	from, to := a.Source, a.Destination
	if err := plain("source", from, "destination", to); err != nil {
		return fun.Result{}, err
	}
	return result(client(ctx, c, &a.runas).run(ctx, options{}, "gemset", "copy", from, to))
}

func gemsetCreate(ctx context.Context, c *fun.Call, a *gemsOf) (fun.Result, error) {
	return result(client(ctx, c, &a.runas).CreateGemset(ctx, a.Ruby, a.Gemset))
}

func forced(ctx context.Context, c *fun.Call, a *gemsOf, verb string) (fun.Result, error) {
	if err := plain("gemset", a.Gemset); err != nil {
		return fun.Result{}, err
	}
	return result(client(ctx, c, &a.runas).in(ctx, options{}, a.Ruby, "rvm", "--force", "gemset", verb, a.Gemset))
}

func gemsetDelete(ctx context.Context, c *fun.Call, a *gemsOf) (fun.Result, error) {
	return forced(ctx, c, a, "delete")
}

func gemsetEmpty(ctx context.Context, c *fun.Call, a *gemsOf) (fun.Result, error) {
	return forced(ctx, c, a, "empty")
}

type gemsetListArgs struct {
	Ruby string `arg:"ruby" default:"default" doc:"version of Ruby"`
	runas
}

func gemsetList(ctx context.Context, c *fun.Call, a *gemsetListArgs) (fun.Result, error) {
	return machine.Strings(client(ctx, c, &a.runas).Gemsets(ctx, a.Ruby))
}

func gemsetListAll(ctx context.Context, c *fun.Call, a *runas) (fun.Result, error) {
	said, _, err := client(ctx, c, a).in(ctx, options{looks: true}, "default", "rvm", "gemset", "list_all")
	all := value.NewMap(2)
	var sets *value.List
	for _, l := range value.SplitLines(said, false) {
		if rest, ok := strings.CutPrefix(l, "gemsets for "); ok {
			ruby, _, _ := strings.Cut(rest, " ")
			sets = &value.List{}
			all.Set(ruby, sets)
		} else if name, ok := gemset(l); ok && sets != nil {
			sets.Items = append(sets.Items, name)
		}
	}
	return fun.Result{Value: all}, err
}

type getArgs struct {
	Version string `arg:"version" default:"stable" doc:"version of RVM, such as stable or head"`
	runas
}

func get(ctx context.Context, c *fun.Call, a *getArgs) (fun.Result, error) {
	if err := plain("version", a.Version); err != nil {
		return fun.Result{}, err
	}
	return result(client(ctx, c, &a.runas).run(ctx, options{}, "get", a.Version))
}

func install(ctx context.Context, c *fun.Call, a *runas) (fun.Result, error) {
	err := client(ctx, c, a).Install(ctx)
	return fun.Result{Value: err == nil}, err
}

type installRubyArgs struct {
	ruby
	runas
	Opts []string `arg:"opts" doc:"options for rvm install"`
	vars
}

func installRuby(ctx context.Context, c *fun.Call, a *installRubyArgs) (fun.Result, error) {
	env, slip := cmd.ParseEnv(a.Env)
	if slip != "" {
		return fun.Result{}, fun.Errorf("%s", slip)
	}
	return result(client(ctx, c, &a.runas).InstallRuby(ctx, a.Ruby, a.Opts, env))
}

func isInstalled(ctx context.Context, c *fun.Call, a *runas) (fun.Result, error) {
	return machine.Bool(client(ctx, c, a).Installed(), nil)
}

func list(ctx context.Context, c *fun.Call, a *runas) (fun.Result, error) {
	rubies, err := client(ctx, c, a).List(ctx)
	l := &value.List{}
	for _, r := range rubies {
		l.Items = append(l.Items, value.NewList(r.Kind, r.Version, r.Default))
	}
	return fun.Result{Value: l}, err
}

type reinstallRubyArgs struct {
	ruby
	runas
	vars
}

func reinstallRuby(ctx context.Context, c *fun.Call, a *reinstallRubyArgs) (fun.Result, error) {
	env, slip := cmd.ParseEnv(a.Env)
	if slip != "" {
		return fun.Result{}, fun.Errorf("%s", slip)
	}
	if err := plain("ruby", a.Ruby); err != nil {
		return fun.Result{}, err
	}
	return result(client(ctx, c, &a.runas).run(ctx, options{env: env}, "reinstall", a.Ruby))
}

type rubygemsArgs struct {
	ruby
	Version string `arg:"version,required" doc:"version of RubyGems, or remove for the one that Ruby brings"`
	runas
}

func rubygems(ctx context.Context, c *fun.Call, a *rubygemsArgs) (fun.Result, error) {
	if err := plain("version", a.Version); err != nil {
		return fun.Result{}, err
	}
	return result(client(ctx, c, &a.runas).in(ctx, options{}, a.Ruby, "rubygems", a.Version))
}

type setDefaultArgs struct {
	ruby
	runas
}

func setDefault(ctx context.Context, c *fun.Call, a *setDefaultArgs) (fun.Result, error) {
	return result(client(ctx, c, &a.runas).SetDefault(ctx, a.Ruby))
}

type wrapperArgs struct {
	RubyString    string `arg:"ruby_string,required" doc:"version of Ruby, with @NAME for a set of gems"`
	WrapperPrefix string `arg:"wrapper_prefix,required" doc:"start of the names of the new programs"`
	runas
	More fun.Varargs
}

func wrapper(ctx context.Context, c *fun.Call, given *wrapperArgs) (fun.Result, error) {
	args := []string{"wrapper", given.RubyString, given.WrapperPrefix}
	for _, v := range given.More {
		args = append(args, value.Str(v))
	}
	for _, a := range args[1:] {
		if err := plain("argument", a); err != nil {
			return fun.Result{}, err
		}
	}
	return result(client(ctx, c, &given.runas).run(ctx, options{}, args...))
}
