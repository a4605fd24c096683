package zypperpkg

import (
	"context"
	"net/url"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/pkg/repofile"
)

// reposDir has the files with repositories.
const reposDir = "/etc/zypp/repos.d"

// repos returns the repositories and their options by alias.
func (z *zypper) repos() (*value.Map, error) {
	m, err := repofile.Repositories(z.env.Host, []string{z.root + reposDir}, true)
	if err != nil {
		return nil, err
	}
	for i := range m.Len() {
		alias, v := m.Entry(i)
		m.Set(alias, describeRepo(value.Str(alias), v.(*value.Map)))
	}
	return m, nil
}

// describeRepo makes booleans of 0 and 1, and None of NONE.
func describeRepo(alias string, section *value.Map) *value.Map {
	out := value.NewMap(section.Len() + 1)
	for k, v := range section.All() {
		switch {
		case k == "comments" || k == "file":
			continue
		case v == "0", v == "1":
			v = v == "1"
		case v == "NONE":
			v = nil
		}
		out.Set(k, v)
	}
	out.Set("alias", alias)
	return out
}

func listRepos(_ context.Context, c *fun.Call, a *listInstalledPatchesArgs) (fun.Result, error) {
	m, err := newZypper(c, a.Root).repos()
	return fun.Result{Value: m}, err
}

func (z *zypper) repo(alias string) (*value.Map, error) {
	all, err := z.repos()
	if err != nil {
		return nil, err
	}
	if m := all.Map(alias); m != nil {
		return m, nil
	}
	return value.NewMap(0), nil
}

type getRepoArgs struct {
	repoArg
	rootArg
	_ fun.Kwargs
}

func getRepo(_ context.Context, c *fun.Call, a *getRepoArgs) (fun.Result, error) {
	m, err := newZypper(c, a.Root).repo(a.Repo)
	return fun.Result{Value: m}, err
}

type delRepoArgs struct {
	repoArg
	rootArg
}

func delRepo(ctx context.Context, c *fun.Call, a *delRepoArgs) (fun.Result, error) {
	m, err := newZypper(c, a.Root).remove(ctx, a.Repo)
	return fun.Result{Value: m}, err
}

// remove deletes a repository.
func (z *zypper) remove(ctx context.Context, alias string) (*value.Map, error) {
	all, err := z.repos()
	if err != nil {
		return nil, err
	}
	if !all.Has(alias) {
		return nil, fun.Errorf("Repository '%s' not found.", alias)
	}
	if err := checkAlias(alias); err != nil {
		return nil, err
	}
	out, err := z.run(ctx, how{xml: true}, "rr", "--loose-auth", "--loose-query", alias)
	if err != nil {
		return nil, err
	}
	e := parseXML(out.Stdout)
	if len(e.all("progress")) == 0 || len(e.all("message")) == 0 {
		return nil, fun.Errorf("Repository '%s' not found.", alias)
	}
	return value.MapOf(alias, true, "message", strings.TrimSpace(e.first("message").content())), nil
}

func checkAlias(alias string) error {
	if alias == "" || strings.HasPrefix(alias, "-") || strings.ContainsAny(alias, "\x00\n[]") {
		return &fun.InvocationError{Msg: "invalid name of a repository: " + value.Repr(alias), Arg: "repo"}
	}
	return nil
}

type modRepoArgs struct {
	repoArg
	rootKw
	repoOptions
	_ fun.Kwargs
}

// repoOptions are the options of a repository that mod_repo changes.
type repoOptions struct {
	_ fun.Arguments
	_ value.Value `arg:"url,kw,str" doc:"URL of a new repository"`
	_ value.Value `arg:"baseurl,kw,str" doc:"URL of the repository"`
	_ value.Value `arg:"mirrorlist,kw,str" doc:"URL of a new repository"`
	_ value.Value `arg:"enabled,kw,bool|int" doc:"use the repository"`
	_ value.Value `arg:"refresh,kw,bool|int" doc:"refresh the repository by itself"`
	_ value.Value `arg:"cache,kw,bool|int" doc:"keep downloaded packages"`
	_ value.Value `arg:"gpgcheck,kw,bool|int" doc:"check signatures"`
	_ value.Value `arg:"gpgautoimport,kw,bool|int" doc:"trust the key of the repository"`
	_ value.Value `arg:"priority,kw,int|str" doc:"priority; the lowest number is preferred"`
	_ value.Value `arg:"humanname,kw,str" doc:"the same as name"`
	_ value.Value `arg:"name,kw,str" doc:"name that people see"`
}

// modRepo changes a repository, or adds it. Salt: salt/modules/zypperpkg.py mod_repo.
func modRepo(ctx context.Context, c *fun.Call, a *modRepoArgs) (fun.Result, error) {
	z := newZypper(c, a.Root)
	if err := checkAlias(a.Repo); err != nil {
		return fun.Result{}, err
	}
	m, err := z.modify(ctx, a.Repo, c.Given(&a.repoOptions))
	return fun.Result{Value: m}, err
}

func (z *zypper) modify(ctx context.Context, alias string, opts *value.Map) (*value.Map, error) {
	all, err := z.repos()
	if err != nil {
		return nil, err
	}
	added := false
	if !all.Has(alias) {
		if err := z.add(ctx, alias, opts, all); err != nil {
			return nil, err
		}
		added = true
	}
	now, err := z.repo(alias)
	if err != nil {
		return nil, err
	}
	if base, ok := opts.Get("baseurl"); ok && !added && !value.Equal(base, now.At("baseurl")) {
		// zypper cannot change the URL: the repository is removed and added again.
		now.Update(opts)
		if !now.Has("cache") {
			now.Set("cache", false)
		}
		for _, k := range []string{"alias", "url", "mirrorlist"} {
			now.Delete(k)
		}
		if _, err := z.remove(ctx, alias); err != nil {
			return nil, err
		}
		return z.modify(ctx, alias, now)
	}
	args, err := modifyArguments(opts)
	if err != nil {
		return nil, err
	}
	if len(args) > 0 {
		if _, err := z.run(ctx, how{xml: true, refresh: true}, append(append([]string{"mr"}, args...), alias)...); err != nil {
			return nil, err
		}
	}
	comment := ""
	if opts.At("gpgautoimport") == true {
		// zypper imports keys only when it refreshes.
		if _, err := z.refresh(ctx, refreshing{force: true, importKeys: true, repos: []string{alias}}); err != nil {
			return nil, err
		}
	} else if !added && len(args) == 0 {
		comment = "Specified arguments did not result in modification of repo"
	}
	if now, err = z.repo(alias); err != nil {
		return nil, err
	}
	if comment != "" {
		now.Set("comment", comment)
	}
	return now, nil
}

// add adds a repository, unless its URL is that of another one.
func (z *zypper) add(ctx context.Context, alias string, opts, all *value.Map) error {
	address := ""
	for _, k := range []string{"url", "mirrorlist", "baseurl"} {
		if opts.Has(k) {
			address = opts.Str(k)
			break
		}
	}
	if address == "" || address == "None" {
		return fun.Errorf("Repository '%s' not found, and neither 'baseurl' nor 'mirrorlist' was specified", alias)
	}
	u, err := url.Parse(address)
	if err != nil || u.Scheme == "" || strings.HasPrefix(address, "-") {
		return fun.Errorf("Repository '%s' not found and URL for baseurl/mirrorlist is malformed", alias)
	}
	for other, v := range all.All() {
		have, err := url.Parse(v.(*value.Map).Str("baseurl"))
		if err == nil && samePlace(u, have) {
			return fun.Errorf("Repository '%s' already exists as '%s'.", alias, value.Str(other))
		}
	}
	if _, err := z.run(ctx, how{xml: true}, "ar", address, alias); err != nil {
		return err
	}
	if now, err := z.repo(alias); err != nil || now.Len() == 0 {
		if err != nil {
			return err
		}
		return fun.Errorf("Failed add new repository '%s' for unspecified reason. Please check zypper logs.", alias)
	}
	return nil
}

func samePlace(a, b *url.URL) bool {
	path := func(u *url.URL) string {
		if u.Path == "" {
			return "/"
		}
		return u.Path
	}
	return a.Scheme == b.Scheme && a.Host == b.Host && path(a) == path(b) && a.RawQuery == b.RawQuery && a.Fragment == b.Fragment
}

// flags are the options of a repository that are switched on and off.
var flags = [...][3]string{
	{"enabled", "--enable", "--disable"},
	{"refresh", "--refresh", "--no-refresh"},
	{"cache", "--keep-packages", "--no-keep-packages"},
	{"gpgcheck", "--gpgcheck", "--no-gpgcheck"},
}

// modifyArguments returns the options of zypper mr.
func modifyArguments(opts *value.Map) ([]string, error) {
	var args []string
	for _, f := range flags {
		if v, ok := opts.Get(f[0]); ok {
			if value.Truth(v) {
				args = append(args, f[1])
			} else {
				args = append(args, f[2])
			}
		}
	}
	if v, ok := opts.Get("priority"); ok {
		n, isInt := value.AsInt(v)
		if s, text := v.(string); text && strings.Trim(s, "0123456789") == "" && s != "" {
			args = append(args, "--priority="+s)
		} else if isInt {
			args = append(args, "--priority="+value.Str(n))
		} else {
			return nil, &fun.InvocationError{Msg: "priority must be a number", Arg: "priority"}
		}
	}
	for _, k := range []string{"humanname", "name"} {
		if v, ok := opts.Get(k); ok && v != nil {
			args = append(args, "--name="+value.Str(v))
		}
	}
	return args, nil
}
