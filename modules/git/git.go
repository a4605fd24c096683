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
