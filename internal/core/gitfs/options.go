package gitfs

import (
	"cmp"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"brine/internal/py/source"
	"brine/internal/py/value"
)

// The roles of remotes: which options there are depends on it.
const (
	Files      = "gitfs"
	Pillar     = "git_pillar"
	Mercurial  = "hgfs"
	Subversion = "svnfs"
	Buckets    = "s3fs"
	// PillarBuckets are those of the external pillar s3.
	PillarBuckets = "s3"
)

// FileRoles are the roles of file server backends.
func FileRoles() []string { return []string{Files, Mercurial, Subversion, Buckets} }

// A Remote is one repository as the configuration has it.
type Remote struct {
	Role string
	URL  string // without a password
	Name string
	Pos  source.Pos

	Base, Fallback   string
	Root, Mountpoint string
	SaltEnvs         map[string]EnvOptions // by saltenv; those of the remote over global ones
	AllSaltEnvs      string                // the ref that every saltenv has; "" is none
	Allow, Deny      []string              // saltenv_whitelist and saltenv_blacklist
	RefTypes         []string
	NoMapping        bool // disable_saltenv_mapping
	Refspecs         []Refspec
	Interval         time.Duration // between updates

	Branch, Env string // of a pillar

	BranchMethod          string  // of Mercurial: branches, bookmarks or mixed
	Trunk, Branches, Tags string  // of Subversion: directories
	Bucket                *Bucket // of S3

	Auth Auth
	// At is a commit, tag or branch that saltenv AtEnv has instead of its own.
	At, AtEnv string
}

// EnvOptions are what a remote has for one saltenv; a nil field is not given.
type EnvOptions struct{ Ref, Root, Mountpoint *string }

// Auth is how a remote knows who asks. It is never printed.
type Auth struct {
	User, Password      string
	PrivKey, Passphrase string
	Insecure            bool // a password over plain HTTP is allowed
	SkipVerify          bool // certificates are not checked
}

// String hides the secrets.
func (Auth) String() string { return "(credentials)" }

// GoString hides the secrets.
func (Auth) GoString() string { return "(credentials)" }

// Label names the remote in messages: its name, else its URL.
func (r *Remote) Label() string { return cmp.Or(r.Name, r.URL) }

var (
	overrides = map[string][]string{
		Files: {
			"base", "disable_saltenv_mapping", "fallback", "insecure_auth", "mountpoint", "passphrase", "password", "privkey", "pubkey",
			"ref_types", "refspecs", "root", "saltenv_blacklist", "saltenv_whitelist", "ssl_verify", "update_interval", "user",
		},
		Pillar: {
			"base", "branch", "env", "fallback", "insecure_auth", "passphrase", "password", "privkey", "pubkey", "refspecs", "root",
			"ssl_verify", "update_interval", "user",
		},
		Mercurial:  {"base", "branch_method", "mountpoint", "root", "saltenv_blacklist", "saltenv_whitelist", "update_interval"},
		Subversion: {"branches", "mountpoint", "root", "saltenv_blacklist", "saltenv_whitelist", "tags", "trunk", "update_interval"},
		Buckets:    {"update_interval"},
	}
	remoteOnly = map[string][]string{
		Files:      {"all_saltenvs", "name", "saltenv"},
		Pillar:     {"all_saltenvs", "mountpoint", "name"},
		Mercurial:  {"name"},
		Subversion: {"name"},
	}
	globalOnly = map[string][]string{
		Files:      {"global_lock", "provider", "remotes", "saltenv"},
		Pillar:     {"global_lock", "includes", "provider", "verify_config"},
		Mercurial:  {"remotes"},
		Subversion: {"remotes"},
	}
	refTypes      = []string{"branch", "tag", "sha"}
	branchMethods = []string{"branches", "bookmarks", "mixed"}
)

// CheckGlobals returns an error for each option of a role that does not exist.
func CheckGlobals(opts *value.Map, role string) error {
	var known []string
	for _, name := range slices.Concat(overrides[role], globalOnly[role]) {
		known = append(known, role+"_"+name)
	}
	for k := range opts.All() {
		name := value.Str(k)
		if strings.HasPrefix(name, role+"_") && !slices.Contains(known, name) && name != "gitfs_at" {
			return faultAt(opts.Pos(k), "unknown option %q%s", name, source.DidYouMean(name, known))
		}
	}
	return nil
}

// Parse reads a list of remotes: each is a URL, or a URL with options. Options
// that a remote does not have are the global ones, ROLE_OPTION of opts.
func Parse(opts *value.Map, role string, list value.Value) ([]*Remote, error) {
	if role == Buckets {
		return parseBuckets(opts)
	}
	l, ok := list.(*value.List)
	if !ok {
		if list == nil {
			return nil, nil
		}
		l = value.NewList(list)
	}
	var out []*Remote
	names := map[string]bool{}
	for i, item := range l.Items {
		p := parser{opts: opts, role: role, pos: l.PosAt(i)}
		r, err := p.remote(item)
		if err != nil {
			return nil, err
		}
		if r.Name != "" && names[r.Name] {
			return nil, faultAt(p.pos, "two remotes of %s have the name %q", role, r.Name)
		}
		names[r.Name] = true
		out = append(out, r)
	}
	return out, nil
}

// A parser reads one remote.
type parser struct {
	opts *value.Map
	role string
	pos  source.Pos
	conf *value.Map // of the remote
	at   map[string]source.Pos
	err  error
}

func faultAt(pos source.Pos, format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	if pos.IsZero() {
		return err
	}
	return &source.Error{Pos: pos, Err: err}
}

func (p *parser) fail(key, format string, args ...any) {
	if p.err == nil {
		pos := p.pos
		if q := p.at[key]; !q.IsZero() {
			pos = q
		}
		p.err = faultAt(pos, p.role+" "+format, args...)
	}
}

func (p *parser) remote(item value.Value) (*Remote, error) {
	id, ok := item.(string)
	p.conf, p.at = value.NewMap(0), map[string]source.Pos{}
	if m, isMap := item.(*value.Map); isMap && m.Len() == 1 {
		id, ok = m.Keys()[0].(string)
		if pos := m.Pos(m.Keys()[0]); !pos.IsZero() {
			p.pos = pos
		}
		v, _ := m.Get(m.Keys()[0])
		p.options(v)
		if p.conf.Len() == 0 {
			p.fail("", "remote %s has no options: remove the colon after the URL", shownURL(id))
		}
	}
	if !ok || strings.TrimSpace(id) == "" {
		return nil, faultAt(p.pos, "a remote of %s is a URL, or a URL with options", p.role)
	}
	r := &Remote{Role: p.role, Pos: p.pos}
	rawURL := strings.TrimSpace(id)
	if p.role == Pillar {
		if branch, u, two := strings.Cut(rawURL, " "); two {
			r.Branch, rawURL = branch, strings.TrimSpace(u)
		} else {
			r.Branch = p.str("branch", "master")
		}
		r.Env = p.str("env", "")
		if p.conf.Has("base") && r.Branch != "__env__" {
			p.fail("base", `remote %s: base is only for a remote whose branch is __env__`, shownURL(rawURL))
		}
	}
	p.fill(r, rawURL)
	if p.err != nil {
		return nil, p.err
	}
	return r, nil
}

// options reads the options of a remote, a list of dicts or one dict.
func (p *parser) options(v value.Value) {
	known := slices.Concat(overrides[p.role], remoteOnly[p.role])
	slices.Sort(known)
	add := func(m *value.Map) {
		for k, v := range m.All() {
			name := value.Str(k)
			p.at[name] = m.Pos(k)
			if !slices.Contains(known, name) {
				p.fail(name, "remotes have no option %q%s", name, source.DidYouMean(name, known))
			}
			p.conf.Set(name, v)
		}
	}
	switch v := v.(type) {
	case *value.Map:
		add(v)
	case *value.List:
		for i, x := range v.Items {
			m, ok := x.(*value.Map)
			if !ok {
				p.err = cmp.Or(p.err, faultAt(v.PosAt(i), "an option of a %s remote is a mapping, not %s", p.role, value.Kind(x)))
				return
			}
			add(m)
		}
	case nil:
	default:
		p.fail("", "the options of a remote are a list, not %s", value.Kind(v))
	}
}

func (p *parser) fill(r *Remote, rawURL string) {
	r.Name = p.str("name", "")
	if strings.ContainsAny(r.Name, "/\x00\n") || r.Name == "." || r.Name == ".." {
		p.fail("name", "remote name %q must not have a slash", r.Name)
	}
	r.Base, r.Fallback, r.AllSaltEnvs = p.str("base", "master"), p.str("fallback", ""), p.str("all_saltenvs", "")
	r.Root, r.Mountpoint = p.path("root", p.str("root", "")), p.path("mountpoint", p.str("mountpoint", ""))
	r.Allow, r.Deny = p.strs("saltenv_whitelist", nil), p.strs("saltenv_blacklist", nil)
	r.NoMapping = p.boolean("disable_saltenv_mapping", false)
	r.RefTypes = p.strs("ref_types", refTypes)
	for i, t := range r.RefTypes {
		r.RefTypes[i] = strings.ToLower(t)
		if !slices.Contains(refTypes, strings.ToLower(t)) {
			p.fail("ref_types", "ref_types has %q%s; there are %s", t, source.DidYouMean(t, refTypes), strings.Join(refTypes, ", "))
		}
	}
	for _, s := range p.strs("refspecs", defaultRefspecs) {
		spec, err := parseRefspec(s)
		if err != nil {
			p.fail("refspecs", "refspecs: %v", err)
		}
		r.Refspecs = append(r.Refspecs, spec)
	}
	r.Interval = p.seconds("update_interval", 60)
	r.SaltEnvs = map[string]EnvOptions{}
	switch p.role {
	case Mercurial:
		r.Base, r.BranchMethod = p.str("base", "default"), p.str("branch_method", "branches")
		if !slices.Contains(branchMethods, r.BranchMethod) {
			p.fail("branch_method", "branch_method %q%s; there are %s", r.BranchMethod, source.DidYouMean(r.BranchMethod, branchMethods), strings.Join(branchMethods, ", "))
		}
		p.plainURL(r, rawURL, []string{"file", "http", "https", "ssh"}, "[auth] in the file .hgrc of who runs brine")
		return
	case Subversion:
		r.Base = "base"
		r.Trunk, r.Branches, r.Tags = p.below("trunk"), p.below("branches"), p.below("tags")
		p.plainURL(r, rawURL, []string{"file", "http", "https", "svn", "svn+ssh"}, "'svn info' once by who runs brine, which keeps it")
		return
	case Files:
		p.saltenvs(r, p.opts.At("gitfs_saltenv"))
		p.saltenvs(r, p.conf.At("saltenv"))
	}
	r.Auth = Auth{
		User: p.str("user", ""), Password: p.str("password", ""), PrivKey: p.str("privkey", ""), Passphrase: p.str("passphrase", ""),
		Insecure: p.boolean("insecure_auth", false), SkipVerify: !p.boolean("ssl_verify", true),
	}
	if p.str("pubkey", "") != "" && r.Auth.PrivKey == "" {
		p.fail("pubkey", "pubkey needs privkey, the private key of the pair")
	}
	p.url(r, rawURL)
}

// below reads a directory of a repository, which is called as its option if that is not set.
func (p *parser) below(key string) string {
	if strings.HasPrefix(p.str(key, key), "/") {
		p.fail(key, "%s must be a path in the repository, not %s", key, p.str(key, key))
	}
	return p.path(key, p.str(key, key))
}

// plainURL reads a URL for a program, whose arguments everybody on the machine sees.
func (p *parser) plainURL(r *Remote, raw string, schemes []string, instead string) {
	r.URL = raw
	u, err := url.Parse(raw)
	switch {
	case err != nil || strings.ContainsAny(raw, "\x00\n\r") || strings.HasPrefix(raw, "-"):
		p.fail("", "remote %s: not a URL", shownURL(raw))
	case u.Scheme == "" && strings.HasPrefix(raw, "/") && p.role == Mercurial:
	case !slices.Contains(schemes, u.Scheme) || u.Host == "" && u.Scheme != "file":
		p.fail("", "remote %s: not a URL that begins with one of %s", shownURL(raw), strings.Join(schemes, ", "))
	case strings.HasPrefix(u.Hostname(), "-") || strings.HasPrefix(u.User.Username(), "-"):
		p.fail("", "remote %s: a name that begins with a dash would be an option of ssh", shownURL(raw))
	}
	if err == nil && u.User != nil {
		if _, has := u.User.Password(); has {
			p.fail("", "remote %s: the URL has a password, which other users could see; %s has it instead", shownURL(raw), instead)
		}
	}
}

// key tells apart what has a cache of its own.
func (r *Remote) key() string {
	if b := r.Bucket; b != nil {
		return strings.Join([]string{r.Role, b.Name, b.Env, b.Prefix, b.of.Host, b.of.Region, b.of.KeyID, fmt.Sprint(b.of.Plain, b.of.PathStyle)}, "\x00")
	}
	if r.Role == Mercurial || r.Role == Subversion {
		return strings.Join([]string{r.Role, r.URL, r.BranchMethod, r.Trunk, r.Branches, r.Tags}, "\x00")
	}
	return fmt.Sprint(r.URL, r.Refspecs)
}

// url takes the credentials out of a URL and checks that they may be sent.
func (p *parser) url(r *Remote, raw string) {
	r.URL = raw
	scheme, err := schemeOf(raw)
	if err != nil {
		p.fail("", "remote %s: %v", shownURL(raw), err)
		return
	}
	if u, err := url.Parse(raw); err == nil && u.User != nil && u.Host != "" {
		if pw, ok := u.User.Password(); ok {
			r.Auth.Password = pw
		}
		user := u.User.Username()
		u.User = nil
		if scheme == "ssh" { // whose account is a part of the place
			u.User = url.User(user)
		} else {
			r.Auth.User = cmp.Or(user, r.Auth.User)
		}
		r.URL = u.String()
	}
	if scheme == "http" && (r.Auth.User != "" || r.Auth.Password != "") && !r.Auth.Insecure {
		p.fail("password", "remote %s: a password is not sent over plain HTTP unless insecure_auth is true", shownURL(raw))
	}
	if r.Auth.PrivKey != "" && scheme != "ssh" {
		p.fail("privkey", "remote %s: privkey is for remotes over SSH", shownURL(raw))
	}
}

func (p *parser) saltenvs(r *Remote, v value.Value) {
	envs, ok := dictOf(v)
	if !ok {
		p.fail("saltenv", "saltenv must be a list of saltenvs with options, not %s", value.Kind(v))
		return
	}
	known := []string{"mountpoint", "ref", "root"}
	for env, conf := range envs.All() {
		m, ok := dictOf(conf)
		if !ok {
			p.fail("saltenv", "saltenv %s: options must be a list, not %s", value.Str(env), value.Kind(conf))
			return
		}
		e := r.SaltEnvs[value.Str(env)]
		for k, x := range m.All() {
			text := value.Str(x)
			switch value.Str(k) {
			case "ref":
				e.Ref = &text
			case "root":
				text = p.path("root", text)
				e.Root = &text
			case "mountpoint":
				text = p.path("mountpoint", text)
				e.Mountpoint = &text
			default:
				p.fail("saltenv", "saltenv %s has no option %q%s; there are %s", value.Str(env), value.Str(k),
					source.DidYouMean(value.Str(k), known), strings.Join(known, ", "))
			}
		}
		r.SaltEnvs[value.Str(env)] = e
	}
}

// dictOf joins a list of dicts.
func dictOf(v value.Value) (*value.Map, bool) {
	switch v := v.(type) {
	case nil:
		return value.NewMap(0), true
	case *value.Map:
		return v, true
	case *value.List:
		out := value.NewMap(v.Len())
		for _, x := range v.Items {
			m, ok := x.(*value.Map)
			if !ok {
				return nil, false
			}
			out.Update(m)
		}
		return out, true
	}
	return nil, false
}

// get returns an option of the remote, else the global one.
func (p *parser) get(key string) value.Value {
	if v, ok := p.conf.Get(key); ok {
		return v
	}
	if !slices.Contains(overrides[p.role], key) {
		return nil
	}
	return p.opts.At(p.role + "_" + key)
}

func (p *parser) str(key, def string) string {
	switch v := p.get(key).(type) {
	case nil:
		return def
	case *value.Map, *value.List:
		p.fail(key, "%s must be text, not %s", key, value.Kind(v))
		return def
	case string:
		return cmp.Or(v, def)
	default:
		return value.Str(v)
	}
}

func (p *parser) strs(key string, def []string) []string {
	switch v := p.get(key).(type) {
	case nil:
		return slices.Clone(def)
	case *value.List:
		if v.Len() == 0 {
			return slices.Clone(def)
		}
		var out []string
		for _, x := range v.Items {
			out = append(out, value.Str(x))
		}
		return out
	default:
		var out []string
		for s := range strings.SplitSeq(value.Str(v), ",") {
			if s = strings.TrimSpace(s); s != "" {
				out = append(out, s)
			}
		}
		return out
	}
}

func (p *parser) boolean(key string, def bool) bool {
	v := p.get(key)
	if v == nil {
		return def
	}
	if b, ok := v.(bool); ok {
		return b
	}
	p.fail(key, "%s must be true or false, not %s", key, value.Repr(v))
	return def
}

func (p *parser) seconds(key string, def int64) time.Duration {
	v := p.get(key)
	if v == nil {
		return time.Duration(def) * time.Second
	}
	n, ok := value.AsInt(v)
	if !ok || n < 0 || n > 1<<31 {
		p.fail(key, "%s must be a number of seconds, not %s", key, value.Repr(v))
	}
	return time.Duration(n) * time.Second
}

// path reads a path below a tree.
func (p *parser) path(key, s string) string {
	s = strings.Trim(strings.TrimPrefix(s, "salt://"), "/")
	if s == "" {
		return ""
	}
	s = path.Clean(s)
	if s == ".." || strings.HasPrefix(s, "../") || strings.ContainsRune(s, 0) {
		p.fail(key, "%s %q leads out of the tree", key, s)
	}
	if s == "." {
		return ""
	}
	return s
}

// schemeOf returns how a remote is reached: file, git, http, https or ssh.
func schemeOf(raw string) (string, error) {
	if strings.ContainsAny(raw, "\x00\n\r") || strings.HasPrefix(raw, "-") {
		return "", fmt.Errorf("not a URL")
	}
	schemes := []string{"file", "git", "http", "https", "ssh"}
	if scheme, rest, ok := strings.Cut(raw, "://"); ok {
		scheme = strings.ToLower(scheme)
		if !slices.Contains(schemes, scheme) {
			return "", fmt.Errorf("unknown scheme %q%s; there are %s", scheme, source.DidYouMean(scheme, schemes), strings.Join(schemes, ", "))
		}
		if rest == "" {
			return "", fmt.Errorf("not a URL")
		}
		if _, err := url.Parse(raw); err != nil {
			return "", fmt.Errorf("not a URL")
		}
		return scheme, nil
	}
	if strings.HasPrefix(raw, "/") {
		return "file", nil
	}
	if host, p, ok := strings.Cut(raw, ":"); ok && p != "" && host != "" && !strings.Contains(host, "/") {
		return "ssh", nil
	}
	return "", fmt.Errorf("not a URL: write https://, ssh://, git:// or file://")
}

// shownURL returns a URL without a password.
func shownURL(raw string) string {
	branch, rest, ok := strings.Cut(raw, " ")
	if !ok {
		branch, rest = "", raw
	}
	scheme, after, ok := strings.Cut(rest, "://")
	if !ok {
		return raw
	}
	host, tail, _ := strings.Cut(after, "/")
	if i := strings.LastIndexByte(host, '@'); i >= 0 {
		user, _, secret := strings.Cut(host[:i], ":")
		if secret {
			user += ":***"
		}
		host = user + host[i:]
	}
	return strings.TrimSpace(branch + " " + scheme + "://" + host + "/" + tail)
}
