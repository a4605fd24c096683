package aptpkg

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"brine/internal/core/fun"
	"brine/internal/core/pkgversion"
	"brine/internal/py/value"
	"brine/modules/pkg"
	"brine/modules/pkg/dpkg"
)

// normalizeNameArgs are the arguments of normalizeName and parseArch.
type normalizeNameArgs struct {
	_    fun.Arguments
	Name string `arg:"name,required" doc:"name of the package"`
}

func normalizeName(_ context.Context, c *fun.Call, a *normalizeNameArgs) (fun.Result, error) {
	return fun.Value(normalize(c.Env, a.Name))
}

func parseArch(_ context.Context, c *fun.Call, a *normalizeNameArgs) (fun.Result, error) {
	name := a.Name
	if i := strings.LastIndexByte(name, ':'); i >= 0 {
		return fun.Value(value.MapOf("name", name[:i], "arch", name[i+1:]))
	}
	return fun.Value(value.MapOf("name", name, "arch", nil))
}

type versionCmpArgs struct {
	Pkg1        string `arg:"pkg1,required,str|none" doc:"a version"`
	Pkg2        string `arg:"pkg2,required,str|none" doc:"another version"`
	IgnoreEpoch bool   `arg:"ignore_epoch" default:"False" doc:"ignore the epochs"`
	_           fun.Kwargs
}

func versionCmp(_ context.Context, c *fun.Call, args *versionCmpArgs) (fun.Result, error) {
	a, b := args.Pkg1, args.Pkg2
	if args.IgnoreEpoch {
		a, b = pkgversion.IgnoreEpoch(a), pkgversion.IgnoreEpoch(b)
	}
	for _, v := range []string{a, b} {
		if err := pkgversion.CheckDeb(v); err != nil {
			c.Env.Log().Warn("not a version", "version", v, "err", err)
			return fun.Value(nil)
		}
	}
	return fun.Value(int64(pkgversion.Deb(a, b)))
}

type listPkgsArgs struct {
	VersionsAsList bool `arg:"versions_as_list" default:"False" doc:"return lists of versions rather than text"`
	Removed        bool `arg:"removed" default:"False" doc:"list packages instead that were removed and not purged"`
	PurgeDesired   bool `arg:"purge_desired" default:"False" doc:"list packages instead that are to be purged and still needed"`
	_              fun.Kwargs
}

func listPkgs(_ context.Context, c *fun.Call, a *listPkgsArgs) (fun.Result, error) {
	db, err := dpkg.Read(c.Env)
	if err != nil {
		return fun.Result{}, err
	}
	which := dpkg.Installed
	switch {
	case a.Removed:
		which = dpkg.Removed
	case a.PurgeDesired:
		which = dpkg.PurgeDesired
	}
	m := db.List(which)
	if !a.VersionsAsList {
		pkg.Stringify(m)
	}
	return fun.Value(m)
}

type versionArgs struct {
	VersionsAsList bool `arg:"versions_as_list,kw" default:"False" doc:"return lists of versions rather than text"`
	_              fun.Varargs
	_              fun.Kwargs
}

// version returns the installed versions of packages. Salt: pkg_resource.version.
func version(_ context.Context, c *fun.Call, a *versionArgs) (fun.Result, error) {
	db, err := dpkg.Read(c.Env)
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(pkg.Versions(db.List(dpkg.Installed), names(c), a.VersionsAsList))
}

type latestVersionArgs struct {
	latestArgs
	_    fun.Varargs
	Rest fun.Kwargs
}

func latestVersion(ctx context.Context, c *fun.Call, args *latestVersionArgs) (fun.Result, error) {
	if args.Rest.Has("repo") {
		return fun.Result{}, &fun.InvocationError{Msg: "The 'repo' argument is invalid, use 'fromrepo' instead"}
	}
	wanted := names(c)
	if len(wanted) == 0 {
		return fun.Value("")
	}
	a := newApt(c)
	if args.Refresh {
		if _, err := a.refresh(ctx, args.CacheValidTime, false); err != nil {
			return fun.Result{}, err
		}
	}
	m, err := a.latest(ctx, wanted, args.Fromrepo.V, args.ShowInstalled)
	if err != nil {
		return fun.Result{}, err
	}
	return a.result(one(wanted, m))
}

// latest returns the candidates of packages, "" for one that is installed in that
// or a later version, unless showInstalled.
func (a *apt) latest(ctx context.Context, names []string, fromrepo string, showInstalled bool) (*value.Map, error) {
	db, err := dpkg.Read(a.env)
	if err != nil {
		return nil, err
	}
	candidates, err := a.candidates(ctx, names, fromrepo)
	if err != nil {
		return nil, err
	}
	ret := value.NewMap(len(names))
	for _, n := range names {
		candidate := candidates[n]
		if !showInstalled && candidate != "" && slices.ContainsFunc(db.Find(normalize(a.env, n)), func(p *dpkg.Package) bool {
			return p.Installed() && p.Version != "" && pkgversion.Deb(p.Version, candidate) >= 0
		}) {
			candidate = ""
		}
		ret.Set(n, candidate)
	}
	return ret, nil
}

// plainName reports whether name is that of a package, and no pattern.
func plainName(name string) bool {
	return strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789+.-") == ""
}

// candidates asks apt which versions of packages it would install. Patterns are
// asked for one by one: the first package that matches counts.
func (a *apt) candidates(ctx context.Context, names []string, fromrepo string) (map[string]string, error) {
	found := make(map[string]string, len(names))
	ask := func(part []string) (string, error) {
		argv := []string{"apt-cache", "-q", "policy"}
		if fromrepo != "" {
			argv = append(argv, "-o", "APT::Default-Release="+fromrepo)
		}
		out, err := a.query(ctx, append(append(argv, "--"), part...)...)
		return out.Stdout, err
	}
	var plain []string
	for _, n := range names {
		if n == "" || strings.ContainsAny(n, "\x00\n") {
			continue
		}
		if plainName(n) {
			plain = append(plain, n)
			continue
		}
		text, err := ask([]string{n})
		if err != nil {
			return nil, err
		}
		for _, c := range policies(text) {
			found[n] = c[1]
			break
		}
	}
	for part := range slices.Chunk(plain, 500) {
		text, err := ask(part)
		if err != nil {
			return nil, err
		}
		for _, c := range policies(text) {
			if _, ok := found[c[0]]; !ok {
				found[c[0]] = c[1]
			}
		}
	}
	return found, nil
}

// policies reads the answer of apt-cache policy: pairs of a package and its
// candidate, "" where it has none.
func policies(text string) [][2]string {
	var list [][2]string
	for l := range strings.SplitSeq(text, "\n") {
		if name, ok := strings.CutSuffix(l, ":"); ok && name != "" && !strings.HasPrefix(l, " ") {
			list = append(list, [2]string{name})
			continue
		}
		if f := strings.Fields(l); len(f) == 2 && f[0] == "Candidate:" && len(list) > 0 && f[1] != "(none)" {
			list[len(list)-1][1] = f[1]
		}
	}
	return list
}

type upgradeAvailableArgs struct {
	Name string `arg:"name,required" doc:"name of the package"`
	_    fun.Kwargs
}

func upgradeAvailable(ctx context.Context, c *fun.Call, args *upgradeAvailableArgs) (fun.Result, error) {
	a := newApt(c)
	if _, err := a.refresh(ctx, 0, false); err != nil {
		return fun.Result{}, err
	}
	m, err := a.latest(ctx, []string{args.Name}, "", false)
	if err != nil {
		return fun.Result{}, err
	}
	return a.result(m.Str(args.Name) != "")
}

type listUpgradesArgs struct {
	Refresh     bool `arg:"refresh" default:"True" doc:"refresh the repositories first"`
	DistUpgrade bool `arg:"dist_upgrade" default:"True" doc:"list what apt-get dist-upgrade would do rather than apt-get upgrade"`
	cacheArg
	repoArg
	_ fun.Kwargs
}

func listUpgrades(ctx context.Context, c *fun.Call, args *listUpgradesArgs) (fun.Result, error) {
	a := newApt(c)
	if args.Refresh {
		if _, err := a.refresh(ctx, args.CacheValidTime, false); err != nil {
			return fun.Result{}, err
		}
	}
	argv := []string{"apt-get", "--just-print", upgradeCommand(args.DistUpgrade)}
	if args.Fromrepo.Given {
		argv = append(argv, "-o", "APT::Default-Release="+args.Fromrepo.V)
	}
	out, err := a.query(ctx, argv...)
	if err != nil {
		return fun.Result{}, err
	}
	if out.Status != 0 {
		msg := "Failed to get upgrades"
		if out.Stderr != "" {
			msg += ": " + out.Stderr
		} else if out.Stdout != "" {
			msg += ": " + out.Stdout
		}
		return fun.Result{}, &fun.CommandError{Msg: msg}
	}
	ret := value.NewMap(0)
	for l := range strings.SplitSeq(out.Stdout, "\n") {
		// Conf libxfont1 (1:1.4.5-1 Debian:testing [i386])
		if f := strings.Fields(l); len(f) > 2 && f[0] == "Conf" && strings.HasPrefix(f[2], "(") {
			ret.Set(f[1], strings.TrimSuffix(f[2][1:], ")"))
		}
	}
	return a.result(ret)
}

func upgradeCommand(distUpgrade bool) string {
	if distUpgrade {
		return "dist-upgrade"
	}
	return "upgrade"
}

// listRepoPkgsArgs are the arguments of listRepoPkgs, owner, fileList and fileDict.
type listRepoPkgsArgs struct {
	_ fun.Varargs
	_ fun.Kwargs
}

func listRepoPkgs(ctx context.Context, c *fun.Call, _ *listRepoPkgsArgs) (fun.Result, error) {
	m, err := newApt(c).available(ctx, names(c))
	return fun.Result{Value: m}, err
}

// available returns the versions that the repositories have of packages, newest
// first; no names are all packages.
func (a *apt) available(ctx context.Context, names []string) (*value.Map, error) {
	argv := []string{"apt-cache", "dump"}
	if len(names) > 0 {
		argv = slices.Concat([]string{"apt-cache", "show", "--"}, names)
	}
	out, err := dpkg.Look(ctx, a.env.Host, a.more, argv...)
	if err != nil {
		return nil, err
	}
	ret := value.NewMap(0)
	current := ""
	for l := range strings.SplitSeq(out.Stdout, "\n") {
		if name, ok := strings.CutPrefix(l, "Package: "); ok {
			current = strings.TrimSpace(name)
			continue
		}
		f := strings.Fields(l)
		if len(f) < 2 || f[0] != "Version:" || current == "" {
			continue
		}
		if list := ret.List(current); list != nil {
			list.Append(f[1])
		} else {
			ret.Set(current, value.NewList(f[1]))
		}
	}
	return ret, nil
}

type showArgs struct {
	Filter  []string `arg:"filter,kw,comma[str]" doc:"keys to return; default: all"`
	Refresh bool     `arg:"refresh,kw" default:"False" doc:"refresh the repositories first"`
	_       fun.Varargs
	_       fun.Kwargs
}

func show(ctx context.Context, c *fun.Call, args *showArgs) (fun.Result, error) {
	wanted := names(c)
	a := newApt(c)
	if args.Refresh {
		if _, err := a.refresh(ctx, 0, false); err != nil {
			return fun.Result{}, err
		}
	}
	ret := value.NewMap(0)
	if len(wanted) == 0 {
		return fun.Value(ret)
	}
	out, err := a.query(ctx, slices.Concat([]string{"apt-cache", "show", "--"}, wanted)...)
	if err != nil {
		return fun.Result{}, err
	}
	only := args.Filter
	for i := range only {
		only[i] = strings.ToLower(only[i])
	}
	info := value.NewMap(0)
	add := func() {
		name, version := info.Str("Package"), info.Str("Version")
		info.Delete("Package")
		info.Delete("Version")
		if name != "" && version != "" {
			versions := ret.Map(name)
			if versions == nil {
				versions = value.NewMap(1)
				ret.Set(name, versions)
			}
			if had := versions.Map(version); had != nil {
				had.Update(info)
			} else {
				versions.Set(version, info)
			}
		}
		info = value.NewMap(0)
	}
	for l := range strings.SplitSeq(out.Stdout, "\n") {
		l = value.TrimSpace(l)
		if l == "" {
			add()
			continue
		}
		key, val, ok := strings.Cut(l, ":")
		if !ok {
			continue
		}
		key = value.TrimSpace(key)
		low := strings.ToLower(key)
		if len(only) == 0 || low == "package" || low == "version" || slices.Contains(only, low) {
			info.Set(key, value.TrimSpace(val))
		}
	}
	add()
	return a.result(ret)
}

// commonKeys are the keys of dpkg that pkg.info_installed has under another name.
var commonKeys = [...][2]string{{"package", "name"}, {"origin", "vendor"}, {"section", "group"}, {"maintainer", "packager"}, {"homepage", "url"}}

type infoInstalledArgs struct {
	Failhard    bool        `arg:"failhard,kw" default:"True" doc:"fail if a package is not known, rather than return nothing"`
	_           value.Value `arg:"errors,kw" doc:"RPM only"`
	Attr        string      `arg:"attr,kw" doc:"names of what to return, with commas between them; default: all"`
	AllVersions bool        `arg:"all_versions,kw" default:"False" doc:"return a list for each package"`
	_           fun.Varargs
	_           fun.Kwargs
}

func infoInstalled(ctx context.Context, c *fun.Call, a *infoInstalledArgs) (fun.Result, error) {
	wanted := names(c)
	if err := checkNames(wanted); err != nil {
		return fun.Result{}, err
	}
	var attr []string
	if a.Attr != "" {
		attr = append(strings.Split(a.Attr, ","), "status")
	}
	res, err := dpkg.Info(ctx, c.Env, wanted, attr, a.Failhard)
	if err != nil {
		return fun.Result{}, err
	}
	ret := value.NewMap(res.Packages.Len())
	for name, v := range res.Packages.All() {
		fields, _ := v.(*value.Map)
		if status := fields.Str("status"); len(status) > 1 && status[1] != 'i' {
			continue
		}
		m := value.NewMap(fields.Len())
		for k, v := range fields.All() {
			if k == "status" {
				continue
			}
			for _, common := range commonKeys {
				if k == common[0] {
					k = common[1]
				}
			}
			m.Set(k, v)
		}
		if a.AllVersions {
			ret.Set(name, value.NewList(m))
		} else {
			ret.Set(name, m)
		}
	}
	return fun.Result{Value: ret, Retcode: res.Retcode}, nil
}

// owner finds the packages that paths belong to; those that are not patterns with
// one question.
func owner(ctx context.Context, c *fun.Call, _ *listRepoPkgsArgs) (fun.Result, error) {
	paths := names(c)
	if len(paths) == 0 {
		return fun.Value("")
	}
	a := newApt(c)
	ret := value.NewMap(len(paths))
	var plain []string
	for _, p := range paths {
		ret.Set(p, "")
		if path.IsAbs(p) && !strings.ContainsAny(p, "*?[]\\\n\x00") {
			plain = append(plain, p)
			continue
		}
		if strings.ContainsAny(p, "\n\x00") || p == "" {
			continue
		}
		text, err := a.owners(ctx, []string{p})
		if err != nil {
			return fun.Result{}, err
		}
		if len(text) > 0 {
			ret.Set(p, text[0][0])
		}
	}
	for part := range slices.Chunk(plain, 500) {
		found, err := a.owners(ctx, part)
		if err != nil {
			return fun.Result{}, err
		}
		for _, f := range found {
			if ret.Has(f[1]) && ret.Str(f[1]) == "" {
				ret.Set(f[1], f[0])
			}
		}
	}
	return a.result(one(paths, ret))
}

// owners returns pairs of a package and a path.
func (a *apt) owners(ctx context.Context, paths []string) ([][2]string, error) {
	out, err := a.query(ctx, slices.Concat([]string{"dpkg-query", "-S", "--"}, paths)...)
	if err != nil {
		return nil, err
	}
	var found [][2]string
	for l := range strings.SplitSeq(out.Stdout, "\n") {
		pkgs, file, ok := strings.Cut(l, ": ")
		if !ok || strings.HasPrefix(l, "diversion by ") || strings.HasPrefix(l, "local diversion ") {
			continue
		}
		name, _, _ := strings.Cut(pkgs, ":")
		found = append(found, [2]string{name, file})
	}
	return found, nil
}

// fromLowpkg hands a call to a function of lowpkg.
func fromLowpkg(ctx context.Context, c *fun.Call, name string) (fun.Result, error) {
	return c.Env.Invoker.Invoke(ctx, fun.Exec, name, fun.Args{Pos: c.Pos, Kw: value.NewMap(0)})
}

func fileList(ctx context.Context, c *fun.Call, _ *listRepoPkgsArgs) (fun.Result, error) {
	return fromLowpkg(ctx, c, "lowpkg.file_list")
}

func fileDict(ctx context.Context, c *fun.Call, _ *listRepoPkgsArgs) (fun.Result, error) {
	return fromLowpkg(ctx, c, "lowpkg.file_dict")
}

const archiveDir = "/var/cache/apt"

// maxDepth bounds how deep apt's cache is searched.
const maxDepth = 16

type listDownloadedArgs struct {
	Root string `arg:"root,path" doc:"directory of another system"`
	_    fun.Kwargs
}

func listDownloaded(ctx context.Context, c *fun.Call, a *listDownloadedArgs) (fun.Result, error) {
	dir := archiveDir
	if root := a.Root; root != "" {
		dir = path.Join(root, archiveDir)
	}
	files, err := debFiles(c.Env, dir, 0)
	if err != nil {
		return fun.Result{}, err
	}
	ret := value.NewMap(0)
	for _, f := range files {
		p, err := dpkg.ReadFile(ctx, c.Env, f)
		if err != nil {
			return fun.Result{}, err
		}
		st, err := c.Env.Host.Stat(f)
		if err != nil {
			return fun.Result{}, err
		}
		versions := ret.Map(p.Name)
		if versions == nil {
			versions = value.NewMap(1)
			ret.Set(p.Name, versions)
		}
		t := time.Unix(st.Ctime.Unix(), 0).UTC()
		versions.Set(p.Version, value.MapOf("path", f, "size", st.Size, "creation_date_time_t", t.Unix(), "creation_date_time", t.Format("2006-01-02T15:04:05")))
	}
	return fun.Value(ret)
}

// debFiles returns the packages under a directory, in order of their paths.
func debFiles(env *fun.Env, dir string, depth int) ([]string, error) {
	names, err := env.Host.ReadDir(dir)
	if err != nil || depth > maxDepth {
		if errors.Is(err, fs.ErrNotExist) || depth > 0 {
			err = nil
		}
		return nil, err
	}
	var files []string
	for _, n := range names {
		p := path.Join(dir, n)
		st, err := env.Host.Lstat(p)
		switch {
		case err != nil:
		case st.Mode.IsDir():
			below, err := debFiles(env, p, depth+1)
			if err != nil {
				return nil, err
			}
			files = append(files, below...)
		case strings.HasSuffix(n, ".deb") && st.Mode.IsRegular():
			files = append(files, p)
		}
	}
	return files, nil
}

// servicesNeedRestartArgs are the arguments of servicesNeedRestart and listRepos.
type servicesNeedRestartArgs struct {
	_ fun.Kwargs
}

func servicesNeedRestart(ctx context.Context, c *fun.Call, _ *servicesNeedRestartArgs) (fun.Result, error) {
	if _, err := c.Env.Host.LookPath("checkrestart", ""); err != nil {
		return fun.Result{}, fun.Errorf("'checkrestart' is needed. It is part of the 'debian-goodies' package which can be installed from official repositories.")
	}
	a := newApt(c)
	out, err := a.query(ctx, "checkrestart", "--machine", "--package")
	if err != nil {
		return fun.Result{}, err
	}
	var services []string
	for l := range strings.SplitSeq(out.Stdout, "\n") {
		if s, ok := strings.CutPrefix(l, "SERVICE:"); ok {
			s, _, _ = strings.Cut(s, ",")
			services = append(services, s)
		}
	}
	slices.Sort(services)
	return a.result(value.Strings(slices.Compact(services)...))
}
