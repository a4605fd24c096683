// Package git is Salt's execution module "git": Git repositories.
//
// [Client] runs git; the state module "git" uses it, too.
package git

import (
	"context"
	"path/filepath"
	"strconv"
	"strings"

	"brine/internal/fun"
	"brine/internal/host"
	"brine/internal/value"
	"brine/modules/cmd"
)

// Module returns the execution module "git".
func Module() fun.Module {
	return fun.Module{Name: "git", Kind: fun.Exec, Doc: "Manage Git repositories.", Specs: specs, Avail: available}
}

func available(e *fun.Env) (bool, string) {
	if _, err := e.Host.LookPath("git", ""); err != nil {
		return false, "The git execution module cannot be loaded: git unavailable."
	}
	return true, ""
}

// client returns the client that the arguments describe.
func client(c *fun.Call) *Client {
	g := &Client{Env: c.Env, User: c.Str("user")}
	if c.Declares("identity") {
		g.Identity = c.Strings("identity")
	}
	if c.Declares("saltenv") {
		g.SaltEnv = c.Str("saltenv")
	}
	return g
}

// A line is a command line of git in the making.
type line struct {
	c    *fun.Call
	g    *Client
	args []string
	err  error
}

// command starts a command line: the options of git itself and the command.
func command(c *fun.Call, words ...string) *line {
	l := &line{c: c, g: client(c)}
	if c.Declares("git_opts") {
		l.words("git_opts")
	}
	l.args = append(l.args, words...)
	return l
}

// words adds an argument that holds options; those of not are left out.
func (l *line) words(name string, not ...string) *line {
	words, err := Words(l.c.Value(name))
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

// plain adds an argument that is no option, unless it is not given.
func (l *line) plain(name string) *line {
	if l.c.IsNone(name) {
		return l
	}
	return l.text(name, l.c.Str(name))
}

// text adds a value that is no option.
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

// run runs the command line in the directory of the argument cwd.
func (l *line) run(ctx context.Context, m mode) (cmd.Out, error) {
	if l.err != nil {
		return cmd.Out{}, l.err
	}
	dir := ""
	if l.c.Declares("cwd") && !l.c.IsNone("cwd") {
		dir = l.g.Path(l.c.Str("cwd"))
	}
	return l.g.run(ctx, dir, m, l.args...)
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

func cwd(c *fun.Call) (*Client, string) {
	g := client(c)
	return g, g.Path(c.Str("cwd"))
}

func status(c *fun.Call, code int) int {
	if c.Bool("ignore_retcode") {
		return 0
	}
	return code
}

func add(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return command(c, "add", "--verbose").words("opts", "-v", "--verbose").add("--", c.Str("filename")).stdout(ctx, mode{})
}

func archive(ctx context.Context, c *fun.Call) (fun.Result, error) {
	g, dir := cwd(c)
	l := command(c, "archive")
	if prefix := c.Str("prefix"); prefix != "" {
		l.add("--prefix", prefix)
	} else if c.IsNone("prefix") {
		l.add("--prefix", filepath.Base(dir)+"/")
	}
	if f := c.Str("format"); f != "" {
		l.add("--format", f)
	}
	return l.add("--output", g.Path(c.Str("output"))).plain("rev").done(ctx)
}

func branch(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return command(c, "branch").words("opts").plain("name").done(ctx)
}

func checkout(ctx context.Context, c *fun.Call) (fun.Result, error) {
	l := command(c, "checkout").flag(c.Bool("force"), "--force")
	n := len(l.args)
	l.words("opts")
	if c.IsNone("rev") {
		makes := false
		for _, w := range l.args[n:] {
			makes = makes || w == "-b" || w == "-B"
		}
		if !makes {
			return fun.Result{}, fun.Errorf("'rev' argument is required unless -b or -B in opts")
		}
	}
	return l.plain("rev").stdout(ctx, mode{merge: true})
}

// auth gives the client of l the credentials of a URL and returns it without them.
func (l *line) auth(source string) string {
	g, at, err := l.g.WithAuth(source, l.c.Value("https_user"), l.c.Value("https_pass"))
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

func clone(ctx context.Context, c *fun.Call) (fun.Result, error) {
	if c.Str("url") == "" {
		return fun.Result{}, fun.Errorf("Missing 'url' argument")
	}
	l := command(c, "clone").words("opts")
	at := l.auth(c.Str("url"))
	if l.err != nil {
		return fun.Result{}, l.err
	}
	dir := l.g.Path(c.Str("cwd"))
	from, target := "/tmp", dir
	l.add("--", at)
	if c.IsNone("name") {
		l.add(dir)
	} else {
		l.add(c.Str("name"))
		from, target = dir, filepath.Join(dir, c.Str("name"))
		if err := c.Env.Host.MkdirAll(dir, 0o777); err != nil {
			return fun.Result{}, fun.Errorf("Unable to create %s: %s", dir, host.OSError(err))
		}
	}
	if _, err := l.g.Run(ctx, from, l.args...); err != nil {
		return fun.Result{}, err
	}
	return fun.Result{Value: true}, l.g.keep(ctx, target)
}

func commit(ctx context.Context, c *fun.Call) (fun.Result, error) {
	l := command(c, "commit", "-m", c.Str("message")).words("opts")
	if name := c.Str("filename"); name != "" {
		l.add("--", name)
	}
	return l.stdout(ctx, mode{})
}

// config returns where the arguments cwd and global say that configuration is.
func config(c *fun.Call) (*Client, Config, error) {
	g := client(c)
	f := Config{Global: c.Bool("global")}
	if c.IsNone("cwd") {
		if !f.Global {
			return nil, f, fun.Errorf("'cwd' argument required unless global=True")
		}
		return g, f, nil
	}
	f.Dir = g.Path(c.Str("cwd"))
	return g, f, nil
}

func configGet(ctx context.Context, c *fun.Call) (fun.Result, error) {
	g, f, err := config(c)
	if err != nil {
		return fun.Result{}, err
	}
	vals, code, err := g.ConfigGet(ctx, f, c.Str("key"))
	res := fun.Result{Retcode: status(c, code)}
	switch {
	case err != nil || code == 1:
	case c.Bool("all"):
		res.Value = value.Strings(vals...)
	case len(vals) == 0:
		res.Value = ""
	default:
		res.Value = vals[len(vals)-1]
	}
	return res, err
}

func configGetRegexp(ctx context.Context, c *fun.Call) (fun.Result, error) {
	g, f, err := config(c)
	if err != nil {
		return fun.Result{}, err
	}
	m, code, err := g.ConfigMatch(ctx, f, c.Str("key"), c.Value("value_regex"))
	return fun.Result{Value: m, Retcode: status(c, code)}, err
}

func configSet(ctx context.Context, c *fun.Call) (fun.Result, error) {
	g, f, err := config(c)
	if err != nil {
		return fun.Result{}, err
	}
	var vals []string
	switch {
	case !c.IsNone("value") && !c.IsNone("multivar"):
		return fun.Result{}, fun.Errorf("Only one of 'value' and 'multivar' is permitted")
	case !c.IsNone("value"):
		vals = []string{c.Str("value")}
	case !c.IsNone("multivar"):
		vals = c.Strings("multivar")
	default:
		return fun.Result{}, fun.Errorf("One of 'value' and 'multivar' is required")
	}
	now, err := g.ConfigSet(ctx, f, c.Str("key"), vals, c.Bool("add") && !c.IsNone("value"))
	return fun.Result{Value: value.Strings(now...)}, err
}

func configUnset(ctx context.Context, c *fun.Call) (fun.Result, error) {
	g, f, err := config(c)
	if err != nil {
		return fun.Result{}, err
	}
	err = g.ConfigUnset(ctx, f, c.Str("key"), c.Value("value_regex"), c.Bool("all"))
	return fun.Result{Value: err == nil}, err
}

func currentBranch(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return command(c, "rev-parse", "--abbrev-ref", "HEAD").stdout(ctx, mode{})
}

func describe(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return command(c, "describe", "--always").plain("rev").stdout(ctx, mode{})
}

func diff(ctx context.Context, c *fun.Call) (fun.Result, error) {
	noIndex, cached := c.Bool("no_index"), c.Bool("cached")
	if noIndex && cached {
		return fun.Result{}, fun.Errorf("The 'no_index' and 'cached' options cannot be used together")
	}
	l := command(c, "diff").words("opts")
	item := func(name string) {
		if c.Str(name) != "" {
			l.plain(name)
		}
	}
	switch {
	case noIndex:
		l.add("--no-index")
	case cached:
		l.add("--cached")
		item("item1")
	default:
		item("item1")
		item("item2")
	}
	if paths := c.Strings("paths"); len(paths) > 0 {
		l.add("--").add(paths...)
	}
	return l.stdout(ctx, mode{merge: true, soft: noIndex})
}

func discardLocalChanges(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return command(c, "checkout", "--", c.Str("path")).stdout(ctx, mode{merge: true})
}

func fetch(ctx context.Context, c *fun.Call) (fun.Result, error) {
	l := command(c, "fetch").flag(c.Bool("force"), "--force").words("opts", "-f", "--force")
	if c.Str("remote") != "" {
		l.plain("remote")
	}
	for _, r := range c.Strings("refspecs") {
		l.text("refspec", r)
	}
	out, err := l.run(ctx, mode{merge: true})
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(fetched(out.Stdout))
}

func initialize(ctx context.Context, c *fun.Call) (fun.Result, error) {
	g, dir := cwd(c)
	gitOpts, err := Words(c.Value("git_opts"))
	if err != nil {
		return fun.Result{}, err
	}
	opts, err := Words(c.Value("opts"))
	if err != nil {
		return fun.Result{}, err
	}
	said, err := g.Init(ctx, dir, Init{
		Bare: c.Bool("bare"), Template: c.Value("template"), SeparateGitDir: c.Value("separate_git_dir"), Shared: c.Value("shared"),
		GitOpts: gitOpts, Opts: opts,
	})
	return fun.Result{Value: said}, err
}

func isWorktree(ctx context.Context, c *fun.Call) (fun.Result, error) {
	g, dir := cwd(c)
	is, err := g.IsWorktree(ctx, dir)
	return fun.Result{Value: is}, err
}

func listBranches(ctx context.Context, c *fun.Call) (fun.Result, error) {
	g, dir := cwd(c)
	below := "refs/heads/"
	if c.Bool("remote") {
		below = "refs/remotes/"
	}
	names, err := g.refs(ctx, dir, below)
	return fun.Result{Value: value.Strings(names...)}, err
}

func listTags(ctx context.Context, c *fun.Call) (fun.Result, error) {
	g, dir := cwd(c)
	names, err := g.Tags(ctx, dir)
	return fun.Result{Value: value.Strings(names...)}, err
}

func lsRemote(ctx context.Context, c *fun.Call) (fun.Result, error) {
	l := command(c, "ls-remote").words("opts")
	l.add(l.auth(c.Str("remote")))
	if c.Str("ref") != "" {
		l.plain("ref")
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

func merge(ctx context.Context, c *fun.Call) (fun.Result, error) {
	l := command(c, "merge").words("opts")
	if c.Str("rev") != "" {
		l.plain("rev")
	}
	return l.stdout(ctx, mode{})
}

// mergeBaseRefs returns the refs of git.merge_base, checked against its options.
func mergeBaseRefs(c *fun.Call) ([]string, error) {
	octopus, ancestor, independent, fork := c.Bool("octopus"), c.Bool("is_ancestor"), c.Bool("independent"), c.Str("fork_point") != ""
	if c.Bool("all") && (independent || ancestor || fork) {
		return nil, fun.Errorf("The 'all' argument is not compatible with 'independent', 'is_ancestor', or 'fork_point'")
	}
	var refs []string
	for _, r := range c.Strings("refs") {
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

func mergeBase(ctx context.Context, c *fun.Call) (fun.Result, error) {
	refs, err := mergeBaseRefs(c)
	if err != nil {
		return fun.Result{}, err
	}
	ancestor := c.Bool("is_ancestor")
	l := command(c, "merge-base").words("opts").flag(c.Bool("all"), "--all").flag(c.Bool("octopus"), "--octopus").
		flag(ancestor, "--is-ancestor").flag(c.Bool("independent"), "--independent")
	if c.Str("fork_point") != "" {
		l.add("--fork-point").plain("fork_point")
	}
	for _, r := range refs {
		l.text("ref", r)
	}
	out, err := l.run(ctx, mode{soft: ancestor})
	if err != nil {
		return fun.Result{}, err
	}
	if ancestor {
		return fun.Result{Value: out.Retcode == 0, Retcode: status(c, out.Retcode)}, nil
	}
	bases := lines(out.Stdout)
	if c.Bool("all") {
		return fun.Value(value.Strings(bases...))
	}
	if len(bases) == 0 {
		return fun.Result{}, fun.Errorf("%s have no common commit", strings.Join(refs, " and "))
	}
	return fun.Value(bases[0])
}

func mergeTree(ctx context.Context, c *fun.Call) (fun.Result, error) {
	l := command(c, "merge-tree")
	if c.IsNone("base") {
		g, dir := cwd(c)
		if err := plain("ref", c.Str("ref1"), "ref", c.Str("ref2")); err != nil {
			return fun.Result{}, err
		}
		out, err := g.run(ctx, dir, mode{soft: true}, "merge-base", c.Str("ref1"), c.Str("ref2"))
		if err != nil {
			return fun.Result{}, err
		}
		bases := lines(out.Stdout)
		if out.Retcode != 0 || len(bases) == 0 {
			return fun.Result{}, fun.Errorf("Unable to determine merge base for %s and %s", c.Str("ref1"), c.Str("ref2"))
		}
		l.add(bases[0])
	} else {
		l.plain("base")
	}
	return l.plain("ref1").plain("ref2").stdout(ctx, mode{})
}

func pull(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return command(c, "pull").words("opts").stdout(ctx, mode{})
}

func push(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return command(c, "push").words("opts").plain("remote").plain("ref").stdout(ctx, mode{})
}

func rebase(ctx context.Context, c *fun.Call) (fun.Result, error) {
	opts, err := Words(c.Value("opts"))
	if err != nil {
		return fun.Result{}, err
	}
	for _, o := range opts {
		if o == "-i" || o == "--interactive" {
			return fun.Result{}, fun.Errorf("Interactive rebases are not supported")
		}
	}
	revs, err := Words(c.Str("rev"))
	if err != nil {
		return fun.Result{}, err
	}
	l := command(c, "rebase").add(opts...)
	for _, r := range revs {
		l.text("rev", r)
	}
	return l.stdout(ctx, mode{})
}

func remoteGet(ctx context.Context, c *fun.Call) (fun.Result, error) {
	g, dir := cwd(c)
	return getRemote(ctx, g, dir, c.Str("remote"), !c.Declares("redact_auth") || c.Bool("redact_auth"))
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

func remoteRefs(ctx context.Context, c *fun.Call) (fun.Result, error) {
	l := command(c, "ls-remote").flag(c.Bool("heads"), "--heads").flag(c.Bool("tags"), "--tags")
	l.add(l.auth(c.Str("url")))
	if c.Str("filter") != "" {
		l.plain("filter")
	}
	return l.refs(ctx)
}

func remoteSet(ctx context.Context, c *fun.Call) (fun.Result, error) {
	g, dir := cwd(c)
	remote := c.Str("remote")
	at, source, err := g.WithAuth(c.Str("url"), c.Value("https_user"), c.Value("https_pass"))
	if err != nil {
		return fun.Result{}, err
	}
	if err := at.SetRemote(ctx, dir, remote, source); err != nil {
		return fun.Result{}, err
	}
	if c.Str("push_url") != "" {
		at, source, err := g.WithAuth(c.Str("push_url"), c.Value("push_https_user"), c.Value("push_https_pass"))
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

func remotes(ctx context.Context, c *fun.Call) (fun.Result, error) {
	g, dir := cwd(c)
	all, err := g.Remotes(ctx, dir, c.Bool("redact_auth"))
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(all)
}

func reset(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return command(c, "reset").words("opts").stdout(ctx, mode{})
}

func revParse(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return command(c, "rev-parse").words("opts").plain("rev").stdout(ctx, mode{})
}

func revision(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return command(c, "rev-parse").flag(c.Bool("short"), "--short").plain("rev").stdout(ctx, mode{})
}

func rm(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return command(c, "rm").words("opts").add("--", c.Str("filename")).stdout(ctx, mode{})
}

func stash(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return command(c, "stash").plain("action").words("opts").stdout(ctx, mode{})
}

var statusNames = map[string]string{"M": "modified", "A": "new", "D": "deleted", "??": "untracked"}

func statusOf(ctx context.Context, c *fun.Call) (fun.Result, error) {
	out, err := command(c, "status", "-z", "--porcelain").run(ctx, mode{})
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

func submodule(ctx context.Context, c *fun.Call) (fun.Result, error) {
	if c.Bool("init") {
		return fun.Result{}, fun.Errorf("The 'init' argument is no longer supported. Either set 'command' to 'init', or include '--init' in the 'opts' argument and set 'command' to 'update'.")
	}
	return command(c, "submodule").plain("command").words("opts").stdout(ctx, mode{})
}

func symbolicRef(ctx context.Context, c *fun.Call) (fun.Result, error) {
	opts, err := Words(c.Value("opts"))
	if err != nil {
		return fun.Result{}, err
	}
	for _, o := range opts {
		if !c.IsNone("value") && (o == "-d" || o == "--delete") {
			return fun.Result{}, fun.Errorf("Value cannot be set for symbolic ref if -d/--delete is included in opts")
		}
	}
	return command(c, "symbolic-ref").add(opts...).plain("ref").plain("value").stdout(ctx, mode{})
}

func tag(ctx context.Context, c *fun.Call) (fun.Result, error) {
	l := command(c, "tag")
	n := len(l.args)
	l.words("opts", "-a", "--annotate")
	removes := false
	for _, o := range l.args[n:] {
		if o == "-m" || strings.Contains(o, "--message") {
			return fun.Result{}, fun.Errorf(`Tag messages must be passed in the "message" argument`)
		}
		removes = removes || o == "-d" || o == "--delete"
	}
	if !c.IsNone("message") && !removes {
		l.add("-a", "-m", c.Str("message"))
	}
	l.plain("name")
	if !removes {
		l.plain("ref")
	}
	return l.stdout(ctx, mode{merge: true})
}

// version returns the version of git: text, or its parts as a list.
func version(ctx context.Context, c *fun.Call) (fun.Result, error) {
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
	if !c.Bool("versioninfo") {
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
