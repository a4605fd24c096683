package pip

import (
	"context"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/core/pkgversion"
	"brine/internal/py/value"
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

// ToolArgs are the arguments of pip.install and the state pip.installed that say
// which requirements are installed, and by which pip.
type ToolArgs struct {
	_            fun.Arguments
	Requirements []string    `arg:"requirements,comma[str]" doc:"requirements files: paths or salt:// URLs"`
	BinEnv       string      `arg:"bin_env,path" doc:"a virtualenv, or the path of a Python or a pip; default: the python3 of the system"`
	UseWheel     bool        `arg:"use_wheel" default:"False" doc:"prefer wheels; pip 1.4 to 9.0.3 only"`
	NoUseWheel   bool        `arg:"no_use_wheel" default:"False" doc:"do not use wheels; pip 1.4 to 9.0.3 only"`
	Log          string      `arg:"log,path" doc:"file to which pip writes its log"`
	Proxy        value.Value `arg:"proxy,secret,str|bool" doc:"proxy; default: the one of the configuration, False for none"`
	Timeout      value.Value `arg:"timeout" unit:"s" doc:"how long pip waits for a connection"`
}

// SourceArgs are the arguments of pip.install and the state pip.installed that say
// where packages come from and how they are put in place.
type SourceArgs struct {
	_               fun.Arguments
	Editable        []string `arg:"editable,comma[str]" doc:"source trees or version control URLs to install in editable mode"`
	FindLinks       []string `arg:"find_links,comma[str]" doc:"URLs or directories with packages"`
	IndexURL        string   `arg:"index_url" doc:"URL of the package index"`
	ExtraIndexURL   string   `arg:"extra_index_url" doc:"URL of a further package index"`
	NoIndex         bool     `arg:"no_index" default:"False" doc:"do not use a package index"`
	Mirrors         []string `arg:"mirrors,comma[str]" doc:"refused by pip 7 and later"`
	Build           string   `arg:"build,path" doc:"directory for building"`
	Target          string   `arg:"target,path" doc:"directory to install to"`
	Download        string   `arg:"download,path" doc:"download to this directory instead of installing; old pip only"`
	DownloadCache   string   `arg:"download_cache,path" doc:"directory for pip's cache"`
	Source          string   `arg:"source,path" doc:"directory for editable checkouts"`
	Upgrade         bool     `arg:"upgrade" default:"False" doc:"upgrade packages that are installed"`
	ForceReinstall  bool     `arg:"force_reinstall" default:"False" doc:"reinstall packages that are installed"`
	IgnoreInstalled bool     `arg:"ignore_installed" default:"False" doc:"install whatever is installed"`
	ExistsAction    string   `arg:"exists_action" doc:"what to do where a path exists: s (switch), i (ignore), w (wipe) or b (backup)"`
	NoDeps          bool     `arg:"no_deps" default:"False" doc:"do not install dependencies"`
	NoInstall       bool     `arg:"no_install" default:"False" doc:"download only; old pip only"`
	NoDownload      bool     `arg:"no_download" default:"False" doc:"install what was downloaded; old pip only"`
}

// TrustArgs are the arguments of pip.install and the state pip.installed that say
// who installs and what is trusted.
type TrustArgs struct {
	_                      fun.Arguments
	User                   string   `arg:"user" doc:"account that runs pip"`
	Cwd                    string   `arg:"cwd,path" doc:"working directory"`
	PreReleases            bool     `arg:"pre_releases" default:"False" doc:"take pre-releases, too"`
	Cert                   string   `arg:"cert,path" doc:"CA bundle"`
	AllowAllExternal       bool     `arg:"allow_all_external" default:"False" doc:"take packages that are hosted elsewhere; old pip only"`
	AllowExternal          []string `arg:"allow_external,comma[str]" doc:"packages that may be hosted elsewhere; old pip only"`
	AllowUnverified        []string `arg:"allow_unverified,comma[str]" doc:"packages that need no checksum; old pip only"`
	ProcessDependencyLinks bool     `arg:"process_dependency_links" default:"False" doc:"follow dependency links; old pip only"`
}

// EnvArgs are the arguments of pip.install and the state pip.installed that say
// the environment of pip.
type EnvArgs struct {
	_           fun.Arguments
	EnvVars     *value.Map `arg:"env_vars" doc:"environment variables for pip"`
	_           bool       `arg:"use_vt" default:"False" doc:"accepted; output is not shown while it runs"`
	TrustedHost []string   `arg:"trusted_host,comma[str]" doc:"hosts that need no valid certificate"`
	NoCacheDir  bool       `arg:"no_cache_dir" default:"False" doc:"do not use pip's cache"`
}

// ClientOf returns the client that arguments describe.
func ClientOf(c *fun.Call, tool *ToolArgs, trust *TrustArgs, env *EnvArgs) *Client {
	return &Client{Env: c.Env, BinEnv: tool.BinEnv, User: trust.User, Cwd: trust.Cwd, EnvVars: env.EnvVars}
}

// InstallOf returns the Install that arguments describe, without its packages and the
// arguments that are not in these structs.
func InstallOf(tool *ToolArgs, source *SourceArgs, trust *TrustArgs, env *EnvArgs) Install {
	return Install{
		Requirements: tool.Requirements, UseWheel: tool.UseWheel, NoUseWheel: tool.NoUseWheel, Log: tool.Log,
		Proxy: tool.Proxy, Timeout: tool.Timeout,

		Editable: source.Editable, Mirrors: len(source.Mirrors) > 0,
		Index: Index{
			URL: source.IndexURL, Extra: source.ExtraIndexURL, FindLinks: source.FindLinks, NoIndex: source.NoIndex,
			TrustedHosts: env.TrustedHost,
		},
		Build: source.Build, Target: source.Target, Download: source.Download, CacheDir: source.DownloadCache,
		Source: source.Source, Upgrade: source.Upgrade, ForceReinstall: source.ForceReinstall,
		IgnoreInstalled: source.IgnoreInstalled, ExistsAction: source.ExistsAction, NoDeps: source.NoDeps,
		NoInstall: source.NoInstall, NoDownload: source.NoDownload,

		PreReleases: trust.PreReleases, Cert: trust.Cert, AllowAllExternal: trust.AllowAllExternal,
		AllowExternal: trust.AllowExternal, AllowUnverified: trust.AllowUnverified,
		DependencyLinks: trust.ProcessDependencyLinks, NoCacheDir: env.NoCacheDir,
	}
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
