// Package yumpkg is the provider of Salt's execution module "pkg" for Red Hat's
// systems and their relatives: rpm with dnf, dnf5, tdnf or yum.
//
// What is installed is asked of rpm, once for all packages; dnf is run for what it
// decides: candidates, dependencies, changes.
package yumpkg

import (
	"context"
	"slices"
	"sort"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/modules/machine"
	"brine/modules/pkg"
	"brine/modules/pkg/rpm"
	"brine/modules/tool"
)

// Module returns the provider yumpkg of the execution module "pkg".
func Module() fun.Module {
	m := fun.Module{
		Name: "pkg", Kind: fun.Exec, Doc: "Query, install and remove packages with dnf or yum, and rpm.", Avail: avail,
		Specs: slices.Concat(specs, rpm.ProviderSpecs),
	}
	m.SortSpecs()
	return m
}

func avail(env *fun.Env) (bool, string) {
	if !rpm.Family(env, "redhat") {
		return false, "os_family is not RedHat"
	}
	if program(env.Host) == "" {
		return false, "dnf and yum are missing"
	}
	return true, ""
}

// The programs that do the work.
const (
	dnf  = "dnf"
	dnf5 = "dnf5"
	tdnf = "tdnf"
	yum3 = "yum"
)

// programs are in the order in which they are looked for.
var programs = []string{dnf5, dnf, tdnf, yum3}

// program returns the program to use; "" where there is none. The first directory of
// PATH that has one counts. A dnf that is a link to dnf5 is dnf5.
func program(h host.Host) string {
	for dir := range strings.SplitSeq(pathOf(h), ":") {
		for _, name := range programs {
			file, err := h.LookPath(name, dir)
			if dir == "" || err != nil {
				continue
			}
			if name == dnf {
				if real, err := h.EvalSymlinks(file); err == nil && strings.HasSuffix(real, "/"+dnf5) {
					return dnf5
				}
			}
			return name
		}
	}
	return ""
}

func pathOf(h host.Host) string {
	for _, kv := range h.Environ() {
		if p, ok := strings.CutPrefix(kv, "PATH="); ok {
			return p
		}
	}
	return "/usr/bin:/bin"
}

// A yum is the package manager of a call.
type yum struct {
	env     *fun.Env
	name    string // of the program
	osarch  string
	retcode int // of the last program that failed; see result
}

func newYum(c *fun.Call) (*yum, error) {
	name := program(c.Env.Host)
	if name == "" {
		return nil, fun.Errorf("neither dnf nor yum is installed")
	}
	return &yum{env: c.Env, name: name, osarch: machine.Grain(c.Env, "osarch")}, nil
}

// isDNF reports whether the program is one of the newer kind.
func (y *yum) isDNF() bool { return y.name == dnf || y.name == dnf5 }

// result returns v, and the status of a program that failed as Salt's
// __context__['retcode'].
func (y *yum) result(v value.Value) (fun.Result, error) {
	return fun.Result{Value: v, Retcode: y.retcode}, nil
}

// query runs the program for a question. It waits as change does: a question may
// refresh what is known of the repositories, which takes a lock, too.
func (y *yum) query(ctx context.Context, args ...string) (pkg.Output, error) {
	return y.locked(ctx, pkg.Command{Argv: y.argv(args), ReadOnly: true})
}

// change runs the program for what may change the machine, and waits while another
// one has its lock; see [pkg.Locked]. merge sends what it says on stderr to stdout.
func (y *yum) change(ctx context.Context, merge bool, args ...string) (pkg.Output, error) {
	return pkg.Scoped(ctx, y.env, y.argv(args), func(argv []string) (pkg.Output, error) {
		return y.locked(ctx, pkg.Command{Argv: argv, Merge: merge})
	})
}

// argv returns the command line of the program. dnf and yum would wait for their
// locks without end; dnf5 does not.
func (y *yum) argv(args []string) []string {
	argv := []string{y.name}
	if y.name != dnf5 {
		argv = append(argv, "--setopt=exit_on_lock=True")
	}
	return append(argv, args...)
}

func (y *yum) locked(ctx context.Context, c pkg.Command) (pkg.Output, error) {
	c.Env = tool.Environ(y.env.Host)
	return pkg.Locked(ctx, y.env, func() (pkg.Output, error) { return pkg.Run(ctx, y.env.Host, c) }, func(out *pkg.Output) string {
		text := out.Stderr + "\n" + out.Stdout
		if line := lockLine(text); line != "" {
			return line
		}
		return rpm.LockLine(y.env.Host, text)
	})
}

// lockLine returns what dnf or yum say of a lock that another program has, and which
// one it is; "" where they do not.
func lockLine(text string) string {
	line, holder := "", ""
	for l := range strings.SplitSeq(text, "\n") {
		l = strings.TrimSpace(l)
		switch {
		case strings.Contains(l, " already locked by "), strings.Contains(l, "another copy is running as pid"),
			strings.Contains(l, "Another app is currently holding the yum lock"):
			if line == "" {
				line = l
			}
		case strings.HasPrefix(l, "The application with PID ") || strings.HasPrefix(l, "The other application is:"):
			holder = ": " + l
		}
	}
	if line == "" {
		return ""
	}
	return line + holder
}

// options returns the options for repositories and settings.
// Salt: salt/modules/yumpkg.py _get_options.
func (a *repoArgs) options() []string {
	var args []string
	if from := a.from(); len(from) > 0 {
		args = append(args, "--disablerepo=*", "--enablerepo="+strings.Join(from, ","))
	} else {
		for _, r := range a.Disablerepo {
			args = append(args, "--disablerepo="+r)
		}
		for _, r := range a.Enablerepo {
			args = append(args, "--enablerepo="+r)
		}
	}
	return append(args, a.settings()...)
}

// from returns the only repositories that a call means; none: any.
func (a *repoArgs) from() []string {
	if len(a.Fromrepo) == 0 {
		return a.Repo
	}
	return a.Fromrepo
}

// settings returns the options that choose no repositories.
func (a *repoArgs) settings() []string {
	var args []string
	if v := a.Disableexcludes; v != "" {
		args = append(args, "--disableexcludes="+v)
	}
	if v := a.Branch; v != "" {
		args = append(args, "--branch="+v)
	}
	for _, s := range a.Setopt {
		args = append(args, "--setopt", s)
	}
	return args
}

// A listed is a package that dnf list prints.
type listed struct{ name, arch, version, repo string }

// headers are the lines that divide the output of dnf list.
var headers = []string{"installed packages", "available packages", "available upgrades", "updated packages", "upgraded packages", "upgrades"}

// list reads the output of dnf list: name.arch, version and repository, which are in
// a line of their own where they are long.
// Salt: salt/modules/yumpkg.py _yum_pkginfo.
func (y *yum) list(text string) []listed {
	var words []string
	for line := range strings.SplitSeq(text, "\n") {
		if !slices.Contains(headers, strings.ToLower(strings.TrimSpace(line))) {
			words = append(words, strings.Fields(line)...)
		}
	}
	list := make([]listed, 0, len(words)/3)
	for w := range slices.Chunk(words, 3) {
		if len(w) < 3 {
			break
		}
		l := listed{arch: y.osarch, version: strings.TrimRight(w[1], "-"), repo: strings.TrimLeft(w[2], "@")}
		l.name = w[0]
		if i := strings.LastIndexByte(w[0], '.'); i > 0 {
			l.name, l.arch = w[0][:i], w[0][i+1:]
		}
		l.name = rpm.ResolveName(l.name, l.arch, y.osarch)
		list = append(list, l)
	}
	return list
}

// newestFirst sorts packages by their versions.
func newestFirst(list []listed) {
	sort.SliceStable(list, func(i, j int) bool { return rpm.Compare(list[j].version, list[i].version, false) < 0 })
}

// installed returns the versions of installed packages: text, or what attr names.
func (y *yum) installed(ctx context.Context, attr []string) (*value.Map, error) {
	return rpm.List(ctx, y.env, "", false, attr)
}

// versions returns lists of the versions of installed packages.
func (y *yum) versions(ctx context.Context) (*value.Map, error) {
	return rpm.List(ctx, y.env, "", true, nil)
}
