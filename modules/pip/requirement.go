package pip

import (
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/core/pkgversion"
	"brine/internal/py/value"
)

// A Requirement is a package that a state asks for.
type Requirement struct {
	Text  string      // as the state has it
	Name  string      // "" where only its installation tells it, as for a URL
	Specs [][2]string // operator and version
}

// Fulfills reports whether a version meets all conditions.
func (r Requirement) Fulfills(version string) bool {
	for _, s := range r.Specs {
		if !pkgversion.MatchPEP440(version, s[0], s[1]) {
			return false
		}
	}
	return true
}

var (
	urlRE = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^(?:[a-z][a-z0-9]*\+)?(?:https?|file|ftp|ssh|git|hg|svn|bzr|lp):`)
	})
	nameRE = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\s*(?:\[([^\]]*)\])?\s*`)
	})
	specRE   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(===|~=|==|!=|<=|>=|<|>)\s*([^\s,;)]+)$`) })
	notNames = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[^A-Za-z0-9.]+`) })
)

// ParseRequirement reads a requirement as pip does: a name with conditions, a
// URL or a path. dir is where relative paths start.
func ParseRequirement(h host.Host, dir, text string) (Requirement, error) {
	r := Requirement{Text: text}
	s := strings.TrimSpace(text)
	if s == "" || s[0] == '-' {
		return r, fun.Errorf("pip raised an exception while parsing '%s': Invalid requirement: %s", text, value.Repr(text))
	}
	if link, ok := linkOf(h, dir, s); ok {
		return linked(r, link), nil
	}
	invalid := func() error {
		if strings.Contains(s, "=") && !strings.Contains(s, "==") {
			return fun.Errorf("Invalid version specification in package %s. '=' is not supported, use '==' instead.", text)
		}
		msg := "pip raised an exception while parsing '" + text + "': Invalid requirement: " + value.Repr(s)
		if strings.Contains(s, "/") {
			msg += "\nHint: It looks like a path. File '" + s + "' does not exist."
		}
		return fun.Errorf("%s", msg)
	}
	m := nameRE().FindStringSubmatch(s)
	if m == nil {
		return r, invalid()
	}
	r.Name = notNames().ReplaceAllString(m[1], "-")
	rest, _, _ := strings.Cut(s[len(m[0]):], ";")
	rest = strings.TrimSpace(rest)
	if rest == "" || rest[0] == '@' && len(rest) > 1 {
		return r, nil
	}
	if rest[0] == '(' && rest[len(rest)-1] == ')' {
		rest = rest[1 : len(rest)-1]
	}
	for part := range strings.SplitSeq(rest, ",") {
		part = strings.TrimSpace(part)
		if part == "" {
			continue
		}
		m := specRE().FindStringSubmatch(part)
		if m == nil || m[1] != "===" && !pkgversion.IsPEP440(strings.TrimSuffix(m[2], ".*")) {
			return r, invalid()
		}
		r.Specs = append(r.Specs, [2]string{m[1], m[2]})
	}
	return r, nil
}

// linkOf returns the URL or file of a requirement that is one.
func linkOf(h host.Host, dir, s string) (string, bool) {
	if urlRE().MatchString(s) {
		link, _, _ := strings.Cut(s, "; ")
		return link, true
	}
	if name, _, ok := strings.Cut(s, "@"); ok && !strings.Contains(name, "/") && !strings.HasPrefix(name, ".") {
		return "", false
	}
	p, _, _ := strings.Cut(s, "[")
	if !filepath.IsAbs(p) {
		p = filepath.Join(dir, p)
	}
	st, err := h.Stat(p)
	if err == nil && st.Mode.IsDir() && (strings.Contains(s, "/") || s[0] == '.') {
		return p, true
	}
	if !archive(p) {
		return "", false
	}
	return p, err == nil || strings.Contains(s, "/")
}

func archive(p string) bool {
	for _, ext := range []string{".zip", ".whl", ".tar.bz2", ".tbz", ".tar.gz", ".tgz", ".tar", ".tar.xz", ".txz", ".tlz", ".tar.lz", ".tar.lzma"} {
		if strings.HasSuffix(strings.ToLower(p), ext) {
			return true
		}
	}
	return false
}

// linked reads what a URL or file tells of its package: the fragment egg=NAME, or
// the name of a wheel.
func linked(r Requirement, link string) Requirement {
	link, fragment, _ := strings.Cut(link, "#")
	base, _, _ := strings.Cut(link[strings.LastIndexByte(link, '/')+1:], "?")
	if wheel, ok := strings.CutSuffix(base, ".whl"); ok {
		parts := strings.Split(wheel, "-")
		if len(parts) >= 5 && pkgversion.IsPEP440(parts[1]) {
			r.Name = notNames().ReplaceAllString(parts[0], "-")
			r.Specs = [][2]string{{"==", parts[1]}}
		}
		return r
	}
	for kv := range strings.SplitSeq(fragment, "&") {
		if egg, ok := strings.CutPrefix(kv, "egg="); ok {
			if m := nameRE().FindStringSubmatch(egg); m != nil {
				r.Name = notNames().ReplaceAllString(m[1], "-")
			}
		}
	}
	return r
}
