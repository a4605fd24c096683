package pip

import (
	"context"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"brine/internal/fun"
	"brine/internal/host"
	"brine/internal/pkgversion"
	"brine/internal/value"
	"brine/modules/cmd"
)

func sortVersions(versions []string) { slices.SortStableFunc(versions, pkgversion.PEP440) }

// An Install is what pip install is to do. The zero one is pip's defaults.
type Install struct {
	Pkgs         []string
	Requirements []string // files: paths or salt:// URLs
	Editable     []string
	SaltEnv      string
	Index        Index
	Mirrors      bool

	UseWheel, NoUseWheel bool
	NoBinary             []string
	Log                  string
	Proxy                value.Value // text, or False for none
	Timeout              value.Value
	Build, Target        string
	Download, CacheDir   string
	Source               string
	Upgrade              bool
	ForceReinstall       bool
	IgnoreInstalled      bool
	ExistsAction         string
	NoDeps               bool
	NoInstall            bool
	NoDownload           bool
	NoCacheDir           bool
	PreReleases          bool
	Cert                 string
	GlobalOptions        []string
	InstallOptions       []string
	AllowAllExternal     bool
	AllowExternal        []string
	AllowUnverified      []string
	DependencyLinks      bool
	NoVersionCheck       bool
	ExtraArgs            []value.Value
}

// InstallOf reads an Install from the arguments of pip.install and pip.installed,
// but the packages.
func InstallOf(c *fun.Call) Install {
	in := Install{
		Requirements: c.Strings("requirements"), Editable: c.Strings("editable"), Mirrors: len(c.Strings("mirrors")) > 0,
		Index:    Index{URL: c.Str("index_url"), Extra: c.Str("extra_index_url"), FindLinks: c.Strings("find_links"), NoIndex: c.Bool("no_index"), TrustedHosts: c.Strings("trusted_host")},
		UseWheel: c.Bool("use_wheel"), NoUseWheel: c.Bool("no_use_wheel"), NoBinary: c.Strings("no_binary"),
		Log: c.Str("log"), Proxy: c.Value("proxy"), Timeout: c.Value("timeout"), Build: c.Str("build"), Target: c.Str("target"),
		Download: c.Str("download"), CacheDir: c.Str("download_cache"), Source: c.Str("source"), Upgrade: c.Bool("upgrade"),
		ForceReinstall: c.Bool("force_reinstall"), IgnoreInstalled: c.Bool("ignore_installed"), ExistsAction: c.Str("exists_action"),
		NoDeps: c.Bool("no_deps"), NoInstall: c.Bool("no_install"), NoDownload: c.Bool("no_download"), NoCacheDir: c.Bool("no_cache_dir"),
		PreReleases: c.Bool("pre_releases"), Cert: c.Str("cert"), GlobalOptions: c.Strings("global_options"), InstallOptions: c.Strings("install_options"),
		AllowAllExternal: c.Bool("allow_all_external"), AllowExternal: c.Strings("allow_external"), AllowUnverified: c.Strings("allow_unverified"),
		DependencyLinks: c.Bool("process_dependency_links"), ExtraArgs: c.List("extra_args"),
	}
	if in.CacheDir == "" {
		in.CacheDir = c.Str("cache_dir")
	}
	return in
}

// checkWord refuses a value that pip would take for an option.
func checkWord(what, s string) error {
	if s == "" || strings.HasPrefix(s, "-") {
		return fun.Errorf("invalid %s '%s': it must not be empty or start with a dash", what, s)
	}
	return nil
}

var protoRE = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)^(https?|ftp|file)://.`) })

// secret adds an option whose value is a URL: by the environment where that has
// credentials, which no list of processes is to show.
func secret(args []string, env *value.Map, option, variable, url string) []string {
	_, rest, ok := strings.Cut(url, "://")
	if host, _, _ := strings.Cut(rest, "/"); ok && strings.Contains(host, "@") {
		env.Set(variable, url)
		return args
	}
	return append(args, option, url)
}

// options returns the options for an index.
func (x Index) options(h host.Host, env *value.Map) ([]string, error) {
	var args []string
	for _, link := range x.FindLinks {
		if _, err := h.Lstat(link); err != nil && !protoRE().MatchString(link) {
			return nil, fun.Errorf("'%s' is not a valid URL or path", link)
		}
		args = append(args, "--find-links", link)
	}
	if x.NoIndex && (x.URL != "" || x.Extra != "") {
		return nil, fun.Errorf("'no_index' and ('index_url' or 'extra_index_url') are mutually exclusive.")
	}
	for _, u := range [...]string{x.URL, x.Extra} {
		if u != "" && !protoRE().MatchString(u) {
			return nil, fun.Errorf("'%s' is not a valid URL", u)
		}
	}
	if x.URL != "" {
		args = secret(args, env, "--index-url", "PIP_INDEX_URL", x.URL)
	}
	if x.Extra != "" {
		args = secret(args, env, "--extra-index-url", "PIP_EXTRA_INDEX_URL", x.Extra)
	}
	if x.NoIndex {
		args = append(args, "--no-index")
	}
	for _, t := range x.TrustedHosts {
		args = append(args, "--trusted-host", t)
	}
	return args, nil
}

// common returns the options that install and uninstall have: log, proxy and
// timeout.
func common(e *fun.Env, env *value.Map, log string, proxy, timeout value.Value) ([]string, error) {
	var args []string
	if log != "" {
		if st, err := e.Host.Stat(log); err == nil && st.Mode.IsDir() {
			return nil, fun.Errorf("'%s' is a directory. Use --log path_to_file", log)
		}
		args = append(args, "--log", log)
	}
	if p := proxyOf(e, proxy); p != "" {
		args = secret(args, env, "--proxy", "PIP_PROXY", p)
	}
	switch t := timeout.(type) {
	case nil, bool:
	case float64:
		return nil, value.Raise("ValueError", "'%s' is not a valid timeout, must be an integer", value.Str(t))
	default:
		s := strings.TrimSpace(value.Str(t))
		if s == "" || s == "0" {
			break
		}
		if _, err := strconv.Atoi(s); err != nil {
			return nil, value.Raise("ValueError", "'%s' is not a valid timeout, must be an integer", value.Str(t))
		}
		args = append(args, "--timeout", s)
	}
	return args, nil
}

// proxyOf returns the proxy that an argument, or else the configuration, names.
func proxyOf(e *fun.Env, proxy value.Value) string {
	if s, ok := proxy.(string); ok && s != "" {
		return s
	}
	opt := func(name string) string {
		if e.Opts == nil || e.Opts.At(name) == nil {
			return ""
		}
		return e.Opts.Str(name)
	}
	name, port := opt("proxy_host"), opt("proxy_port")
	if proxy == false || name == "" || port == "" || port == "0" {
		return ""
	}
	if user, password := opt("proxy_username"), opt("proxy_password"); user != "" && password != "" {
		return "http://" + user + ":" + password + "@" + name + ":" + port
	}
	return "http://" + name + ":" + port
}

// Install runs pip install. ran is false where there was nothing to install; then
// the Out has Salt's message.
func (p *Client) Install(ctx context.Context, in Install) (out cmd.Out, ran bool, err error) {
	env := p.environ()
	have, err := p.Version(ctx)
	if err != nil {
		return out, false, err
	}
	files, drop, err := p.requirementFiles(ctx, in.Requirements, in.SaltEnv)
	if drop != nil {
		defer drop()
	}
	if err != nil {
		return out, false, err
	}
	args := []string{"install"}
	for _, f := range files {
		args = append(args, "--requirement", f)
	}
	more, err := in.options(p.Env, env, have)
	if err != nil {
		return out, false, err
	}
	args = append(args, more...)
	for _, pkg := range in.Pkgs {
		if err := checkWord("package", pkg); err != nil {
			return out, false, err
		}
		args = append(args, pkg)
	}
	if len(in.Pkgs) == 0 && len(in.Requirements) == 0 && len(in.Editable) == 0 {
		return cmd.Out{Stdout: "No packages to install."}, false, nil
	}
	tail, err := in.tail()
	if err != nil {
		return out, false, err
	}
	out, err = p.Run(ctx, env, append(args, tail...)...)
	return out, true, err
}

// HasWheelOptions reports whether a version of pip has the options --use-wheel and
// --no-use-wheel.
func HasWheelOptions(version string) bool {
	return pkgversion.PEP440(version, "1.4") >= 0 && pkgversion.PEP440(version, "9.0.3") <= 0
}

// SameVersion reports whether two versions of a package are the same.
func SameVersion(a, b string) bool { return pkgversion.PEP440(a, b) == 0 }

// options returns the options of pip install before the packages.
func (in Install) options(e *fun.Env, env *value.Map, have string) ([]string, error) {
	var args []string
	add := func(on bool, words ...string) {
		if on {
			args = append(args, words...)
		}
	}
	old := HasWheelOptions(have)
	add(in.UseWheel && old, "--use-wheel")
	add(in.NoUseWheel && old, "--no-use-wheel")
	add(len(in.NoBinary) > 0, "--no-binary", strings.Join(in.NoBinary, ","))
	more, err := common(e, env, in.Log, in.Proxy, in.Timeout)
	if err != nil {
		return nil, err
	}
	args = append(args, more...)
	if more, err = in.Index.options(e.Host, env); err != nil {
		return nil, err
	}
	args = append(args, more...)
	if in.Mirrors {
		return nil, fun.Errorf("pip >= 7.0.0 does not support mirror argument: use index_url and/or extra_index_url instead")
	}
	add(in.NoVersionCheck, "--disable-pip-version-check")
	add(in.Build != "", "--build", in.Build)
	add(in.Target != "", "--target", in.Target)
	add(in.Download != "", "--download", in.Download)
	add(in.CacheDir != "", "--cache-dir", in.CacheDir)
	add(in.Source != "", "--source", in.Source)
	add(in.Upgrade, "--upgrade")
	add(in.ForceReinstall, "--force-reinstall")
	add(in.IgnoreInstalled, "--ignore-installed")
	if in.ExistsAction != "" {
		if !slices.Contains([]string{"s", "i", "w", "b"}, strings.ToLower(in.ExistsAction)) {
			return nil, fun.Errorf("The exists_action pip option only supports the values s, i, w, and b. '%s' is not valid.", in.ExistsAction)
		}
		args = append(args, "--exists-action", in.ExistsAction)
	}
	add(in.NoDeps, "--no-deps")
	add(in.NoInstall, "--no-install")
	add(in.NoDownload, "--no-download")
	add(in.NoCacheDir, "--no-cache-dir")
	add(in.PreReleases, "--pre")
	add(in.Cert != "", "--cert", in.Cert)
	for _, o := range in.GlobalOptions {
		args = append(args, "--global-option", o)
	}
	for _, o := range in.InstallOptions {
		args = append(args, "--install-option", o)
	}
	return args, nil
}

var eggRE = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?:#|#.*?&)egg=([^&]+)`) })

// tail returns what follows the packages.
func (in Install) tail() ([]string, error) {
	var args []string
	for _, e := range in.Editable {
		local := e == "." || strings.HasPrefix(e, "file://") || strings.HasPrefix(e, "/")
		if !local && !eggRE().MatchString(e) {
			return nil, fun.Errorf("You must specify an egg for this editable")
		}
		args = append(args, "--editable", e)
	}
	if in.AllowAllExternal {
		args = append(args, "--allow-all-external")
	}
	for _, p := range in.AllowExternal {
		args = append(args, "--allow-external", p)
	}
	for _, p := range in.AllowUnverified {
		args = append(args, "--allow-unverified", p)
	}
	if in.DependencyLinks {
		args = append(args, "--process-dependency-links")
	}
	for _, a := range in.ExtraArgs {
		m, ok := a.(*value.Map)
		if !ok {
			args = append(args, value.Str(a))
			continue
		}
		for k, v := range m.All() {
			switch v.(type) {
			case *value.Map, *value.List:
				return nil, value.Raise("TypeError", "Too many levels in: %s", value.Str(k))
			}
			args = append(args, value.Str(k), value.Str(v))
		}
	}
	return args, nil
}

// An Uninstall is what pip uninstall is to do.
type Uninstall struct {
	Pkgs, Requirements []string
	SaltEnv, Log       string
	Proxy, Timeout     value.Value
}

// Uninstall runs pip uninstall.
func (p *Client) Uninstall(ctx context.Context, un Uninstall) (cmd.Out, error) {
	env := p.environ()
	files, drop, err := p.requirementFiles(ctx, un.Requirements, un.SaltEnv)
	if drop != nil {
		defer drop()
	}
	if err != nil {
		return cmd.Out{}, err
	}
	args := []string{"uninstall", "-y"}
	for _, f := range files {
		args = append(args, "--requirement", f)
	}
	more, err := common(p.Env, env, un.Log, un.Proxy, un.Timeout)
	if err != nil {
		return cmd.Out{}, err
	}
	args = append(args, more...)
	for _, pkg := range un.Pkgs {
		if err := checkWord("package", pkg); err != nil {
			return cmd.Out{}, err
		}
		args = append(args, pkg)
	}
	return p.Run(ctx, env, args...)
}

// abs returns a path, a relative one below the working directory.
func (p *Client) abs(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	if p.Cwd != "" {
		return filepath.Join(p.Cwd, path)
	}
	wd, err := p.Env.Host.Getwd()
	if err != nil {
		wd = "/"
	}
	return filepath.Join(wd, path)
}
