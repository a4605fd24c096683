package rpm

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/pkgversion"
	"brine/internal/py/value"
	"brine/modules/pkg"
)

// endOfInfo ends the answer for a package.
const endOfInfo = "\n\x1d\n"

// infoFields are the attributes of lowpkg.info in order: name, and what rpm is asked
// for. The description is the last of all.
var infoFields = [...][2]string{
	{"name", `name: %{NAME}\n`},
	{"relocations", `relocations: %|PREFIXES?{[%{PREFIXES} ]}:{(not relocatable)}|\n`},
	{"version", `version: %{VERSION}\n`},
	{"vendor", `vendor: %{VENDOR}\n`},
	{"release", `release: %{RELEASE}\n`},
	{"epoch", `%|EPOCH?{epoch: %{EPOCH}\n}|`},
	{"build_date_time_t", `build_date_time_t: %{BUILDTIME}\n`},
	{"build_date", `build_date: %{BUILDTIME}\n`},
	{"install_date_time_t", `install_date_time_t: %|INSTALLTIME?{%{INSTALLTIME}}:{(not installed)}|\n`},
	{"install_date", `install_date: %|INSTALLTIME?{%{INSTALLTIME}}:{(not installed)}|\n`},
	{"build_host", `build_host: %{BUILDHOST}\n`},
	{"group", `group: %{GROUP}\n`},
	{"source_rpm", `source_rpm: %{SOURCERPM}\n`},
	{"size", `size: %{LONGSIZE}\n`},
	{"arch", `arch: %{ARCH}\n`},
	{"license", `%|LICENSE?{license: %{LICENSE}\n}|`},
	{"signature", `signature: %|DSAHEADER?{%{DSAHEADER:pgpsig}}:{%|RSAHEADER?{%{RSAHEADER:pgpsig}}:{%|SIGGPG?{%{SIGGPG:pgpsig}}:{%|SIGPGP?{%{SIGPGP:pgpsig}}:{(none)}|}|}|}|\n`},
	{"packager", `%|PACKAGER?{packager: %{PACKAGER}\n}|`},
	{"url", `%|URL?{url: %{URL}\n}|`},
	{"summary", `summary: %{SUMMARY}\n`},
	{"edition", `edition: %|EPOCH?{%{EPOCH}:}|%{VERSION}-%{RELEASE}\n`},
	{"description", `description:\n%{DESCRIPTION}\n`},
}

// infoArgs are the arguments of info and infoInstalled.
type infoArgs struct {
	Attr        string `arg:"attr,kw" doc:"names of what to return, with commas between them; default: all"`
	AllVersions bool   `arg:"all_versions,kw" default:"False" doc:"return a list of all installed versions of each package"`
	rootArg
	_ fun.Varargs
	_ fun.Kwargs
}

func info(ctx context.Context, c *fun.Call, a *infoArgs) (fun.Result, error) {
	wanted, err := names(c)
	if err != nil {
		return fun.Result{}, err
	}
	m, err := Info(ctx, c.Env, InfoQuery{Names: wanted, Attr: a.Attr, All: a.AllVersions, Root: a.Root})
	return fun.Result{Value: m}, err
}

// An InfoQuery is what Info is asked for.
type InfoQuery struct {
	Names []string // none: all packages
	Attr  string   // attributes with commas between them; "" is all
	All   bool     // return a list of all versions of each package, not the newest one
	Root  string   // "" is /
}

// Info describes installed packages.
// Salt: salt/modules/rpm_lowpkg.py info.
func Info(ctx context.Context, env *fun.Env, q InfoQuery) (*value.Map, error) {
	var attr []string
	if q.Attr != "" {
		attr = pkg.Words(q.Attr)
	}
	var format strings.Builder
	known := false
	for _, f := range infoFields {
		wanted := attr == nil || slices.Contains(attr, f[0])
		known = known || wanted
		if wanted || f[0] == "name" || f[0] == "edition" {
			format.WriteString(f[1])
		}
	}
	if !known {
		return nil, fun.Errorf("No valid attributes found.")
	}
	format.WriteString(strings.ReplaceAll(endOfInfo, "\n", `\n`))
	out, err := Query(ctx, env.Host, q.Root, slices.Concat(asking(q.Names, "-q"), []string{"--queryformat", format.String()}, q.Names)...)
	if err != nil {
		return nil, err
	}
	var all []*value.Map
	for entry := range strings.SplitSeq(out.Stdout+"\n", endOfInfo) {
		if m := describe(entry); m.Str("name") != "" && !strings.HasPrefix(m.Str("name"), "gpg-pubkey") {
			all = append(all, m)
		}
	}
	slices.SortStableFunc(all, func(a, b *value.Map) int { return pkgversion.RPM(b.Str("edition"), a.Str("edition")) })
	ret := value.NewMap(len(all))
	for _, m := range all {
		name := m.Str("name")
		m.Delete("name")
		switch {
		case q.All && ret.Has(name):
			ret.List(name).Append(m)
		case q.All:
			ret.Set(name, value.NewList(m))
		case !ret.Has(name):
			m.Delete("edition")
			ret.Set(name, m)
		}
	}
	return ret, nil
}

// describe reads the answer for a package.
func describe(entry string) *value.Map {
	m := value.NewMap(len(infoFields))
	head, description, has := strings.Cut("\n"+strings.TrimLeft(entry, "\n"), "\ndescription:\n")
	for line := range strings.SplitSeq(head, "\n") {
		key, val, ok := strings.Cut(line, ":")
		val = value.TrimSpace(val)
		if !ok || val == "" {
			continue
		}
		switch key {
		case "build_date", "install_date":
			if n, err := strconv.ParseInt(val, 10, 64); err == nil {
				m.Set(key, isoTime(n))
			}
		case "build_date_time_t", "install_date_time_t":
			if n, err := strconv.ParseInt(val, 10, 64); err == nil {
				m.Set(key, n)
			}
		default:
			m.Set(key, val)
		}
	}
	if has {
		m.Set("description", strings.TrimRight(description, " \t\r\n"))
	}
	return m
}

type listGPGKeysArgs struct {
	Info bool `arg:"info" default:"False" doc:"return a mapping of the keys to their descriptions"`
	dirArg
}

func listGPGKeys(ctx context.Context, c *fun.Call, a *listGPGKeysArgs) (fun.Result, error) {
	return Keys(ctx, c.Env, a.Info, a.Root)
}

// Keys lists the keys that rpm trusts; with their descriptions if info.
// Salt: salt/modules/rpm_lowpkg.py list_gpg_keys.
func Keys(ctx context.Context, env *fun.Env, info bool, root string) (fun.Result, error) {
	out, err := Query(ctx, env.Host, root, "-qa", "gpg-pubkey*")
	if err != nil {
		return fun.Result{}, err
	}
	keys := strings.Fields(out.Stdout)
	if !info {
		return fun.Result{Value: value.Strings(keys...), Retcode: out.Status}, nil
	}
	m := value.NewMap(len(keys))
	for _, k := range keys {
		one, err := describeKey(ctx, env, k, root)
		if err != nil {
			return fun.Result{}, err
		}
		m.Set(k, one)
	}
	return fun.Result{Value: m, Retcode: out.Status}, nil
}

// infoGPGKeyArgs are the arguments of infoGPGKey and removeGPGKey.
type infoGPGKeyArgs struct {
	keyArg
	dirArg
}

func infoGPGKey(ctx context.Context, c *fun.Call, a *infoGPGKeyArgs) (fun.Result, error) {
	m, err := describeKey(ctx, c.Env, a.Key, a.Root)
	return fun.Result{Value: m}, err
}

// describeKey reads the description that rpm prints of a key. It is "Key : value"
// a line, but for the description, which is an armored key.
func describeKey(ctx context.Context, env *fun.Env, key, root string) (*value.Map, error) {
	if err := pkg.CheckName(key); err != nil {
		return nil, err
	}
	out, err := Query(ctx, env.Host, root, "-qi", key)
	if err != nil {
		return nil, err
	}
	m := value.NewMap(16)
	var armor []string
	in := false
	for line := range strings.SplitSeq(out.Stdout, "\n") {
		if in {
			armor = append(armor, line)
			if strings.HasPrefix(line, "-----END") {
				m.Set("Description", strings.Join(armor, "\n"))
				in = false
			}
			continue
		}
		name, val, ok := strings.Cut(line, ":")
		name, val = value.TrimSpace(name), value.TrimSpace(val)
		switch {
		case name == "Description":
			in = true
		case !ok:
		case strings.Contains(name, "Size"):
			if n, err := strconv.ParseInt(val, 10, 64); err == nil {
				m.Set(name, n)
			}
		case strings.Contains(val, "(none)"):
			m.Set(name, nil)
		default:
			m.Set(name, val)
		}
	}
	return m, nil
}

type importGPGKeyArgs struct {
	Key string `arg:"key,required" doc:"the public key, armored"`
	dirArg
}

func importGPGKey(ctx context.Context, c *fun.Call, a *importGPGKeyArgs) (fun.Result, error) {
	return ImportKey(ctx, c.Env, a.Key, a.Root)
}

// ImportKey has rpm trust a key, and returns whether it does.
func ImportKey(ctx context.Context, env *fun.Env, key, root string) (fun.Result, error) {
	dir, err := env.Host.MkdirTemp("", "brine-key-")
	if err != nil {
		return fun.Result{}, err
	}
	defer func() { _ = env.Host.RemoveAll(dir) }() // what is left is a public key
	file := dir + "/key"
	if err := env.Host.AppendFile(file, []byte(key), 0o600); err != nil {
		return fun.Result{}, err
	}
	return done(ctx, env, root, "--import", file)
}

func removeGPGKey(ctx context.Context, c *fun.Call, a *infoGPGKeyArgs) (fun.Result, error) {
	return RemoveKey(ctx, c.Env, a.Key, a.Root)
}

// RemoveKey has rpm no longer trust a key, and returns whether that was done.
func RemoveKey(ctx context.Context, env *fun.Env, key, root string) (fun.Result, error) {
	if err := pkg.CheckName(key); err != nil {
		return fun.Result{}, err
	}
	if !strings.HasPrefix(key, "gpg-pubkey") {
		return fun.Result{}, &fun.InvocationError{Msg: "not a key: " + value.Repr(key), Arg: "key"}
	}
	return done(ctx, env, root, "-e", key)
}

// done runs rpm for a change and returns whether it succeeded.
func done(ctx context.Context, env *fun.Env, root string, args ...string) (fun.Result, error) {
	out, err := run(ctx, env.Host, root, false, args)
	if err != nil {
		return fun.Result{}, err
	}
	if out.Status != 0 {
		env.Log().Error("rpm failed", "args", args, "stderr", out.Stderr)
	}
	return fun.Result{Value: out.Status == 0, Retcode: out.Status}, nil
}
