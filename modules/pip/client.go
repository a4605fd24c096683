package pip

import (
	"context"
	"encoding/json"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"brine/internal/core/fun"
	"brine/internal/core/pkgversion"
	"brine/internal/core/redact"
	"brine/internal/py/value"
	"brine/modules/cmd"
	"brine/modules/machine"
)

// A Client runs the pip of one Python environment as one account.
type Client struct {
	Env     *fun.Env
	BinEnv  string // a virtualenv, a Python or a pip; "" is the Python of the system
	User    string
	Cwd     string
	EnvVars *value.Map
}

// A NotFoundError says that there is no pip.
type NotFoundError struct{ Msg string }

func (e *NotFoundError) Error() string { return e.Msg }

// Unwrap makes it an error for the user.
func (e *NotFoundError) Unwrap() error { return &fun.CommandError{Msg: e.Msg} }

// command returns the command line that starts pip.
// Salt: salt/modules/pip.py _get_pip_bin.
func (p *Client) command() ([]string, error) {
	h := p.Env.Host
	if p.BinEnv == "" {
		for _, name := range []string{"python3", "python"} {
			if at, err := h.LookPath(name, ""); err == nil {
				return []string{at, "-m", "pip"}, nil
			}
		}
		return nil, &NotFoundError{"Could not find a `pip` binary"}
	}
	st, err := h.Stat(p.BinEnv)
	switch {
	case err == nil && st.Mode.IsDir():
		for _, sub := range []string{"python", "bin/python", "Scripts/python"} {
			if at := filepath.Join(p.BinEnv, sub); machine.Executable(h, at) {
				return []string{at, "-m", "pip"}, nil
			}
		}
		return nil, &NotFoundError{"Could not find a pip binary in virtualenv " + p.BinEnv}
	case err != nil || st.Perm()&0o111 == 0:
		return nil, &NotFoundError{"Access denied to " + p.BinEnv + ", could not find a pip binary"}
	case !st.Mode.IsRegular():
		return nil, fun.Errorf("Could not find a pip binary within %s", p.BinEnv)
	}
	at := filepath.Clean(p.BinEnv)
	if strings.Contains(filepath.Base(at), "python") {
		return []string{at, "-m", "pip"}, nil
	}
	return []string{at}, nil
}

// environ is what pip gets in its environment.
func (p *Client) environ() *value.Map {
	env := value.MapOf("PIP_NO_INPUT", "1")
	if p.BinEnv != "" {
		if st, err := p.Env.Host.Stat(p.BinEnv); err == nil && st.Mode.IsDir() {
			env.Set("VIRTUAL_ENV", p.BinEnv)
		}
	}
	for k, v := range p.EnvVars.All() {
		env.Set(value.Str(k), value.Str(v))
	}
	return env
}

// Run runs pip with arguments. What it prints shows no credentials of URLs.
func (p *Client) Run(ctx context.Context, env *value.Map, args ...string) (cmd.Out, error) {
	return p.run(ctx, env, false, args)
}

func (p *Client) run(ctx context.Context, env *value.Map, looks bool, args []string) (cmd.Out, error) {
	words, err := p.command()
	if err != nil {
		return cmd.Out{}, err
	}
	out, err := cmd.RunWords(ctx, p.Env, append(words, args...), cmd.Options{Cwd: p.Cwd, RunAs: p.User, Env: env, ReadOnly: looks})
	out.Stdout, out.Stderr = redact.URLs(out.Stdout), redact.URLs(out.Stderr)
	return out, err
}

// look runs a command of pip that changes nothing.
func (p *Client) look(ctx context.Context, args ...string) (cmd.Out, error) {
	env := p.environ()
	if !env.Has("PIP_DISABLE_PIP_VERSION_CHECK") {
		env.Set("PIP_DISABLE_PIP_VERSION_CHECK", "1")
	}
	return p.run(ctx, env, true, args)
}

type key struct{ what, binEnv, user, cwd, env string }

func (p *Client) key(what string) key {
	return key{what, p.BinEnv, p.User, p.Cwd, value.Repr(p.environ())}
}

var versionRE = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^pip (\S+)`) })

// Version returns the version of pip, "" where it does not say.
func (p *Client) Version(ctx context.Context) (string, error) {
	return machine.Keep(p.Env, p.key("version"), func() (string, error) {
		out, err := p.look(ctx, "--version")
		if err != nil {
			return "", err
		}
		if out.Retcode != 0 {
			return "", &NotFoundError{"Could not find a `pip` binary"}
		}
		if m := versionRE().FindStringSubmatch(out.Stdout); m != nil {
			return m[1], nil
		}
		return "", nil
	})
}

// A Package is an installed package.
type Package struct{ Name, Version string }

// Packages are installed packages in pip's order.
type Packages []Package

// Find returns the package of a name, as Python compares names.
func (ps Packages) Find(name string) (Package, bool) {
	name = Normal(name)
	for _, p := range ps {
		if Normal(p.Name) == name {
			return p, true
		}
	}
	return Package{}, false
}

// Value returns the versions by name.
func (ps Packages) Value() *value.Map {
	m := value.NewMap(len(ps))
	for _, p := range ps {
		m.Set(p.Name, p.Version)
	}
	return m
}

// Normal returns a name of a Python package in the form in which names are
// compared: lower case, and a dash for each run of dashes, dots and underscores.
func Normal(name string) string {
	var b strings.Builder
	dash := false
	for _, c := range strings.ToLower(name) {
		if c == '-' || c == '_' || c == '.' {
			dash = true
			continue
		}
		if dash {
			b.WriteByte('-')
			dash = false
		}
		b.WriteRune(c)
	}
	if dash {
		b.WriteByte('-')
	}
	return b.String()
}

// List returns the installed packages.
func (p *Client) List(ctx context.Context) (Packages, error) {
	return machine.Keep(p.Env, p.key("list"), func() (Packages, error) {
		out, err := p.look(ctx, "list", "--format=json")
		if err != nil {
			return nil, err
		}
		if out.Retcode != 0 {
			return nil, out.Err()
		}
		var got []struct{ Name, Version string }
		if err := json.Unmarshal([]byte(out.Stdout), &got); err != nil {
			return nil, fun.Errorf("Invalid JSON")
		}
		ps := make(Packages, len(got))
		for i, g := range got {
			ps[i] = Package(g)
		}
		return ps, nil
	})
}

// Freeze returns the lines of pip freeze.
func (p *Client) Freeze(ctx context.Context) ([]string, error) {
	out, err := p.look(ctx, "freeze", "--all")
	if err != nil {
		return nil, err
	}
	if out.Retcode != 0 {
		return nil, out.Err()
	}
	return value.SplitLines(out.Stdout, false), nil
}

// An Upgrade is a package with a newer version.
type Upgrade struct {
	Name   string
	Latest string `json:"latest_version"`
	Kind   string `json:"latest_filetype"`
}

// Upgrades returns the packages that have newer versions.
func (p *Client) Upgrades(ctx context.Context) ([]Upgrade, error) {
	out, err := p.look(ctx, "list", "--outdated", "--format=json")
	if err != nil {
		return nil, err
	}
	if out.Retcode != 0 {
		return nil, out.Err()
	}
	var got []Upgrade
	if err := json.Unmarshal([]byte(out.Stdout), &got); err != nil {
		return nil, fun.Errorf("Invalid JSON")
	}
	return got, nil
}

// An Index is where pip looks for packages.
type Index struct {
	URL, Extra      string
	FindLinks       []string
	NoIndex         bool
	TrustedHosts    []string
	Alpha, Beta, RC bool // take pre-releases of these kinds
}

var (
	indexRE   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^\s*Available versions: (.*)$`) })
	installRE = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?m)Could not find a version.* \(from versions: (.*)\)\s*$`)
	})
)

// Versions returns the versions of a package that can be had, in order; nil where
// there are none.
func (p *Client) Versions(ctx context.Context, name string, from Index) ([]string, error) {
	if err := checkWord("package", name); err != nil {
		return nil, err
	}
	env := p.environ()
	args, err := from.options(p.Env.Host, env)
	if err != nil {
		return nil, err
	}
	have, err := p.Version(ctx)
	if err != nil {
		return nil, err
	}
	if from.Alpha || from.Beta || from.RC {
		args = append(args, "--pre")
	}
	re := indexRE()
	switch {
	case pkgversion.PEP440(have, "21.2") >= 0:
		args = append([]string{"index", "versions"}, append(args, "--", name)...)
	default:
		// pip names the versions that there are when it does not find one.
		re = installRE()
		if pkgversion.PEP440(have, "20.3") >= 0 {
			args = append(args, "--use-deprecated=legacy-resolver")
		}
		args = append([]string{"install"}, append(args, "--", name+"==versions")...)
	}
	out, err := p.run(ctx, env, true, args)
	if err != nil {
		return nil, err
	}
	m := re.FindStringSubmatch(out.Stdout + "\n" + out.Stderr)
	if m == nil {
		return nil, nil
	}
	var versions []string
	for v := range strings.SplitSeq(m[1], ", ") {
		v = strings.TrimSpace(v)
		kind := pkgversion.PrePEP440(v)
		if v == "" || v == "none" || kind == "a" && !from.Alpha || kind == "b" && !from.Beta || kind == "rc" && !from.RC {
			continue
		}
		versions = append(versions, v)
	}
	sortVersions(versions)
	return versions, nil
}
