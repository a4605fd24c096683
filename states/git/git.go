// Package git is Salt's state module "git": Git repositories and their
// configuration.
package git

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/core/redact"
	"brine/internal/py/value"
	"brine/modules/cp"
	"brine/modules/git"
	"brine/modules/machine"
)

// States returns the rows of the state module "git".
func States() fun.Module {
	return fun.Module{Name: "git", Kind: fun.State, Doc: "Manage Git repositories.", Specs: specs, Avail: fun.Needs("git", "git module could not be loaded")}
}

// A report is the return of a state in the making.
type report struct {
	c        *fun.Call
	name     string
	g        *git.Client
	changes  *value.Map
	comments []string // what was done
	extra    *value.Map
}

func newReport(c *fun.Call, name, user string) *report {
	return &report{c: c, name: name, g: &git.Client{Env: c.Env, User: user, SaltEnv: saltenv(c)}, changes: value.NewMap(2)}
}

func saltenv(c *fun.Call) string {
	if c.Low != nil && c.Low.SaltEnv != "" {
		return c.Low.SaltEnv
	}
	return c.Env.SaltEnv
}

func (r *report) ret(result fun.Outcome, comment string) *fun.Ret {
	ret := fun.Ret{Name: r.name, Result: result, Comment: comment, Changes: r.changes, Extra: r.extra}.ResultFirst()
	return &ret
}

func (r *report) say(parts ...string) { r.comments = append(r.comments, strings.Join(parts, "")) }

// fail reports a failure, and what was changed before it.
func (r *report) fail(parts ...string) *fun.Ret {
	msg := strings.Join(parts, "")
	if len(r.comments) > 0 {
		msg += "\n\nChanges already made: " + sentences(r.comments)
	}
	return r.ret(fun.Failed, msg)
}

// failed reports an error; what git said is kept.
func (r *report) failed(prefix string, err error) *fun.Ret {
	if !git.IsFailure(err) {
		ret := fun.Raise(err)
		return &ret
	}
	return r.fail(prefix, git.Strip(err))
}

// would reports what a run without test would do.
func (r *report) would(parts ...string) *fun.Ret {
	return r.ret(fun.WouldChange, strings.Join(parts, ""))
}

// sentences joins comments as Salt does.
func sentences(comments []string) string {
	s := strings.Join(comments, ". ")
	if len(comments) > 1 {
		s += "."
	}
	return s
}

// unknown reports keyword arguments that a state does not have.
func (r *report) unknown(kw fun.Kwargs) *fun.Ret {
	if kw.Len() == 0 {
		return nil
	}
	var bad []string
	for k, v := range kw.All() {
		bad = append(bad, value.Str(k)+"="+value.Str(redact.Named(value.Str(k), v)))
	}
	return r.fail("The following keyword arguments are not valid: ", strings.Join(bad, ", "))
}

// identities checks the identity files and gives them to the client.
func (r *report) identities(ctx context.Context, files []string) *fun.Ret {
	for _, id := range files {
		if cp.Scheme(id) == "salt" {
			found, err := cp.New(r.c.Env, r.g.SaltEnv).Exists(ctx, id)
			if err != nil {
				return r.fail("identity '", id, "' cannot be read: ", err.Error())
			}
			if !found {
				return r.fail("identity '", id, "' does not exist.")
			}
		} else if id = machine.Expand(r.c.Env.Host, id); !filepath.IsAbs(id) {
			return r.fail("identity '", id, "' is not an absolute path")
		}
		r.g.Identity = append(r.g.Identity, id)
	}
	return nil
}

// plain is the client without identity files: for what stays on this machine.
func (r *report) plain() *git.Client {
	g := *r.g
	g.Identity, g.Auth = nil, nil
	return &g
}

func isFile(h host.Host, p string) bool {
	st, err := h.Stat(p)
	return err == nil && st.Mode.IsRegular()
}

func isDir(h host.Host, p string) bool {
	st, err := h.Stat(p)
	return err == nil && st.Mode.IsDir()
}

// isRepo reports whether a directory is a working tree, or with bare a bare
// repository.
func (r *report) isRepo(ctx context.Context, dir string, bare bool) (bool, error) {
	data := ".git"
	if bare {
		data = "refs"
	}
	if isDir(r.c.Env.Host, filepath.Join(dir, data)) {
		return true, nil
	}
	if !isDir(r.c.Env.Host, dir) {
		return false, nil
	}
	return r.plain().IsWorktree(ctx, dir)
}

// makeRoom empties a target that exists, for a clone: with force only, unless it
// is empty already. stop is the return where that ends the state.
func (r *report) makeRoom(target string, force bool) (stop *fun.Ret) {
	h := r.c.Env.Host
	if !isDir(h, target) {
		return nil
	}
	names, err := h.ReadDir(target)
	if err != nil {
		return r.fail("Unable to read ", target, ": ", host.OSError(err))
	}
	if !force {
		if len(names) == 0 {
			return nil
		}
		return r.fail("Target '", target, "' exists, is non-empty and is not a git repository. Set the 'force_clone' option to True to "+
			"remove this directory's contents and proceed with cloning the remote repository")
	}
	if err := h.CheckSystem(target, true); err != nil {
		return r.fail(err.Error())
	}
	if r.c.Test {
		return r.would("Target directory ", target, " exists. Since force_clone=True, the contents of ", target, " would be deleted, and ",
			git.Redact(r.name), " would be cloned into this directory.")
	}
	var faults []string
	for _, n := range names {
		p := filepath.Join(target, n)
		if err := h.RemoveAll(p); err != nil {
			faults = append(faults, "  "+p+"\n    "+host.OSError(err))
		}
	}
	if len(faults) > 0 {
		return r.fail("Unable to remove\n", strings.Join(faults, "\n"))
	}
	r.changes.Set("forced clone", true)
	return nil
}

// A word is an argument that git gets as a word of a command line.
type word struct{ arg, value string }

// option reports a value that git would take for an option.
func (r *report) option(words ...word) *fun.Ret {
	for _, w := range words {
		if strings.HasPrefix(w.value, "-") {
			return r.fail("'", w.value, "' is not a valid value for the '", w.arg, "' argument: it must not start with a dash")
		}
	}
	return nil
}

// updateSubmodules updates the submodules of a working tree.
func (r *report) updateSubmodules(ctx context.Context, target string) *fun.Ret {
	if _, err := r.g.Run(ctx, target, "submodule", "update", "--init", "--recursive"); err != nil {
		return r.failed("Failed to update submodules: ", err)
	}
	return nil
}

// head returns the commit and the branch that are checked out; "" where there is
// none.
func (r *report) head(ctx context.Context, target string) (rev, branch string, err error) {
	g := r.plain()
	if rev, err = g.RevParse(ctx, target, "HEAD"); err != nil {
		if !git.IsFailure(err) {
			return "", "", err
		}
		rev = ""
	}
	if branch, err = g.RevParse(ctx, target, "--abbrev-ref", "HEAD"); err != nil {
		if !git.IsFailure(err) {
			return "", "", err
		}
		branch = ""
	}
	return rev, branch, nil
}

type presentArgs struct {
	Name           string      `arg:"name,required,path" doc:"directory of the repository"`
	Force          bool        `arg:"force" default:"False" doc:"delete the content of the directory if it is not a repository"`
	Bare           bool        `arg:"bare" default:"True" doc:"make a repository without working tree"`
	Template       value.Value `arg:"template,path" doc:"template directory"`
	SeparateGitDir value.Value `arg:"separate_git_dir,path" doc:"directory for the repository's data"`
	Shared         value.Value `arg:"shared,str|bool|int" doc:"who may write: group, all, or permissions in octal digits"`
	User           string      `arg:"user" doc:"account that runs git"`
	_              string      `arg:"password,secret" doc:"accepted for compatibility; it is used on Windows only"`
	_              string      `arg:"output_encoding" doc:"accepted; output is UTF-8"`
	fun.SystemPath
}

// present makes sure that a repository exists.
// Salt: salt/states/git.py present.
func present(ctx context.Context, c *fun.Call, a *presentArgs) fun.Ret {
	r := newReport(c, a.Name, a.User)
	name, bare := a.Name, a.Bare
	if stop := r.option(word{"name", name}); stop != nil {
		return *stop
	}
	kind := ""
	if bare {
		kind = "bare "
	}
	if !filepath.IsAbs(name) {
		name = r.g.Path(name)
	}
	if isDir(c.Env.Host, name) {
		if stop := r.initRoom(ctx, name, kind, a.Force); stop != nil {
			return *stop
		}
	}
	if c.Test {
		r.changes.Set("new", a.Name)
		return *r.would("New ", kind, "repository would be created")
	}
	_, err := r.g.Init(ctx, name, git.Init{Bare: bare, Template: a.Template, SeparateGitDir: a.SeparateGitDir, Shared: a.Shared})
	if err != nil {
		return *r.failed("", err)
	}
	r.say("Initialized ", kind, "repository in ", a.Name)
	if t := fun.TextOf(a.Template); t != "" {
		r.say("Template directory set to ", t)
	}
	if d := fun.TextOf(a.SeparateGitDir); d != "" {
		r.say("Gitdir set to ", d)
	}
	r.changes.Set("new", a.Name)
	return *r.ret(fun.OK, sentences(r.comments))
}

// initRoom looks at a directory in which a repository is to be made: it may be
// one already, be emptied with force, or be in the way.
func (r *report) initRoom(ctx context.Context, dir, kind string, force bool) *fun.Ret {
	h := r.c.Env.Host
	is := isFile(h, filepath.Join(dir, "HEAD"))
	if kind == "" {
		var err error
		if is, err = r.isRepo(ctx, dir, false); err != nil {
			return r.failed("", err)
		}
	}
	system := h.CheckSystem(dir, true)
	switch {
	case is:
		return r.ret(fun.OK, "")
	case force && system != nil:
		return r.fail(system.Error())
	case force && r.c.Test:
		r.changes.Set("new", r.name)
		r.changes.Set("forced init", true)
		return r.would("Target directory ", r.name, " exists. Since force=True, the contents of ", r.name,
			" would be deleted, and a ", kind, "repository would be initialized in its place.")
	case force:
		if err := h.RemoveAll(dir); err != nil {
			return r.fail("Unable to remove ", r.name, ": ", host.OSError(err))
		}
		r.changes.Set("forced init", true)
		return nil
	}
	names, err := h.ReadDir(dir)
	if err != nil {
		return r.fail("Unable to read ", dir, ": ", host.OSError(err))
	}
	if len(names) > 0 {
		return r.fail("Target '", r.name, "' exists, is non-empty, and is not a git repository. Set the 'force' option to True to remove "+
			"this directory's contents and proceed with initializing a repository")
	}
	return nil
}

type clonedArgs struct {
	_         fun.Arguments
	Name      string          `arg:"name,required" doc:"URL of the repository"`
	Target    fun.Opt[string] `arg:"target,required,path" doc:"directory of the clone, an absolute path"`
	Branch    fun.Opt[string] `arg:"branch" doc:"name of the local branch; default: the one that is checked out"`
	User      string          `arg:"user" doc:"account that runs git"`
	_         string          `arg:"password,secret" doc:"accepted for compatibility; it is used on Windows only"`
	Identity  []string        `arg:"identity" doc:"SSH private keys to try: paths or salt:// URLs"`
	HTTPSUser value.Value     `arg:"https_user,str" doc:"user for HTTPS"`
	HTTPSPass value.Value     `arg:"https_pass,secret,str" doc:"password for HTTPS"`
	_         string          `arg:"output_encoding" doc:"accepted; output is UTF-8"`
}

// cloned makes sure that a repository is cloned, and that a branch is checked out.
// Salt: salt/states/git.py cloned.
func cloned(ctx context.Context, c *fun.Call, a *clonedArgs) fun.Ret {
	r := newReport(c, a.Name, a.User)
	target, branch := a.Target.V, a.Branch.V
	switch {
	case !a.Target.Given:
		return *r.fail("'target' argument is required")
	case !filepath.IsAbs(target):
		return *r.fail("'target' path must be absolute")
	case a.Branch.Given && branch == "":
		return *r.fail("Invalid 'branch' argument")
	}
	if stop := r.option(word{"name", a.Name}, word{"branch", branch}); stop != nil {
		return *stop
	}
	if stop := r.identities(ctx, a.Identity); stop != nil {
		return *stop
	}
	if _, err := c.Env.Host.Stat(target); err != nil {
		return *r.cloneNew(ctx, a)
	}
	g := r.plain()
	if _, err := g.Run(ctx, target, "status", "-z", "--porcelain"); err != nil {
		if !git.IsFailure(err) {
			return fun.Raise(err)
		}
		return *r.fail(err.Error())
	}
	if branch == "" {
		return *r.ret(fun.OK, "Repository already exists at "+target)
	}
	now, err := g.RevParse(ctx, target, "--abbrev-ref", "HEAD")
	if err != nil {
		return *r.failed("", err)
	}
	if now == branch {
		return *r.ret(fun.OK, "Repository already exists at "+target+" and is checked out to branch '"+branch+"'")
	}
	if c.Test {
		r.changes.Set("branch", value.MapOf("old", now, "new", branch))
		return *r.would("Branch would be changed to '", branch, "'")
	}
	args := []string{"checkout", branch}
	if _, err := g.RevParse(ctx, target, branch); err != nil {
		if !git.IsFailure(err) {
			return fun.Raise(err)
		}
		args = []string{"checkout", "-b", branch, "origin/" + branch}
	}
	if _, err := g.Run(ctx, target, args...); err != nil {
		if !git.IsFailure(err) {
			return fun.Raise(err)
		}
		return *r.fail("Failed to change branch to '", branch, "': ", err.Error())
	}
	r.changes.Set("branch", value.MapOf("old", now, "new", branch))
	return *r.ret(fun.OK, "Branch changed to '"+branch+"'")
}

func (r *report) cloneNew(ctx context.Context, a *clonedArgs) *fun.Ret {
	target, branch := a.Target.V, a.Branch.V
	name, with := git.Redact(a.Name), ""
	var opts []string
	if branch != "" {
		with = " with branch '" + branch + "'"
		opts = []string{"--branch", branch}
	}
	g, source, err := r.g.WithAuth(a.Name, a.HTTPSUser, a.HTTPSPass)
	if err != nil {
		return r.failed("", err)
	}
	if r.c.Test {
		r.changes.Set("new", name+" => "+target)
		return r.would(name, " would be cloned to ", target, with)
	}
	if err := g.Clone(ctx, source, target, opts...); err != nil {
		return r.failed("Clone failed: ", err)
	}
	r.changes.Set("new", name+" => "+target)
	return r.ret(fun.OK, name+" cloned to "+target+with)
}

// isHash reports whether a revision looks like (the start of) a commit's SHA.
func isHash(rev string) bool {
	return len(rev) <= 40 && strings.Trim(rev, "0123456789abcdefABCDEF") == ""
}

func short(sha string) value.Value {
	if sha == "" {
		return nil
	}
	return sha[:min(7, len(sha))]
}

func short7(sha string) string { return value.Str(short(sha)) }

func contains(names []string, name string) bool { return slices.Contains(names, name) }
