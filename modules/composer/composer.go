// Package composer is Salt's execution module "composer": the dependencies of PHP
// projects.
//
// [Client] runs composer; the state module "composer" uses it, too.
package composer

import (
	"context"
	"path/filepath"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/redact"
	"brine/internal/py/value"
	"brine/modules/cmd"
	"brine/modules/machine"
	"brine/modules/tool"
)

// Module returns the execution module "composer".
func Module() fun.Module {
	return fun.Module{Name: "composer", Kind: fun.Exec, Doc: "Manage the dependencies of PHP projects with Composer.", Specs: specs}
}

// A Client runs composer as one account.
type Client struct {
	Env      *fun.Env
	Composer string // path of composer.phar; "" is the program composer
	PHP      string // program that runs it; "" is php for a Composer, else none
	User     string // "" is one's own
	Home     string // COMPOSER_HOME
	Vars     *value.Map
	Flags    []string // options that arguments ask for
	Quiet    bool
}

// Program are the arguments that say how composer is run.
type Program struct {
	_        fun.Arguments
	Composer string `arg:"composer,path" doc:"path of composer.phar; default: the program composer"`
	PHP      string `arg:"php,path" doc:"PHP that runs composer.phar"`
}

// Flags are the arguments that are options of composer.
type Flags struct {
	_            fun.Arguments
	PreferSource bool `arg:"prefer_source" doc:"get packages from their repositories"`
	PreferDist   bool `arg:"prefer_dist" doc:"get packages as archives"`
	NoScripts    bool `arg:"no_scripts" doc:"do not run the scripts of composer.json"`
	NoPlugins    bool `arg:"no_plugins" doc:"do not use plugins"`
	Optimize     bool `arg:"optimize" doc:"make a fast autoloader"`
	NoDev        bool `arg:"no_dev" doc:"leave out what only development needs"`
}

// Home is the argument for the directory of composer's own files.
type Home struct {
	_            fun.Arguments
	ComposerHome string `arg:"composer_home,path" default:"/root" doc:"directory of composer's own files"`
}

// options returns the options of composer.
func (f *Flags) options() (ss []string) {
	for _, o := range []struct {
		is     bool
		option string
	}{
		{f.NoDev, "--no-dev"},
		{f.PreferSource, "--prefer-source"},
		{f.PreferDist, "--prefer-dist"},
		{f.NoScripts, "--no-scripts"},
		{f.NoPlugins, "--no-plugins"},
		{f.Optimize, "--optimize-autoloader"},
	} {
		if o.is {
			ss = append(ss, o.option)
		}
	}
	return ss
}

// NewClient returns the client that arguments describe. env are environment variables
// as [cmd.ParseEnv] reads them.
func NewClient(e *fun.Env, p *Program, f *Flags, h *Home, user string, env value.Value, quiet bool) (*Client, error) {
	vars, slip := cmd.ParseEnv(env)
	if slip != "" {
		return nil, fun.Errorf("%s", slip)
	}
	return &Client{
		Env: e, Composer: p.Composer, PHP: p.PHP, User: user, Home: h.ComposerHome, Vars: vars, Flags: f.options(), Quiet: quiet,
	}, nil
}

// Available reports whether composer is there.
func (p *Client) Available() bool {
	switch {
	case p.Composer == "":
		return tool.Has(p.Env.Host, "composer")
	case filepath.IsAbs(p.Composer):
		return machine.Exists(p.Env.Host, p.Composer) // PHP reads it: it need not be executable
	}
	return tool.Has(p.Env.Host, p.Composer)
}

// Run runs an action of composer with extra options in a directory, "" for an
// action that has none. One that fails is an error with what composer said.
func (p *Client) Run(ctx context.Context, action, dir string, looks bool, extra ...string) (cmd.Out, error) {
	program := p.Composer
	if program == "" {
		program = "composer"
	}
	if !p.Available() {
		return cmd.Out{}, fun.Errorf("'composer.%s' is not available. Couldn't find '%s'.", action, program)
	}
	words := []string{program, action, "--no-interaction", "--no-ansi"}
	switch {
	case p.PHP != "":
		words = append([]string{p.PHP}, words...)
	case p.Composer != "":
		words = append([]string{"php"}, words...)
	}
	words = append(words, extra...)
	if dir != "" {
		words = append(words, "--working-dir", dir)
	}
	if p.Quiet && !looks {
		words = append(words, "--quiet")
	}
	words = append(words, p.Flags...)
	env := value.NewMap(2)
	if p.Vars != nil {
		env.Update(p.Vars)
	}
	if p.Home != "" {
		env.Set("COMPOSER_HOME", p.Home)
	}
	o := cmd.Options{RunAs: p.User, Env: env, ReadOnly: looks, AloneArg: "runas (in states, user)"}
	if dir != "" {
		o.Alone = []string{dir}
	}
	out, err := cmd.RunWords(ctx, p.Env, words, o)
	out.Stdout, out.Stderr = redact.URLs(out.Stdout), redact.URLs(out.Stderr)
	if err == nil && out.Retcode != 0 {
		said := out.Stderr
		if said == "" {
			said = out.Stdout
		}
		err = fun.Errorf("%s", said)
	}
	return out, err
}

// Idle reports whether composer said that it had nothing to do.
func Idle(out cmd.Out) bool {
	said := out.Stdout + out.Stderr
	return strings.Contains(said, "Nothing to install, update or remove") || strings.Contains(said, "Nothing to install or update")
}

// Installed reports whether the dependencies of a directory were installed once.
func Installed(env *fun.Env, dir string) bool {
	return machine.Exists(env.Host, filepath.Join(dir, "vendor"))
}

// act runs an action on the directory of a project.
func (a *of) act(ctx context.Context, c *fun.Call, action string, extra ...string) (fun.Result, error) {
	p, err := NewClient(c.Env, &a.Program, &a.Flags, &a.Home, a.Runas, a.Env, a.Quiet)
	if err != nil {
		return fun.Result{}, err
	}
	return act(ctx, p, action, a.Directory, extra...)
}

func act(ctx context.Context, p *Client, action, dir string, extra ...string) (fun.Result, error) {
	out, err := p.Run(ctx, action, dir, false, extra...)
	if err != nil {
		return fun.Result{}, err
	}
	if p.Quiet {
		return fun.Result{Value: true}, nil
	}
	return fun.Result{Value: out.Value()}, nil
}

type didComposerInstallArgs struct {
	_   fun.Arguments
	Dir string `arg:"dir,required,path" doc:"directory of composer.json"`
}

func didComposerInstall(_ context.Context, c *fun.Call, a *didComposerInstallArgs) (fun.Result, error) {
	return machine.Bool(Installed(c.Env, a.Dir), nil)
}

func install(ctx context.Context, c *fun.Call, a *of) (fun.Result, error) {
	return a.act(ctx, c, "install")
}

type selfupdateArgs struct {
	Program
	runas
	quiet
	Home
}

func selfupdate(ctx context.Context, c *fun.Call, a *selfupdateArgs) (fun.Result, error) {
	p := &Client{Env: c.Env, Composer: a.Composer, PHP: a.PHP, User: a.Runas, Home: a.ComposerHome, Quiet: a.Quiet}
	return act(ctx, p, "selfupdate", "", "--no-progress")
}

func update(ctx context.Context, c *fun.Call, a *of) (fun.Result, error) {
	return a.act(ctx, c, "update", "--no-progress")
}
