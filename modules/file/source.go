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

	"brine/internal/fun"
	"brine/internal/host"
	"brine/internal/value"
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
// is no list is returned as it is. Items of a list may be {source: hash}.
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
	client := f.cp()
	o := cp.Options{NoVerify: q.NoVerify, UseETag: q.UseETag}
	m := &Managed{}
	scheme := cp.Scheme(q.Source)
	switch {
	case scheme == "salt":
		sum, ok, err := client.Hash(ctx, q.Source)
		if err != nil {
			return nil, "", err
		}
		if !ok {
			return nil, fmt.Sprintf("Source file %s not found in saltenv '%s'", q.Source, client.SaltEnv), nil
		}
		m.Sum = sum
		m.Content = &Content{open: func() (io.ReadCloser, error) { return client.Open(ctx, q.Source, o) }}
	case scheme == "file" || !cp.IsRemote(q.Source): // a path, though it may look like a URL
		p := strings.TrimPrefix(q.Source, "file://")
		if !f.Exists(p) {
			return nil, fmt.Sprintf("Local file source %s does not exist", p), nil
		}
		m.Content = f.FileAt(p)
		if q.Hash == "" {
			sum, err := m.Content.Sum("sha256")
			if err != nil {
				return nil, "", err
			}
			m.Sum = cp.Sum{Type: "sha256", Hex: sum}
		}
	}
	if scheme != "salt" && !q.SkipVerify {
		switch {
		case q.Hash != "":
			sum, err := f.SourceSum(ctx, q.Name, q.Source, q.Hash, q.HashName, o)
			if failed, ok := errors.AsType[*fun.CommandError](err); ok {
				return nil, failed.Msg, nil
			}
			if err != nil {
				return nil, "", err
			}
			m.Sum = sum
		case cp.IsRemote(q.Source) && !q.UseETag:
			return nil, fmt.Sprintf("Unable to verify upstream hash of source file %s, please set source_hash or set skip_verify to True", cp.Redact(q.Source)), nil
		}
	}
	if cp.IsRemote(q.Source) && q.Template == "" && m.Sum.Hex != "" {
		if have, err := cp.HashFile(f.Host, q.Name, m.Sum.Type); err == nil && have == m.Sum.Hex {
			m.Content = f.FileAt(q.Name) // it is there; nothing is to be fetched
			return m, "", nil
		}
	}
	if cp.IsRemote(q.Source) {
		o.SourceHash = m.Sum.Hex
		p, err := client.CacheFile(ctx, q.Source, o)
		if err != nil {
			return nil, fmt.Sprintf("Failed to cache %s: %s", cp.Redact(q.Source), host.OSError(err)), nil
		}
		if p == "" {
			return nil, fmt.Sprintf("Source file '%s' not found", cp.Redact(q.Source)), nil
		}
		m.Content = f.FileAt(p)
		if m.Sum.Hex == "" {
			sum, err := m.Content.Sum("sha256")
			if err != nil {
				return nil, "", err
			}
			m.Sum = cp.Sum{Type: "sha256", Hex: sum}
		}
	}
	if q.Template == "" {
		return m, "", nil
	}
	if strings.TrimPrefix(q.Source, "file://") == q.Name {
		return nil, "", invalid("Source file cannot be the same as destination")
	}
	text, err := m.Bytes()
	if err != nil {
		return nil, "", err
	}
	out, comment, err := f.renderSource(ctx, q, text)
	if err != nil || comment != "" {
		return nil, comment, err
	}
	m.Content = Text([]byte(out))
	sum, err := m.Content.Sum("sha256")
	m.Sum = cp.Sum{Type: "sha256", Hex: sum}
	return m, "", err
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
