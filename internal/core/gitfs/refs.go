package gitfs

import (
	"fmt"
	"slices"
	"strings"

	"brine/internal/core/fileserver"
)

// Names of refs in a cache, as in Salt: branches are those of a remote called
// origin.
const (
	branchPrefix = "refs/remotes/origin/"
	tagPrefix    = "refs/tags/"
)

var defaultRefspecs = []string{"+refs/heads/*:refs/remotes/origin/*", "+refs/tags/*:refs/tags/*"}

// A Refspec says which refs of a remote are fetched, and what they are called.
type Refspec struct{ Src, Dst string }

func parseRefspec(s string) (Refspec, error) {
	src, dst, ok := strings.Cut(strings.TrimPrefix(s, "+"), ":")
	if !ok || !strings.HasPrefix(src, "refs/") || !strings.HasPrefix(dst, "refs/") ||
		strings.Count(src, "*") > 1 || strings.Count(src, "*") != strings.Count(dst, "*") {
		return Refspec{}, fmt.Errorf("%q is not like +refs/heads/*:refs/remotes/origin/*", s)
	}
	return Refspec{Src: src, Dst: dst}, nil
}

// match returns what a ref of the remote is called here.
func (s Refspec) match(name string) (string, bool) {
	before, after, glob := strings.Cut(s.Src, "*")
	if !glob {
		return s.Dst, name == s.Src
	}
	if len(name) < len(before)+len(after) || !strings.HasPrefix(name, before) || !strings.HasSuffix(name, after) {
		return "", false
	}
	return strings.Replace(s.Dst, "*", name[len(before):len(name)-len(after)], 1), true
}

// validRef reports whether git allows a name. Others do not become saltenvs.
func validRef(name string) bool {
	if !strings.HasPrefix(name, "refs/") || len(name) > 1000 || strings.HasSuffix(name, ".") || strings.Contains(name, "..") || strings.Contains(name, "@{") {
		return false
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || part[0] == '.' || strings.HasSuffix(part, ".lock") {
			return false
		}
	}
	return !strings.ContainsFunc(name, func(c rune) bool { return c < ' ' || c == 0x7f || strings.ContainsRune(` ~^:?*[\`, c) })
}

// envs returns the saltenvs that refs give.
//
// Salt: salt/utils/gitfs.py _get_envs_from_ref_paths.
func (r *Remote) envs(refs map[string]string) []string {
	reverse := map[string][]string{}
	for env, o := range r.SaltEnvs {
		if o.Ref != nil {
			reverse[*o.Ref] = append(reverse[*o.Ref], env)
		}
	}
	set := map[string]bool{}
	add := func(name string) {
		switch {
		case len(reverse[name]) > 0:
			for _, env := range reverse[name] {
				set[env] = true
			}
			if name == r.Base {
				set["base"] = true
			}
		case name == r.Base:
			set["base"] = true
		case !r.NoMapping:
			set[name] = true
		}
	}
	for _, env := range r.fixedEnvs() {
		set[env] = true
	}
	for ref := range refs {
		if name, ok := strings.CutPrefix(ref, branchPrefix); ok && slices.Contains(r.RefTypes, "branch") {
			add(name)
		} else if name, ok := strings.CutPrefix(ref, tagPrefix); ok && slices.Contains(r.RefTypes, "tag") {
			add(name)
		}
	}
	var out []string
	for env := range set {
		if r.exposes(env) {
			out = append(out, env)
		}
	}
	slices.Sort(out)
	return out
}

// fixedEnvs are the saltenvs that do not depend on refs: those of commits.
func (r *Remote) fixedEnvs() (out []string) {
	if isHex(r.Base) {
		out = append(out, "base")
	}
	if r.At != "" {
		out = append(out, r.AtEnv)
	}
	for env, o := range r.SaltEnvs {
		if o.Ref != nil && isHex(*o.Ref) && slices.Contains(r.RefTypes, "sha") {
			out = append(out, env)
		}
	}
	return out
}

// exposes reports whether a saltenv is served.
func (r *Remote) exposes(env string) bool {
	return fileserver.Exposed(env, r.Allow, r.Deny)
}

// ref returns the branch, tag or commit of a saltenv; "" is none.
//
// Salt: salt/utils/gitfs.py add_conf_overlay.
func (r *Remote) ref(env string) string {
	if r.At != "" && env == r.AtEnv {
		return r.At
	}
	if r.AllSaltEnvs != "" {
		return r.AllSaltEnvs
	}
	if env == "base" {
		return r.Base
	}
	if o := r.SaltEnvs[env]; o.Ref != nil {
		return *o.Ref
	}
	if r.NoMapping {
		return ""
	}
	return env
}

// rootOf and mountOf are the options of the remote for a saltenv.
func (r *Remote) rootOf(env string) string {
	if o := r.SaltEnvs[env]; o.Root != nil {
		return *o.Root
	}
	return r.Root
}

func (r *Remote) mountOf(env string) string {
	if o := r.SaltEnvs[env]; o.Mountpoint != nil {
		return *o.Mountpoint
	}
	return r.Mountpoint
}

// resolve returns the commit of a ref by the types that the remote allows, in
// their order. find looks a commit up by its hash, whole or the beginning.
func (r *Remote) resolve(ref string, refs map[string]string, find func(hash string) (string, bool)) (string, bool) {
	if ref == "" {
		return "", false
	}
	types := r.RefTypes
	if ref == r.At {
		types = refTypes
	}
	for _, t := range types {
		commit, ok := "", false
		switch t {
		case "branch":
			commit, ok = refs[branchPrefix+ref]
		case "tag":
			commit, ok = refs[tagPrefix+ref]
		case "sha":
			if isHex(ref) {
				commit, ok = find(ref)
			}
		}
		if ok {
			return commit, true
		}
	}
	return "", false
}

// isHex reports whether s may be the hash of a commit.
func isHex(s string) bool {
	return len(s) >= 7 && len(s) <= 40 && !strings.ContainsFunc(s, func(c rune) bool { return !strings.ContainsRune("0123456789abcdefABCDEF", c) })
}
