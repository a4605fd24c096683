// Package dpkg is Salt's execution module "lowpkg" on Debian and its derivatives,
// and dpkg's database for the provider of "pkg" there.
package dpkg

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/pkg"
)

// Module returns the execution module "lowpkg" for dpkg.
func Module() fun.Module {
	return fun.Module{Name: "lowpkg", Kind: fun.Exec, Doc: "Read and change dpkg's database.", Avail: Avail, Specs: specs}
}

// Avail reports whether the machine has dpkg.
func Avail(env *fun.Env) (bool, string) {
	if env.Grains == nil {
		return false, "os_family is not known"
	}
	if f, _ := env.Grains.Get("os_family"); f != "Debian" {
		return false, "os_family is not Debian"
	}
	if _, err := env.Host.LookPath("dpkg-query", ""); err != nil {
		return false, "dpkg-query is missing"
	}
	return true, ""
}

// checkNames refuses names that a program would take for options.
func checkNames(names []string) error {
	for _, n := range names {
		if n == "" || strings.HasPrefix(n, "-") || strings.ContainsAny(n, "\x00\n") {
			return &fun.InvocationError{Msg: "invalid package name " + value.Repr(n)}
		}
	}
	return nil
}

// names returns the positional arguments as text.
func names(c *fun.Call) ([]string, error) {
	list := make([]string, len(c.Pos))
	for i, p := range c.Pos {
		list[i] = value.Str(p)
	}
	return list, checkNames(list)
}

// query runs dpkg-query -W. fault is what Salt returns in place of an answer
// where a package is not known.
func query(ctx context.Context, c *fun.Call, format string, names []string) (lines []string, fault string, err error) {
	out, err := Look(ctx, c.Env.Host, nil, slices.Concat([]string{"dpkg-query", "-f=" + format, "-W", "--"}, names)...)
	if err != nil {
		return nil, "", err
	}
	if out.Status != 0 {
		return nil, "Error:  " + out.Stderr, nil
	}
	return strings.Split(out.Stdout, "\n"), "", nil
}

func failed(text string) (fun.Result, error) { return fun.Result{Value: text, Retcode: 1}, nil }

// listPkgsArgs are the arguments of listPkgs, fileList and fileDict.
type listPkgsArgs struct {
	_ fun.Varargs
	_ fun.Kwargs
}

func listPkgs(ctx context.Context, c *fun.Call, _ *listPkgsArgs) (fun.Result, error) {
	wanted, err := names(c)
	if err != nil {
		return fun.Result{}, err
	}
	lines, fault, err := query(ctx, c, `${db:Status-Status}\t${binary:Package}\t${Version}\n`, wanted)
	if err != nil || fault != "" {
		return orFault(fault, err)
	}
	out := value.NewMap(len(lines))
	for _, l := range lines {
		if f := strings.Split(l, "\t"); len(f) == 3 && f[0] == "installed" {
			out.Set(f[1], f[2])
		}
	}
	return fun.Value(out)
}

func orFault(fault string, err error) (fun.Result, error) {
	if err != nil {
		return fun.Result{}, err
	}
	return failed(fault)
}

// filesOf returns the files of installed packages, in the order of the packages.
func filesOf(ctx context.Context, c *fun.Call) (pkgs []string, files [][]string, fault string, err error) {
	wanted, err := names(c)
	if err != nil {
		return nil, nil, "", err
	}
	lines, fault, err := query(ctx, c, `${db:Status-Status}\t${binary:Package}\n`, wanted)
	if err != nil || fault != "" {
		return nil, nil, fault, err
	}
	for _, l := range lines {
		if status, name, ok := strings.Cut(l, "\t"); ok && status == "installed" {
			pkgs = append(pkgs, name)
		}
	}
	// A thousand at a time, so that the command line does not get too long.
	for part := range slices.Chunk(pkgs, 1000) {
		out, err := Look(ctx, c.Env.Host, nil, slices.Concat([]string{"dpkg-query", "-L", "--"}, part)...)
		if err != nil {
			return nil, nil, "", err
		}
		blocks := strings.Split(out.Stdout, "\n\n")
		for i := range part {
			var list []string
			if i < len(blocks) && blocks[i] != "" {
				list = strings.Split(blocks[i], "\n")
			}
			files = append(files, list)
		}
	}
	return pkgs, files, "", nil
}

func fileList(ctx context.Context, c *fun.Call, _ *listPkgsArgs) (fun.Result, error) {
	_, files, fault, err := filesOf(ctx, c)
	if err != nil || fault != "" {
		return orFault(fault, err)
	}
	all := slices.Concat(files...)
	slices.Sort(all)
	return fun.Value(value.MapOf("errors", value.NewList(), "files", value.Strings(slices.Compact(all)...)))
}

func fileDict(ctx context.Context, c *fun.Call, _ *listPkgsArgs) (fun.Result, error) {
	pkgs, files, fault, err := filesOf(ctx, c)
	if err != nil || fault != "" {
		return orFault(fault, err)
	}
	out := value.NewMap(len(pkgs))
	for i, p := range pkgs {
		out.Set(p, value.Strings(files[i]...))
	}
	return fun.Value(value.MapOf("errors", value.NewList(), "packages", out))
}

type binPkgInfoArgs struct {
	_       fun.Arguments
	Path    string `arg:"path,required,path" doc:"path or URL of the file; salt:// is a file of the file server"`
	Saltenv string `arg:"saltenv" default:"base" doc:"environment of a salt:// URL"`
}

func binPkgInfo(ctx context.Context, c *fun.Call, a *binPkgInfoArgs) (fun.Result, error) {
	file := a.Path
	local, err := pkg.Fetch(ctx, c.Env, file, a.Saltenv)
	if err != nil {
		return fun.Result{}, err
	}
	if local == "" {
		if strings.Contains(file, "://") {
			return fun.Result{}, fun.Errorf("Unable to retrieve %s from saltenv '%s'", file, a.Saltenv)
		}
		return fun.Result{}, fun.Errorf("%s does not exist on minion", file)
	}
	info, err := ReadFile(ctx, c.Env, local)
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(value.MapOf("name", info.Name, "version", info.Version, "arch", info.Arch))
}

// ReadFile returns name, version and architecture of a package file. The name has
// the architecture where that is not the machine's.
func ReadFile(ctx context.Context, env *fun.Env, file string) (Package, error) {
	if _, err := env.Host.Stat(file); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return Package{}, fun.Errorf("%s does not exist on minion", file)
		}
		return Package{}, err
	}
	out, err := Look(ctx, env.Host, nil, "dpkg-deb", "-f", file, "Package", "Version", "Architecture")
	if err != nil {
		return Package{}, err
	}
	if out.Status != 0 {
		msg := "Unable to get info for " + file
		if out.Stderr != "" {
			msg += ": " + out.Stderr
		}
		return Package{}, &fun.CommandError{Msg: msg}
	}
	var p Package
	for l := range strings.SplitSeq(out.Stdout, "\n") {
		p.field([]byte(l))
	}
	var missing []string
	for _, f := range []struct{ name, val string }{{"name", p.Name}, {"version", p.Version}, {"arch", p.Arch}} {
		if f.val == "" {
			missing = append(missing, f.name)
		}
	}
	if missing != nil {
		return Package{}, fun.Errorf("Unable to get %s for %s", strings.Join(missing, ", "), file)
	}
	p.Name = FullName(p.Name, p.Arch, machineArch(env))
	return p, nil
}

type unpurgeArgs struct {
	_ fun.Varargs
}

func unpurge(ctx context.Context, c *fun.Call, _ *unpurgeArgs) (fun.Result, error) {
	wanted, err := names(c)
	if err != nil || len(wanted) == 0 {
		return fun.Result{Value: value.NewMap(0)}, err
	}
	before, err := purgeDesired(c.Env)
	if err != nil {
		return fun.Result{}, err
	}
	var in strings.Builder
	for _, n := range wanted {
		in.WriteString(n + " install\n")
	}
	out, err := Locked(ctx, c.Env, nil, in.String(), "dpkg", "--set-selections")
	if err != nil {
		return fun.Result{}, err
	}
	if out.Status != 0 {
		return fun.Result{}, fun.Errorf("dpkg --set-selections failed: %s", out.Stderr)
	}
	after, err := purgeDesired(c.Env)
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(pkg.CompareDicts(before, after))
}

func purgeDesired(env *fun.Env) (*value.Map, error) {
	db, err := Read(env)
	if err != nil {
		return nil, err
	}
	m := db.List(PurgeDesired)
	pkg.Stringify(m)
	return m, nil
}

// infoFields are what lowpkg.info asks dpkg-query for, by Salt's names.
var infoFields = [...][2]string{
	{"package", "${Package}"},
	{"revision", "${binary:Revision}"},
	{"arch", "${Architecture}"},
	{"maintainer", "${Maintainer}"},
	{"summary", "${Summary}"},
	{"source", "${source:Package}"},
	{"version", "${Version}"},
	{"section", "${Section}"},
	{"size", "${Size}"},
	{"MD5", "${MD5sum}"},
	{"SHA1", "${SHA1}"},
	{"SHA256", "${SHA256}"},
	{"origin", "${Origin}"},
	{"homepage", "${Homepage}"},
	{"status", "${db:Status-Abbrev}"},
}

// endOfInfo ends an entry in the answer: no description has it.
const endOfInfo = "*/~^\\*"

type infoArgs struct {
	Failhard bool   `arg:"failhard,kw" default:"True" doc:"fail if a package is not known, rather than return nothing"`
	Attr     string `arg:"attr,kw" doc:"names of what to return, with commas between them; default: all"`
	_        fun.Varargs
	_        fun.Kwargs
}

func info(ctx context.Context, c *fun.Call, a *infoArgs) (fun.Result, error) {
	wanted, err := names(c)
	if err != nil {
		return fun.Result{}, err
	}
	var attr []string
	if a.Attr != "" {
		attr = strings.Split(a.Attr, ",")
	}
	out, err := Info(ctx, c.Env, wanted, attr, a.Failhard)
	return fun.Result{Value: out.Packages, Retcode: out.Retcode}, err
}

// An InfoResult is the answer of [Info]. Retcode is that of dpkg-query.
type InfoResult struct {
	Packages *value.Map
	Retcode  int
}

// Info returns what dpkg knows of packages, which may be patterns; none is all.
// attr names the keys to return; nil is all. Where a package is not known, the
// answer is an error if failhard, else empty.
// Salt: salt/modules/dpkg_lowpkg.py info.
func Info(ctx context.Context, env *fun.Env, names, attr []string, failhard bool) (InfoResult, error) {
	var format strings.Builder
	for _, f := range infoFields {
		format.WriteString(f[0] + ":" + f[1] + `\n`)
	}
	format.WriteString(`description:${Description}\n\n` + strings.ReplaceAll(endOfInfo, `\`, `\\`) + `\n`)
	res := InfoResult{Packages: value.NewMap(0)}
	out, err := Look(ctx, env.Host, nil, slices.Concat([]string{"dpkg-query", "-W", "-f=" + format.String(), "--"}, names)...)
	if err != nil {
		return res, err
	}
	if out.Status != 0 {
		res.Retcode = out.Status
		if failhard {
			return res, fun.Errorf("Error getting packages information: %s", out.Stderr)
		}
		return res, nil
	}
	avail := available(env)
	for entry := range strings.SplitSeq(out.Stdout, endOfInfo) {
		head, description, ok := strings.Cut(strings.TrimLeft(entry, "\r\n"), "\ndescription:")
		if !ok {
			continue
		}
		m := describe(env, head, strings.TrimSuffix(description, "\n"))
		name := m.Str("package")
		if more := avail[name]; more != nil {
			for k, v := range more.All() {
				if !m.Has(k) {
					m.Set(k, v)
				}
			}
		}
		for _, k := range []string{"installed_size", "depends", "recommends", "provides", "replaces", "conflicts", "bugs", "description-md5", "task"} {
			m.Delete(k)
		}
		if l := license(env, name); l != "" {
			m.Set("license", l)
		}
		if attr != nil {
			for _, k := range m.Keys() {
				if s, _ := k.(string); !slices.Contains(attr, s) {
					m.Delete(k)
				}
			}
		}
		res.Packages.Set(name, m)
	}
	return res, nil
}

// describe makes an entry of the fields of one package.
func describe(env *fun.Env, head, description string) *value.Map {
	m := value.NewMap(len(infoFields) + 6)
	for l := range strings.SplitSeq(head, "\n") {
		if key, val, ok := strings.Cut(value.TrimSpace(l), ":"); ok && val != "" {
			m.Set(key, value.TrimSpace(val))
		}
	}
	date := func(key string, t time.Time, ok bool) {
		if ok {
			m.Set(key, t.UTC().Format("2006-01-02T15:04:05")+"Z")
			m.Set(key+"_time_t", t.Unix())
		}
	}
	t, ok := installTime(env, m.Str("package"), m.Str("arch"))
	date("install_date", t, ok)
	t, ok = buildTime(env, m.Str("package"))
	date("build_date", t, ok)
	m.Set("description", description)
	return m
}

// installTime is that of the list of files.
func installTime(env *fun.Env, name, arch string) (time.Time, bool) {
	if strings.Contains(name, "/") {
		return time.Time{}, false
	}
	for _, f := range []string{name + ":" + arch + ".list", name + ".list"} {
		if st, err := env.Host.Stat("/var/lib/dpkg/info/" + f); err == nil {
			return st.Mtime, true
		}
	}
	return time.Time{}, false
}

// buildTime is that of a file of the documentation, which packages have from
// their build.
func buildTime(env *fun.Env, name string) (time.Time, bool) {
	dir := path.Join("/usr/share/doc", name)
	files, err := env.Host.ReadDir(dir)
	if err != nil {
		return time.Time{}, false
	}
	for _, f := range files {
		if st, err := env.Host.Stat(path.Join(dir, f)); err == nil {
			return st.Mtime, true
		}
	}
	return time.Time{}, false
}

// license returns the licences that the copyright file of a package names.
func license(env *fun.Env, name string) string {
	text, err := env.Host.ReadFile(path.Join("/usr/share/doc", name, "copyright"))
	if err != nil {
		return ""
	}
	var found []string
	for l := range strings.SplitSeq(value.DecodeReplace(text), "\n") {
		if l, ok := strings.CutPrefix(l, "License:"); ok {
			found = append(found, value.TrimSpace(l))
		}
	}
	slices.Sort(found)
	return strings.Join(slices.Compact(found), ", ")
}

// available reads what dselect knows of packages: fields by package.
func available(env *fun.Env) map[string]*value.Map {
	if _, err := env.Host.LookPath("dselect", ""); err != nil {
		return nil
	}
	text, err := env.Host.ReadFile("/var/lib/dpkg/available")
	if err != nil {
		return nil
	}
	all := map[string]*value.Map{}
	for paragraph := range strings.SplitSeq(value.DecodeReplace(text), "\n\n") {
		m := value.NewMap(8)
		for l := range strings.SplitSeq(paragraph, "\n") {
			if key, val, ok := strings.Cut(l, ": "); ok && value.TrimSpace(val) != "" {
				m.Set(strings.ToLower(key), val)
			}
		}
		if name := m.Str("package"); name != "" {
			all[name] = m
		}
	}
	return all
}
