package redact

import (
	"cmp"
	"encoding/base64"
	"maps"
	"math/big"
	"slices"
	"strings"
	"sync"

	"brine/internal/py/value"
)

// shortest is the length of the shortest text that counts as a secret value, in
// bytes: shorter ones are words that stand elsewhere, too.
const shortest = 6

// maxSecrets bounds how many values a [Set] knows.
const maxSecrets = 100_000

// groupNames are keys of a pillar under which all text is secret, beside those of
// secretEnds.
var groupNames = [...]string{"passwords", "passwds", "passphrases", "secrets", "tokens", "api_keys", "private_keys", "secret_keys", "credentials"}

// A Set knows the secrets of a run by their values: those of the pillar whose
// keys say so, and what was decrypted. It is safe for concurrent use. The nil
// Set knows none.
type Set struct {
	more []string // globs of the configuration
	keep []string // globs of keys that are not secret

	mu      sync.Mutex
	values  map[string]bool
	repl    *strings.Replacer // of values; nil: to be made
	origins map[string]origin // of names of arguments
	onAdd   func(secret string)
	targets map[string]*Set // of ids; see Of
}

// NewSet returns a Set for which the usual keys are secret, and those that
// match one of the globs; a glob with a colon matches paths ("db:*:dsn"). Keys
// that match a glob after "!" are not secret.
func NewSet(globs ...string) *Set {
	s := &Set{values: map[string]bool{}, origins: map[string]origin{}}
	for _, g := range globs {
		if rest, ok := strings.CutPrefix(g, "!"); ok {
			s.keep = append(s.keep, rest)
		} else {
			s.more = append(s.more, g)
		}
	}
	return s
}

// SetOf returns the set of options: its globs are those of mask_pillar_keys.
func SetOf(opts *value.Map) *Set {
	switch v := opts.At("mask_pillar_keys").(type) {
	case string:
		return NewSet(v)
	case *value.List:
		return NewSet(v.Strs()...)
	}
	return NewSet()
}

func matches(globs []string, key, path string) bool {
	return slices.ContainsFunc(globs, func(g string) bool {
		if strings.Contains(g, ":") {
			return value.Fnmatch(g, path)
		}
		return value.Fnmatch(g, key)
	})
}

func (s *Set) isSecret(key, path string) bool {
	if matches(s.keep, key, path) {
		return false
	}
	name := strings.ReplaceAll(strings.ToLower(key), "-", "_")
	for _, g := range groupNames {
		if before, ok := strings.CutSuffix(name, g); ok && (before == "" || strings.HasSuffix(before, "_")) {
			return true
		}
	}
	return isSecret(key) || matches(s.more, key, path)
}

// AddPillar adds the secrets of a pillar.
func (s *Set) AddPillar(pillar value.Value) {
	if s == nil {
		return
	}
	var found []string
	s.search(pillar, "", false, 0, func(_, text string) { found = append(found, text) })
	s.Add(found...)
}

// Paths returns the paths of the keys, such as db:password, under which a pillar
// has secrets in clear text. Text that is encrypted with GPG and URIs sdb:// do not
// count.
func (s *Set) Paths(pillar value.Value) []string {
	var found []string
	s.search(pillar, "", false, 0, func(path, text string) {
		text = strings.TrimSpace(text)
		if text != "" && !strings.HasPrefix(text, "-----BEGIN PGP MESSAGE-----") && !strings.HasPrefix(text, "sdb://") && !slices.Contains(found, path) {
			found = append(found, path)
		}
	})
	return found
}

// isSecretItem is isSecret for a key with its value: of a group of settings that
// is named auth, only those count whose own names say so.
func (s *Set) isSecretItem(key, path string, v value.Value) bool {
	if _, isMap := v.(*value.Map); isMap && isGroup(key) && !matches(s.more, key, path) {
		return false
	}
	return s.isSecret(key, path)
}

func (s *Set) search(v value.Value, path string, secret bool, depth int, found func(path, text string)) {
	if depth > 100 {
		return
	}
	switch v := v.(type) {
	case string:
		if secret {
			found(path, v)
		}
	case value.Bytes:
		if secret {
			found(path, string(v))
		}
	case int64, float64, *big.Int:
		if secret {
			found(path, value.Str(v))
		}
	case *value.Map:
		for k, x := range v.All() {
			key := value.Str(k)
			sub := key
			if path != "" {
				sub = path + ":" + key
			}
			s.search(x, sub, (secret || s.isSecretItem(key, sub, x)) && !matches(s.keep, key, sub), depth+1, found)
		}
	case *value.List:
		for i := range v.Len() {
			s.search(v.Items[i], path, secret, depth+1, found)
		}
	case value.Tuple:
		for _, x := range v {
			s.search(x, path, secret, depth+1, found)
		}
	}
}

// Of returns the set of a target: what the target said to be a secret. [Set.Mask]
// takes it out of what that target returned, under its id as a key and beside its id as
// the value of the key id, and [Set.AnyText] out of all text. A target that says that an
// everyday word is a secret so spoils its own records and no others.
func (s *Set) Of(id string) *Set {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.targets[id]
	if t == nil {
		if s.targets == nil {
			s.targets = map[string]*Set{}
		}
		t = NewSet()
		t.more, t.keep = s.more, s.keep
		s.targets[id] = t
	}
	return t
}

// of returns the set of a target that said something; nil where it did not.
func (s *Set) of(id value.Value) *Set {
	name, ok := id.(string)
	if !ok {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.targets[name]
}

// MaskOf is [Set.Mask] of what a target returned.
func (s *Set) MaskOf(id string, v value.Value) value.Value {
	if s == nil {
		return v
	}
	if t := s.of(id); t != nil {
		v = t.Mask(v)
	}
	return s.Mask(v)
}

// AnyText is [Set.Text] that also hides what any target said to be a secret: for text
// that people look at while a run goes on, which is not kept.
func (s *Set) AnyText(text string) string {
	if s == nil {
		return text
	}
	s.mu.Lock()
	all := slices.Collect(maps.Values(s.targets))
	s.mu.Unlock()
	for _, t := range all {
		text = t.Text(text)
	}
	return s.Text(text)
}

// OnAdd sets a function that is called with each further secret, once, as it was added
// and before it is masked; not with secrets longer than 64 KiB. The set is locked
// during the call.
func (s *Set) OnAdd(f func(secret string)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.onAdd = f
}

// Add adds values. Of one of several lines each line counts, too, since diffs
// and reports take them apart.
func (s *Set) Add(values ...string) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	add := func(text string) {
		if len(text) < shortest || text == Hidden || s.values[text] || len(s.values) >= maxSecrets {
			return
		}
		s.values[text] = true
		s.repl = nil
	}
	for _, v := range values {
		if s.values[v] {
			continue
		}
		add(v)
		if s.onAdd != nil && s.values[v] && len(v) <= maxValue {
			s.onAdd(v)
		}
		v = strings.TrimSpace(v)
		add(v)
		if len(v) >= shortest && len(v) <= maxValue {
			for _, text := range slices.Concat(encoded(v), quoted(v)) {
				add(text)
			}
		}
		if !strings.Contains(v, "\n") {
			continue
		}
		add(strings.ReplaceAll(v, "\n", `\n`))
		for line := range strings.SplitSeq(v, "\n") {
			// The first and last line of a key are not secret.
			if line = strings.TrimSpace(line); !strings.HasPrefix(line, "-----") {
				add(line)
			}
		}
	}
}

// encoded returns what of a text is seen where it is in base64: alone, as a line, or
// somewhere in a longer text, of which its groups of three bytes are known.
func encoded(v string) []string {
	out := []string{
		base64.StdEncoding.EncodeToString([]byte(v)),
		base64.StdEncoding.EncodeToString([]byte(v + "\n")),
		base64.RawURLEncoding.EncodeToString([]byte(v)),
	}
	const groups = 3 // fewer may be part of other text
	for skip := range 3 {
		if len(v) < skip+3*groups {
			break
		}
		whole := (len(v) - skip) / 3 * 3
		out = append(out, base64.StdEncoding.EncodeToString([]byte(v[skip:skip+whole])))
	}
	return out
}

func (s *Set) replacer() *strings.Replacer {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.values) == 0 {
		return nil
	}
	if s.repl == nil {
		all := make([]string, 0, len(s.values))
		for v := range s.values {
			all = append(all, v)
		}
		// A secret that another one begins with comes after that one.
		slices.SortFunc(all, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), strings.Compare(a, b)) })
		pairs := make([]string, 0, 2*len(all))
		for _, v := range all {
			pairs = append(pairs, v, Hidden)
		}
		s.repl = strings.NewReplacer(pairs...)
	}
	return s.repl
}

// Text returns text with [Hidden] in the place of each secret. In a diff, what a
// line with a secret replaces is hidden, too: it is the secret of before.
func (s *Set) Text(text string) string {
	if s == nil {
		return text
	}
	r := s.replacer()
	if r == nil {
		return text
	}
	w := replaced{text: text}
	_, _ = r.WriteString(&w, text)
	if !w.changed {
		return text[:w.same]
	}
	out := w.String()
	if isDiff(text) {
		out = oldHidden(out)
	}
	return out
}

// Line is [Set.Text] that hides the passwords of URLs and of the header Authorization,
// too: for lines of a log.
func (s *Set) Line(text string) string {
	if s == nil {
		return text
	}
	text = hidePasswords(s.Text(text))
	if strings.Contains(text, "uthorization") { // output may be long: other headers are arguments only
		text = hideHeaders(text)
	}
	return text
}

// LineOf is [Set.Line] of what a target printed.
func (s *Set) LineOf(id, text string) string {
	if s == nil {
		return text
	}
	if t := s.of(id); t != nil {
		text = t.Text(text)
	}
	return s.Line(text)
}

// replaced takes what a strings.Replacer writes of a text, and copies nothing as long
// as that is the text: output may be long, and secrets in it are rare.
type replaced struct {
	text    string
	same    int // how much of the text was written, unchanged
	changed bool
	strings.Builder
}

// WriteString adds the next part.
func (w *replaced) WriteString(part string) (int, error) {
	if !w.changed && strings.HasPrefix(w.text[w.same:], part) {
		w.same += len(part)
		return len(part), nil
	}
	if !w.changed {
		w.changed = true
		w.Grow(len(w.text))
		w.Builder.WriteString(w.text[:w.same])
	}
	return w.Builder.WriteString(part)
}

// Write adds the next part.
func (w *replaced) Write(part []byte) (int, error) { return w.WriteString(string(part)) }

func isDiff(text string) bool {
	return strings.Contains(text, "\n@@ ") || strings.HasPrefix(text, "@@ ")
}

// oldHidden hides the removed lines of each change of a diff of which a line has
// a secret.
func oldHidden(diff string) string {
	lines := strings.SplitAfter(diff, "\n")
	for i := 0; i < len(lines); {
		j, secret := i, false
		for ; j < len(lines) && isChange(lines[j]); j++ {
			secret = secret || strings.Contains(lines[j], Hidden)
		}
		for k := i; k < j && secret; k++ {
			if lines[k][0] == '-' {
				end := ""
				if strings.HasSuffix(lines[k], "\n") {
					end = "\n"
				}
				lines[k] = "-" + Hidden + end
			}
		}
		i = max(j, i+1)
	}
	return strings.Join(lines, "")
}

func isChange(line string) bool {
	return line != "" && (line[0] == '-' && !strings.HasPrefix(line, "--- ") || line[0] == '+' && !strings.HasPrefix(line, "+++ "))
}

// Mask returns v with [Hidden] in the place of each secret, in keys, too, and of
// what keys say to be one, as [Hide] does. v stays as it is.
func (s *Set) Mask(v value.Value) value.Value {
	if s == nil {
		return v
	}
	v, _ = s.mask(v, 0)
	return v
}

func (s *Set) mask(v value.Value, depth int) (value.Value, bool) {
	if depth > 200 {
		return v, false
	}
	switch v := v.(type) {
	case string:
		t := s.Line(v)
		return t, t != v
	case value.Bytes:
		t := s.Text(string(v))
		return value.Bytes(t), t != string(v)
	case *value.List:
		if v == nil {
			return v, false
		}
		items, changed := s.items(v.Items, depth)
		if !changed {
			return v, false
		}
		out := v.Copy(0)
		copy(out.Items, items)
		return out, true
	case value.Tuple:
		items, changed := s.items(v, depth)
		return value.Tuple(items), changed
	case *value.Map:
		return s.dict(v, depth)
	case *value.Row:
		return s.dict(value.ToMap(v), depth)
	}
	return v, false
}

func (s *Set) items(in []value.Value, depth int) ([]value.Value, bool) {
	out, changed := in, false
	for i, x := range in {
		y, c := s.mask(x, depth+1)
		if c && !changed {
			out, changed = slices.Clone(in), true
		}
		if c {
			out[i] = y
		}
	}
	return out, changed
}

func (s *Set) dict(m *value.Map, depth int) (value.Value, bool) {
	if m == nil {
		return m, false
	}
	changed := false
	out := value.NewMap(m.Len())
	out.Ordered = m.Ordered
	if id, ok := m.Get("id"); ok {
		if t := s.of(id); t != nil {
			var masked value.Value
			if masked, changed = t.mask(m, depth); changed {
				m, _ = masked.(*value.Map)
			}
		}
	}
	for k, x := range m.All() {
		if t := s.of(k); t != nil {
			y, c := t.mask(x, depth+1)
			x, changed = y, changed || c
		}
		key, kc := s.mask(k, depth+1)
		y, xc := s.mask(x, depth+1)
		// The tag of a state is not the name of a secret.
		if name, ok := k.(string); ok && !strings.Contains(name, "_|-") && (isSecret(name) || isEnv(name) || isInput(name)) && !matches(s.keep, name, name) {
			if z, hidden := hide(name, x); hidden {
				y, xc = z, true
			}
		}
		changed = changed || kc || xc
		out.Set(key, y)
	}
	if !changed {
		return m, false
	}
	return out, true
}
