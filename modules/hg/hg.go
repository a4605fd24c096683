// Package hg is Salt's execution module "hg": Mercurial repositories.
//
// [Client] runs hg; the state module "hg" uses it, too.
package hg

import (
	"context"
	"path/filepath"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/redact"
	"brine/internal/py/proc"
	"brine/internal/py/value"
	"brine/modules/cmd"
	"brine/modules/machine"
	"brine/modules/tool"
)

// Module returns the execution module "hg".
func Module() fun.Module {
	return fun.Module{Name: "hg", Kind: fun.Exec, Doc: "Manage Mercurial repositories.", Specs: specs, Avail: tool.Needs("hg", "The hg execution module cannot be loaded: hg unavailable.")}
}

// A Client runs hg as one account.
type Client struct {
	Env      *fun.Env
	User     string // "" is one's own
	Identity string // SSH private key; "" is the account's own
}

// run runs hg in a directory; "" is the home directory.
func (c *Client) run(ctx context.Context, dir string, looks bool, args ...string) (cmd.Out, error) {
	// No question is ever asked, and no configuration changes what hg prints.
	env := value.MapOf("HGPLAIN", "1", "SSH_ASKPASS", "/bin/false", "SSH_ASKPASS_REQUIRE", "force")
	alone, makes := places(dir, args)
	out, err := cmd.RunWords(ctx, c.Env, append([]string{"hg"}, args...), cmd.Options{Cwd: dir, RunAs: c.User, Env: env, ReadOnly: looks, Alone: alone, Makes: makes, AloneArg: "user"})
	out.Stdout, out.Stderr = redact.URLs(out.Stdout), redact.URLs(out.Stderr)
	return out, err
}

// places returns the directories that a run of hg finds a repository in, whose
// hooks and configuration name programs to run, and those that it writes to. makes is
// the one that it makes, or "".
func places(dir string, args []string) (alone []string, makes string) {
	if dir != "" {
		alone = append(alone, dir, filepath.Join(dir, ".hg"))
	}
	for _, w := range args {
		switch {
		case !filepath.IsAbs(w):
		case args[0] == "clone" && w == args[len(args)-1]:
			alone, makes = append(alone, w, filepath.Join(w, ".hg")), w
		case args[0] == "archive":
			alone = append(alone, filepath.Dir(w))
		}
	}
	return alone, makes
}

// must is run for a command that has to succeed; it returns what hg printed.
func (c *Client) must(ctx context.Context, dir string, args ...string) (string, error) {
	out, err := c.run(ctx, dir, false, args...)
	if err != nil {
		return "", err
	}
	if out.Retcode != 0 {
		said := out.Stderr
		if said == "" {
			said = out.Stdout
		}
		return "", fun.Errorf("Hg command failed: %s", said)
	}
	return out.Stdout, nil
}

// plain refuses a value that hg would take for an option. Pairs of what a value
// is and the value.
func plain(pairs ...string) error {
	for i := 0; i+1 < len(pairs); i += 2 {
		if v := pairs[i+1]; v == "" || strings.HasPrefix(v, "-") {
			return fun.Errorf("invalid %s '%s': it must not be empty or start with a dash", pairs[i], redact.URLs(v))
		}
	}
	return nil
}

// options returns the words of opts, and those for the identity.
func (c *Client) options(opts string) ([]string, error) {
	words, err := proc.Split(opts)
	if err != nil {
		return nil, fun.Errorf("invalid opts %s: %v", value.Repr(opts), err)
	}
	if c.Identity != "" {
		if err := plain("identity", c.Identity); err != nil {
			return nil, err
		}
		words = append(words, "--ssh", "ssh -i "+proc.Quote(c.Identity))
	}
	return words, nil
}

// Revision returns the hash of a revision of a repository, "" where there is no
// such repository or revision. The hash of what is checked out has a + at its end
// where files are changed.
func (c *Client) Revision(ctx context.Context, dir, rev string, short bool) (string, error) {
	if err := plain("rev", rev); err != nil {
		return "", err
	}
	args := []string{"id", "-i", "-r", rev}
	if !short {
		args = append(args, "--debug")
	}
	out, err := c.run(ctx, dir, true, args...)
	if err != nil || out.Retcode != 0 {
		return "", err
	}
	return out.Stdout, nil
}

// Remote returns the hash of a revision of another repository ("" is its tip),
// "" where it cannot be told.
func (c *Client) Remote(ctx context.Context, dir, repository, rev string) (string, error) {
	if rev == "" {
		rev = "tip"
	}
	if err := plain("repository", repository, "rev", rev); err != nil {
		return "", err
	}
	args, err := c.options("")
	if err != nil {
		return "", err
	}
	out, err := c.run(ctx, dir, true, append(append([]string{"id", "-i", "--debug", "-r", rev}, args...), "--", repository)...)
	if err != nil || out.Retcode != 0 {
		return "", err
	}
	return out.Stdout, nil
}

// Pull pulls from a repository ("" is the default one), and returns what hg
// printed.
func (c *Client) Pull(ctx context.Context, dir, opts, repository string) (string, error) {
	args, err := c.options(opts)
	if err != nil {
		return "", err
	}
	args = append([]string{"pull"}, args...)
	if repository != "" {
		if err := plain("repository", repository); err != nil {
			return "", err
		}
		args = append(args, "--", repository)
	}
	return c.must(ctx, dir, args...)
}

// Update checks a revision out, and returns what hg printed.
func (c *Client) Update(ctx context.Context, dir, rev string, force bool) (string, error) {
	if err := plain("rev", rev); err != nil {
		return "", err
	}
	args := []string{"update", rev}
	if force {
		args = append(args, "-C")
	}
	return c.must(ctx, dir, args...)
}

// Clone clones a repository to a directory, and returns what hg printed.
func (c *Client) Clone(ctx context.Context, dir, repository, opts string) (string, error) {
	if err := plain("repository", repository, "directory", dir); err != nil {
		return "", err
	}
	args, err := c.options(opts)
	if err != nil {
		return "", err
	}
	return c.must(ctx, "", append(append([]string{"clone"}, args...), "--", repository, dir)...)
}

func client(c *fun.Call, user, identity string) *Client {
	return &Client{Env: c.Env, User: user, Identity: identity}
}

type archiveArgs struct {
	cwd
	Output string `arg:"output,required,path" doc:"path of the archive"`
	tip
	Fmt    string `arg:"fmt" oneof:"files|tar|tbz2|tgz|txz|uzip|zip" doc:"format of the archive; default: by its name"`
	Prefix string `arg:"prefix" doc:"directory that the files have in the archive; default: the name of the repository"`
	user
}

func archive(ctx context.Context, c *fun.Call, a *archiveArgs) (fun.Result, error) {
	output, rev := a.Output, a.Rev
	if err := plain("output", output, "rev", rev); err != nil {
		return fun.Result{}, err
	}
	args := []string{"archive", output, "--rev", rev}
	if f := a.Fmt; f != "" {
		args = append(args, "--type", f)
	}
	if p := a.Prefix; p != "" {
		args = append(args, "--prefix", p)
	}
	out, err := client(c, a.User, "").run(ctx, a.Cwd, false, args...)
	return fun.Result{Value: strings.Trim(out.Stdout+"\n"+out.Stderr, "\n"), Retcode: out.Retcode}, err
}

type cloneArgs struct {
	Cwd        string `arg:"cwd,required,path" doc:"directory of the clone"`
	Repository string `arg:"repository,required" doc:"URL or path of the repository"`
	opts
	user
	key
}

func clone(ctx context.Context, c *fun.Call, a *cloneArgs) (fun.Result, error) {
	return machine.Text(client(c, a.User, a.Identity).Clone(ctx, a.Cwd, a.Repository, a.Opts))
}

type describeArgs struct {
	cwd
	tip
	user
}

func describe(ctx context.Context, c *fun.Call, a *describeArgs) (fun.Result, error) {
	rev := a.Rev
	if err := plain("rev", rev); err != nil {
		return fun.Result{}, err
	}
	hg := client(c, a.User, "")
	out, err := hg.run(ctx, a.Cwd, true, "log", "-r", rev, "--template", "{latesttag}-{latesttagdistance}-{node|short}")
	if err != nil {
		return fun.Result{}, err
	}
	if out.Stdout != "" {
		return machine.Text(out.Stdout, nil)
	}
	return machine.Text(hg.Revision(ctx, a.Cwd, rev, true))
}

type pullArgs struct {
	cwd
	opts
	user
	key
	Repository string `arg:"repository" doc:"URL or path of the repository; default: the one that was cloned"`
}

func pull(ctx context.Context, c *fun.Call, a *pullArgs) (fun.Result, error) {
	return machine.Text(client(c, a.User, a.Identity).Pull(ctx, a.Cwd, a.Opts, a.Repository))
}

type revisionArgs struct {
	cwd
	tip
	Short bool `arg:"short" default:"False" doc:"return an abbreviated hash"`
	user
}

func revision(ctx context.Context, c *fun.Call, a *revisionArgs) (fun.Result, error) {
	return machine.Text(client(c, a.User, "").Revision(ctx, a.Cwd, a.Rev, a.Short))
}

// kinds are the letters that hg status marks files with.
var kinds = map[byte]string{
	'M': "modified", 'A': "added", 'R': "removed", 'C': "clean", '!': "missing", '?': "not tracked", 'I': "ignored",
	' ': "origin of the previous file",
}

type statusArgs struct {
	Cwd value.Value `arg:"cwd,required,list[path]|path" doc:"directory of the repository, or a list of them"`
	opts
	user
}

func status(ctx context.Context, c *fun.Call, a *statusArgs) (fun.Result, error) {
	hg := client(c, a.User, "")
	opts, err := hg.options(a.Opts)
	if err != nil {
		return fun.Result{}, err
	}
	of := func(dir string) (*value.Map, error) {
		m := value.NewMap(2)
		out, err := hg.run(ctx, dir, true, append([]string{"status"}, opts...)...)
		if err == nil && out.Retcode != 0 {
			err = fun.Errorf("Hg command failed: %s", out.Stderr)
		}
		for _, l := range value.SplitLines(out.Stdout, false) {
			if len(l) < 3 || kinds[l[0]] == "" {
				continue
			}
			kind := kinds[l[0]]
			files := m.List(kind)
			if files == nil {
				files = &value.List{}
				m.Set(kind, files)
			}
			files.Items = append(files.Items, l[2:])
		}
		return m, err
	}
	dirs, several := a.Cwd.(*value.List)
	if !several {
		m, err := of(fun.TextOf(a.Cwd))
		return fun.Result{Value: m}, err
	}
	all := value.NewMap(len(dirs.Items))
	for _, d := range dirs.Items {
		m, err := of(value.Str(d))
		if err != nil {
			return fun.Result{}, err
		}
		all.Set(value.Str(d), m)
	}
	return fun.Result{Value: all}, nil
}

type updateArgs struct {
	cwd
	Rev   string `arg:"rev,required" doc:"revision: a hash, tag, bookmark or branch"`
	Force bool   `arg:"force" default:"False" doc:"discard changes of files"`
	user
}

func update(ctx context.Context, c *fun.Call, a *updateArgs) (fun.Result, error) {
	return machine.Text(client(c, a.User, "").Update(ctx, a.Cwd, a.Rev, a.Force))
}
