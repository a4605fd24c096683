// Package git is Salt's execution module "git": Git repositories.
//
// [Client] runs git; the state module "git" uses it, too.
package git

import (
	"context"
	"path/filepath"
	"strconv"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/modules/cmd"
	"brine/modules/tool"
)

// Module returns the execution module "git".
func Module() fun.Module {
	return fun.Module{Name: "git", Kind: fun.Exec, Doc: "Manage Git repositories.", Specs: specs, Avail: tool.Needs("git", "The git execution module cannot be loaded: git unavailable.")}
}

// in says where git runs, for whom, and with which options of its own.
type in struct {
	user, cwd, saltenv string
	identity           []string
	opts               value.Value
}

func (i in) client(c *fun.Call) *Client {
	return &Client{Env: c.Env, User: i.user, Identity: i.identity, SaltEnv: i.saltenv}
}

// A line is a command line of git in the making.
type line struct {
	g    *Client
	dir  string // in which git runs
	args []string
	err  error
}

// command starts a command line: the options of git itself and the command.
func command(c *fun.Call, i in, words ...string) *line {
	g := i.client(c)
	l := &line{g: g, dir: g.Path(i.cwd)}
	return l.words(i.opts).add(words...)
}

// words adds an argument that holds options; those of not are left out.
func (l *line) words(opts value.Value, not ...string) *line {
	words, err := Words(opts)
	if err != nil {
		l.err = err
	}
words:
	for _, w := range words {
		for _, n := range not {
			if w == n {
				continue words
			}
		}
		l.args = append(l.args, w)
	}
	return l
}

// plain adds an argument other than an option, unless it is not given.
func (l *line) plain(name string, o fun.Opt[string]) *line {
	if !o.Given {
		return l
	}
	return l.text(name, o.V)
}

// text adds a value other than an option.
func (l *line) text(what, val string) *line {
	if err := plain(what, val); err != nil && l.err == nil {
		l.err = err
	}
	l.args = append(l.args, val)
	return l
}

func (l *line) add(words ...string) *line {
	l.args = append(l.args, words...)
	return l
}

// flag adds a word where a condition holds.
func (l *line) flag(on bool, word string) *line {
	if on {
		l.args = append(l.args, word)
	}
	return l
}

// run runs the command line.
func (l *line) run(ctx context.Context, m mode) (cmd.Out, error) {
	if l.err != nil {
		return cmd.Out{}, l.err
	}
	return l.g.run(ctx, l.dir, m, l.args...)
}

// stdout runs the command line and returns what it prints; merged with stderr.
func (l *line) stdout(ctx context.Context, m mode) (fun.Result, error) {
	out, err := l.run(ctx, m)
	return fun.Result{Value: out.Stdout}, err
}

// done runs the command line and returns True.
func (l *line) done(ctx context.Context) (fun.Result, error) {
	_, err := l.run(ctx, mode{})
	return fun.Result{Value: err == nil}, err
}

func cwd(c *fun.Call, i in) (*Client, string) {
	g := i.client(c)
	return g, g.Path(i.cwd)
}

func status(ignoreRetcode bool, code int) int {
	if ignoreRetcode {
		return 0
	}
	return code
}

// addArgs are the arguments of add and rm.
type addArgs struct {
	Cwd      string `arg:"cwd,required,path" doc:"path of the repository"`
	Filename string `arg:"filename,required" doc:"path in the repository"`
	optRunArgs
}

func add(ctx context.Context, c *fun.Call, a *addArgs) (fun.Result, error) {
	return command(c, in{user: a.User, cwd: a.Cwd, opts: a.GitOpts}, "add", "--verbose").words(a.Opts, "-v", "--verbose").add("--", a.Filename).stdout(ctx, mode{})
}

type archiveArgs struct {
	_       fun.Arguments
	Cwd     string          `arg:"cwd,required,path" doc:"path of the repository"`
	Output  string          `arg:"output,required,path" doc:"file to write"`
	Rev     fun.Opt[string] `arg:"rev" default:"HEAD" doc:"branch, tag or commit"`
	Prefix  fun.Opt[string] `arg:"prefix" doc:"directory in the archive; default: the name of the repository's directory"`
	GitOpts value.Value     `arg:"git_opts,str|list" default:"''" doc:"options of git itself, before the command"`
	User    string          `arg:"user" doc:"account that runs git"`
	_       string          `arg:"password,secret" doc:"accepted for compatibility; it is used on Windows only"`
	_       bool            `arg:"ignore_retcode" default:"False" doc:"a failing git does not change the exit status"`
	_       string          `arg:"output_encoding" doc:"accepted; output is UTF-8"`
	Format  string          `arg:"format,kw" doc:"tar, zip or another format that git knows; default: by the name of the file"`
}

func archive(ctx context.Context, c *fun.Call, a *archiveArgs) (fun.Result, error) {
	g, dir := cwd(c, in{user: a.User, cwd: a.Cwd})
	l := command(c, in{user: a.User, cwd: a.Cwd, opts: a.GitOpts}, "archive")
	if prefix := a.Prefix.V; prefix != "" {
		l.add("--prefix", prefix)
	} else if !a.Prefix.Given {
		l.add("--prefix", filepath.Base(dir)+"/")
	}
	if f := a.Format; f != "" {
		l.add("--format", f)
	}
	return l.add("--output", g.Path(a.Output)).plain("rev", a.Rev).done(ctx)
}

type branchArgs struct {
	Cwd  string          `arg:"cwd,required,path" doc:"path of the repository"`
	Name fun.Opt[string] `arg:"name" doc:"name of the branch"`
	optRunArgs
}

func branch(ctx context.Context, c *fun.Call, a *branchArgs) (fun.Result, error) {
	return command(c, in{user: a.User, cwd: a.Cwd, opts: a.GitOpts}, "branch").words(a.Opts).plain("name", a.Name).done(ctx)
}

type checkoutArgs struct {
	Cwd   string          `arg:"cwd,required,path" doc:"path of the repository"`
	Rev   fun.Opt[string] `arg:"rev" doc:"branch, tag or commit"`
	Force bool            `arg:"force" default:"False" doc:"discard local changes"`
	optRunArgs
}

func checkout(ctx context.Context, c *fun.Call, a *checkoutArgs) (fun.Result, error) {
	l := command(c, in{user: a.User, cwd: a.Cwd, opts: a.GitOpts}, "checkout").flag(a.Force, "--force")
	n := len(l.args)
	l.words(a.Opts)
	if !a.Rev.Given {
		makes := false
		for _, w := range l.args[n:] {
			makes = makes || w == "-b" || w == "-B"
		}
		if !makes {
			return fun.Result{}, fun.Errorf("'rev' argument is required unless -b or -B in opts")
		}
	}
	return l.plain("rev", a.Rev).stdout(ctx, mode{merge: true})
}

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

type commitArgs struct {
	_        fun.Arguments
	Cwd      string      `arg:"cwd,required,path" doc:"path of the repository"`
	Message  string      `arg:"message,required" doc:"message"`
	Opts     value.Value `arg:"opts,str|list" default:"''" doc:"further options of the git command"`
	GitOpts  value.Value `arg:"git_opts,str|list" default:"''" doc:"options of git itself, before the command"`
	User     string      `arg:"user" doc:"account that runs git"`
	_        string      `arg:"password,secret" doc:"accepted for compatibility; it is used on Windows only"`
	Filename string      `arg:"filename" doc:"commit this file only"`
	_        bool        `arg:"ignore_retcode" default:"False" doc:"a failing git does not change the exit status"`
	_        string      `arg:"output_encoding" doc:"accepted; output is UTF-8"`
}

func commit(ctx context.Context, c *fun.Call, a *commitArgs) (fun.Result, error) {
	l := command(c, in{user: a.User, cwd: a.Cwd, opts: a.GitOpts}, "commit", "-m", a.Message).words(a.Opts)
	if name := a.Filename; name != "" {
		l.add("--", name)
	}
	return l.stdout(ctx, mode{})
}

// config returns where the arguments cwd and global say that configuration is.
func config(c *fun.Call, user string, cwd fun.Opt[string], global bool) (*Client, Config, error) {
	g := in{user: user}.client(c)
	f := Config{Global: global}
	if !cwd.Given {
		if !f.Global {
			return nil, f, fun.Errorf("'cwd' argument required unless global=True")
		}
		return g, f, nil
	}
	f.Dir = g.Path(cwd.V)
	return g, f, nil
}

type configGetArgs struct {
	_             fun.Arguments
	Key           string          `arg:"key,required" doc:"name of the setting"`
	Cwd           fun.Opt[string] `arg:"cwd,path" doc:"path of the repository"`
	User          string          `arg:"user" doc:"account that runs git"`
	_             string          `arg:"password,secret" doc:"accepted for compatibility; it is used on Windows only"`
	IgnoreRetcode bool            `arg:"ignore_retcode" default:"False" doc:"a failing git does not change the exit status"`
	_             string          `arg:"output_encoding" doc:"accepted; output is UTF-8"`
	All           bool            `arg:"all,kw" default:"False" doc:"all values"`
	Global        bool            `arg:"global,kw" default:"False" doc:"the configuration of the account instead of a repository's"`
}

func configGet(ctx context.Context, c *fun.Call, a *configGetArgs) (fun.Result, error) {
	g, f, err := config(c, a.User, a.Cwd, a.Global)
	if err != nil {
		return fun.Result{}, err
	}
	vals, code, err := g.ConfigGet(ctx, f, a.Key)
	res := fun.Result{Retcode: status(a.IgnoreRetcode, code)}
	switch {
	case err != nil || code == 1:
	case a.All:
		res.Value = value.Strings(vals...)
	case len(vals) == 0:
		res.Value = ""
	default:
		res.Value = vals[len(vals)-1]
	}
	return res, err
}

type configGetRegexpArgs struct {
	_             fun.Arguments
	Key           string          `arg:"key,required" doc:"name of the setting"`
	ValueRegex    value.Value     `arg:"value_regex,str" doc:"only values that match this regular expression"`
	Cwd           fun.Opt[string] `arg:"cwd,path" doc:"path of the repository"`
	User          string          `arg:"user" doc:"account that runs git"`
	_             string          `arg:"password,secret" doc:"accepted for compatibility; it is used on Windows only"`
	IgnoreRetcode bool            `arg:"ignore_retcode" default:"False" doc:"a failing git does not change the exit status"`
	_             string          `arg:"output_encoding" doc:"accepted; output is UTF-8"`
	Global        bool            `arg:"global,kw" default:"False" doc:"the configuration of the account instead of a repository's"`
}

func configGetRegexp(ctx context.Context, c *fun.Call, a *configGetRegexpArgs) (fun.Result, error) {
	g, f, err := config(c, a.User, a.Cwd, a.Global)
	if err != nil {
		return fun.Result{}, err
	}
	m, code, err := g.ConfigMatch(ctx, f, a.Key, a.ValueRegex)
	return fun.Result{Value: m, Retcode: status(a.IgnoreRetcode, code)}, err
}

type configSetArgs struct {
	_        fun.Arguments
	Key      string            `arg:"key,required" doc:"name of the setting"`
	Value    fun.Opt[string]   `arg:"value" doc:"value"`
	Multivar fun.Opt[[]string] `arg:"multivar,comma[str]" doc:"values of a setting that has several"`
	Cwd      fun.Opt[string]   `arg:"cwd,path" doc:"path of the repository"`
	User     string            `arg:"user" doc:"account that runs git"`
	_        string            `arg:"password,secret" doc:"accepted for compatibility; it is used on Windows only"`
	_        bool              `arg:"ignore_retcode" default:"False" doc:"a failing git does not change the exit status"`
	_        string            `arg:"output_encoding" doc:"accepted; output is UTF-8"`
	Add      bool              `arg:"add,kw" default:"False" doc:"add the value to those that the setting has"`
	Global   bool              `arg:"global,kw" default:"False" doc:"the configuration of the account instead of a repository's"`
}

func configSet(ctx context.Context, c *fun.Call, a *configSetArgs) (fun.Result, error) {
	g, f, err := config(c, a.User, a.Cwd, a.Global)
	if err != nil {
		return fun.Result{}, err
	}
	var vals []string
	switch {
	case a.Value.Given && a.Multivar.Given:
		return fun.Result{}, fun.Errorf("Only one of 'value' and 'multivar' is permitted")
	case a.Value.Given:
		vals = []string{a.Value.V}
	case a.Multivar.Given:
		vals = a.Multivar.V
	default:
		return fun.Result{}, fun.Errorf("One of 'value' and 'multivar' is required")
	}
	now, err := g.ConfigSet(ctx, f, a.Key, vals, a.Add && a.Value.Given)
	return fun.Result{Value: value.Strings(now...)}, err
}

type configUnsetArgs struct {
	_          fun.Arguments
	Key        string          `arg:"key,required" doc:"name of the setting"`
	ValueRegex value.Value     `arg:"value_regex,str" doc:"only values that match this regular expression"`
	Cwd        fun.Opt[string] `arg:"cwd,path" doc:"path of the repository"`
	User       string          `arg:"user" doc:"account that runs git"`
	_          string          `arg:"password,secret" doc:"accepted for compatibility; it is used on Windows only"`
	_          bool            `arg:"ignore_retcode" default:"False" doc:"a failing git does not change the exit status"`
	_          string          `arg:"output_encoding" doc:"accepted; output is UTF-8"`
	All        bool            `arg:"all,kw" default:"False" doc:"all values"`
	Global     bool            `arg:"global,kw" default:"False" doc:"the configuration of the account instead of a repository's"`
}

func configUnset(ctx context.Context, c *fun.Call, a *configUnsetArgs) (fun.Result, error) {
	g, f, err := config(c, a.User, a.Cwd, a.Global)
	if err != nil {
		return fun.Result{}, err
	}
	err = g.ConfigUnset(ctx, f, a.Key, a.ValueRegex, a.All)
	return fun.Result{Value: err == nil}, err
}

// currentBranchArgs are the arguments of currentBranch, listTags and statusOf.
type currentBranchArgs struct {
	Cwd string `arg:"cwd,required,path" doc:"path of the repository"`
	runArgs
}

func currentBranch(ctx context.Context, c *fun.Call, a *currentBranchArgs) (fun.Result, error) {
	return command(c, in{user: a.User, cwd: a.Cwd}, "rev-parse", "--abbrev-ref", "HEAD").stdout(ctx, mode{})
}

type describeArgs struct {
	Cwd string          `arg:"cwd,required,path" doc:"path of the repository"`
	Rev fun.Opt[string] `arg:"rev" default:"HEAD" doc:"branch, tag or commit"`
	runArgs
}

func describe(ctx context.Context, c *fun.Call, a *describeArgs) (fun.Result, error) {
	return command(c, in{user: a.User, cwd: a.Cwd}, "describe", "--always").plain("rev", a.Rev).stdout(ctx, mode{})
}

type diffArgs struct {
	_       fun.Arguments
	Cwd     string      `arg:"cwd,required,path" doc:"path of the repository"`
	Item1   string      `arg:"item1" doc:"first commit or path"`
	Item2   string      `arg:"item2" doc:"second commit or path"`
	Opts    value.Value `arg:"opts,str|list" default:"''" doc:"further options of the git command"`
	GitOpts value.Value `arg:"git_opts,str|list" default:"''" doc:"options of git itself, before the command"`
	User    string      `arg:"user" doc:"account that runs git"`
	_       string      `arg:"password,secret" doc:"accepted for compatibility; it is used on Windows only"`
	NoIndex bool        `arg:"no_index" default:"False" doc:"compare two paths outside of a repository"`
	Cached  bool        `arg:"cached" default:"False" doc:"show what is staged"`
	Paths   []string    `arg:"paths,comma[str]" doc:"limit the output to these paths"`
	_       string      `arg:"output_encoding" doc:"accepted; output is UTF-8"`
}

func diff(ctx context.Context, c *fun.Call, a *diffArgs) (fun.Result, error) {
	noIndex, cached := a.NoIndex, a.Cached
	if noIndex && cached {
		return fun.Result{}, fun.Errorf("The 'no_index' and 'cached' options cannot be used together")
	}
	l := command(c, in{user: a.User, cwd: a.Cwd, opts: a.GitOpts}, "diff").words(a.Opts)
	item := func(name, val string) {
		if val != "" {
			l.text(name, val)
		}
	}
	switch {
	case noIndex:
		l.add("--no-index")
	case cached:
		l.add("--cached")
		item("item1", a.Item1)
	default:
		item("item1", a.Item1)
		item("item2", a.Item2)
	}
	if paths := a.Paths; len(paths) > 0 {
		l.add("--").add(paths...)
	}
	return l.stdout(ctx, mode{merge: true, soft: noIndex})
}

type discardLocalChangesArgs struct {
	Cwd  string `arg:"cwd,required,path" doc:"path of the repository"`
	Path string `arg:"path" default:"." doc:"path in the repository"`
	runArgs
}

func discardLocalChanges(ctx context.Context, c *fun.Call, a *discardLocalChangesArgs) (fun.Result, error) {
	return command(c, in{user: a.User, cwd: a.Cwd}, "checkout", "--", a.Path).stdout(ctx, mode{merge: true})
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

type initializeArgs struct {
	Cwd            string      `arg:"cwd,required,path" doc:"directory of the repository"`
	Bare           bool        `arg:"bare" default:"False" doc:"make a repository without working tree"`
	Template       value.Value `arg:"template,path" doc:"template directory"`
	SeparateGitDir value.Value `arg:"separate_git_dir,path" doc:"directory for the repository's data"`
	Shared         value.Value `arg:"shared,str|bool|int" doc:"who may write: group, all, or permissions in octal digits"`
	optRunArgs
}

func initialize(ctx context.Context, c *fun.Call, a *initializeArgs) (fun.Result, error) {
	g, dir := cwd(c, in{user: a.User, cwd: a.Cwd})
	gitOpts, err := Words(a.GitOpts)
	if err != nil {
		return fun.Result{}, err
	}
	opts, err := Words(a.Opts)
	if err != nil {
		return fun.Result{}, err
	}
	said, err := g.Init(ctx, dir, Init{
		Bare: a.Bare, Template: a.Template, SeparateGitDir: a.SeparateGitDir, Shared: a.Shared,
		GitOpts: gitOpts, Opts: opts,
	})
	return fun.Result{Value: said}, err
}

type isWorktreeArgs struct {
	_    fun.Arguments
	Cwd  string `arg:"cwd,required,path" doc:"directory"`
	User string `arg:"user" doc:"account that runs git"`
	_    string `arg:"password,secret" doc:"accepted for compatibility; it is used on Windows only"`
	_    string `arg:"output_encoding" doc:"accepted; output is UTF-8"`
}

func isWorktree(ctx context.Context, c *fun.Call, a *isWorktreeArgs) (fun.Result, error) {
	g, dir := cwd(c, in{user: a.User, cwd: a.Cwd})
	is, err := g.IsWorktree(ctx, dir)
	return fun.Result{Value: is}, err
}

type listBranchesArgs struct {
	Cwd    string `arg:"cwd,required,path" doc:"path of the repository"`
	Remote bool   `arg:"remote" default:"False" doc:"the branches of the remotes"`
	runArgs
}

func listBranches(ctx context.Context, c *fun.Call, a *listBranchesArgs) (fun.Result, error) {
	g, dir := cwd(c, in{user: a.User, cwd: a.Cwd})
	below := "refs/heads/"
	if a.Remote {
		below = "refs/remotes/"
	}
	names, err := g.refs(ctx, dir, below)
	return fun.Result{Value: value.Strings(names...)}, err
}

func listTags(ctx context.Context, c *fun.Call, a *currentBranchArgs) (fun.Result, error) {
	g, dir := cwd(c, in{user: a.User, cwd: a.Cwd})
	names, err := g.Tags(ctx, dir)
	return fun.Result{Value: value.Strings(names...)}, err
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

type mergeArgs struct {
	_        fun.Arguments
	Cwd      string      `arg:"cwd,required,path" doc:"path of the repository"`
	Rev      string      `arg:"rev" doc:"branch, tag or commit"`
	Opts     value.Value `arg:"opts,str|list" default:"''" doc:"further options of the git command"`
	GitOpts  value.Value `arg:"git_opts,str|list" default:"''" doc:"options of git itself, before the command"`
	User     string      `arg:"user" doc:"account that runs git"`
	_        string      `arg:"password,secret" doc:"accepted for compatibility; it is used on Windows only"`
	Identity []string    `arg:"identity" doc:"SSH private keys to try: paths or salt:// URLs"`
	_        bool        `arg:"ignore_retcode" default:"False" doc:"a failing git does not change the exit status"`
	_        string      `arg:"output_encoding" doc:"accepted; output is UTF-8"`
}

func merge(ctx context.Context, c *fun.Call, a *mergeArgs) (fun.Result, error) {
	l := command(c, in{user: a.User, cwd: a.Cwd, identity: a.Identity, opts: a.GitOpts}, "merge").words(a.Opts)
	if a.Rev != "" {
		l.text("rev", a.Rev)
	}
	return l.stdout(ctx, mode{})
}

// mergeBaseRefs returns the refs of git.merge_base, checked against its options.
func mergeBaseRefs(a *mergeBaseArgs) ([]string, error) {
	octopus, ancestor, independent, fork := a.Octopus, a.IsAncestor, a.Independent, a.ForkPoint != ""
	if a.All && (independent || ancestor || fork) {
		return nil, fun.Errorf("The 'all' argument is not compatible with 'independent', 'is_ancestor', or 'fork_point'")
	}
	var refs []string
	for _, r := range a.Refs {
		refs = append(refs, strings.TrimSpace(r))
	}
	n := 0
	for _, on := range [...]bool{octopus, ancestor, independent, fork} {
		if on {
			n++
		}
	}
	switch {
	case n > 1:
		return nil, fun.Errorf("Only one of 'octopus', 'independent', 'is_ancestor', and 'fork_point' is permitted")
	case ancestor && len(refs) != 2:
		return nil, fun.Errorf("Two refs/commits are required if 'is_ancestor' is True")
	case fork && len(refs) > 1:
		return nil, fun.Errorf("At most one ref/commit can be passed if 'fork_point' is specified")
	case fork && len(refs) == 0:
		refs = []string{"HEAD"}
	}
	return refs, nil
}

type mergeBaseArgs struct {
	_             fun.Arguments
	Cwd           string      `arg:"cwd,required,path" doc:"path of the repository"`
	Refs          []string    `arg:"refs,comma[str]" doc:"branches, tags or commits"`
	Octopus       bool        `arg:"octopus" default:"False" doc:"common ancestor of all refs, as for an octopus merge"`
	IsAncestor    bool        `arg:"is_ancestor" default:"False" doc:"return whether the first of two refs is an ancestor of the second"`
	Independent   bool        `arg:"independent" default:"False" doc:"refs that cannot be reached from any other"`
	ForkPoint     string      `arg:"fork_point" doc:"ref whose reflog is looked at for the point where a branch forked"`
	Opts          value.Value `arg:"opts,str|list" default:"''" doc:"further options of the git command"`
	GitOpts       value.Value `arg:"git_opts,str|list" default:"''" doc:"options of git itself, before the command"`
	User          string      `arg:"user" doc:"account that runs git"`
	_             string      `arg:"password,secret" doc:"accepted for compatibility; it is used on Windows only"`
	IgnoreRetcode bool        `arg:"ignore_retcode" default:"False" doc:"a failing git does not change the exit status"`
	_             string      `arg:"output_encoding" doc:"accepted; output is UTF-8"`
	All           bool        `arg:"all,kw" default:"False" doc:"all common ancestors, as a list"`
}

func mergeBase(ctx context.Context, c *fun.Call, a *mergeBaseArgs) (fun.Result, error) {
	refs, err := mergeBaseRefs(a)
	if err != nil {
		return fun.Result{}, err
	}
	ancestor := a.IsAncestor
	l := command(c, in{user: a.User, cwd: a.Cwd, opts: a.GitOpts}, "merge-base").words(a.Opts).flag(a.All, "--all").flag(a.Octopus, "--octopus").
		flag(ancestor, "--is-ancestor").flag(a.Independent, "--independent")
	if a.ForkPoint != "" {
		l.add("--fork-point").text("fork_point", a.ForkPoint)
	}
	for _, r := range refs {
		l.text("ref", r)
	}
	out, err := l.run(ctx, mode{soft: ancestor})
	if err != nil {
		return fun.Result{}, err
	}
	if ancestor {
		return fun.Result{Value: out.Retcode == 0, Retcode: status(a.IgnoreRetcode, out.Retcode)}, nil
	}
	bases := lines(out.Stdout)
	if a.All {
		return fun.Value(value.Strings(bases...))
	}
	if len(bases) == 0 {
		return fun.Result{}, fun.Errorf("%s have no common commit", strings.Join(refs, " and "))
	}
	return fun.Value(bases[0])
}

type mergeTreeArgs struct {
	Cwd  string          `arg:"cwd,required,path" doc:"path of the repository"`
	Ref1 string          `arg:"ref1,required" doc:"first branch or commit"`
	Ref2 string          `arg:"ref2,required" doc:"second branch or commit"`
	Base fun.Opt[string] `arg:"base" doc:"common ancestor; default: git finds it"`
	runArgs
}

func mergeTree(ctx context.Context, c *fun.Call, a *mergeTreeArgs) (fun.Result, error) {
	l := command(c, in{user: a.User, cwd: a.Cwd}, "merge-tree")
	if !a.Base.Given {
		g, dir := cwd(c, in{user: a.User, cwd: a.Cwd})
		if err := plain("ref", a.Ref1, "ref", a.Ref2); err != nil {
			return fun.Result{}, err
		}
		out, err := g.run(ctx, dir, mode{soft: true}, "merge-base", a.Ref1, a.Ref2)
		if err != nil {
			return fun.Result{}, err
		}
		bases := lines(out.Stdout)
		if out.Retcode != 0 || len(bases) == 0 {
			return fun.Result{}, fun.Errorf("Unable to determine merge base for %s and %s", a.Ref1, a.Ref2)
		}
		l.add(bases[0])
	} else {
		l.plain("base", a.Base)
	}
	return l.text("ref1", a.Ref1).text("ref2", a.Ref2).stdout(ctx, mode{})
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

type rebaseArgs struct {
	Cwd string `arg:"cwd,required,path" doc:"path of the repository"`
	Rev string `arg:"rev" default:"master" doc:"branch, tag or commit"`
	optRunArgs
}

func rebase(ctx context.Context, c *fun.Call, a *rebaseArgs) (fun.Result, error) {
	opts, err := Words(a.Opts)
	if err != nil {
		return fun.Result{}, err
	}
	for _, o := range opts {
		if o == "-i" || o == "--interactive" {
			return fun.Result{}, fun.Errorf("Interactive rebases are not supported")
		}
	}
	revs, err := Words(a.Rev)
	if err != nil {
		return fun.Result{}, err
	}
	l := command(c, in{user: a.User, cwd: a.Cwd, opts: a.GitOpts}, "rebase").add(opts...)
	for _, r := range revs {
		l.text("rev", r)
	}
	return l.stdout(ctx, mode{})
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

type resetArgs struct {
	_        fun.Arguments
	Cwd      string      `arg:"cwd,required,path" doc:"path of the repository"`
	Opts     value.Value `arg:"opts,str|list" default:"''" doc:"further options of the git command"`
	GitOpts  value.Value `arg:"git_opts,str|list" default:"''" doc:"options of git itself, before the command"`
	User     string      `arg:"user" doc:"account that runs git"`
	_        string      `arg:"password,secret" doc:"accepted for compatibility; it is used on Windows only"`
	Identity []string    `arg:"identity" doc:"SSH private keys to try: paths or salt:// URLs"`
	_        bool        `arg:"ignore_retcode" default:"False" doc:"a failing git does not change the exit status"`
	_        string      `arg:"output_encoding" doc:"accepted; output is UTF-8"`
}

func reset(ctx context.Context, c *fun.Call, a *resetArgs) (fun.Result, error) {
	return command(c, in{user: a.User, cwd: a.Cwd, identity: a.Identity, opts: a.GitOpts}, "reset").words(a.Opts).stdout(ctx, mode{})
}

type revParseArgs struct {
	Cwd string          `arg:"cwd,required,path" doc:"path of the repository"`
	Rev fun.Opt[string] `arg:"rev" doc:"branch, tag or commit"`
	optRunArgs
}

func revParse(ctx context.Context, c *fun.Call, a *revParseArgs) (fun.Result, error) {
	return command(c, in{user: a.User, cwd: a.Cwd, opts: a.GitOpts}, "rev-parse").words(a.Opts).plain("rev", a.Rev).stdout(ctx, mode{})
}

type revisionArgs struct {
	Cwd   string          `arg:"cwd,required,path" doc:"path of the repository"`
	Rev   fun.Opt[string] `arg:"rev" default:"HEAD" doc:"branch, tag or commit"`
	Short bool            `arg:"short" default:"False" doc:"abbreviate the SHA"`
	runArgs
}

func revision(ctx context.Context, c *fun.Call, a *revisionArgs) (fun.Result, error) {
	return command(c, in{user: a.User, cwd: a.Cwd}, "rev-parse").flag(a.Short, "--short").plain("rev", a.Rev).stdout(ctx, mode{})
}

func rm(ctx context.Context, c *fun.Call, a *addArgs) (fun.Result, error) {
	return command(c, in{user: a.User, cwd: a.Cwd, opts: a.GitOpts}, "rm").words(a.Opts).add("--", a.Filename).stdout(ctx, mode{})
}

type stashArgs struct {
	Cwd    string          `arg:"cwd,required,path" doc:"path of the repository"`
	Action fun.Opt[string] `arg:"action" default:"save" doc:"save, pop, list or another action of git stash"`
	optRunArgs
}

func stash(ctx context.Context, c *fun.Call, a *stashArgs) (fun.Result, error) {
	return command(c, in{user: a.User, cwd: a.Cwd, opts: a.GitOpts}, "stash").plain("action", a.Action).words(a.Opts).stdout(ctx, mode{})
}

var statusNames = map[string]string{"M": "modified", "A": "new", "D": "deleted", "??": "untracked"}

func statusOf(ctx context.Context, c *fun.Call, a *currentBranchArgs) (fun.Result, error) {
	out, err := command(c, in{user: a.User, cwd: a.Cwd}, "status", "-z", "--porcelain").run(ctx, mode{})
	if err != nil {
		return fun.Result{}, err
	}
	m := value.NewMap(4)
	for entry := range strings.SplitSeq(out.Stdout, "\x00") {
		state, name, ok := split2(entry)
		if !ok {
			continue
		}
		if n, is := statusNames[state]; is {
			state = n
		}
		if l, have := m.At(state).(*value.List); have {
			l.Items = append(l.Items, name)
			continue
		}
		m.Set(state, value.Strings(name))
	}
	return fun.Value(m)
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

type symbolicRefArgs struct {
	Cwd   string          `arg:"cwd,required,path" doc:"path of the repository"`
	Ref   string          `arg:"ref,required" doc:"name of the symbolic ref"`
	Value fun.Opt[string] `arg:"value" doc:"branch that it is to point to"`
	optRunArgs
}

func symbolicRef(ctx context.Context, c *fun.Call, a *symbolicRefArgs) (fun.Result, error) {
	opts, err := Words(a.Opts)
	if err != nil {
		return fun.Result{}, err
	}
	for _, o := range opts {
		if a.Value.Given && (o == "-d" || o == "--delete") {
			return fun.Result{}, fun.Errorf("Value cannot be set for symbolic ref if -d/--delete is included in opts")
		}
	}
	return command(c, in{user: a.User, cwd: a.Cwd, opts: a.GitOpts}, "symbolic-ref").add(opts...).text("ref", a.Ref).plain("value", a.Value).stdout(ctx, mode{})
}

type tagArgs struct {
	Cwd     string          `arg:"cwd,required,path" doc:"path of the repository"`
	Name    string          `arg:"name,required" doc:"name of the tag"`
	Ref     fun.Opt[string] `arg:"ref" default:"HEAD" doc:"branch, tag or commit"`
	Message fun.Opt[string] `arg:"message" doc:"message, which makes the tag an annotated one"`
	optRunArgs
}

func tag(ctx context.Context, c *fun.Call, a *tagArgs) (fun.Result, error) {
	l := command(c, in{user: a.User, cwd: a.Cwd, opts: a.GitOpts}, "tag")
	n := len(l.args)
	l.words(a.Opts, "-a", "--annotate")
	removes := false
	for _, o := range l.args[n:] {
		if o == "-m" || strings.Contains(o, "--message") {
			return fun.Result{}, fun.Errorf(`Tag messages must be passed in the "message" argument`)
		}
		removes = removes || o == "-d" || o == "--delete"
	}
	if a.Message.Given && !removes {
		l.add("-a", "-m", a.Message.V)
	}
	l.text("name", a.Name)
	if !removes {
		l.plain("ref", a.Ref)
	}
	return l.stdout(ctx, mode{merge: true})
}

type versionArgs struct {
	_           fun.Arguments
	Versioninfo bool `arg:"versioninfo" default:"False" doc:"return the parts of the version as a list"`
}

// version returns the version of git: text, or its parts as a list.
func version(ctx context.Context, c *fun.Call, a *versionArgs) (fun.Result, error) {
	g := &Client{Env: c.Env}
	text := "unknown"
	out, err := g.Run(ctx, "", "--version")
	if err != nil && !IsFailure(err) {
		return fun.Result{}, err
	}
	said, _, _ := strings.Cut(out.Stdout, "(")
	if words := strings.Fields(said); err == nil && len(words) > 0 {
		text = words[len(words)-1]
	}
	if !a.Versioninfo {
		return fun.Value(text)
	}
	parts := &value.List{}
	for p := range strings.SplitSeq(text, ".") {
		if n, err := strconv.ParseInt(p, 10, 64); err == nil {
			parts.Items = append(parts.Items, n)
			continue
		}
		parts.Items = append(parts.Items, p)
	}
	return fun.Value(parts)
}
