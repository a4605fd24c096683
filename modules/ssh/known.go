package ssh

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha1" // the digest of names that OpenSSH uses; it protects no secret
	"encoding/base64"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/modules/textfile"
	"brine/modules/tool"
)

// A HostKey is an entry of a known_hosts file.
type HostKey struct {
	Host, Enc, Key, Fingerprint string
}

// Value returns the entry as Salt does.
func (k HostKey) Value() *value.Map {
	return value.MapOf("hostname", k.Host, "key", k.Key, "enc", k.Enc, "fingerprint", k.Fingerprint)
}

// parseHostKey reads a line of known_hosts or of ssh-keyscan. Lines with a marker
// such as @cert-authority are not keys of a host.
func parseHostKey(line string) (k HostKey, ok bool) {
	f := strings.Fields(line)
	if len(f) < 3 || f[0][0] == '#' || f[0][0] == '@' {
		return HostKey{}, false
	}
	return HostKey{Host: f[0], Enc: f[1], Key: f[2]}, true
}

// names reports whether the first field of a line stands for a host, and whether
// it names that host itself, not a pattern.
func names(field, hostname string) (match, literal bool) {
	hostname = strings.ToLower(hostname)
	if strings.HasPrefix(field, "|1|") {
		salt, sum, ok := strings.Cut(field[3:], "|")
		key, err := base64.StdEncoding.DecodeString(salt)
		if !ok || err != nil {
			return false, false
		}
		same := base64.StdEncoding.EncodeToString(hashName(key, hostname)) == sum
		return same, same
	}
	for p := range strings.SplitSeq(strings.ToLower(field), ",") {
		if neg, ok := strings.CutPrefix(p, "!"); ok {
			if pattern(neg, hostname) {
				return false, false
			}
			continue
		}
		if p == hostname {
			match, literal = true, true
		} else if pattern(p, hostname) {
			match = true
		}
	}
	return match, literal
}

// pattern matches a host name with a pattern of * and ?.
func pattern(p, s string) bool {
	star, mark := -1, 0
	i, j := 0, 0
	for i < len(s) {
		switch {
		case j < len(p) && (p[j] == '?' || p[j] == s[i]) && p[j] != '*':
			i, j = i+1, j+1
		case j < len(p) && p[j] == '*':
			star, mark = j, i
			j++
		case star >= 0:
			mark++
			i, j = mark, star+1
		default:
			return false
		}
	}
	return strings.Trim(p[j:], "*") == ""
}

func hashName(key []byte, name string) []byte {
	m := hmac.New(sha1.New, key)
	m.Write([]byte(name))
	return m.Sum(nil)
}

// hashed returns a host name as ssh-keygen -H writes it.
func hashed(name string) string {
	salt := make([]byte, sha1.Size)
	_, _ = rand.Read(salt) // never fails
	return "|1|" + base64.StdEncoding.EncodeToString(salt) + "|" + base64.StdEncoding.EncodeToString(hashName(salt, strings.ToLower(name)))
}

// Name returns how known_hosts writes a host with a port; 0 is the usual port.
func Name(hostname string, port int64) string {
	if port == 0 || port == 22 {
		return hostname
	}
	return "[" + hostname + "]:" + strconv.FormatInt(port, 10)
}

// A KnownFile is a known_hosts file, by lines.
type KnownFile []string

// ParseKnown reads a known_hosts file. It takes any text.
func ParseKnown(text string) KnownFile { return KnownFile(textfile.Lines(text)) }

func (f KnownFile) String() string { return textfile.Join(f) }

// Find returns the keys of a host whose keys are base64.
func (f KnownFile) Find(name, hashType string) ([]HostKey, error) {
	var keys []HostKey
	for _, l := range f {
		k, ok := parseHostKey(l)
		if !ok {
			continue
		}
		if match, _ := names(k.Host, name); !match {
			continue
		}
		fp, err := Fingerprint(k.Key, hashType)
		if err != nil {
			return nil, err
		}
		if fp != "" {
			k.Fingerprint = fp
			keys = append(keys, k)
		}
	}
	return keys, nil
}

// Drop takes the keys of a host out that have one of some types. A line that has
// further hosts keeps those; one that only has a pattern stays.
func (f KnownFile) Drop(name string, encs []string) KnownFile {
	out := make(KnownFile, 0, len(f))
	for _, l := range f {
		k, ok := parseHostKey(l)
		if !ok || !slices.Contains(encs, k.Enc) {
			out = append(out, l)
			continue
		}
		if _, literal := names(k.Host, name); !literal {
			out = append(out, l)
			continue
		}
		left := slices.DeleteFunc(strings.Split(k.Host, ","), func(h string) bool { return strings.EqualFold(h, name) || strings.HasPrefix(h, "|1|") })
		if len(left) > 0 {
			out = append(out, strings.Replace(l, k.Host, strings.Join(left, ","), 1))
		}
	}
	return out
}

// A Known edits the known hosts of a user, or of the system.
type Known struct {
	Env    *fun.Env
	User   string // "" is the system
	Config string
	Hash   string // hash type of fingerprints
}

// KnownError is what Salt returns as {"status": "error", "error": text}.
type KnownError struct{ Msg string }

func (f *KnownError) Error() string { return f.Msg }

// Path returns the account, nil for the system, and the file. The error is a
// *KnownError where the user is missing.
func (k Known) Path() (*host.Account, string, error) {
	config := k.Config
	if k.User == "" {
		if config == "" {
			config = "/etc/ssh/ssh_known_hosts"
		}
		if !filepath.IsAbs(config) {
			return nil, "", &KnownError{"Cannot determine absolute path to file."}
		}
		return nil, config, nil
	}
	if config == "" {
		config = ".ssh/known_hosts"
	}
	acc, err := k.Env.Host.LookupUser(k.User)
	if err != nil {
		if filepath.IsAbs(config) {
			return nil, config, nil
		}
		return nil, "", &KnownError{"User " + k.User + " does not exist"}
	}
	if !filepath.IsAbs(config) {
		config = filepath.Join(acc.Home, config)
	}
	return &acc, config, nil
}

// Keys returns the keys that are known of a host.
func (k Known) Keys(hostname string, port int64) ([]HostKey, error) {
	_, path, err := k.Path()
	if err != nil {
		return nil, err
	}
	text, err := textfile.Read(k.Env.Host, path)
	if err != nil {
		return nil, err
	}
	return ParseKnown(text).Find(Name(hostname, port), k.Hash)
}

// A Want is what is to be known of a host.
type Want struct {
	Host, Key, Fingerprint, Enc string
	Port                        int64
	HasPort                     bool
	HashNames                   bool
	Timeout                     int64
}

// CheckHost refuses what ssh-keygen and ssh-keyscan would take for an option or
// for several words.
func CheckHost(name string) error {
	if name == "" {
		return &KnownError{"hostname argument required"}
	}
	if name[0] == '-' || name[0] == '#' || name[0] == '@' || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r == ',' || r == '|' || r == 0x7f }) {
		return &KnownError{"invalid host name " + value.Repr(name)}
	}
	return nil
}

// Status says what has to be done for a host: add, update or exists.
// Salt: salt/modules/ssh.py check_known_host.
func (k Known) Status(w Want) (string, []HostKey, error) {
	have, err := k.Keys(w.Host, w.Port)
	if err != nil {
		return "", nil, err
	}
	switch {
	case len(have) == 0:
		return "add", nil, nil
	case w.Key != "" && !hasKey(have, w.Key), w.Key == "" && w.Fingerprint != "" && !hasPrint(have, w.Fingerprint):
		return "update", have, nil
	}
	return "exists", have, nil
}

func hasKey(keys []HostKey, key string) bool {
	return slices.ContainsFunc(keys, func(h HostKey) bool { return h.Key == key })
}

func hasPrint(keys []HostKey, fp string) bool {
	return slices.ContainsFunc(keys, func(h HostKey) bool { return strings.EqualFold(h.Fingerprint, fp) })
}

// Scan asks a host for its keys by ssh-keyscan.
// Salt: salt/modules/ssh.py recv_known_host_entries.
func (k Known) Scan(ctx context.Context, w Want) ([]HostKey, error) {
	if err := CheckHost(w.Host); err != nil {
		return nil, err
	}
	if strings.ContainsFunc(w.Enc, func(r rune) bool { return r <= ' ' }) || strings.HasPrefix(w.Enc, "-") {
		return nil, &KnownError{"invalid key type " + value.Repr(w.Enc)}
	}
	argv := []string{"ssh-keyscan"}
	if w.Port != 0 {
		argv = append(argv, "-p", strconv.FormatInt(w.Port, 10))
	}
	if w.Enc != "" {
		argv = append(argv, "-t", w.Enc)
	}
	if w.HashNames {
		argv = append(argv, "-H")
	}
	argv = append(argv, "-T", strconv.FormatInt(max(w.Timeout, 1), 10), w.Host)
	const attempts = 5
	for range attempts {
		out, err := tool.Run(ctx, k.Env.Host, argv...)
		if err != nil {
			return nil, err
		}
		if strings.TrimSpace(out.Stdout) == "" {
			continue
		}
		var keys []HostKey
		for l := range strings.Lines(out.Stdout) {
			key, ok := parseHostKey(l)
			if !ok {
				continue
			}
			if key.Fingerprint, err = Fingerprint(key.Key, k.Hash); err != nil {
				return nil, err
			}
			if key.Fingerprint != "" {
				keys = append(keys, key)
			}
		}
		return keys, nil
	}
	return nil, nil
}

// A Saved says what Set did.
type Saved struct {
	Exists   bool
	Keys     []string // that are known, where Exists
	Old      []HostKey
	New      []HostKey
	NewValue value.Value
}

// Check returns what is wrong with the arguments, whatever the host has. It gives
// the type of a key its full name.
func (k Known) Check(w *Want) error {
	if err := CheckHost(w.Host); err != nil {
		return err
	}
	if w.HasPort && w.Port != 22 && w.HashNames {
		return &KnownError{"argument port can not be used in conjunction with argument hash_known_hosts"}
	}
	switch {
	case w.Key == "":
		return nil
	case w.Enc == "":
		return &KnownError{`Required argument "enc" if using "key" argument.`}
	}
	fp, err := Fingerprint(w.Key, k.Hash)
	switch {
	case err != nil:
		return err
	case fp == "":
		return &KnownError{"Invalid public ssh key, most likely has spaces or invalid syntax"}
	case w.Fingerprint != "" && !strings.EqualFold(w.Fingerprint, fp):
		return &KnownError{"The key does not have the fingerprint " + w.Fingerprint + ": its fingerprint is " + fp}
	}
	full, err := Type(w.Enc)
	if err != nil {
		return &KnownError{err.Error()}
	}
	w.Enc = full
	return nil
}

// Set makes a host known. Without a key the host is asked for its keys; with a
// fingerprint one of them has to have it. A *KnownError says why that is not done.
//
// Salt: salt/modules/ssh.py set_known_host. Differences: keys of the same type are
// replaced however the type is written, the names of other hosts are kept, and only
// the new line is hashed.
func (k Known) Set(ctx context.Context, w Want) (*Saved, error) {
	if err := k.Check(&w); err != nil {
		return nil, err
	}
	have, err := k.Keys(w.Host, w.Port)
	if err != nil {
		return nil, err
	}
	s := &Saved{Old: have}
	for _, h := range have {
		s.Keys = append(s.Keys, h.Key)
	}
	due := len(have) == 0 || w.Fingerprint != "" && !hasPrint(have, w.Fingerprint) || w.Key != "" && !hasKey(have, w.Key)
	ask := w.Key == "" && w.Fingerprint == ""
	if s.Exists = !due && !ask; s.Exists {
		return s, nil
	}
	lines, err := k.lines(ctx, w, s)
	if err != nil {
		return nil, err
	}
	if s.Exists = !due && slices.ContainsFunc(s.New, func(h HostKey) bool { return hasKey(have, h.Key) }); s.Exists {
		return s, nil
	}
	acc, path, err := k.Path()
	if err != nil {
		return nil, err
	}
	defer textfile.Lock(k.Env, path)()
	text, err := textfile.Read(k.Env.Host, path)
	if err != nil {
		return nil, err
	}
	encs := []string{}
	for _, h := range s.New {
		encs = append(encs, h.Enc)
	}
	f := append(ParseKnown(text).Drop(Name(w.Host, w.Port), encs), lines...)
	mode := uint32(0o600)
	if acc == nil {
		mode = 0o644 // others read the file of the system
	}
	if err := WriteOwned(k.Env.Host, acc, path, f.String(), mode); err != nil {
		return nil, fun.Errorf("Couldn't append to known hosts file: '%s'", host.OSError(err))
	}
	return s, nil
}

// lines returns the lines to write, and notes the new keys in s.
func (k Known) lines(ctx context.Context, w Want, s *Saved) ([]string, error) {
	if w.Key != "" {
		entry := HostKey{Host: w.Host, Enc: w.Enc, Key: w.Key}
		s.New = []HostKey{entry}
		m := value.MapOf("hostname", w.Host, "enc", w.Enc, "key", w.Key)
		name := w.Host
		switch {
		case w.HashNames:
			name = hashed(w.Host)
		case w.HasPort && w.Port != 22:
			name = Name(w.Host, w.Port)
			m.Set("port", w.Port)
		}
		s.NewValue = value.NewList(m)
		return []string{name + " " + w.Enc + " " + w.Key}, nil
	}
	keys, err := k.Scan(ctx, w)
	if err != nil {
		return nil, err
	}
	if len(keys) == 0 {
		return nil, &KnownError{"Unable to receive remote host keys"}
	}
	if w.Fingerprint != "" && !hasPrint(keys, w.Fingerprint) {
		return nil, &KnownError{"Remote host public keys found but none of their fingerprints match the one you have provided"}
	}
	s.New = keys
	s.NewValue = Values(keys)
	var lines []string
	for _, h := range keys {
		lines = append(lines, h.Host+" "+h.Enc+" "+h.Key)
	}
	return lines, nil
}

// Values returns keys as Salt does, None where there are none.
func Values(keys []HostKey) value.Value {
	if len(keys) == 0 {
		return nil
	}
	l := value.NewList()
	for _, k := range keys {
		l.Append(k.Value())
	}
	return l
}

// Forget takes a host out by ssh-keygen, which keeps a copy of the file. The Out
// is what it said.
func (k Known) Forget(ctx context.Context, hostname string, port int64) (tool.Out, error) {
	if err := CheckHost(hostname); err != nil {
		return tool.Out{}, err
	}
	return k.keygen(ctx, "-R", Name(hostname, port))
}

// HashNames hashes the names of all hosts by ssh-keygen.
func (k Known) HashNames(ctx context.Context) (tool.Out, error) { return k.keygen(ctx, "-H") }

func (k Known) keygen(ctx context.Context, what ...string) (tool.Out, error) {
	acc, path, err := k.Path()
	if err != nil {
		return tool.Out{}, err
	}
	h := k.Env.Host
	st, err := h.Stat(path)
	if err != nil || !st.Mode.IsRegular() {
		return tool.Out{}, &KnownError{"Known hosts file " + path + " does not exist"}
	}
	if err := trusted(h, acc, path); err != nil {
		return tool.Out{}, &KnownError{err.Error()}
	}
	defer textfile.Lock(k.Env, path)()
	var out tool.Out
	err = textfile.ByProgram(h, path, func(copied string) error {
		out, err = tool.Run(ctx, h, slices.Concat([]string{"ssh-keygen"}, what, []string{"-f", copied})...)
		out.Stdout, out.Stderr = strings.ReplaceAll(out.Stdout, copied, path), strings.ReplaceAll(out.Stderr, copied, path)
		return err
	})
	if err != nil {
		return out, err
	}
	if acc != nil {
		return out, own(h, acc, path)
	}
	return out, nil
}
