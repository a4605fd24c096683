package zypperpkg

import (
	"context"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/pyre"
	"brine/internal/py/value"
	"brine/modules/pkg"
	"brine/modules/pkg/resource"
	"brine/modules/pkg/rpm"
)

type listPkgsArgs struct {
	VersionsAsList bool `arg:"versions_as_list" default:"False" doc:"return lists of versions rather than text"`
	rootArg
	Includes     []string    `arg:"includes,comma[str]" doc:"also list what is installed of these kinds: patch, pattern, product"`
	Attr         value.Value `arg:"attr,kw,comma[str]" doc:"attributes to return in place of versions: epoch, version, release, arch, install_date, install_date_time_t, or all"`
	Removed      bool        `arg:"removed,kw" default:"False" doc:"list removed packages instead, of which rpm knows none"`
	PurgeDesired bool        `arg:"purge_desired,kw" default:"False" doc:"list packages to be purged instead; there are none"`
	_            fun.Kwargs
}

func listPkgs(ctx context.Context, c *fun.Call, a *listPkgsArgs) (fun.Result, error) {
	if a.Removed || a.PurgeDesired { // rpm knows neither
		return fun.Value(value.NewMap(0))
	}
	m, err := newZypper(c, a.Root).list(ctx, a.Includes, a.VersionsAsList, pkg.Words(a.Attr))
	return fun.Result{Value: m}, err
}

// list returns installed packages without the keys that rpm trusts.
func (z *zypper) list(ctx context.Context, includes []string, asList bool, attr []string) (*value.Map, error) {
	db, err := rpm.Read(ctx, z.env, z.root)
	if err != nil {
		return nil, err
	}
	m := db.Details()
	for _, k := range m.Keys() {
		if strings.HasPrefix(value.Str(k), "gpg-pubkey") {
			m.Delete(k)
		}
	}
	for _, kind := range includes {
		if err := z.include(ctx, kind, m); err != nil {
			return nil, err
		}
	}
	return resource.Format(m, asList, attr, func(name string) (string, value.Value) {
		p := rpm.ParseArch(name)
		return p.Str("name"), p.At("arch")
	})
}

// include adds what is installed of another kind than packages.
func (z *zypper) include(ctx context.Context, kind string, into *value.Map) error {
	add := func(name string, epoch, version, release, arch value.Value) {
		into.Set(kind+":"+name, value.NewList(value.MapOf("epoch", epoch, "version", version, "release", release, "arch", arch,
			"install_date", nil, "install_date_time_t", nil)))
	}
	switch kind {
	case "product":
		products, err := z.products(ctx, false)
		if err != nil {
			return err
		}
		for _, v := range products.Items {
			p := v.(*value.Map)
			add(p.Str("name"), p.At("epoch"), p.At("version"), p.At("release"), p.At("arch"))
		}
	case "pattern", "patch":
		found, err := z.patterns(ctx, true)
		if kind == "patch" {
			found, err = z.patches(ctx, true)
		}
		if err != nil {
			return err
		}
		for k := range found.All() {
			name := value.Str(k)
			info, err := z.info(ctx, []string{kind + ":" + name})
			if err != nil {
				return err
			}
			one := info.Map(name)
			add(name, nil, one.At("version"), nil, one.At("arch"))
		}
	}
	return nil
}

type listUpgradesArgs struct {
	upgradeList
	refreshKw
	_ fun.Kwargs
}

func listUpgrades(ctx context.Context, c *fun.Call, a *listUpgradesArgs) (fun.Result, error) {
	z := newZypper(c, a.Root)
	if a.Refresh {
		if _, err := z.refresh(ctx, refreshOf(c)); err != nil {
			return fun.Result{}, err
		}
	}
	args := []string{"list-updates"}
	for _, r := range a.Fromrepo {
		args = append(args, "--repo", r)
	}
	e, err := z.ask(ctx, how{}, args...)
	if err != nil {
		return fun.Result{}, err
	}
	m := value.NewMap(0)
	for _, u := range e.all("update") {
		if u.attr("kind") == "package" {
			m.Set(u.attr("name"), u.attr("edition"))
		}
	}
	return fun.Value(m)
}

// infoAvailableArgs are the arguments of infoAvailable and latestVersion.
type infoAvailableArgs struct {
	latestArgs
	_ fun.Varargs
	_ fun.Kwargs
}

func infoAvailable(ctx context.Context, c *fun.Call, a *infoAvailableArgs) (fun.Result, error) {
	m, err := available(ctx, c, &a.latestArgs, pkg.Names(c))
	return fun.Result{Value: m}, err
}

// available describes packages, after a refresh if the call wishes one.
func available(ctx context.Context, c *fun.Call, a *latestArgs, names []string) (*value.Map, error) {
	if len(names) == 0 {
		return value.NewMap(0), nil
	}
	if err := pkg.CheckNames(names); err != nil {
		return nil, err
	}
	z := newZypper(c, a.Root)
	if a.Refresh {
		if _, err := z.refresh(ctx, refreshOf(c)); err != nil {
			return nil, err
		}
	}
	names = slices.Clone(names)
	slices.Sort(names)
	return z.info(ctx, slices.Compact(names))
}

// info describes packages, patterns and patches as zypper info does: lines of a key
// and a value below a heading for each.
func (z *zypper) info(ctx context.Context, names []string) (*value.Map, error) {
	ret := value.NewMap(len(names))
	for part := range slices.Chunk(names, 200) {
		out, err := z.run(ctx, how{query: true, notFound: true}, append([]string{"info", "-t", "package"}, part...)...)
		if err != nil {
			return nil, err
		}
		for _, text := range regexp.MustCompile(`Information for \w+`).Split(out.Stdout, -1) {
			one := value.NewMap(16)
			for line := range strings.SplitSeq(text, "\n") {
				key, val, ok := strings.Cut(line, ":")
				if val = value.TrimSpace(val); ok && val != "" && !strings.HasPrefix(line, "-----") && !strings.HasPrefix(line, "    ") {
					one.Set(strings.ToLower(value.TrimSpace(key)), val)
				}
			}
			name := one.Str("name")
			if name == "" {
				continue
			}
			one.Delete("name")
			if one.Has("installed") {
				one.Set("installed", strings.HasPrefix(strings.ToLower(one.Str("installed")), "yes"))
			}
			ret.Set(name, one)
		}
	}
	return ret, nil
}

func latestVersion(ctx context.Context, c *fun.Call, a *infoAvailableArgs) (fun.Result, error) {
	wanted := pkg.Names(c)
	m, err := latest(ctx, c, &a.latestArgs, wanted)
	if err != nil || len(wanted) == 0 {
		return fun.Result{Value: m}, err
	}
	return fun.Value(pkg.One(wanted, m))
}

// latest returns the versions that packages can be installed in or upgraded to, ""
// for one that is up to date.
func latest(ctx context.Context, c *fun.Call, a *latestArgs, wanted []string) (*value.Map, error) {
	info, err := available(ctx, c, a, wanted)
	if err != nil {
		return nil, err
	}
	ret := value.NewMap(len(wanted))
	for _, n := range wanted {
		about := info.Map(n)
		status := strings.ToLower(about.Str("status"))
		version := ""
		if strings.Contains(status, "not installed") || strings.Contains(status, "out-of-date") {
			version = about.Str("version")
		}
		ret.Set(n, version)
	}
	return ret, nil
}

type upgradeAvailableArgs struct {
	Name string `arg:"name,required" doc:"name of the package"`
	latestArgs
	_ fun.Kwargs
}

func upgradeAvailable(ctx context.Context, c *fun.Call, a *upgradeAvailableArgs) (fun.Result, error) {
	name := a.Name
	m, err := latest(ctx, c, &a.latestArgs, []string{name})
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(m.Str(name) != "")
}

type listRepoPkgsArgs struct {
	Byrepo   bool     `arg:"byrepo,kw" default:"False" doc:"return a mapping for each repository"`
	Fromrepo []string `arg:"fromrepo,kw,comma[str]" doc:"use only these repositories"`
	rootKw
	_ fun.Varargs
	_ fun.Kwargs
}

func listRepoPkgs(ctx context.Context, c *fun.Call, a *listRepoPkgsArgs) (fun.Result, error) {
	patterns, from := pkg.Names(c), a.Fromrepo
	if err := pkg.CheckNames(patterns); err != nil {
		return fun.Result{}, err
	}
	found, err := newZypper(c, a.Root).repoPackages(ctx, patterns...)
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(repoVersions(found, patterns, from, a.Byrepo))
}

// repoPackages are the packages of repositories that patterns match, newest first.
func (z *zypper) repoPackages(ctx context.Context, patterns ...string) ([]*element, error) {
	found, err := z.solvables(ctx, append([]string{"se", "-s"}, patterns...)...)
	slices.SortStableFunc(found, func(a, b *element) int { return compare(b.attr("edition"), a.attr("edition")) })
	return found, err
}

func versionCmp(ctx context.Context, c *fun.Call, a *versionCmpArgs) (fun.Result, error) {
	return rpm.VersionCmp(ctx, c, &a.VersionCmpArgs)
}

// compare compares two versions, the epoch included.
func compare(a, b string) int { return rpm.Compare(a, b, false) }

// repoVersions are the versions of packages, by their names.
func repoVersions(found []*element, patterns, from []string, byRepo bool) *value.Map {
	ret := value.NewMap(0)
	for _, s := range found {
		name, repo := s.attr("name"), s.attr("repository")
		matches := func(p string) bool { return value.Fnmatch(p, name) }
		if s.attr("kind") != "package" || repo == "" || len(from) > 0 && !slices.Contains(from, repo) || len(patterns) > 0 && !slices.ContainsFunc(patterns, matches) {
			continue
		}
		into := ret
		if byRepo {
			if into = ret.Map(repo); into == nil {
				into = value.NewMap(0)
				ret.Set(repo, into)
			}
		}
		switch had := into.List(name); {
		case had == nil:
			into.Set(name, value.NewList(s.attr("edition")))
		case had.Items[had.Len()-1] != s.attr("edition"):
			had.Append(s.attr("edition"))
		}
	}
	return ret
}

// A refreshing is what [zypper.refresh] is asked for.
type refreshing struct {
	force, importKeys bool
	repos             []string
}

// refreshOf returns what the arguments of a call say of a refresh.
func refreshOf(c *fun.Call) refreshing {
	r := refreshing{force: true}
	if c.Env.Pillar != nil {
		v, _ := c.Env.Pillar.Get("zypper")
		if m, ok := v.(*value.Map); ok && m.Has("refreshdb_force") {
			r.force = value.Truth(m.At("refreshdb_force"))
		}
	}
	if v := c.Args.At("force"); v != nil {
		r.force = value.Truth(v)
	}
	r.importKeys = value.Truth(c.Args.At("gpgautoimport"))
	r.repos = fun.StringsOf(c.Args.At("repos"))
	return r
}

// refreshKw are the arguments of refresh_db that the functions take which refresh first.
type refreshKw struct {
	_ fun.Arguments
	_ fun.Opt[bool] `arg:"force,kw" doc:"refresh: repositories that are up to date, too"`
	_ bool          `arg:"gpgautoimport,kw" default:"False" doc:"refresh: trust the keys of the repositories"`
	_ []string      `arg:"repos,kw,comma[str]" doc:"refresh: only these repositories"`
}

type refreshDBArgs struct {
	Force fun.Opt[bool] `arg:"force" doc:"refresh repositories that are up to date, too; default: the pillar zypper:refreshdb_force, else true"`
	rootArg
	Gpgautoimport bool     `arg:"gpgautoimport,kw" default:"False" doc:"trust the keys of the repositories"`
	Repos         []string `arg:"repos,kw,comma[str]" doc:"refresh only these repositories"`
	_             fun.Kwargs
}

func refreshDB(ctx context.Context, c *fun.Call, a *refreshDBArgs) (fun.Result, error) {
	r := refreshOf(c)
	if a.Force.Given {
		r.force = a.Force.V
	}
	r.importKeys, r.repos = a.Gpgautoimport, a.Repos
	m, err := newZypper(c, a.Root).refresh(ctx, r)
	return fun.Result{Value: m}, err
}

// refresh fetches the metadata of repositories. It returns by repository whether
// there was something new.
func (z *zypper) refresh(ctx context.Context, r refreshing) (*value.Map, error) {
	pkg.Refreshed(z.env)
	if err := pkg.CheckNames(r.repos); err != nil {
		return nil, err
	}
	var args []string
	if r.importKeys {
		args = append(args, "--gpg-auto-import-keys")
	}
	args = append(args, "refresh")
	if r.force {
		args = append(args, "--force")
	}
	out, err := z.run(ctx, how{refresh: true}, append(args, r.repos...)...)
	if err != nil {
		return nil, err
	}
	ret := value.NewMap(0)
	for line := range strings.SplitSeq(out.Stdout, "\n") {
		line = strings.TrimSpace(line)
		_, rest, _ := strings.Cut(line, "'")
		name, _, ok := strings.Cut(rest, "'")
		name = strings.TrimSpace(name)
		switch {
		case !ok:
		case strings.HasPrefix(line, "Repository") && strings.Contains(line, "is up to date"):
			ret.Set(name, false)
		case strings.HasPrefix(line, "Building") && strings.Contains(line, "done"):
			ret.Set(name, true)
		}
	}
	return ret, nil
}

// listPatternsArgs are the arguments of listPatterns and listPatches.
type listPatternsArgs struct {
	patternsArgs
	refreshKw
	_ fun.Kwargs
}

func listPatterns(ctx context.Context, c *fun.Call, a *listPatternsArgs) (fun.Result, error) {
	z := newZypper(c, a.Root)
	if a.Refresh {
		if _, err := z.refresh(ctx, refreshOf(c)); err != nil {
			return fun.Result{}, err
		}
	}
	m, err := z.visible(ctx, "pattern", false)
	return fun.Result{Value: m}, err
}

func listInstalledPatterns(ctx context.Context, c *fun.Call, a *rootArg) (fun.Result, error) {
	m, err := newZypper(c, a.Root).patterns(ctx, true)
	return fun.Result{Value: m}, err
}

// visible returns the patterns or patches that zypper search finds.
func (z *zypper) visible(ctx context.Context, kind string, installedOnly bool) (*value.Map, error) {
	found, err := z.solvables(ctx, "se", "-t", kind)
	if err != nil {
		return nil, err
	}
	m := value.NewMap(len(found))
	for _, s := range found {
		here := s.attr("status") == "installed"
		if here || !installedOnly {
			m.Set(s.attr("name"), value.MapOf("installed", here, "summary", s.attr("summary")))
		}
	}
	return m, nil
}

// patterns returns patterns with those that are not visible, which only rpm knows:
// packages that provide "pattern() = NAME".
func (z *zypper) patterns(ctx context.Context, installedOnly bool) (*value.Map, error) {
	m, err := z.visible(ctx, "pattern", installedOnly)
	if err != nil {
		return nil, err
	}
	out, err := rpm.Query(ctx, z.env.Host, z.root, "-q", "--provides", "--whatprovides", "pattern()")
	if err != nil {
		return nil, err
	}
	for line := range strings.SplitSeq(out.Stdout, "\n") {
		name, ok := strings.CutPrefix(line, "pattern() = ")
		name = strings.TrimSpace(name)
		if ok && !strings.HasPrefix(name, ".") && !m.Has(name) { // a name with a dot is an alias
			m.Set(name, value.MapOf("installed", true, "summary", "Non-visible pattern"))
		}
	}
	return m, nil
}

func (z *zypper) patches(ctx context.Context, installedOnly bool) (*value.Map, error) {
	return z.visible(ctx, "patch", installedOnly)
}

func listPatches(ctx context.Context, c *fun.Call, a *listPatternsArgs) (fun.Result, error) {
	z := newZypper(c, a.Root)
	if a.Refresh {
		if _, err := z.refresh(ctx, refreshOf(c)); err != nil {
			return fun.Result{}, err
		}
	}
	m, err := z.patches(ctx, false)
	return fun.Result{Value: m}, err
}

// listInstalledPatchesArgs are the arguments of listInstalledPatches, listProvides, servicesNeedRestart, listDownloaded and listRepos.
type listInstalledPatchesArgs struct {
	rootArg
	_ fun.Kwargs
}

func listInstalledPatches(ctx context.Context, c *fun.Call, a *listInstalledPatchesArgs) (fun.Result, error) {
	m, err := newZypper(c, a.Root).patches(ctx, true)
	return fun.Result{Value: m}, err
}

type searchArgs struct {
	Criteria string `arg:"criteria,required" doc:"what to search for"`
	onceArg
	Match              string `arg:"match,kw" oneof:"exact|words|substrings" doc:"how names are compared; default: substrings"`
	Provides           bool   `arg:"provides,kw" default:"False" doc:"search what packages provide"`
	Recommends         bool   `arg:"recommends,kw" default:"False" doc:"search what packages recommend"`
	Requires           bool   `arg:"requires,kw" default:"False" doc:"search what packages require"`
	Suggests           bool   `arg:"suggests,kw" default:"False" doc:"search what packages suggest"`
	Conflicts          bool   `arg:"conflicts,kw" default:"False" doc:"search what packages conflict with"`
	Obsoletes          bool   `arg:"obsoletes,kw" default:"False" doc:"search what packages make obsolete"`
	FileList           bool   `arg:"file_list,kw" default:"False" doc:"search the files of packages"`
	SearchDescriptions bool   `arg:"search_descriptions,kw" default:"False" doc:"search summaries and descriptions, too"`
	CaseSensitive      bool   `arg:"case_sensitive,kw" default:"False" doc:"respect case"`
	InstalledOnly      bool   `arg:"installed_only,kw" default:"False" doc:"return only installed packages"`
	NotInstalledOnly   bool   `arg:"not_installed_only,kw" default:"False" doc:"return only packages that are not installed"`
	Details            bool   `arg:"details,kw" default:"False" doc:"return versions and repositories, too"`
	rootKw
	refreshKw
	_ fun.Kwargs
}

func search(ctx context.Context, c *fun.Call, a *searchArgs) (fun.Result, error) {
	z := newZypper(c, a.Root)
	if a.Refresh {
		if _, err := z.refresh(ctx, refreshOf(c)); err != nil {
			return fun.Result{}, err
		}
	}
	var opts []string
	for _, o := range []struct {
		on     bool
		option string
	}{
		{a.Provides, "--provides"},
		{a.Recommends, "--recommends"},
		{a.Requires, "--requires"},
		{a.Suggests, "--suggests"},
		{a.Conflicts, "--conflicts"},
		{a.Obsoletes, "--obsoletes"},
		{a.FileList, "--file-list"},
		{a.SearchDescriptions, "--search-descriptions"},
		{a.CaseSensitive, "--case-sensitive"},
		{a.InstalledOnly, "--installed-only"},
		{a.NotInstalledOnly, "-u"},
		{a.Details, "--details"},
	} {
		if o.on {
			opts = append(opts, o.option)
		}
	}
	m, err := z.search(ctx, a.Criteria, a.Match, opts...)
	if err == nil && m.Len() == 0 {
		err = fun.Errorf("No packages found matching '%s'", a.Criteria)
	}
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(m)
}

// search returns by name what zypper says of the packages that it finds. match is
// exact, words, substrings or "".
func (z *zypper) search(ctx context.Context, criteria, match string, opts ...string) (*value.Map, error) {
	if err := pkg.CheckName(criteria); err != nil {
		return nil, err
	}
	args := []string{"search"}
	if match != "" {
		args = append(args, "--match-"+match)
	}
	args = append(args, opts...)
	e, err := z.ask(ctx, how{faults: true}, append(args, criteria)...)
	if err != nil {
		return nil, err
	}
	m := value.NewMap(0)
	for _, s := range e.all("solvable") {
		m.Set(s.attr("name"), s.attrs)
	}
	return m, nil
}

type listProductsArgs struct {
	All bool `arg:"all" default:"False" doc:"list all products rather than those that are installed"`
	onceArg
	rootArg
	refreshKw
	_ fun.Kwargs
}

func listProducts(ctx context.Context, c *fun.Call, a *listProductsArgs) (fun.Result, error) {
	z := newZypper(c, a.Root)
	if a.Refresh {
		if _, err := z.refresh(ctx, refreshOf(c)); err != nil {
			return fun.Result{}, err
		}
	}
	l, err := z.products(ctx, a.All)
	return fun.Result{Value: l}, err
}

// oemDir has the releases of products of other makers.
const oemDir = "/var/lib/suseRegister/OEM"

// products returns the products that are installed, or all that there are.
func (z *zypper) products(ctx context.Context, all bool) (*value.List, error) {
	args := []string{"products"}
	if !all {
		args = []string{"--disable-repositories", "products", "-i"}
	}
	e, err := z.ask(ctx, how{}, args...)
	if err != nil {
		return nil, err
	}
	list := value.NewList()
	for _, p := range e.first("product-list").all("product") {
		one := value.NewMap(12)
		for k, v := range p.attrs.All() {
			switch {
			case k == "isbase" || k == "installed":
				one.Set(k, v == "true" || v == "1")
			case v != "":
				one.Set(k, v)
			}
		}
		if eol := p.all("endoflife"); len(eol) > 0 {
			one.Set("eol", eol[0].attr("text"))
			n, _ := strconv.ParseInt(eol[0].attr("time_t"), 10, 64) // 0 where there is none
			one.Set("eol_t", n)
		}
		var lines []string
		for line := range strings.SplitSeq(p.first("description").content(), "\n") {
			lines = append(lines, strings.TrimSpace(line))
		}
		one.Set("description", strings.Join(lines, " "))
		if line := one.Str("productline"); line != "" && !strings.Contains(line, "/") {
			text, err := z.env.Host.ReadFile(z.root + oemDir + "/" + line)
			if release, _, _ := strings.Cut(string(text), "\n"); err == nil && strings.TrimSpace(release) != "" {
				one.Set("release", strings.TrimSpace(release))
			}
		}
		list.Append(one)
	}
	return list, nil
}

func listProvides(ctx context.Context, c *fun.Call, a *listInstalledPatchesArgs) (fun.Result, error) {
	z := newZypper(c, a.Root)
	out, err := rpm.Query(ctx, c.Env.Host, z.root, "-qa", "--queryformat", `[%{PROVIDES}_|-%{=NAME}\n]`)
	if err != nil {
		return fun.Result{}, err
	}
	m := value.NewMap(0)
	for line := range strings.SplitSeq(out.Stdout, "\n") {
		what, by, ok := strings.Cut(line, "_|-")
		if !ok || what == by {
			continue
		}
		if l := m.List(what); l == nil {
			m.Set(what, value.NewList(by))
		} else if !slices.Contains(l.Items, value.Value(by)) {
			l.Append(by)
		}
	}
	return fun.Value(m)
}

type resolveCapabilitiesArgs struct {
	Pkgs []value.Value `arg:"pkgs,required" doc:"names, or mappings of a name to a version"`
	onceArg
	rootArg
	ResolveCapabilities bool `arg:"resolve_capabilities,kw" default:"False" doc:"do so; default: return the names as they are"`
	refreshKw
	_ fun.Kwargs
}

// resolveCapabilities replaces names that no package has by those of the package
// that provides them.
func resolveCapabilities(ctx context.Context, c *fun.Call, a *resolveCapabilitiesArgs) (fun.Result, error) {
	z := newZypper(c, a.Root)
	if a.Refresh {
		if _, err := z.refresh(ctx, refreshOf(c)); err != nil {
			return fun.Result{}, err
		}
	}
	ret := value.NewList()
	for _, p := range a.Pkgs {
		name, version := p, value.Value(nil)
		if m, ok := p.(*value.Map); ok && m.Len() > 0 {
			name, version = m.Entry(0)
		}
		if a.ResolveCapabilities {
			found, err := z.provider(ctx, value.Str(name))
			if err != nil {
				return fun.Result{}, err
			}
			name = found
		}
		if value.Truth(version) {
			ret.Append(value.MapOf(name, version))
		} else {
			ret.Append(name)
		}
	}
	return fun.Value(ret)
}

// provider returns the package that a name means: itself where there is one of that
// name, and where none or several provide it.
func (z *zypper) provider(ctx context.Context, name string) (string, error) {
	m, err := z.search(ctx, name, "exact")
	if err != nil || m.Len() > 0 {
		return name, err
	}
	if m, err = z.search(ctx, name, "exact", "--provides"); err != nil || m.Len() == 0 {
		return name, err
	}
	if m.Len() > 1 {
		z.env.Log().Warn("several packages provide a capability", "capability", name)
		return name, nil
	}
	found, _ := m.Entry(0)
	return value.Str(found), nil
}

func servicesNeedRestart(ctx context.Context, c *fun.Call, a *listInstalledPatchesArgs) (fun.Result, error) {
	out, err := newZypper(c, a.Root).run(ctx, how{query: true}, "ps", "-sss")
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(value.Strings(strings.Fields(out.Stdout)...))
}

type downloadArgs struct {
	Refresh bool `arg:"refresh,kw" default:"False" doc:"refresh the repositories first"`
	rootKw
	_ fun.Varargs
	refreshKw
	_ fun.Kwargs
}

func download(ctx context.Context, c *fun.Call, a *downloadArgs) (fun.Result, error) {
	wanted := pkg.Names(c)
	if len(wanted) == 0 {
		return fun.Result{}, &fun.InvocationError{Msg: "No packages specified"}
	}
	if err := pkg.CheckNames(wanted); err != nil {
		return fun.Result{}, err
	}
	z := newZypper(c, a.Root)
	if a.Refresh {
		if _, err := z.refresh(ctx, refreshOf(c)); err != nil {
			return fun.Result{}, err
		}
	}
	out, err := z.run(ctx, how{xml: true}, append([]string{"download"}, wanted...)...)
	if err != nil {
		return fun.Result{}, err
	}
	ret := value.NewMap(len(wanted))
	for _, d := range parseXML(out.Stdout).all("download-result") {
		repo, file := d.first("repository"), d.first("localfile").attr("path")
		if ok, err := rpm.Valid(ctx, c.Env, z.root, file); err != nil {
			return fun.Result{}, err
		} else if ok {
			ret.Set(strings.TrimSpace(d.first("name").content()), value.MapOf("repository-name", repo.attr("name"), "repository-alias", repo.attr("alias"), "path", file))
		}
	}
	if ret.Len() == 0 {
		return fun.Result{}, fun.Errorf("Unable to download packages: %s", strings.Join(wanted, ", "))
	}
	if failed := slices.DeleteFunc(slices.Clone(wanted), func(n string) bool { return ret.Has(n) }); len(failed) > 0 {
		ret.Set("_error", "The following package(s) failed to download: "+strings.Join(failed, ", "))
	}
	return fun.Value(ret)
}

// cacheDir is where zypper keeps packages.
const cacheDir = "/var/cache/zypp/packages"

func (z *zypper) downloaded(ctx context.Context) (*value.Map, error) {
	return rpm.DownloadedFiles(ctx, z.env, z.root+cacheDir)
}

func listDownloaded(ctx context.Context, c *fun.Call, a *listInstalledPatchesArgs) (fun.Result, error) {
	m, err := newZypper(c, a.Root).downloaded(ctx)
	return fun.Result{Value: m}, err
}

// pattern compiles a pattern for the names of held packages; nil for none.
func pattern(text string) (*pyre.Regexp, error) {
	if text == "" {
		return nil, nil
	}
	re, err := pyre.Compile(text+`-\S+`, 0)
	if err != nil {
		return nil, &fun.InvocationError{Msg: "invalid pattern: " + err.Error(), Arg: "pattern"}
	}
	return re, nil
}
