package file

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path"
	"path/filepath"
	"sort"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/modules/cp"
)

// hashLengths are the digits of each kind of hash, in Salt's order.
// Salt: salt/utils/files.py HASHES.
var hashLengths = [...]struct {
	name string
	n    int
}{{"sha512", 128}, {"sha384", 96}, {"sha256", 64}, {"sha224", 56}, {"sha1", 40}, {"md5", 32}}

func hashNames() string {
	names := make([]string, len(hashLengths))
	for i, h := range hashLengths {
		names[i] = h.name
	}
	return strings.Join(names, ", ")
}

func hashTable() string {
	ls := append([]struct {
		name string
		n    int
	}(nil), hashLengths[:]...)
	sort.Slice(ls, func(i, j int) bool { return ls[i].n < ls[j].n })
	parts := make([]string, len(ls))
	for i, l := range ls {
		parts[i] = fmt.Sprintf("%s (%d)", l.name, l.n)
	}
	return strings.Join(parts, ", ")
}

// SourceList returns the first source that exists, and its hash. A source that
// is not a list is returned as it is. Items of a list may be {source: hash}.
//
// It returns "none of the specified sources were found" where none does.
// Salt: source_list.
func (f *FS) SourceList(ctx context.Context, source, hash value.Value) (string, value.Value, error) {
	l, ok := source.(*value.List)
	if !ok {
		if source == nil {
			return "", hash, nil
		}
		return value.Str(source), hash, nil
	}
	for _, item := range l.Items {
		name, sum := item, hash
		if m, ok := item.(*value.Map); ok {
			if m.Len() != 1 {
				continue
			}
			k, v := m.Entry(0)
			name = k
			if value.Truth(v) {
				sum = v
			}
		}
		s, ok := name.(string)
		if !ok {
			continue
		}
		found, err := f.sourceExists(ctx, s)
		if err != nil {
			return "", nil, err
		}
		if found {
			return s, sum, nil
		}
	}
	return "", nil, fun.Errorf("none of the specified sources were found")
}

func (f *FS) sourceExists(ctx context.Context, s string) (bool, error) {
	switch scheme := cp.Scheme(s); {
	case scheme == "salt":
		return f.cp().Exists(ctx, s)
	case scheme == "file":
		return f.Exists(strings.TrimPrefix(s, "file://")), nil
	case scheme != "":
		return f.cp().Reachable(ctx, s), nil
	}
	return strings.HasPrefix(s, "/") && f.Exists(s), nil
}

// SourceSum returns the digest that source_hash names: a digest, TYPE=DIGEST,
// or a file of digests, in which the line of the source is looked for.
//
// Salt: get_source_sum.
func (f *FS) SourceSum(ctx context.Context, name, source, hash, hashName string, o cp.Options) (cp.Sum, error) {
	invalid := func() (cp.Sum, error) {
		return cp.Sum{}, fun.Errorf("Source hash %s format is invalid. The supported formats are: "+
			"1) a hash, 2) an expression in the format <hash_type>=<hash>, or "+
			"3) either a path to a local file containing hashes, or a URI of a remote hash file. "+
			"Supported protocols for remote hash files are: %s. "+
			"The hash may also not be of a valid length, the following are supported hash types and lengths: %s.",
			hash, strings.Join(cp.ValidSchemes(), ", "), hashTable())
	}
	hashFile := ""
	switch scheme := cp.Scheme(hash); {
	case filepath.IsAbs(hash):
		hashFile = hash
	case scheme == "salt" || scheme == "file" || cp.IsRemote(hash):
		p, err := f.cp().CacheFile(ctx, hash, cp.Options{NoVerify: o.NoVerify})
		if err != nil {
			return cp.Sum{}, value.Raise("salt.exceptions.MinionError", "%s", host.OSError(err))
		}
		if p == "" {
			return cp.Sum{}, fun.Errorf("Source hash file %s not found", hash)
		}
		hashFile = p
	case scheme != "":
		return invalid()
	}
	if hashFile != "" {
		s, ok, err := f.ExtractHash(hashFile, "", name, source, hashName)
		if err != nil {
			return cp.Sum{}, err
		}
		if !ok {
			return invalid()
		}
		s.Hex = strings.ToLower(s.Hex)
		return s, nil
	}

	kind, digest, ok := strings.Cut(hash, "=")
	kind, digest = strings.TrimSpace(kind), strings.TrimSpace(digest)
	if !ok {
		if hash == "" || strings.Trim(strings.ToLower(hash), "0123456789abcdef") != "" {
			return invalid()
		}
		kind, digest = cp.HashType(len(hash)), hash
		if kind == "" {
			return invalid()
		}
	}
	want := 0
	for _, h := range hashLengths {
		if h.name == kind {
			want = h.n
		}
	}
	actual := cp.HashType(len(digest))
	switch {
	case want == 0:
		return cp.Sum{}, fun.Errorf("Invalid hash type '%s'. Supported hash types are: %s. Either remove the hash type and simply use '%s' as the source_hash, or change the hash type to a supported type.", kind, hashNames(), digest)
	case actual == "":
		return invalid()
	case len(digest) != want:
		return cp.Sum{}, fun.Errorf("Invalid length (%d) for hash type '%s'. Either remove the hash type and simply use '%s' as the source_hash, or change the hash type to '%s'", len(digest), kind, digest, actual)
	}
	return cp.Sum{Type: kind, Hex: strings.ToLower(digest)}, nil
}

// ExtractHash looks in a file of digests for the one of a file: by hashName
// first, then by the name of the file, then by that of the source; else the
// first digest there is.
//
// Salt: extract_hash.
func (f *FS) ExtractHash(hashFile, kind, name, source, hashName string) (cp.Sum, bool, error) {
	r, err := f.Open(hashFile)
	if err != nil {
		return cp.Sum{}, false, err
	}
	defer r.Close()
	want := 0
	for _, h := range hashLengths {
		if h.name == kind {
			want = h.n
		}
	}
	sourceBase := ""
	if source != "" {
		if u, err := url.Parse(source); err == nil {
			if sourceBase = path.Base(u.Path); u.Path == "" {
				sourceBase = u.Host
			}
		}
	}
	var found [3]*cp.Sum
	var first *cp.Sum
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		digest := findDigest(line, want)
		if digest == "" {
			continue
		}
		s := &cp.Sum{Type: cp.HashType(len(digest)), Hex: digest}
		if first == nil {
			first = s
		}
		const space = " \t\n\r\v\f"
		for i, m := range [...]bool{
			nameOnLine(line, hashName, hashName, space),
			nameOnLine(line, path.Base(name), name, space+`\/*`),
			nameOnLine(line, sourceBase, source, space+`\/*`),
		} {
			if m && found[i] == nil {
				found[i] = s
			}
		}
	}
	if err := lines.Err(); err != nil {
		return cp.Sum{}, false, err
	}
	for _, s := range append(found[:], first) {
		if s != nil {
			return *s, true, nil
		}
	}
	return cp.Sum{}, false, nil
}

// nameOnLine reports whether line ends with base after one of the separators,
// or begins with the whole name and a blank.
func nameOnLine(line, base, whole, separators string) bool {
	if whole == "" || base == "" {
		return false
	}
	if rest, ok := strings.CutSuffix(line, base); ok {
		return rest != "" && strings.IndexByte(separators, rest[len(rest)-1]) >= 0
	}
	rest, ok := strings.CutPrefix(line, whole)
	return ok && rest != "" && (rest[0] == ' ' || rest[0] == '\t')
}

// findDigest returns the first hex digest on a line: of n digits, or of any
// supported length where n is 0.
func findDigest(line string, n int) string {
	alnum := func(c byte) bool { return c >= '0' && c <= '9' || c|32 >= 'a' && c|32 <= 'z' }
	for i := 0; i < len(line); {
		if !alnum(line[i]) {
			i++
			continue
		}
		end := i
		for end < len(line) && alnum(line[end]) {
			end++
		}
		word := line[i:end]
		if strings.Trim(strings.ToLower(word), "0123456789abcdef") == "" && (len(word) == n || n == 0 && cp.HashType(len(word)) != "") {
			return word
		}
		i = end
	}
	return ""
}

// A Request is the source of a managed file.
type Request struct {
	Name       string // the file that is managed
	Source     string
	Hash       string // source_hash
	HashName   string // source_hash_name
	Template   string // "" is none
	SkipVerify bool
	NoVerify   bool // verify_ssl: False
	UseETag    bool
	Vars       *value.Map // for the template
}

// A Managed is what a managed file shall be: the content, its digest, and, of
// remote and local sources, the digest that the user asks for.
type Managed struct {
	*Content
	Sum cp.Sum
}

// GetManaged finds the source of a managed file, renders it where it is a
// template, and returns what there is to say where it cannot be had. Contents
// are not read before they are needed.
//
// Salt: get_managed.
func (f *FS) GetManaged(ctx context.Context, q Request) (*Managed, string, error) {
	if q.Source == "" {
		return &Managed{}, "", nil
	}
	g := getting{FS: f, Request: q, client: f.cp(), options: cp.Options{NoVerify: q.NoVerify, UseETag: q.UseETag}, m: &Managed{}}
	for _, step := range []func(context.Context) (string, error){g.local, g.verify, g.download, g.renderTemplate} {
		if comment, err := step(ctx); err != nil || comment != "" {
			return nil, comment, err
		}
	}
	return g.m, "", nil
}

// A getting is a call of GetManaged. Each of its steps returns a comment that
// says why the state fails, or an error that ends it.
type getting struct {
	*FS
	Request
	client  *cp.Client
	options cp.Options
	m       *Managed
}

// local takes what the fileserver or this machine has.
func (g *getting) local(ctx context.Context) (comment string, err error) {
	scheme := cp.Scheme(g.Source)
	switch {
	case scheme == "salt":
		sum, ok, err := g.client.Hash(ctx, g.Source)
		if err != nil {
			return "", err
		}
		if !ok {
			return fmt.Sprintf("Source file %s not found in saltenv '%s'", g.Source, g.client.SaltEnv), nil
		}
		g.m.Sum = sum
		g.m.Content = &Content{open: func() (io.ReadCloser, error) { return g.client.Open(ctx, g.Source, g.options) }}
	case scheme == "file" || !cp.IsRemote(g.Source): // a path, though it may look like a URL
		p := strings.TrimPrefix(g.Source, "file://")
		if !g.Exists(p) {
			return fmt.Sprintf("Local file source %s does not exist", p), nil
		}
		g.m.Content = g.FileAt(p)
		if g.Hash == "" {
			return "", g.sum()
		}
	}
	return "", nil
}

// sum sets the digest of the content.
func (g *getting) sum() error {
	sum, err := g.m.Content.Sum("sha256")
	g.m.Sum = cp.Sum{Type: "sha256", Hex: sum}
	return err
}

// verify finds the digest that the content shall have.
func (g *getting) verify(ctx context.Context) (comment string, err error) {
	switch {
	case cp.Scheme(g.Source) == "salt" || g.SkipVerify:
	case g.Hash != "":
		sum, err := g.SourceSum(ctx, g.Name, g.Source, g.Hash, g.HashName, g.options)
		if failed, ok := errors.AsType[*fun.CommandError](err); ok {
			return failed.Msg, nil
		}
		if err != nil {
			return "", err
		}
		g.m.Sum = sum
	case cp.IsRemote(g.Source) && !g.UseETag:
		return fmt.Sprintf("Unable to verify upstream hash of source file %s, please set source_hash or set skip_verify to True", cp.Redact(g.Source)), nil
	}
	return "", nil
}

// download fetches a remote source, unless the file is what it would give.
func (g *getting) download(ctx context.Context) (comment string, err error) {
	if !cp.IsRemote(g.Source) {
		return "", nil
	}
	if g.Template == "" && g.m.Sum.Hex != "" {
		if have, err := cp.HashFile(g.Host, g.Name, g.m.Sum.Type); err == nil && have == g.m.Sum.Hex {
			g.m.Content = g.FileAt(g.Name)
			return "", nil
		}
	}
	o := g.options
	o.SourceHash = g.m.Sum.Hex
	p, err := g.client.CacheFile(ctx, g.Source, o)
	if err != nil {
		return fmt.Sprintf("Failed to cache %s: %s", cp.Redact(g.Source), host.OSError(err)), nil
	}
	if p == "" {
		return fmt.Sprintf("Source file '%s' not found", cp.Redact(g.Source)), nil
	}
	g.m.Content = g.FileAt(p)
	if g.m.Sum.Hex == "" {
		return "", g.sum()
	}
	return "", nil
}

// renderTemplate renders the content.
func (g *getting) renderTemplate(ctx context.Context) (comment string, err error) {
	if g.Template == "" {
		return "", nil
	}
	if strings.TrimPrefix(g.Source, "file://") == g.Name {
		return "", invalid("Source file cannot be the same as destination")
	}
	text, err := g.m.Bytes()
	if err != nil {
		return "", err
	}
	out, comment, err := g.renderSource(ctx, g.Request, text)
	if err != nil || comment != "" {
		return comment, err
	}
	g.m.Content = Text([]byte(out))
	return "", g.sum()
}

func (f *FS) renderSource(ctx context.Context, q Request, text []byte) (string, string, error) {
	out, err := f.cp().Render(ctx, q.Template, q.Source, text, q.Vars)
	if unknown, ok := errors.AsType[*cp.UnknownTemplateError](err); ok {
		return "", unknown.Error(), nil
	}
	return out, "", err
}

// Cached returns where a copy of a source is in the cache, "" where it is not.
func (f *FS) Cached(source string) string { return f.cp().IsCached(source) }
