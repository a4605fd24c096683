package pkgrepo

import (
	"context"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// stripURI removes the slash at the end of an address in a definition.
// Salt: salt/utils/pkg/deb.py strip_uri.
func stripURI(repo string) string {
	parts := strings.Fields(repo)
	for i, w := range parts {
		for _, scheme := range []string{"http://", "https://", "ftp://"} {
			if strings.HasPrefix(w, scheme) {
				parts[i] = strings.TrimRight(w, "/")
			}
		}
	}
	return strings.Join(parts, " ")
}

// spellings are the ways in which the address of a definition may be written.
func spellings(repo string) []string {
	stripped := stripURI(repo)
	parts := strings.Fields(stripped)
	for i, w := range parts {
		if strings.Contains(w, "://") {
			parts[i] = w + "/"
		}
	}
	list := []string{stripped}
	for _, other := range []string{strings.Join(strings.Fields(repo), " "), strings.Join(parts, " ")} {
		if other != stripped {
			list = append(list, other)
		}
	}
	return list
}

type absentArgs struct {
	_   string `arg:"name,required" doc:"the repository: an entry in one line (apt), or its ID"`
	PPA string `arg:"ppa,kw" doc:"OWNER/NAME of a Personal Package Archive (Ubuntu)"`
	ppaAuthArg
	Copr     string        `arg:"copr,kw" doc:"OWNER/NAME of a repository of Copr (Red Hat family)"`
	Keyid    value.Value   `arg:"keyid,kw" doc:"ID of the key to remove with the repository (apt)"`
	KeyidPPA fun.Opt[bool] `arg:"keyid_ppa,kw" doc:"ask Launchpad for the ID of the key (Ubuntu)"`
	_        bool          `arg:"aptkey,kw" doc:"use apt-key where it is there; False: keyrings; default: True (apt)"`
	_        string        `arg:"keydir,kw,path" doc:"directory of keyrings; default: /etc/apt/keyrings (apt)"`
	_        fun.Kwargs
}

// A removal is one call of absent.
type removal struct {
	c    *fun.Call
	a    *absentArgs
	f    family
	name string // of the repository
	kw   *value.Map
}

func newRemoval(c *fun.Call, a *absentArgs) *removal {
	r := &removal{c: c, a: a, f: familyOf(c.Env), name: c.Name, kw: given(c, "ppa", "copr")}
	if ppa := a.PPA; ppa != "" && r.f.debian && (r.f.hasPPA() || !strings.Contains(strings.TrimSpace(r.name), " ")) {
		r.name = "ppa:" + strings.TrimPrefix(ppa, "ppa:")
	}
	if copr := a.Copr; copr != "" && r.f.name == "RedHat" {
		r.name = "copr:" + strings.TrimPrefix(copr, "copr:")
	}
	return r
}

// find returns the name under which the provider finds the repository, "" where
// there is none.
func (r *removal) find(ctx context.Context) (string, error) {
	names := []string{r.name}
	if r.f.debian {
		names = spellings(r.name)
		if _, err := r.c.Env.Exec(ctx, "pkg.expand_repo_def", value.MapOf("repo", r.name)); err != nil {
			return "", err
		}
	}
	for _, n := range names {
		v, err := r.c.Env.Exec(ctx, "pkg.get_repo", r.kw, n)
		if err != nil {
			return "", err
		}
		if value.Truth(v) {
			return n, nil
		}
	}
	return "", nil
}

// absent removes a repository. Salt: salt/states/pkgrepo.py absent.
func absent(ctx context.Context, c *fun.Call, a *absentArgs) fun.Ret {
	r := newRemoval(c, a)
	withKey := a.Keyid != nil || a.KeyidPPA.Given
	if withKey && !c.Env.Has("pkg.del_repo_key") {
		return fun.Fail("Repo key management is not implemented for this platform")
	}
	repo, err := r.find(ctx)
	if err != nil {
		return fun.FailedBy(err, "Failed to configure repo '"+r.name+"': ")
	}
	if repo == "" {
		return fun.Ret{Result: fun.OK, Comment: "Package repo " + r.name + " is absent"}
	}
	if c.Test {
		return fun.Ret{Result: fun.WouldChange, Comment: "Package repo '" + r.name + "' will be removed. " + later}
	}
	kw := r.kw.Copy()
	kw.Set("repo", repo)
	if _, err := c.Env.Exec(ctx, "pkg.del_repo", kw); err != nil {
		return fun.Ret{Comment: err.Error()}
	}
	if left, err := r.left(ctx, repo); err != nil || left {
		return fun.Ret{Comment: "Failed to remove repo " + r.name}
	}
	ret := fun.Ret{Result: fun.OK, Comment: "Removed repo " + r.name, Changes: value.MapOf("repo", r.name)}
	if withKey {
		r.removeKey(ctx, repo, &ret)
	}
	return ret
}

// left reports whether the repository is still there.
func (r *removal) left(ctx context.Context, repo string) (bool, error) {
	if r.f.debian {
		v, err := r.c.Env.Exec(ctx, "pkg.get_repo", r.kw, repo)
		return value.Truth(v), err
	}
	v, err := r.c.Env.Exec(ctx, "pkg.list_repos", nil)
	m, _ := v.(*value.Map)
	return m.Has(repo), err
}

// removeKey removes the key of the repository, if it is there.
func (r *removal) removeKey(ctx context.Context, repo string, ret *fun.Ret) {
	fail := func(err error) {
		ret.Result, ret.Comment = fun.Failed, "Removed repo "+r.name+", but failed to remove key: "+err.Error()
	}
	if r.f.debian && !r.a.KeyidPPA.V && r.c.Env.Has("pkg.get_repo_keys") {
		had, err := r.hasKey(ctx)
		if err != nil {
			fail(err)
			return
		}
		if !had {
			return
		}
	}
	id, err := r.c.Env.Exec(ctx, "pkg.del_repo_key", r.kw, repo)
	switch {
	case err != nil:
		fail(err)
	case value.Truth(id):
		ret.Changes.(*value.Map).Set("keyid", id)
		ret.Comment = "Removed repo " + r.name + ", and keyid " + value.Str(id)
	}
}

// hasKey reports whether the key of the argument keyid is there.
func (r *removal) hasKey(ctx context.Context) (bool, error) {
	v, err := r.c.Env.Exec(ctx, "pkg.get_repo_keys", r.kw)
	if err != nil {
		return false, err
	}
	m, _ := v.(*value.Map)
	id := strings.ToUpper(strings.TrimPrefix(fun.TextOf(r.a.Keyid), "0x"))
	for k, v := range m.All() {
		key, _ := v.(*value.Map)
		if strings.HasSuffix(strings.ToUpper(value.Str(k)), id) || key.Str("fingerprint") == id {
			return true, nil
		}
	}
	return false, nil
}
