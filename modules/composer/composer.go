// Package composer is Salt's execution module "composer": the dependencies of PHP
// projects.
//
// [Client] runs composer; the state module "composer" uses it, too.
package composer

import (
	"context"
	"path/filepath"
	"strings"

	"brine/internal/fun"
	"brine/internal/redact"
	"brine/internal/value"
	"brine/modules/cmd"
	"brine/modules/machine"
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

// flags are the arguments that are options of composer.
var flags = []struct{ arg, option string }{
	{"no_dev", "--no-dev"},
	{"prefer_source", "--prefer-source"},
	{"prefer_dist", "--prefer-dist"},
	{"no_scripts", "--no-scripts"},
	{"no_plugins", "--no-plugins"},
	{"optimize", "--optimize-autoloader"},
}

// ClientOf returns the client that the arguments of a call describe; user is the
// name of the one for the account.
func ClientOf(c *fun.Call, user string) (*Client, error) {
	p := &Client{Env: c.Env, Composer: c.Str("composer"), PHP: c.Str("php"), User: c.Str(user), Quiet: c.Bool("quiet")}
	if c.Declares("composer_home") {
		p.Home = c.Str("composer_home")
	}
	for _, f := range flags {
		if c.Declares(f.arg) && c.Bool(f.arg) {
			p.Flags = append(p.Flags, f.option)
		}
	}
	if c.Declares("env") {
		vars, slip := cmd.ParseEnv(c.Value("env"))
		if slip != "" {
			return nil, fun.Errorf("%s", slip)
		}
		p.Vars = vars
	}
	return p, nil
}

// Available reports whether composer is there.
func (p *Client) Available() bool {
	switch {
	case p.Composer == "":
		return machine.Has(p.Env.Host, "composer")
	case filepath.IsAbs(p.Composer):
		return machine.Exists(p.Env.Host, p.Composer) // PHP reads it: it need not be executable
	}
	return machine.Has(p.Env.Host, p.Composer)
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

func act(ctx context.Context, c *fun.Call, action, dir string, extra ...string) (fun.Result, error) {
	p, err := ClientOf(c, "runas")
	if err != nil {
		return fun.Result{}, err
	}
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
	return act(ctx, c, "install", a.Directory)
}

type selfupdateArgs struct {
	program
	php
	runas
	quiet
	home
}

func selfupdate(ctx context.Context, c *fun.Call, _ *selfupdateArgs) (fun.Result, error) {
	return act(ctx, c, "selfupdate", "", "--no-progress")
}

func update(ctx context.Context, c *fun.Call, a *of) (fun.Result, error) {
	return act(ctx, c, "update", a.Directory, "--no-progress")
}
