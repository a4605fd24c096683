package orchestration

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/internal/py/yamlsalt"
)

// pgpHead begins a message of PGP in text.
const pgpHead = "-----BEGIN PGP MESSAGE-----"

// programTimeout bounds the programs that decrypt: they may ask for a passphrase.
const programTimeout = 5 * time.Minute

// Open reads answers from a file of JSON or YAML, which sops or gpg may have
// encrypted: it is decrypted by these programs, and nothing of it is written
// down. encrypted says that it was. Answers of a file that somebody else could have
// written are foreign.
func Open(ctx context.Context, h host.Host, t *Template, path string) (a *Answers, encrypted bool, err error) {
	text, err := host.ReadTrusted(h, path)
	_, foreign := errors.AsType[*host.UntrustedFileError](err)
	if foreign {
		text, err = h.ReadFile(path)
	}
	if err != nil {
		return nil, false, err
	}
	defer func() {
		if a != nil {
			a.Foreign = foreign
		}
	}()
	var argv []string
	switch {
	case slices.Contains([]string{".gpg", ".asc", ".pgp"}, filepath.Ext(path)) || bytes.HasPrefix(bytes.TrimSpace(text), []byte(pgpHead)):
		argv = []string{"gpg", "--quiet", "--decrypt", "--", path}
	case isSops(text):
		argv = []string{"sops", "--decrypt", "--output-type", "json", path}
	default:
		a, err = parse(t, path, text)
		return a, false, err
	}
	out, err := h.Run(ctx, host.Cmd{Argv: argv, Timeout: programTimeout})
	if err != nil {
		return nil, true, fmt.Errorf("%s is encrypted: run %s: %w", path, argv[0], err)
	}
	if out.Status != 0 {
		return nil, true, fmt.Errorf("%s could not decrypt %s: %s", argv[0], path, lastLine(string(out.Stderr)))
	}
	// What a parser says of a text may quote it.
	v, err := yamlsalt.LoadString(string(out.Stdout))
	m, ok := v.(*value.Map)
	if err != nil || !ok {
		return nil, true, fmt.Errorf("what %s decrypted of %s is not a mapping of YAML or JSON", argv[0], path)
	}
	if a, err = t.Read(m); err != nil {
		return nil, true, fmt.Errorf("%s: %w", path, err)
	}
	return a, true, nil
}

// isSops reports whether sops encrypted a file: its last key says how.
func isSops(text []byte) bool {
	if !bytes.Contains(text, []byte("sops")) {
		return false
	}
	v, err := yamlsalt.LoadString(string(text))
	m, ok := v.(*value.Map)
	return err == nil && ok && m.Map("sops").Has("mac")
}

func lastLine(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return lines[len(lines)-1]
}

// A Path leads to a value: the keys of mappings and the indices of lists.
type Path []value.Value

// PathOf reads a path as --set has it: keys and indices joined by ":".
func PathOf(text string) Path {
	var out Path
	for k := range strings.SplitSeq(text, ":") {
		out = append(out, k)
	}
	return out
}

// To returns the path of what is at a key or an index of this path's value.
func (p Path) To(key value.Value) Path { return append(slices.Clip(p), key) }

// String joins the path by ":", as a [form.ValueError] has it.
func (p Path) String() string {
	keys := make([]string, len(p))
	for i, k := range p {
		keys[i] = value.Str(k)
	}
	return strings.Join(keys, ":")
}

// Leaves returns the paths of all values within a mapping.
func Leaves(m *value.Map) []Path {
	var out []Path
	var walk func(p Path, v value.Value)
	walk = func(p Path, v value.Value) {
		switch v := v.(type) {
		case *value.Map:
			for k, x := range v.All() {
				walk(p.To(k), x)
			}
		case *value.List:
			for i, x := range v.Items {
				walk(p.To(int64(i)), x)
			}
		default:
			out = append(out, p)
		}
	}
	walk(nil, m)
	return out
}

// Without returns answers without the values at some paths; what is in a list of
// plain values goes with the list.
func (a *Answers) Without(paths []Path) *Answers {
	out := &Answers{Targets: a.Targets, Foreign: a.Foreign}
	out.Values, _ = value.Clone(a.Values).(*value.Map)
	for _, p := range paths {
		if len(p) > 0 {
			remove(out.Values, p)
		}
	}
	return out
}

// remove removes the value at a path, and reports whether what holds it is to go,
// too.
func remove(v value.Value, p Path) bool {
	switch v := v.(type) {
	case *value.Map:
		if len(p) == 1 || remove(v.At(p[0]), p[1:]) {
			v.Delete(p[0])
		}
	case *value.List:
		n, err := strconv.Atoi(value.Str(p[0]))
		if err != nil || n < 0 || n >= v.Len() {
			return false
		}
		return len(p) == 1 || remove(v.Items[n], p[1:])
	}
	return false
}
