// Package gem is Salt's execution module "gem": packages of Ruby.
//
// [Client] runs gem; the state module "gem" uses it, too.
package gem

import (
	"context"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"brine/internal/core/fun"
	"brine/internal/core/redact"
	"brine/internal/py/value"
	"brine/modules/cmd"
	"brine/modules/machine"
	"brine/modules/rvm"
	"brine/modules/shims"
)

// Module returns the execution module "gem".
func Module() fun.Module {
	return fun.Module{Name: "gem", Kind: fun.Exec, Doc: "Manage packages of Ruby.", Specs: specs}
}

// A Client runs the gem of one Ruby as one account. Where RVM or rbenv is
// installed and Bin is not given, they run it.
type Client struct {
	Env  *fun.Env
	Ruby string // version of RVM or rbenv; "" is the default one
	Bin  string
	User string
}

// clientArgs are the arguments that describe the client.
type clientArgs struct {
	_      fun.Arguments
	Ruby   string `arg:"ruby" doc:"version of Ruby, where RVM or rbenv is installed"`
	Runas  string `arg:"runas" doc:"account that runs the program"`
	GemBin string `arg:"gem_bin,path" doc:"path of gem; RVM and rbenv are not used"`
}

func (a *clientArgs) client(e *fun.Env) *Client {
	return &Client{Env: e, Ruby: a.Ruby, Bin: a.GemBin, User: a.Runas}
}

// rvm returns the path of RVM and the account that runs it; "" where it is not
// installed.
func (g *Client) rvm(ctx context.Context) (path, user string) {
	r := rvm.New(ctx, g.Env, g.User)
	if !r.Installed() {
		return "", ""
	}
	return r.Path(), r.User
}

// rbenv returns the directory of rbenv; "" where it is not installed.
func (g *Client) rbenv(ctx context.Context) string {
	r := &shims.Client{Tool: shims.Rbenv, Env: g.Env, User: g.User}
	if !r.Installed(ctx) {
		return ""
	}
	return r.Root(ctx)
}

// run runs gem and returns what it prints.
// Salt: salt/modules/gem.py _gem.
func (g *Client) run(ctx context.Context, looks bool, vars *value.Map, args ...string) (string, error) {
	o := cmd.Options{RunAs: g.User, ReadOnly: looks, Env: value.NewMap(2)}
	if vars != nil {
		o.Env.Update(vars)
	}
	words := append([]string{"gem"}, args...)
	root := ""
	if g.Bin != "" {
		words[0] = g.Bin
	} else if path, user := g.rvm(ctx); path != "" {
		ruby := g.Ruby
		if ruby == "" {
			ruby = "default"
		}
		if err := checkWord("ruby", ruby); err != nil {
			return "", err
		}
		words, o.RunAs = append([]string{path, ruby, "do"}, words...), user
	} else if root = g.rbenv(ctx); root != "" {
		o.PrependPath = filepath.Join(root, "shims")
		if g.Ruby != "" {
			o.Env.Set("RBENV_VERSION", g.Ruby)
		}
	}
	if err := checkWord("gem_bin", words[0]); err != nil {
		return "", err
	}
	out, err := cmd.RunWords(ctx, g.Env, words, o)
	if err != nil {
		return "", err
	}
	if out.Retcode != 0 {
		said := out.Stderr
		if said == "" {
			said = out.Stdout
		}
		return "", fun.Errorf("%s", redact.URLs(said))
	}
	if root != "" && !looks {
		// New programs of gems get their shims.
		_, err = cmd.RunWords(ctx, g.Env, []string{filepath.Join(root, "bin/rbenv"), "rehash"},
			cmd.Options{RunAs: g.User, Env: value.MapOf("RBENV_ROOT", root)})
	}
	return redact.URLs(out.Stdout), err
}

// checkWord refuses what gem would take for an option.
func checkWord(what string, words ...string) error {
	for _, s := range words {
		if s == "" || strings.HasPrefix(s, "-") {
			return fun.Errorf("invalid %s '%s': it must not be empty or start with a dash", what, s)
		}
	}
	return nil
}

var versionRE = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^[.0-9]+.*$`) })

// Version returns the version of RubyGems, "" where it does not say.
func (g *Client) Version(ctx context.Context) (string, error) {
	type key struct{ what, ruby, bin, user string }
	return machine.Keep(g.Env, key{"gem", g.Ruby, g.Bin, g.User}, func() (string, error) {
		text, err := g.run(ctx, true, nil, "--version")
		return versionRE().FindString(text), err
	})
}

// An Install is what gem install is to do.
type Install struct {
	Gems          []string
	Version       string
	RDoc, RI      bool
	PreReleases   bool
	Proxy, Source string
}

// Install runs gem install and returns what it prints.
func (g *Client) Install(ctx context.Context, in Install) (string, error) {
	if err := checkWord("gem", in.Gems...); err != nil {
		return "", err
	}
	have, err := g.Version(ctx)
	if err != nil {
		return "", err
	}
	args := append([]string{"install"}, in.Gems...)
	add := func(on bool, words ...string) {
		if on {
			args = append(args, words...)
		}
	}
	add(in.Version != "", "--version", in.Version)
	if Compare(have, "3") >= 0 {
		add(!in.RDoc || !in.RI, "--no-document")
		add(in.PreReleases, "--prerelease")
	} else {
		add(!in.RDoc, "--no-rdoc")
		add(!in.RI, "--no-ri")
		add(in.PreReleases, "--pre")
	}
	vars := value.NewMap(2)
	if _, rest, _ := strings.Cut(in.Proxy, "://"); strings.Contains(rest, "@") {
		// It may have a password, which no list of processes is to show.
		vars.Set("http_proxy", in.Proxy)
		vars.Set("https_proxy", in.Proxy)
	} else {
		add(in.Proxy != "", "-p", in.Proxy)
	}
	add(in.Source != "", "--source", in.Source)
	return g.run(ctx, false, vars, args...)
}

// Uninstall removes all versions of gems and their programs.
func (g *Client) Uninstall(ctx context.Context, gems ...string) (string, error) {
	if err := checkWord("gem", gems...); err != nil {
		return "", err
	}
	return g.run(ctx, false, nil, append(append([]string{"uninstall"}, gems...), "-a", "-x")...)
}

var listRE = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^([^ \n]+) \((.+)\)`) })

// List returns the versions of the installed gems whose names match prefix.
func (g *Client) List(ctx context.Context, prefix string) (*value.Map, error) {
	args := []string{"list"}
	if prefix != "" {
		if err := checkWord("gem", prefix); err != nil {
			return nil, err
		}
		args = append(args, prefix)
	}
	text, err := g.run(ctx, true, nil, args...)
	if err != nil {
		return nil, err
	}
	m := value.NewMap(4)
	for _, x := range listRE().FindAllStringSubmatch(text, -1) {
		m.Set(x[1], value.Strings(strings.Split(x[2], ", ")...))
	}
	return m, nil
}

// Versions returns the installed versions of a gem, without what gem list says
// of their platforms.
func Versions(have *value.Map, name string) []string {
	l := have.List(name)
	if l == nil {
		return nil
	}
	var out []string
	for _, x := range l.Items {
		v := strings.TrimSpace(strings.TrimPrefix(value.Str(x), "default: "))
		v, _, _ = strings.Cut(v, " ")
		out = append(out, v)
	}
	return out
}

// Sources returns the URLs of the sources of gems.
func (g *Client) Sources(ctx context.Context) ([]string, error) {
	text, err := g.run(ctx, true, nil, "sources")
	lines := value.SplitLines(text, false)
	return lines[min(2, len(lines)):], err
}

// AddSource adds a source of gems.
func (g *Client) AddSource(ctx context.Context, uri string) (string, error) {
	if err := checkWord("source", uri); err != nil {
		return "", err
	}
	return g.run(ctx, false, nil, "sources", "--add", uri)
}

// RemoveSource removes a source of gems.
func (g *Client) RemoveSource(ctx context.Context, uri string) (string, error) {
	if err := checkWord("source", uri); err != nil {
		return "", err
	}
	return g.run(ctx, false, nil, "sources", "--remove", uri)
}

// gems returns the words of the argument gems.
func gems(argGems []string) []string {
	var out []string
	for _, s := range argGems {
		out = append(out, strings.Fields(s)...)
	}
	return out
}

type installArgs struct {
	_           fun.Arguments
	Gems        []string `arg:"gems,required" doc:"names of gems, separated by blanks, or a list"`
	Ruby        string   `arg:"ruby" doc:"version of Ruby, where RVM or rbenv is installed"`
	GemBin      string   `arg:"gem_bin,path" doc:"path of gem; RVM and rbenv are not used"`
	Runas       string   `arg:"runas" doc:"account that runs the program"`
	Version     string   `arg:"version" doc:"version, or a condition such as >= 1.0"`
	Rdoc        bool     `arg:"rdoc" default:"False" doc:"generate RDoc documentation"`
	Ri          bool     `arg:"ri" default:"False" doc:"generate RI documentation"`
	PreReleases bool     `arg:"pre_releases" default:"False" doc:"take pre-releases, too"`
	Proxy       string   `arg:"proxy,secret" doc:"HTTP proxy"`
	Source      string   `arg:"source" doc:"URL of a source of gems to use"`
}

func install(ctx context.Context, c *fun.Call, a *installArgs) (fun.Result, error) {
	g := &Client{Env: c.Env, Ruby: a.Ruby, Bin: a.GemBin, User: a.Runas}
	return machine.Text(g.Install(ctx, Install{
		Gems: gems(a.Gems), Version: a.Version, RDoc: a.Rdoc, RI: a.Ri, PreReleases: a.PreReleases,
		Proxy: a.Proxy, Source: a.Source,
	}))
}

// uninstallArgs are the arguments of uninstall and update.
type uninstallArgs struct {
	Gems []string `arg:"gems,required" doc:"names of gems, separated by blanks, or a list"`
	clientArgs
}

func uninstall(ctx context.Context, c *fun.Call, a *uninstallArgs) (fun.Result, error) {
	return machine.Text(a.client(c.Env).Uninstall(ctx, gems(a.Gems)...))
}

func update(ctx context.Context, c *fun.Call, a *uninstallArgs) (fun.Result, error) {
	names := gems(a.Gems)
	if err := checkWord("gem", names...); err != nil {
		return fun.Result{}, err
	}
	return machine.Text(a.client(c.Env).run(ctx, false, nil, append([]string{"update"}, names...)...))
}

type updateSystemArgs struct {
	Version string `arg:"version" default:"" doc:"version of RubyGems; default: the newest"`
	clientArgs
}

func updateSystem(ctx context.Context, c *fun.Call, a *updateSystemArgs) (fun.Result, error) {
	args := []string{"update", "--system"}
	if v := a.Version; v != "" {
		if err := checkWord("version", v); err != nil {
			return fun.Result{}, err
		}
		args = append(args, v)
	}
	return machine.Text(a.client(c.Env).run(ctx, false, nil, args...))
}

func version(ctx context.Context, c *fun.Call, a *clientArgs) (fun.Result, error) {
	v, err := a.client(c.Env).Version(ctx)
	if err == nil && v == "" {
		return fun.Value(value.NewMap(0))
	}
	return machine.Text(v, err)
}

type listArgs struct {
	Prefix string `arg:"prefix" default:"" doc:"only gems whose names match this"`
	clientArgs
}

func list(ctx context.Context, c *fun.Call, a *listArgs) (fun.Result, error) {
	m, err := a.client(c.Env).List(ctx, a.Prefix)
	return fun.Result{Value: m}, err
}

var outdatedRE = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)(\S+) \(\S+ < (\S+)\)`) })

func listUpgrades(ctx context.Context, c *fun.Call, a *clientArgs) (fun.Result, error) {
	out, err := a.client(c.Env).run(ctx, true, nil, "outdated")
	m := value.NewMap(4)
	for _, x := range outdatedRE().FindAllStringSubmatch(out, -1) {
		m.Set(x[1], x[2])
	}
	return fun.Result{Value: m}, err
}

// sourcesAddArgs are the arguments of sourcesAdd and sourcesRemove.
type sourcesAddArgs struct {
	SourceURI string `arg:"source_uri,required" doc:"URL of the source"`
	clientArgs
}

func sourcesAdd(ctx context.Context, c *fun.Call, a *sourcesAddArgs) (fun.Result, error) {
	return machine.Text(a.client(c.Env).AddSource(ctx, a.SourceURI))
}

func sourcesRemove(ctx context.Context, c *fun.Call, a *sourcesAddArgs) (fun.Result, error) {
	return machine.Text(a.client(c.Env).RemoveSource(ctx, a.SourceURI))
}

func sourcesList(ctx context.Context, c *fun.Call, a *clientArgs) (fun.Result, error) {
	uris, err := a.client(c.Env).Sources(ctx)
	return fun.Result{Value: value.Strings(uris...)}, err
}
