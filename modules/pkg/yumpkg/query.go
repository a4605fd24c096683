package yumpkg

import (
	"context"
	"slices"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/printable"
	"brine/internal/py/value"
	"brine/modules/machine"
	"brine/modules/pkg"
	"brine/modules/pkg/rpm"
	"brine/modules/tool"
)

type listPkgsArgs struct {
	VersionsAsList bool        `arg:"versions_as_list" default:"False" doc:"return lists of versions rather than text"`
	Attr           value.Value `arg:"attr,kw,comma[str]" doc:"attributes to return in place of versions: epoch, version, release, arch, install_date, install_date_time_t, or all"`
	Removed        bool        `arg:"removed,kw" default:"False" doc:"list removed packages instead, of which rpm knows none"`
	PurgeDesired   bool        `arg:"purge_desired,kw" default:"False" doc:"list packages to be purged instead; there are none"`
	_              fun.Kwargs
}

func listPkgs(ctx context.Context, c *fun.Call, a *listPkgsArgs) (fun.Result, error) {
	if a.Removed || a.PurgeDesired { // rpm knows neither
		return fun.Value(value.NewMap(0))
	}
	m, err := rpm.List(ctx, c.Env, "", a.VersionsAsList, pkg.Words(a.Attr))
	return fun.Result{Value: m}, err
}

// installedOr returns what is installed, or what was downloaded.
func (y *yum) installedOr(ctx context.Context, downloaded bool, attr []string) (*value.Map, error) {
	if downloaded {
		return rpm.DownloadedFiles(ctx, y.env, y.cacheDir())
	}
	return y.installed(ctx, attr)
}

func (y *yum) cacheDir() string {
	if y.name == dnf5 {
		return "/var/cache/libdnf5"
	}
	return "/var/cache/" + y.name
}

// listDownloadedArgs are the arguments of listDownloaded, listInstalledPatches and servicesNeedRestart.
type listDownloadedArgs struct {
	_ fun.Kwargs
}

func listDownloaded(ctx context.Context, c *fun.Call, _ *listDownloadedArgs) (fun.Result, error) {
	y, err := newYum(c)
	if err != nil {
		return fun.Result{}, err
	}
	m, err := y.installedOr(ctx, true, nil)
	return fun.Result{Value: m}, err
}

type latestVersionArgs struct {
	latestArgs
	repoArgs
	_ fun.Varargs
	_ fun.Kwargs
}

func latestVersion(ctx context.Context, c *fun.Call, a *latestVersionArgs) (fun.Result, error) {
	wanted := pkg.Names(c)
	if len(wanted) == 0 {
		return fun.Value("")
	}
	y, m, err := latest(ctx, c, &a.repoArgs, wanted, a.Refresh)
	if err != nil {
		return fun.Result{}, err
	}
	return y.result(pkg.One(wanted, m))
}

// latest returns the versions that packages can be installed in or upgraded to, ""
// for one that is up to date.
// Salt: salt/modules/yumpkg.py latest_version.
func latest(ctx context.Context, c *fun.Call, a *repoArgs, wanted []string, refresh bool) (*yum, *value.Map, error) {
	if err := pkg.CheckNames(wanted); err != nil {
		return nil, nil, err
	}
	y, err := newYum(c)
	if err != nil {
		return nil, nil, err
	}
	if refresh {
		if _, err := y.refresh(ctx, a.options(), true); err != nil {
			return nil, nil, err
		}
	}
	have, err := y.versions(ctx)
	if err != nil {
		return nil, nil, err
	}
	out, err := y.query(ctx, slices.Concat([]string{"--quiet"}, a.options(), y.listing("available"), wanted)...)
	if err != nil {
		return nil, nil, err
	}
	var found []listed
	if out.Status == 0 {
		found = y.list(out.Stdout)
		newestFirst(found)
	} else if out.Stderr != "" && slices.ContainsFunc(wanted, func(n string) bool { return !have.Has(n) }) {
		c.Env.Log().Error("no latest version", "packages", wanted, "stderr", out.Stderr)
	}
	ret := value.NewMap(len(wanted))
	for _, n := range wanted {
		ret.Set(n, y.candidate(n, found, have))
	}
	return y, ret, nil
}

// listing returns the command that lists packages of a kind: available or upgrades.
func (y *yum) listing(kind string) []string {
	switch {
	case y.name == dnf5:
		return []string{"list", "--" + kind}
	case kind == "upgrades" && y.name != dnf:
		kind = "updates"
	}
	return []string{"list", kind}
}

// candidate returns the newest version of a package that is newer than all that are
// installed; "" where there is none.
func (y *yum) candidate(name string, found []listed, have *value.Map) string {
	arch := y.osarch
	if _, a := rpm.SplitArch(name); rpm.IsArch(a) {
		arch = a
	}
	for _, l := range found {
		if l.name != name || l.arch != "noarch" && l.arch != arch && !rpm.Same32(l.arch, y.osarch) {
			continue
		}
		newer := true
		if old := have.List(name); old != nil {
			newer = !slices.ContainsFunc(old.Items, func(v value.Value) bool { return rpm.Compare(value.Str(v), l.version, false) >= 0 })
		}
		if newer {
			return l.version
		}
	}
	return ""
}

type upgradeAvailableArgs struct {
	Name string `arg:"name,required" doc:"name of the package"`
	refreshArg
	repoArgs
	_ fun.Kwargs
}

func upgradeAvailable(ctx context.Context, c *fun.Call, a *upgradeAvailableArgs) (fun.Result, error) {
	name := a.Name
	y, m, err := latest(ctx, c, &a.repoArgs, []string{name}, a.Refresh)
	if err != nil {
		return fun.Result{}, err
	}
	return y.result(m.Str(name) != "")
}

type listUpgradesArgs struct {
	Refresh bool `arg:"refresh" default:"True" doc:"refresh the repositories first"`
	repoArgs
	_ fun.Kwargs
}

func listUpgrades(ctx context.Context, c *fun.Call, a *listUpgradesArgs) (fun.Result, error) {
	y, err := newYum(c)
	if err != nil {
		return fun.Result{}, err
	}
	if a.Refresh {
		if _, err := y.refresh(ctx, a.options(), false); err != nil {
			return fun.Result{}, err
		}
	}
	out, err := y.query(ctx, slices.Concat([]string{"--quiet"}, a.options(), y.listing("upgrades"))...)
	if err != nil {
		return fun.Result{}, err
	}
	if out.Status != 0 && strings.Contains(out.Stderr, "Error: ") && !strings.Contains(out.Stderr, "No matching Packages") {
		return fun.Result{}, fun.Errorf("Failed to get upgrades: %s", out.Stderr)
	}
	m := value.NewMap(0)
	for _, l := range y.list(out.Stdout) {
		if had := m.Str(l.name); had == "" || rpm.Compare(l.version, had, false) > 0 {
			m.Set(l.name, l.version)
		}
	}
	return y.result(m)
}

type refreshDBArgs struct {
	CheckUpdate bool `arg:"check_update,kw" default:"True" doc:"fetch the metadata now, and see whether there are updates"`
	repoArgs
	_ fun.Kwargs
}

func refreshDB(ctx context.Context, c *fun.Call, a *refreshDBArgs) (fun.Result, error) {
	y, err := newYum(c)
	if err != nil {
		return fun.Result{}, err
	}
	v, err := y.refresh(ctx, a.options(), a.CheckUpdate)
	return fun.Result{Value: v}, err
}

// refresh has the metadata of repositories fetched before they are used next. With
// check it is fetched now, and the value says whether there are updates: True, None
// or, where that failed, False.
func (y *yum) refresh(ctx context.Context, options []string, check bool) (value.Value, error) {
	pkg.Refreshed(y.env)
	if _, err := y.change(ctx, false, slices.Concat([]string{"--quiet", "--assumeyes", "clean", "expire-cache"}, options)...); err != nil {
		return nil, err
	}
	if !check {
		return true, nil
	}
	args := []string{"--assumeyes", "check-update"} // not --quiet, which hides what is ignored
	if machine.Grain(y.env, "os_family") == "RedHat" && machine.Grain(y.env, "osmajorrelease") == "7" {
		args = append(args, "--setopt=autocheck_running_kernel=false") // which takes long, and is not used
	}
	out, err := y.change(ctx, false, append(args, options...)...)
	if err != nil {
		return nil, err
	}
	if lines := ignored(out.Stderr); len(lines) > 0 {
		y.env.Warn(fun.Warning{Text: y.name + " check-update: " + printable.Text(strings.Join(lines, "; "))})
	}
	switch out.Status {
	case 100:
		return true, nil
	case 0:
		return nil, nil
	}
	y.env.Log().Error("the metadata of repositories cannot be refreshed", "stderr", out.Stderr)
	return false, nil
}

// ignored returns what dnf says of repositories that it could not reach and may skip,
// which is not a failure of it.
func ignored(stderr string) []string {
	const most = 5
	var lines []string
	for l := range strings.SplitSeq(stderr, "\n") {
		if (strings.HasPrefix(l, "Error: Failed to download ") || strings.HasPrefix(l, "Ignoring repositories: ")) && len(lines) < most {
			lines = append(lines, strings.TrimPrefix(l, "Error: "))
		}
	}
	return lines
}

type listRepoPkgsArgs struct {
	Byrepo    bool `arg:"byrepo,kw" default:"False" doc:"return a mapping for each repository"`
	Cacheonly bool `arg:"cacheonly,kw" default:"False" doc:"use only metadata that was fetched before"`
	strictArg
	repoArgs
	_ fun.Varargs
	_ fun.Kwargs
}

func listRepoPkgs(ctx context.Context, c *fun.Call, a *listRepoPkgsArgs) (fun.Result, error) {
	y, err := newYum(c)
	if err != nil {
		return fun.Result{}, err
	}
	q := repoQuery{patterns: pkg.Names(c), byRepo: a.Byrepo, cacheOnly: a.Cacheonly, strict: a.StrictConfig}
	m, err := y.available(ctx, &a.repoArgs, q)
	if err != nil {
		return fun.Result{}, err
	}
	return y.result(m)
}

// A repoQuery is what [yum.available] is asked for.
type repoQuery struct {
	patterns                  []string // names or patterns of packages; none: all
	byRepo, cacheOnly, strict bool
}

// available returns the versions that repositories have of packages, newest first;
// by repository if q.byRepo.
// Salt: salt/modules/yumpkg.py list_repo_pkgs.
func (y *yum) available(ctx context.Context, a *repoArgs, q repoQuery) (*value.Map, error) {
	if err := pkg.CheckNames(q.patterns); err != nil {
		return nil, err
	}
	repos, err := y.enabledRepos(a, q.strict)
	if err != nil {
		return nil, err
	}
	args := []string{"--quiet"}
	if q.cacheOnly {
		args = append(args, "-C")
	}
	args = append(args, a.settings()...)
	if len(repos) == 0 {
		return value.NewMap(0), nil
	}
	// One question for all repositories: what is not of one of them does not count.
	args = append(args, "--disablerepo=*", "--enablerepo="+strings.Join(repos, ","), "list", "--showduplicates")
	out, err := y.query(ctx, append(args, q.patterns...)...)
	if err != nil {
		return nil, err
	}
	var found []listed
	if out.Status == 0 {
		found = y.list(out.Stdout)
		newestFirst(found)
	}
	ret := value.NewMap(0)
	for _, l := range found {
		if !slices.Contains(repos, l.repo) {
			continue
		}
		into := ret
		if q.byRepo {
			if into = ret.Map(l.repo); into == nil {
				into = value.NewMap(0)
				ret.Set(l.repo, into)
			}
		}
		had := into.List(l.name)
		switch {
		case had == nil:
			into.Set(l.name, value.NewList(l.version))
		case had.Items[had.Len()-1] != l.version:
			had.Append(l.version)
		}
	}
	return ret, nil
}

// enabledRepos returns the repositories that a call means: those of fromrepo, or all
// that are enabled.
func (y *yum) enabledRepos(a *repoArgs, strict bool) ([]string, error) {
	if from := a.from(); len(from) > 0 {
		return from, nil
	}
	repos, err := y.repositories(nil, strict)
	if err != nil {
		return nil, err
	}
	enable, disable := a.Enablerepo, a.Disablerepo
	var list []string
	for name, v := range repos.All() {
		id := value.Str(name)
		section := v.(*value.Map)
		on := !section.Has("enabled") || enabled(section.Str("enabled"))
		if slices.Contains(enable, id) || on && !slices.Contains(disable, id) {
			list = append(list, id)
		}
	}
	return list, nil
}

func enabled(s string) bool {
	switch strings.ToLower(s) {
	case "1", "true", "yes", "on":
		return true
	}
	return false
}

// cacheOfDownloads is where pkg.download puts packages.
const cacheOfDownloads = "/var/cache/yum/packages"

type downloadArgs struct {
	_ fun.Varargs
	_ fun.Kwargs
}

func download(ctx context.Context, c *fun.Call, _ *downloadArgs) (fun.Result, error) {
	wanted := pkg.Names(c)
	if len(wanted) == 0 {
		return fun.Result{}, &fun.InvocationError{Msg: "No packages were specified"}
	}
	if err := pkg.CheckNames(wanted); err != nil {
		return fun.Result{}, err
	}
	y, err := newYum(c)
	if err != nil {
		return fun.Result{}, err
	}
	h := c.Env.Host
	argv := []string{"yumdownloader", "-q", "--destdir=" + cacheOfDownloads}
	if !tool.Has(h, "yumdownloader") {
		if !y.isDNF() {
			return fun.Result{}, fun.Errorf("The 'yumdownloader' binary was not found in $PATH.")
		}
		argv = []string{y.name, "-q", "download", "--destdir=" + cacheOfDownloads}
	}
	if err := h.MkdirAll(cacheOfDownloads, 0o755); err != nil {
		return fun.Result{}, err
	}
	match := func(file string) string { // the package that a file is of
		for _, n := range wanted {
			if strings.HasPrefix(file, n+"-") && strings.HasSuffix(file, ".rpm") {
				return n
			}
		}
		return ""
	}
	cached, err := h.ReadDir(cacheOfDownloads)
	if err != nil {
		return fun.Result{}, err
	}
	for _, f := range cached {
		if match(f) != "" {
			if err := h.Remove(cacheOfDownloads + "/" + f); err != nil {
				c.Env.Log().Error("unable to remove a package", "file", f, "err", err)
			}
		}
	}
	out, err := pkg.Run(ctx, h, pkg.Command{Argv: append(argv, wanted...)})
	if err != nil {
		return fun.Result{}, err
	}
	if cached, err = h.ReadDir(cacheOfDownloads); err != nil {
		return fun.Result{}, err
	}
	ret := value.NewMap(len(wanted))
	for _, f := range cached {
		if n := match(f); n != "" {
			ret.Set(n, cacheOfDownloads+"/"+f)
		}
	}
	if ret.Len() == 0 {
		return fun.Result{}, fun.Errorf("Unable to download any of the following packages: %s", strings.Join(wanted, ", "))
	}
	if failed := slices.DeleteFunc(slices.Clone(wanted), func(n string) bool { return ret.Has(n) }); len(failed) > 0 {
		ret.Set("_error", "The following package(s) failed to download: "+strings.Join(failed, ", "))
	}
	return fun.Result{Value: ret, Retcode: out.Status}, nil
}

// notDNF5 refuses a question that dnf5 answers in another form.
func (y *yum) notDNF5(what string) error {
	if y.name == dnf5 {
		return fun.Errorf("pkg.%s works with dnf and yum, not with dnf5", what)
	}
	return nil
}

type listPatchesArgs struct {
	Refresh bool `arg:"refresh" default:"False" doc:"refresh the repositories first"`
	_       fun.Kwargs
}

func listPatches(ctx context.Context, c *fun.Call, a *listPatchesArgs) (fun.Result, error) {
	y, err := newYum(c)
	if err != nil {
		return fun.Result{}, err
	}
	if a.Refresh {
		if _, err := y.refresh(ctx, nil, true); err != nil {
			return fun.Result{}, err
		}
	}
	return y.patches(ctx, false)
}

func listInstalledPatches(ctx context.Context, c *fun.Call, _ *listDownloadedArgs) (fun.Result, error) {
	y, err := newYum(c)
	if err != nil {
		return fun.Result{}, err
	}
	return y.patches(ctx, true)
}

func (y *yum) patches(ctx context.Context, installedOnly bool) (fun.Result, error) {
	if err := y.notDNF5("list_patches"); err != nil {
		return fun.Result{}, err
	}
	out, err := y.query(ctx, "--quiet", "updateinfo", "list", "all")
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Result{Value: advisories(out.Stdout, installedOnly), Retcode: out.Status}, nil
}

// advisories reads lines such as "i RHSA-2024:1  Important/Sec.  bash-5.1-2.x86_64".
// Those of an advisory of which all packages are installed begin with i.
// Salt: salt/modules/yumpkg.py _get_patches.
func advisories(text string, installedOnly bool) *value.Map {
	m := value.NewMap(0)
	for line := range strings.SplitSeq(text, "\n") {
		if len(line) < 2 || line[0] != 'i' && line[0] != ' ' || line[1] != ' ' {
			continue
		}
		f := strings.Fields(line[1:])
		if len(f) < 3 {
			continue
		}
		here := line[0] == 'i'
		if one := m.Map(f[0]); one != nil {
			one.List("summary").Append(f[2])
			one.Set("installed", here && value.Truth(one.At("installed")))
		} else {
			m.Set(f[0], value.MapOf("installed", here, "summary", value.NewList(f[2])))
		}
	}
	if installedOnly {
		for _, id := range m.Keys() {
			if m.Map(id).At("installed") != true {
				m.Delete(id)
			}
		}
	}
	return m
}

func servicesNeedRestart(ctx context.Context, c *fun.Call, _ *listDownloadedArgs) (fun.Result, error) {
	y, err := newYum(c)
	if err != nil {
		return fun.Result{}, err
	}
	if y.name != dnf {
		return fun.Result{}, fun.Errorf("dnf is required to list outdated services.")
	}
	if !machine.Booted(c.Env.Host) {
		return fun.Result{}, fun.Errorf("systemd is required to list outdated services.")
	}
	out, err := y.query(ctx, "--quiet", "needs-restarting")
	if err != nil {
		return fun.Result{}, err
	}
	var services []string
	for line := range strings.SplitSeq(out.Stdout, "\n") {
		if pid, _, ok := strings.Cut(line, ":"); ok {
			if s := pkg.ServiceOf(c.Env.Host, strings.TrimSpace(pid)); s != "" {
				services = append(services, s)
			}
		}
	}
	slices.Sort(services)
	return fun.Result{Value: value.Strings(slices.Compact(services)...), Retcode: out.Status}, nil
}
