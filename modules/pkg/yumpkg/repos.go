package yumpkg

import (
	"context"
	"path"
	"slices"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/machine"
	"brine/modules/pkg"
	"brine/modules/pkg/repofile"
)

// configs are where the settings may be, the first of which counts.
var configs = []string{"/etc/yum/yum.conf", "/etc/yum.conf", "/etc/dnf/dnf.conf", "/etc/tdnf/tdnf.conf"}

// defaultDirs are where repositories are if the settings do not say.
var defaultDirs = []string{"/etc/yum/repos.d", "/etc/yum.repos.d"}

// repoDirs returns the directories of files with repositories: those of basedir, or
// of the settings.
func (y *yum) repoDirs(basedir []string, strict bool) ([]string, error) {
	if len(basedir) > 0 {
		return basedir, nil
	}
	for _, name := range configs {
		if !machine.Exists(y.env.Host, name) {
			continue
		}
		f, err := repofile.Read(y.env.Host, name, strict)
		if err != nil {
			return nil, err
		}
		var dirs []string
		for _, d := range strings.FieldsFunc(f.Sections.Map("main").Str("reposdir"), func(r rune) bool { return strings.ContainsRune(", \t\n", r) }) {
			if path.IsAbs(d) {
				dirs = append(dirs, d)
			}
		}
		if len(dirs) > 0 {
			return dirs, nil
		}
		break
	}
	return defaultDirs, nil
}

func (y *yum) repositories(basedir []string, strict bool) (*value.Map, error) {
	dirs, err := y.repoDirs(basedir, strict)
	if err != nil {
		return nil, err
	}
	return repofile.Repositories(y.env.Host, dirs, strict)
}

// coprID returns the name of the repository of a project: copr:USER/PROJECT.
func coprID(repo string) string {
	user, project, _ := strings.Cut(strings.TrimPrefix(repo, "copr:"), "/")
	return "copr:copr.fedorainfracloud.org:" + user + ":" + project
}

func isCopr(repo string) bool {
	return strings.HasPrefix(repo, "copr:") && strings.Contains(repo, "/")
}

func repoID(repo string) string {
	if isCopr(repo) {
		return coprID(repo)
	}
	return repo
}

type listReposArgs struct {
	basedirArg
	strictArg
	_ fun.Kwargs
}

func listRepos(_ context.Context, c *fun.Call, a *listReposArgs) (fun.Result, error) {
	m, err := (&yum{env: c.Env}).repositories(a.Basedir, a.StrictConfig)
	return fun.Result{Value: m}, err
}

// getRepoArgs are the arguments of getRepo, delRepo and modRepo.
type getRepoArgs struct {
	repoArg
	basedirArg
	strictArg
	_ fun.Kwargs
}

func getRepo(_ context.Context, c *fun.Call, a *getRepoArgs) (fun.Result, error) {
	repos, err := (&yum{env: c.Env}).repositories(a.Basedir, a.StrictConfig)
	if err != nil {
		return fun.Result{}, err
	}
	m := repos.Map(repoID(a.Repo))
	if m == nil {
		m = value.NewMap(0)
	}
	m.Delete("file")
	return fun.Value(m)
}

func delRepo(_ context.Context, c *fun.Call, a *getRepoArgs) (fun.Result, error) {
	y := &yum{env: c.Env}
	repo, strict := repoID(a.Repo), a.StrictConfig
	dirs, err := y.repoDirs(a.Basedir, strict)
	if err != nil {
		return fun.Result{}, err
	}
	repos, err := repofile.Repositories(c.Env.Host, dirs, strict)
	if err != nil {
		return fun.Result{}, err
	}
	if !repos.Has(repo) {
		return fun.Value("Error: the " + repo + " repo does not exist in " + value.Repr(value.Strings(dirs...)))
	}
	file := repos.Map(repo).Str("file")
	f, err := repofile.Read(c.Env.Host, file, strict)
	if err != nil {
		return fun.Result{}, err
	}
	f.Sections.Delete(repo)
	if f.Sections.Len() == 0 {
		if err := c.Env.Host.Remove(file); err != nil {
			return fun.Result{}, err
		}
		return fun.Value("File " + file + " containing repo " + repo + " has been removed")
	}
	if err := f.Write(c.Env.Host, file); err != nil {
		return fun.Result{}, err
	}
	return fun.Value("Repo " + repo + " has been removed from " + file)
}

// A modification is a call of pkg.mod_repo.
type modification struct {
	*yum
	a      *getRepoArgs
	c      *fun.Call
	repo   string
	opts   *value.Map // options to set
	delete []string   // options to take out
	strict bool
}

// modRepo changes a repository, or adds it. Salt: salt/modules/yumpkg.py mod_repo.
func modRepo(ctx context.Context, c *fun.Call, a *getRepoArgs) (fun.Result, error) {
	m := &modification{yum: &yum{env: c.Env, name: program(c.Env.Host)}, c: c, a: a, repo: a.Repo, strict: a.StrictConfig}
	if err := m.read(); err != nil {
		return fun.Result{}, err
	}
	file, f, err := m.open(ctx)
	if err != nil {
		return fun.Result{}, err
	}
	section := f.Sections.Map(m.repo)
	for _, d := range [][2]string{{"baseurl", "mirrorlist"}, {"mirrorlist", "baseurl"}} {
		if slices.Contains(m.delete, d[0]) && !m.opts.Has(d[1]) && !section.Has(d[1]) && !m.opts.Has("metalink") && !section.Has("metalink") {
			return fun.Result{}, &fun.InvocationError{Msg: "Cannot delete " + d[0] + " without specifying " + d[1]}
		}
	}
	for _, k := range m.delete {
		section.Delete(k)
	}
	section.Update(m.opts)
	if err := f.Write(c.Env.Host, file); err != nil {
		return fun.Result{}, err
	}
	for _, v := range f.Sections.All() {
		v.(*value.Map).Delete("comments")
	}
	return fun.Value(value.MapOf(file, f.Sections))
}

// read reads the options of the call.
func (m *modification) read() error {
	m.opts = value.NewMap(m.c.Kw.Len())
	for k, v := range m.c.Kw.All() {
		name, _ := k.(string)
		switch {
		case strings.HasPrefix(name, "__"), name == "saltenv":
			continue
		case name == "", strings.ContainsAny(name, "=:\n[]#; \t"):
			return &fun.InvocationError{Msg: "invalid option of a repository: " + value.Repr(k)}
		}
		if _, isBool := v.(bool); !isBool && !value.Truth(v) && !value.Equal(v, int64(0)) {
			m.delete = append(m.delete, name)
			continue
		}
		m.opts.Set(name, v)
	}
	has := func(name string) bool { return m.opts.Has(name) || slices.Contains(m.delete, name) }
	switch {
	case has("mirrorlist") && has("baseurl") && m.opts.Has("mirrorlist") && m.opts.Has("baseurl"):
		return &fun.InvocationError{Msg: "Only one of 'mirrorlist' and 'baseurl' can be specified"}
	case slices.Contains(m.delete, "name"):
		return &fun.InvocationError{Msg: "The repo name cannot be deleted"}
	case m.opts.Has("mirrorlist"):
		m.delete = append(m.delete, "baseurl")
	case m.opts.Has("baseurl"):
		m.delete = append(m.delete, "mirrorlist")
	}
	return nil
}

// open returns the file of the repository, which has a section for it.
func (m *modification) open(ctx context.Context) (string, *repofile.File, error) {
	project := m.repo
	m.repo = repoID(m.repo)
	h := m.env.Host
	dirs, err := m.repoDirs(m.a.Basedir, m.strict)
	if err != nil {
		return "", nil, err
	}
	repos, err := repofile.Repositories(h, dirs, m.strict)
	if err != nil {
		return "", nil, err
	}
	if !repos.Has(m.repo) && isCopr(project) {
		if err := m.enableCopr(ctx, strings.TrimPrefix(project, "copr:")); err != nil {
			return "", nil, err
		}
		if repos, err = repofile.Repositories(h, dirs, m.strict); err != nil {
			return "", nil, err
		}
	}
	if repos.Has(m.repo) {
		file := repos.Map(m.repo).Str("file")
		f, err := repofile.Read(h, file, m.strict)
		return file, f, err
	}
	if err := repofile.CheckName(m.repo); err != nil {
		return "", nil, err
	}
	i := slices.IndexFunc(dirs, func(d string) bool { return machine.Exists(h, d) })
	switch {
	case i < 0:
		return "", nil, &fun.InvocationError{Msg: "The repo does not exist and needs to be created, but none of the following basedir directories exist: " + value.Repr(value.Strings(dirs...))}
	case !m.opts.Has("name"):
		return "", nil, &fun.InvocationError{Msg: "The repo does not exist and needs to be created, but a name was not given"}
	case !m.opts.Has("baseurl") && !m.opts.Has("mirrorlist") && !m.opts.Has("metalink"):
		return "", nil, &fun.InvocationError{Msg: "The repo does not exist and needs to be created, but either a baseurl or a mirrorlist needs to be given"}
	}
	return path.Join(dirs[i], m.repo+".repo"), &repofile.File{Sections: value.MapOf(m.repo, value.NewMap(m.opts.Len()))}, nil
}

// enableCopr adds the repository of a project of Copr.
func (m *modification) enableCopr(ctx context.Context, project string) error {
	if err := pkg.CheckName(project); err != nil {
		return err
	}
	plugin := "dnf-plugins-core"
	if !m.isDNF() {
		plugin = "yum-plugin-copr"
	}
	have, err := m.installed(ctx, nil)
	if err != nil {
		return err
	}
	if m.name != dnf5 && !have.Has(plugin) {
		return &fun.InvocationError{Msg: plugin + " must be installed to use COPR"}
	}
	out, err := m.change(ctx, false, "copr", "enable", project, "-y")
	if err != nil {
		return err
	}
	if out.Status != 0 {
		return fun.Errorf("Unable to add COPR '%s'. '%s' exited with status %d: '%s' ", project, m.name, out.Status, out.Stderr)
	}
	return nil
}
