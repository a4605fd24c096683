package rpm

import (
	"context"
	"path"
	"slices"
	"strings"
	"time"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/machine"
	"brine/modules/pkg"
	"brine/modules/pkg/resource"
)

// The functions below are those that the providers of pkg on systems with rpm have
// in common. Their rows are in [ProviderSpecs].

// List returns what pkg.list_pkgs does: versions by name, as text or as lists, or
// the attributes that attr names.
func List(ctx context.Context, env *fun.Env, root string, asList bool, attr []string) (*value.Map, error) {
	db, err := Read(ctx, env, root)
	if err != nil {
		return nil, err
	}
	return resource.Format(db.Details(), asList, attr, func(name string) (string, value.Value) {
		m := ParseArch(name)
		return m.Str("name"), m.At("arch")
	})
}

type providerVersionArgs struct {
	VersionsAsList bool `arg:"versions_as_list,kw" default:"False" doc:"return lists of versions rather than text"`
	_              fun.Varargs
	_              fun.Kwargs
}

func providerVersion(ctx context.Context, c *fun.Call, a *providerVersionArgs) (fun.Result, error) {
	wanted := pkg.Names(c)
	if len(wanted) == 0 {
		return fun.Value(value.NewMap(0))
	}
	db, err := Read(ctx, c.Env, "")
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(pkg.Versions(db.Versions(), wanted, a.VersionsAsList))
}

type providerVersionCmpArgs struct {
	Pkg1        string `arg:"pkg1,required,str|none" doc:"a version"`
	Pkg2        string `arg:"pkg2,required,str|none" doc:"another version"`
	IgnoreEpoch bool   `arg:"ignore_epoch" default:"False" doc:"ignore the epochs"`
	_           fun.Kwargs
}

func providerVersionCmp(_ context.Context, c *fun.Call, a *providerVersionCmpArgs) (fun.Result, error) {
	return fun.Value(int64(Compare(a.Pkg1, a.Pkg2, a.IgnoreEpoch)))
}

// normalizeNameArgs are the arguments of normalizeName and parseArch.
type normalizeNameArgs struct {
	_    fun.Arguments
	Name string `arg:"name,required" doc:"name of the package"`
}

func normalizeName(_ context.Context, c *fun.Call, a *normalizeNameArgs) (fun.Result, error) {
	return fun.Value(NormalizeName(c.Env, a.Name))
}

func parseArch(_ context.Context, c *fun.Call, a *normalizeNameArgs) (fun.Result, error) {
	return fun.Value(ParseArch(a.Name))
}

func infoInstalled(ctx context.Context, c *fun.Call, a *infoArgs) (fun.Result, error) {
	wanted, err := names(c)
	if err != nil {
		return fun.Result{}, err
	}
	q := InfoQuery{Names: wanted, Attr: a.Attr, All: a.AllVersions, Root: a.Root}
	m, err := Info(ctx, c.Env, q)
	if err != nil {
		return fun.Result{}, err
	}
	for i := range m.Len() {
		name, v := m.Entry(i)
		if l, ok := v.(*value.List); ok {
			for i := range l.Items {
				l.Items[i] = commonKeys(l.Items[i].(*value.Map))
			}
			continue
		}
		m.Set(name, commonKeys(v.(*value.Map)))
	}
	return fun.Value(m)
}

// commonKeys names the source as the providers for other package managers do.
func commonKeys(m *value.Map) *value.Map {
	out := value.NewMap(m.Len())
	for k, v := range m.All() {
		if k == "source_rpm" {
			k = "source"
		}
		out.Set(k, v)
	}
	return out
}

// DownloadedFiles describes the package files in a directory and below it, by name
// and version.
func DownloadedFiles(ctx context.Context, env *fun.Env, dir string) (*value.Map, error) {
	files := findFiles(env, dir, 0)
	ret := value.NewMap(len(files))
	for _, f := range files {
		st, err := env.Host.Stat(f)
		if err != nil {
			continue // it is gone
		}
		p, ok, why, err := ReadFile(ctx, env, f)
		if err != nil {
			return nil, err
		}
		if !ok {
			env.Log().Warn("rpm cannot read a package file", "path", f, "why", why)
			continue
		}
		versions := ret.Map(p.Name)
		if versions == nil {
			versions = value.NewMap(1)
			ret.Set(p.Name, versions)
		}
		t := time.Unix(st.Ctime.Unix(), 0).UTC()
		versions.Set(p.EVR(), value.MapOf("path", f, "size", st.Size, "creation_date_time_t", t.Unix(), "creation_date_time", t.Format("2006-01-02T15:04:05")))
	}
	return ret, nil
}

// maxDepth bounds how deep a cache is searched.
const maxDepth = 16

// findFiles returns the package files in a directory, in order of their paths.
func findFiles(env *fun.Env, dir string, depth int) []string {
	names, err := env.Host.ReadDir(dir)
	if err != nil || depth > maxDepth {
		return nil
	}
	var files []string
	for _, n := range names {
		p := path.Join(dir, n)
		st, err := env.Host.Lstat(p)
		switch {
		case err != nil:
		case st.Mode.IsDir():
			files = append(files, findFiles(env, p, depth+1)...)
		case strings.HasSuffix(n, ".rpm") && st.Mode.IsRegular():
			files = append(files, p)
		}
	}
	return files
}

type providerDiffArgs struct {
	_ fun.Varargs
	_ fun.Kwargs
}

// providerDiff compares installed files with those of the packages that they belong
// to, which are downloaded.
func providerDiff(ctx context.Context, c *fun.Call, _ *providerDiffArgs) (fun.Result, error) {
	paths := pkg.Names(c)
	ret := value.NewMap(len(paths))
	if len(paths) == 0 {
		return fun.Value(ret)
	}
	owners, _, err := Owners(ctx, c.Env, "", paths)
	if err != nil {
		return fun.Result{}, err
	}
	var wanted []string
	for _, p := range paths {
		name := owners.Str(p)
		switch {
		case name != "":
			if !slices.Contains(wanted, name) {
				wanted = append(wanted, name)
			}
		case machine.Exists(c.Env.Host, p):
			ret.Set(p, "Not managed")
		default:
			ret.Set(p, "N/A")
		}
	}
	if len(wanted) == 0 {
		return fun.Value(ret)
	}
	v, err := c.Env.Exec(ctx, "pkg.download", nil, pkg.Anys(wanted)...)
	if err != nil {
		return fun.Result{}, err
	}
	local, _ := v.(*value.Map)
	for _, p := range paths {
		name := owners.Str(p)
		if name == "" {
			continue
		}
		file := local.Str(name)
		if m := local.Map(name); m != nil {
			file = m.Str("path")
		}
		if file == "" {
			return fun.Result{}, fun.Errorf("Unable to download %s", name)
		}
		text, err := Diff(ctx, c.Env, file, p)
		if err != nil {
			return fun.Result{}, err
		}
		if text == "" {
			text = "Unchanged"
		}
		ret.Set(p, text)
	}
	return fun.Value(ret)
}

type getRepoKeysArgs struct {
	Info bool   `arg:"info" default:"False" doc:"return a mapping of the keys to their descriptions"`
	Root string `arg:"root,path" doc:"directory of another system"`
	_    fun.Kwargs
}

func getRepoKeys(ctx context.Context, c *fun.Call, a *getRepoKeysArgs) (fun.Result, error) {
	return Keys(ctx, c.Env, a.Info, a.Root)
}

type addRepoKeyArgs struct {
	Path    string `arg:"path" doc:"path or URL of the key"`
	Text    string `arg:"text" doc:"the key itself, armored"`
	Root    string `arg:"root,path" doc:"directory of another system"`
	Saltenv string `arg:"saltenv" default:"base" doc:"environment of a salt:// URL"`
	_       fun.Kwargs
}

func addRepoKey(ctx context.Context, c *fun.Call, a *addRepoKeyArgs) (fun.Result, error) {
	file, text := a.Path, a.Text
	switch {
	case file == "" && text == "":
		return fun.Result{}, &fun.InvocationError{Msg: "Provide a key to add"}
	case file != "" && text != "":
		return fun.Result{}, &fun.InvocationError{Msg: "Add a key via path or key"}
	case file != "":
		local, err := pkg.Fetch(ctx, c.Env, file, a.Saltenv)
		if err != nil {
			return fun.Result{}, err
		}
		data, err := c.Env.Host.ReadFile(local)
		if local == "" || err != nil {
			c.Env.Log().Error("unable to get a key", "path", file, "err", err)
			return fun.Value(false)
		}
		text = value.DecodeReplace(data)
	}
	return ImportKey(ctx, c.Env, text, a.Root)
}

type delRepoKeyArgs struct {
	Keyid string `arg:"keyid,required" doc:"name of the key, as get_repo_keys returns it"`
	Root  string `arg:"root,path" doc:"directory of another system"`
	_     fun.Kwargs
}

func delRepoKey(ctx context.Context, c *fun.Call, a *delRepoKeyArgs) (fun.Result, error) {
	return RemoveKey(ctx, c.Env, a.Keyid, a.Root)
}

// ProviderSpecs are the rows of the functions that providers of pkg on systems with
// rpm have in common.
var ProviderSpecs = []fun.Spec{
	{
		Name: "add_repo_key", Doc: "Have rpm trust a key that signs repositories.", Src: "modules/yumpkg.py add_repo_key", Do: addRepoKey,
	},
	{
		Name: "del_repo_key", Doc: "Have rpm no longer trust a key that signs repositories.", Src: "modules/yumpkg.py del_repo_key", Do: delRepoKey,
	},
	{
		Name: "diff", Doc: "Compare installed files with those of their packages, which are downloaded.\nReturns a unified diff, Unchanged, Not managed for a file of no package, or N/A for a file that is not there.", Src: "modules/yumpkg.py diff", Do: providerDiff,
	},
	{
		Name: "file_dict", Doc: "List the files of packages, by package.\nWithout a name, all packages are listed.", Src: "modules/yumpkg.py file_dict", Do: fileDict,
	},
	{
		Name: "file_list", Doc: "List the files of packages.\nWithout a name, the files of all packages are listed.", Src: "modules/yumpkg.py file_list", Do: fileList,
	},
	{
		Name: "get_repo_keys", Doc: "List the keys that rpm trusts.", Src: "modules/yumpkg.py get_repo_keys", Do: getRepoKeys,
	},
	{
		Name: "info_installed", Doc: "Describe installed packages.\nWithout a name, all are described.", Src: "modules/yumpkg.py info_installed", Do: infoInstalled,
	},
	{
		Name: "modified", Doc: "List installed files that were changed, and which of their attributes differ.\nWithout a name, the files of all packages are compared.", Src: "modules/yumpkg.py modified", Do: modified,
	},
	{
		Name: "normalize_name", Doc: "Strip the architecture from a name where it is that of the machine.", Src: "modules/yumpkg.py normalize_name", Do: normalizeName,
	},
	{
		Name: "owner", Doc: "Return the package that a file belongs to, or an empty string.\nFor several files, a mapping is returned.", Src: "modules/yumpkg.py owner", Do: owner,
	},
	{
		Name: "parse_arch", Doc: "Divide a name into the package and its architecture.", Src: "modules/yumpkg.py parse_arch", Do: parseArch,
	},
	{
		Name: "verify", Doc: "Compare installed files with rpm's database.\nReturns by path what differs. Without a name, the files of all packages are compared.", Src: "modules/yumpkg.py verify", Do: verify,
	},
	{
		Name: "version", Doc: "Return the installed version of a package, or an empty string.\nFor several packages, or a name with *, a mapping is returned.", Src: "modules/yumpkg.py version", Do: providerVersion,
	},
	{
		Name: "version_cmp", Doc: "Compare two versions as rpm does: -1, 0 or 1.\nA release that only one of them has is ignored.", Src: "modules/yumpkg.py version_cmp", Do: providerVersionCmp,
	},
}
