package ssh

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"slices"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/cp"
	"brine/modules/textfile"
)

// A Key is an entry of an authorized_keys file.
type Key struct {
	Enc, Key, Comment string
	Options           []string
}

// Line returns the entry as it is written.
func (k Key) Line() string {
	l := k.Enc + " " + k.Key
	if o := strings.Join(k.Options, ","); o != "" {
		l = o + " " + l
	}
	if k.Comment != "" {
		l += " " + k.Comment
	}
	return l
}

// ParseKey reads an entry: [OPTIONS] TYPE KEY [COMMENT]. ok is false for another
// line.
func ParseKey(line string) (k Key, ok bool) {
	line = strings.TrimSpace(line)
	if line == "" || line[0] == '#' {
		return Key{}, false
	}
	first, rest := cutUnquoted(line)
	if !isType(first) {
		k.Options = strings.Split(first, ",")
		first, rest = cutUnquoted(rest)
		if !isType(first) {
			return Key{}, false
		}
	}
	k.Enc = first
	k.Key, k.Comment, _ = cutBlank(rest)
	k.Comment = strings.Join(strings.Fields(k.Comment), " ")
	return k, k.Key != ""
}

// cutUnquoted splits s at its first blank outside of double quotes.
func cutUnquoted(s string) (field, rest string) {
	quoted := false
	for i := range len(s) {
		switch s[i] {
		case '"':
			if i == 0 || s[i-1] != '\\' {
				quoted = !quoted
			}
		case ' ', '\t':
			if !quoted {
				return s[:i], strings.TrimLeft(s[i:], " \t")
			}
		}
	}
	return s, ""
}

func cutBlank(s string) (field, rest string, found bool) {
	i := strings.IndexAny(s, " \t")
	if i < 0 {
		return s, "", false
	}
	return s[:i], strings.TrimLeft(s[i:], " \t"), true
}

// isType reports whether a word looks like the type of a key.
func isType(s string) bool {
	s = strings.TrimPrefix(s, "sk-")
	if !strings.HasPrefix(s, "ssh-") && !strings.HasPrefix(s, "ecds") && !strings.HasPrefix(s, "rsa-sha2-") {
		return false
	}
	return !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("@.-_", r)
	})
}

// types are the types of keys that Salt takes.
var types = []string{
	"ssh-rsa", "ssh-dss", "ecdsa-sha2-nistp521", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp256", "ssh-ed25519", "rsa-sha2-512", "rsa-sha2-256",
	"rsa-sha2-512-cert-v01@openssh.com", "rsa-sha2-256-cert-v01@openssh.com", "ssh-rsa-cert-v01@openssh.com",
	"ecdsa-sha2-nistp256-cert-v01@openssh.com", "ecdsa-sha2-nistp384-cert-v01@openssh.com", "ecdsa-sha2-nistp521-cert-v01@openssh.com",
	"sk-ecdsa-sha2-nistp256@openssh.com", "sk-ecdsa-sha2-nistp256-cert-v01@openssh.com", "ssh-ed25519-cert-v01@openssh.com",
	"sk-ssh-ed25519@openssh.com", "sk-ssh-ed25519-cert-v01@openssh.com",
}

// Type returns the full name of a type of key.
// Salt: salt/modules/ssh.py _refine_enc.
func Type(enc string) (string, error) {
	switch enc {
	case "r", "rsa":
		return "ssh-rsa", nil
	case "d", "dsa", "dss":
		return "ssh-dss", nil
	case "e", "ecdsa":
		return "ecdsa-sha2-nistp256", nil
	case "ed25519":
		return "ssh-ed25519", nil
	}
	if slices.Contains(types, enc) {
		return enc, nil
	}
	return "", fun.Errorf("Incorrect encryption key type '%s'.", enc)
}

// Fingerprint returns the digest of a key as pairs of hexadecimal digits, "" for
// a key that is not base64.
func Fingerprint(key, hashType string) (string, error) {
	if hashType == "" {
		hashType = "sha256"
	}
	h, err := cp.NewHash(strings.ToLower(hashType))
	if err != nil {
		return "", fun.Errorf("The fingerprint_hash_type %s is not supported.", strings.ToLower(hashType))
	}
	raw, err := base64.StdEncoding.DecodeString(key)
	if err != nil || strings.ContainsAny(key, "\r\n") || key == "" {
		return "", nil
	}
	h.Write(raw)
	digits := hex.EncodeToString(h.Sum(nil))
	pairs := make([]string, 0, len(digits)/2)
	for i := 0; i < len(digits); i += 2 {
		pairs = append(pairs, digits[i:i+2])
	}
	return strings.Join(pairs, ":"), nil
}

// Flaw returns why sshd would not take a key, "" where nothing speaks against it.
func Flaw(enc, key string) string {
	raw, err := base64.StdEncoding.DecodeString(key)
	if err != nil {
		return "it is not base64"
	}
	var fields []string
	for len(raw) > 0 {
		if len(raw) < 4 {
			return "it is cut short"
		}
		n := binary.BigEndian.Uint32(raw)
		if raw = raw[4:]; uint64(n) > uint64(len(raw)) {
			return "it is cut short"
		}
		fields = append(fields, string(raw[:n]))
		raw = raw[n:]
	}
	if len(fields) == 0 {
		return "it is empty"
	}
	want := strings.NewReplacer("rsa-sha2-512", "ssh-rsa", "rsa-sha2-256", "ssh-rsa").Replace(enc)
	if !strings.Contains(enc, "-cert-") && fields[0] != want {
		return "its type is " + value.Repr(fields[0])
	}
	return ""
}

// A KeyFile is an authorized_keys file, by lines.
type KeyFile []string

// ParseKeys reads an authorized_keys file. It takes any text.
func ParseKeys(text string) KeyFile { return KeyFile(textfile.Lines(text)) }

func (f KeyFile) String() string { return textfile.Join(f) }

// Keys returns the entries whose keys are base64, in their order; of several
// entries of a key the last one.
func (f KeyFile) Keys() []Key {
	var keys []Key
	at := map[string]int{}
	for _, l := range f {
		k, ok := ParseKey(l)
		if !ok {
			continue
		}
		if fp, _ := Fingerprint(k.Key, ""); fp == "" {
			continue
		}
		if i, ok := at[k.Key]; ok {
			keys[i] = k
			continue
		}
		at[k.Key] = len(keys)
		keys = append(keys, k)
	}
	return keys
}

// Find returns the entry of a key.
func (f KeyFile) Find(key string) (Key, bool) {
	for _, k := range f.Keys() {
		if k.Key == key {
			return k, true
		}
	}
	return Key{}, false
}

// Status says what has to be done for an entry: add, update, or exists.
func (f KeyFile) Status(k Key) string {
	have, ok := f.Find(k.Key)
	switch {
	case !ok:
		return "add"
	case have.Line() != k.Line():
		return "update"
	}
	return "exists"
}

// Set puts an entry in, in the place of those of the same key.
func (f KeyFile) Set(k Key) KeyFile {
	found := false
	out := make(KeyFile, 0, len(f)+1)
	for _, l := range f {
		if have, ok := ParseKey(l); ok && have.Key == k.Key {
			l, found = k.Line(), true
		}
		out = append(out, l)
	}
	if !found {
		out = append(out, k.Line())
	}
	return out
}

// Drop takes the entries of a key out and reports whether there were any.
func (f KeyFile) Drop(key string) (KeyFile, bool) {
	out := make(KeyFile, 0, len(f))
	for _, l := range f {
		if k, ok := ParseKey(l); ok && k.Key == key {
			continue
		}
		out = append(out, l)
	}
	return out, len(out) < len(f)
}
