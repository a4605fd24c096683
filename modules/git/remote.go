package git

import (
	"context"
	"path/filepath"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
)

// auth gives the client of l the credentials of a URL and returns it without them.
func (l *line) auth(source string, user, pass value.Value) string {
	g, at, err := l.g.WithAuth(source, user, pass)
	if err == nil {
		err = plain("url", at)
	}
	if err != nil {
		if l.err == nil {
			l.err = err
		}
		return ""
	}
	l.g = g
	return at
}

type cloneArgs struct {
	_         fun.Arguments
	Cwd       string          `arg:"cwd,required,path" doc:"directory of the clone, or with name its parent"`
	URL       string          `arg:"url" doc:"URL of the repository"`
	Name      fun.Opt[string] `arg:"name" doc:"name of the clone's directory"`
	Opts      value.Value     `arg:"opts,str|list" default:"''" doc:"further options of the git command"`
	GitOpts   value.Value     `arg:"git_opts,str|list" default:"''" doc:"options of git itself, before the command"`
	User      string          `arg:"user" doc:"account that runs git"`
	_         string          `arg:"password,secret" doc:"accepted for compatibility; it is used on Windows only"`
	Identity  []string        `arg:"identity" doc:"SSH private keys to try: paths or salt:// URLs"`
	HTTPSUser value.Value     `arg:"https_user,str" doc:"user for HTTPS"`
	HTTPSPass value.Value     `arg:"https_pass,secret,str" doc:"password for HTTPS"`
	_         bool            `arg:"ignore_retcode" default:"False" doc:"a failing git does not change the exit status"`
	SaltEnv   string          `arg:"saltenv" default:"base" doc:"saltenv of salt:// identity files"`
	_         string          `arg:"output_encoding" doc:"accepted; output is UTF-8"`
}

func clone(ctx context.Context, c *fun.Call, a *cloneArgs) (fun.Result, error) {
	if a.URL == "" {
		return fun.Result{}, fun.Errorf("Missing 'url' argument")
	}
	l := command(c, in{user: a.User, cwd: a.Cwd, identity: a.Identity, saltenv: a.SaltEnv, opts: a.GitOpts}, "clone").words(a.Opts)
	at := l.auth(a.URL, a.HTTPSUser, a.HTTPSPass)
	if l.err != nil {
		return fun.Result{}, l.err
	}
	dir := l.g.Path(a.Cwd)
	from, target := "/tmp", dir
	l.add("--", at)
	if !a.Name.Given {
		l.add(dir)
	} else {
		l.add(a.Name.V)
		from, target = dir, filepath.Join(dir, a.Name.V)
		if err := c.Env.Host.MkdirAll(dir, 0o777); err != nil {
			return fun.Result{}, fun.Errorf("Unable to create %s: %s", dir, host.OSError(err))
		}
	}
	if _, err := l.g.Run(ctx, from, l.args...); err != nil {
		return fun.Result{}, err
	}
	return fun.Result{Value: true}, l.g.keep(ctx, target)
}

type fetchArgs struct {
	Cwd      string      `arg:"cwd,required,path" doc:"path of the repository"`
	Remote   string      `arg:"remote" doc:"name of the remote"`
	Force    bool        `arg:"force" default:"False" doc:"force the command"`
	Refspecs []string    `arg:"refspecs,comma[str]" doc:"what to fetch"`
	Opts     value.Value `arg:"opts,str|list" default:"''" doc:"further options of the git command"`
	GitOpts  value.Value `arg:"git_opts,str|list" default:"''" doc:"options of git itself, before the command"`
	remoteRunArgs
}

func fetch(ctx context.Context, c *fun.Call, a *fetchArgs) (fun.Result, error) {
	l := command(c, in{user: a.User, cwd: a.Cwd, identity: a.Identity, saltenv: a.SaltEnv, opts: a.GitOpts}, "fetch").flag(a.Force, "--force").words(a.Opts, "-f", "--force")
	if a.Remote != "" {
		l.text("remote", a.Remote)
	}
	for _, r := range a.Refspecs {
		l.text("refspec", r)
	}
	out, err := l.run(ctx, mode{merge: true})
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(fetched(out.Stdout))
}

type lsRemoteArgs struct {
	_         fun.Arguments
	Cwd       fun.Opt[string] `arg:"cwd,path" doc:"path of the repository"`
	Remote    string          `arg:"remote" default:"origin" doc:"name of a remote, or a URL"`
	Ref       string          `arg:"ref" doc:"only refs that match"`
	Opts      value.Value     `arg:"opts,str|list" default:"''" doc:"further options of the git command"`
	GitOpts   value.Value     `arg:"git_opts,str|list" default:"''" doc:"options of git itself, before the command"`
	User      string          `arg:"user" doc:"account that runs git"`
	_         string          `arg:"password,secret" doc:"accepted for compatibility; it is used on Windows only"`
	Identity  []string        `arg:"identity" doc:"SSH private keys to try: paths or salt:// URLs"`
	HTTPSUser value.Value     `arg:"https_user,str" doc:"user for HTTPS"`
	HTTPSPass value.Value     `arg:"https_pass,secret,str" doc:"password for HTTPS"`
	_         bool            `arg:"ignore_retcode" default:"False" doc:"a failing git does not change the exit status"`
	_         string          `arg:"output_encoding" doc:"accepted; output is UTF-8"`
	SaltEnv   string          `arg:"saltenv" default:"base" doc:"saltenv of salt:// identity files"`
}

func lsRemote(ctx context.Context, c *fun.Call, a *lsRemoteArgs) (fun.Result, error) {
	l := command(c, in{user: a.User, cwd: a.Cwd.V, identity: a.Identity, saltenv: a.SaltEnv, opts: a.GitOpts}, "ls-remote").words(a.Opts)
	if !a.Cwd.Given {
		l.dir = ""
	}
	l.add(l.auth(a.Remote, a.HTTPSUser, a.HTTPSPass))
	if a.Ref != "" {
		l.text("ref", a.Ref)
	}
	return l.refs(ctx)
}

// refs runs git ls-remote and returns the refs as a mapping.
func (l *line) refs(ctx context.Context) (fun.Result, error) {
	out, err := l.run(ctx, mode{})
	if err != nil {
		return fun.Result{}, err
	}
	m := value.NewMap(4)
	for _, s := range lines(out.Stdout) {
		if sha, name, ok := split2(s); ok {
			m.Set(name, sha)
		}
	}
	return fun.Value(m)
}

type pullArgs struct {
	Cwd     string      `arg:"cwd,required,path" doc:"path of the repository"`
	Opts    value.Value `arg:"opts,str|list" default:"''" doc:"further options of the git command"`
	GitOpts value.Value `arg:"git_opts,str|list" default:"''" doc:"options of git itself, before the command"`
	remoteRunArgs
}

func pull(ctx context.Context, c *fun.Call, a *pullArgs) (fun.Result, error) {
	return command(c, in{user: a.User, cwd: a.Cwd, identity: a.Identity, saltenv: a.SaltEnv, opts: a.GitOpts}, "pull").words(a.Opts).stdout(ctx, mode{})
}

type pushArgs struct {
	Cwd     string          `arg:"cwd,required,path" doc:"path of the repository"`
	Remote  fun.Opt[string] `arg:"remote" doc:"name of the remote"`
	Ref     fun.Opt[string] `arg:"ref" doc:"branch, tag or commit"`
	Opts    value.Value     `arg:"opts,str|list" default:"''" doc:"further options of the git command"`
	GitOpts value.Value     `arg:"git_opts,str|list" default:"''" doc:"options of git itself, before the command"`
	remoteRunArgs
}

func push(ctx context.Context, c *fun.Call, a *pushArgs) (fun.Result, error) {
	return command(c, in{user: a.User, cwd: a.Cwd, identity: a.Identity, saltenv: a.SaltEnv, opts: a.GitOpts}, "push").words(a.Opts).plain("remote", a.Remote).plain("ref", a.Ref).stdout(ctx, mode{})
}

type remoteGetArgs struct {
	_          fun.Arguments
	Cwd        string `arg:"cwd,required,path" doc:"path of the repository"`
	Remote     string `arg:"remote" default:"origin" doc:"name of the remote"`
	User       string `arg:"user" doc:"account that runs git"`
	_          string `arg:"password,secret" doc:"accepted for compatibility; it is used on Windows only"`
	RedactAuth bool   `arg:"redact_auth" default:"True" doc:"hide the credentials of URLs"`
	_          bool   `arg:"ignore_retcode" default:"False" doc:"a failing git does not change the exit status"`
	_          string `arg:"output_encoding" doc:"accepted; output is UTF-8"`
}

func remoteGet(ctx context.Context, c *fun.Call, a *remoteGetArgs) (fun.Result, error) {
	g, dir := cwd(c, in{user: a.User, cwd: a.Cwd})
	return getRemote(ctx, g, dir, a.Remote, a.RedactAuth)
}

func getRemote(ctx context.Context, g *Client, dir, remote string, redact bool) (fun.Result, error) {
	all, err := g.Remotes(ctx, dir, redact)
	if err != nil {
		return fun.Result{}, err
	}
	urls := all.Map(remote)
	if urls == nil {
		return fun.Result{}, fun.Errorf("Remote '%s' not present in git checkout located at %s", remote, dir)
	}
	return fun.Value(urls)
}

type remoteRefsArgs struct {
	_         fun.Arguments
	URL       string      `arg:"url,required" doc:"URL of the repository"`
	Heads     bool        `arg:"heads" default:"False" doc:"only branches"`
	Tags      bool        `arg:"tags" default:"False" doc:"only tags"`
	User      string      `arg:"user" doc:"account that runs git"`
	_         string      `arg:"password,secret" doc:"accepted for compatibility; it is used on Windows only"`
	Identity  []string    `arg:"identity" doc:"SSH private keys to try: paths or salt:// URLs"`
	HTTPSUser value.Value `arg:"https_user,str" doc:"user for HTTPS"`
	HTTPSPass value.Value `arg:"https_pass,secret,str" doc:"password for HTTPS"`
	_         bool        `arg:"ignore_retcode" default:"False" doc:"a failing git does not change the exit status"`
	_         string      `arg:"output_encoding" doc:"accepted; output is UTF-8"`
	SaltEnv   string      `arg:"saltenv" default:"base" doc:"saltenv of salt:// identity files"`
	Filter    string      `arg:"filter,kw" doc:"only refs that match this pattern"`
}

func remoteRefs(ctx context.Context, c *fun.Call, a *remoteRefsArgs) (fun.Result, error) {
	l := command(c, in{user: a.User, identity: a.Identity, saltenv: a.SaltEnv}, "ls-remote").flag(a.Heads, "--heads").flag(a.Tags, "--tags")
	l.dir = ""
	l.add(l.auth(a.URL, a.HTTPSUser, a.HTTPSPass))
	if a.Filter != "" {
		l.text("filter", a.Filter)
	}
	return l.refs(ctx)
}

type remoteSetArgs struct {
	_             fun.Arguments
	Cwd           string      `arg:"cwd,required,path" doc:"path of the repository"`
	URL           string      `arg:"url,required" doc:"URL of the repository"`
	Remote        string      `arg:"remote" default:"origin" doc:"name of the remote"`
	User          string      `arg:"user" doc:"account that runs git"`
	_             string      `arg:"password,secret" doc:"accepted for compatibility; it is used on Windows only"`
	HTTPSUser     value.Value `arg:"https_user,str" doc:"user for HTTPS"`
	HTTPSPass     value.Value `arg:"https_pass,secret,str" doc:"password for HTTPS"`
	PushURL       string      `arg:"push_url" doc:"URL for pushing, where it is another"`
	PushHTTPSUser value.Value `arg:"push_https_user,str" doc:"user for HTTPS of push_url"`
	PushHTTPSPass value.Value `arg:"push_https_pass,secret,str" doc:"password for HTTPS of push_url"`
	_             bool        `arg:"ignore_retcode" default:"False" doc:"a failing git does not change the exit status"`
	_             string      `arg:"output_encoding" doc:"accepted; output is UTF-8"`
}

func remoteSet(ctx context.Context, c *fun.Call, a *remoteSetArgs) (fun.Result, error) {
	g, dir := cwd(c, in{user: a.User, cwd: a.Cwd})
	remote := a.Remote
	at, source, err := g.WithAuth(a.URL, a.HTTPSUser, a.HTTPSPass)
	if err != nil {
		return fun.Result{}, err
	}
	if err := at.SetRemote(ctx, dir, remote, source); err != nil {
		return fun.Result{}, err
	}
	if a.PushURL != "" {
		at, source, err := g.WithAuth(a.PushURL, a.PushHTTPSUser, a.PushHTTPSPass)
		if err == nil {
			err = plain("push_url", source)
		}
		if err != nil {
			return fun.Result{}, err
		}
		if _, err := g.Run(ctx, dir, "remote", "set-url", "--push", remote, source); err != nil {
			return fun.Result{}, err
		}
		if err := at.keep(ctx, dir); err != nil {
			return fun.Result{}, err
		}
	}
	return getRemote(ctx, g, dir, remote, true)
}

type remotesArgs struct {
	_          fun.Arguments
	Cwd        string `arg:"cwd,required,path" doc:"path of the repository"`
	User       string `arg:"user" doc:"account that runs git"`
	_          string `arg:"password,secret" doc:"accepted for compatibility; it is used on Windows only"`
	RedactAuth bool   `arg:"redact_auth" default:"True" doc:"hide the credentials of URLs"`
	_          bool   `arg:"ignore_retcode" default:"False" doc:"a failing git does not change the exit status"`
	_          string `arg:"output_encoding" doc:"accepted; output is UTF-8"`
}

func remotes(ctx context.Context, c *fun.Call, a *remotesArgs) (fun.Result, error) {
	g, dir := cwd(c, in{user: a.User, cwd: a.Cwd})
	all, err := g.Remotes(ctx, dir, a.RedactAuth)
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(all)
}

type submoduleArgs struct {
	_        fun.Arguments
	Cwd      string      `arg:"cwd,required,path" doc:"path of the repository"`
	Command  string      `arg:"command,required" doc:"add, init, update, status or another command of git submodule"`
	Opts     value.Value `arg:"opts,str|list" default:"''" doc:"further options of the git command"`
	GitOpts  value.Value `arg:"git_opts,str|list" default:"''" doc:"options of git itself, before the command"`
	User     string      `arg:"user" doc:"account that runs git"`
	_        string      `arg:"password,secret" doc:"accepted for compatibility; it is used on Windows only"`
	Identity []string    `arg:"identity" doc:"SSH private keys to try: paths or salt:// URLs"`
	_        bool        `arg:"ignore_retcode" default:"False" doc:"a failing git does not change the exit status"`
	SaltEnv  string      `arg:"saltenv" default:"base" doc:"saltenv of salt:// identity files"`
	_        string      `arg:"output_encoding" doc:"accepted; output is UTF-8"`
	Init     bool        `arg:"init,kw" default:"False" doc:"refused: use the command init"`
}

func submodule(ctx context.Context, c *fun.Call, a *submoduleArgs) (fun.Result, error) {
	if a.Init {
		return fun.Result{}, fun.Errorf("The 'init' argument is no longer supported. Either set 'command' to 'init', or include '--init' in the 'opts' argument and set 'command' to 'update'.")
	}
	return command(c, in{user: a.User, cwd: a.Cwd, identity: a.Identity, saltenv: a.SaltEnv, opts: a.GitOpts}, "submodule").text("command", a.Command).words(a.Opts).stdout(ctx, mode{})
}
