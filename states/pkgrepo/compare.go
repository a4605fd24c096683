package pkgrepo

import (
	"context"
	"slices"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/machine"
	"brine/modules/pkg/aptsources"
	"brine/modules/tool"
)

// due reports whether the repository differs from what is wanted.
func (j *job) due() bool {
	if j.f.debian {
		return j.dueDebian()
	}
	for k, v := range j.want.All() {
		name := value.Str(k)
		was, ok := j.pre.Get(k)
		switch {
		case !ok && name == "enabled":
			// yum takes a repository that does not say so as enabled.
			if j.f.name != "RedHat" || !isTrue(v) {
				return true
			}
		case !ok && (name == "comps" || name == "key_url"):
			return true
		case !ok:
		case name == "comps" || name == "key_url":
			if !sameWords(v, was) {
				return true
			}
		case name == "comments" && j.f.name == "RedHat":
			if remarks(v) != remarks(was) {
				return true
			}
		case name == "architectures" && value.Truth(v):
			if !sameWords(v, was) {
				return true
			}
		case (j.f.name == "RedHat" || j.f.name == "Suse") && (isBool(v) || isBool(was)):
			if isTrue(v) != isTrue(was) {
				return true
			}
		case value.Str(v) != value.Str(was):
			return true
		}
	}
	return false
}

func isBool(v value.Value) bool { _, ok := v.(bool); return ok }

// sameWords compares lists regardless of their order.
func sameWords(a, b value.Value) bool {
	x, y := words(a), words(b)
	slices.Sort(x)
	slices.Sort(y)
	return slices.Equal(x, y)
}

func words(v value.Value) []string {
	items, err := value.Items(v)
	if s, ok := v.(string); ok || err != nil {
		return []string{s}
	}
	list := make([]string, len(items))
	for i, x := range items {
		list[i] = value.Str(x)
	}
	return list
}

// remarks joins comments as yum's files have them.
// Salt: salt/utils/pkg/rpm.py combine_comments.
func remarks(v value.Value) string {
	var b strings.Builder
	for _, w := range words(v) {
		b.WriteString("# " + strings.TrimLeft(strings.TrimLeft(w, "#"), " \t\n") + "\n")
	}
	return b.String()
}

// expand sets want to the entry that is described, on systems with apt. What the
// entry that exists has and the definition does not name stays: its keyring and
// its options.
func (j *job) expand(ctx context.Context) error {
	kw := j.kw.Copy()
	kw.Set("repo", j.repo)
	v, err := j.c.Env.Exec(ctx, "pkg.expand_repo_def", kw)
	if err != nil {
		return err
	}
	want, ok := v.(*value.Map)
	if !ok {
		return fun.Errorf("pkg.expand_repo_def did not return a repository")
	}
	j.want = want.Copy()
	keys := j.a.Keyid != nil || j.a.KeyURL.Given || j.a.KeyText != nil
	if want.Str("signedby") == "" && !strings.HasPrefix(j.repo, "ppa:") &&
		(!j.a.Aptkey || keys && !tool.Has(j.c.Env.Host, "apt-key")) {
		return fun.Errorf("missing 'signedby' option when apt-key is missing")
	}
	e, ok := aptsources.Parse(want.Str("line"))
	if !ok || j.pre.Len() == 0 {
		return nil
	}
	file := j.a.File
	inPlace := file == "" || file == j.file
	if was, ok := aptsources.Parse(j.pre.Str("line")); ok && inPlace {
		for _, o := range was.Options {
			if !slices.ContainsFunc(e.Options, func(x aptsources.Option) bool { return x.Name == o.Name }) {
				e.SetOption(o)
			}
		}
	}
	if strings.HasPrefix(j.repo, "ppa:") {
		e.URI = j.pre.Str("uri")
		j.want.Set("uri", e.URI)
	}
	if kept := j.pre.Str("signedby"); want.Str("signedby") == "" && kept != "" && (inPlace || j.pre.At("disabled") == false) {
		j.want.Set("signedby", kept)
		if !strings.ContainsAny(kept, " \n") {
			e.SignedBy = kept
		}
	}
	j.want.Set("line", e.String())
	return nil
}

// dueDebian is due for entries of apt.
func (j *job) dueDebian() bool {
	for _, k := range []string{"disabled", "dist", "type", "uri", "signedby"} {
		if !value.Equal(j.want.At(k), j.pre.At(k)) {
			return true
		}
	}
	if !sameWords(j.want.At("comps"), j.pre.At("comps")) || !sameWords(j.want.At("architectures"), j.pre.At("architectures")) {
		return true
	}
	want, ok := aptsources.Parse(j.want.Str("line"))
	was, had := aptsources.Parse(j.pre.Str("line"))
	if !ok || !had {
		return j.want.Str("line") != j.pre.Str("line")
	}
	for _, o := range want.Options {
		if !was.Has(o) {
			return true
		}
	}
	// Comments are not part of an entry of a deb822 file.
	if j.a.Comments.Given && !strings.HasSuffix(j.file, ".sources") && strings.TrimSpace(was.Comment) != strings.TrimSpace(strings.Join(j.a.Comments.V, " ")) {
		return true
	}
	return j.keyringMissing()
}

// keyringMissing reports whether a key is to be written to a keyring that is not
// there.
func (j *job) keyringMissing() bool {
	file := j.want.Str("signedby")
	if !strings.HasPrefix(file, "/") || strings.ContainsAny(file, " ,\n") {
		return false
	}
	if (j.a.Keyid == nil) && !j.a.KeyURL.Given && (j.a.KeyText == nil) {
		return false
	}
	return !machine.Exists(j.c.Env.Host, file)
}
