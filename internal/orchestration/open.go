package orchestration

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"brine/internal/host"
	"brine/internal/value"
	"brine/internal/yamlsalt"
)

// pgpHead begins a message of PGP in text.
const pgpHead = "-----BEGIN PGP MESSAGE-----"

// programTimeout bounds the programs that decrypt: they may ask for a passphrase.
const programTimeout = 5 * time.Minute

// Open reads answers from a file of JSON or YAML, which sops or gpg may have
// encrypted: it is decrypted by these programs, and nothing of it is written
// down. encrypted says that it was.
func Open(ctx context.Context, h host.Host, t *Template, path string) (a *Answers, encrypted bool, err error) {
	text, err := h.ReadFile(path)
	if err != nil {
		return nil, false, err
	}
	var argv []string
	switch {
	case slices.Contains([]string{".gpg", ".asc", ".pgp"}, filepath.Ext(path)) || bytes.HasPrefix(bytes.TrimSpace(text), []byte(pgpHead)):
		argv = []string{"gpg", "--quiet", "--decrypt", "--", path}
	case isSops(text):
		argv = []string{"sops", "--decrypt", "--output-type", "json", path}
	default:
		a, err := ReadFile(h, t, path)
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

// Leaves returns the paths of all values within a mapping: keys and indices,
// joined by ":".
func Leaves(m *value.Map) []string {
	var out []string
	var walk func(path string, v value.Value)
	walk = func(path string, v value.Value) {
		switch v := v.(type) {
		case *value.Map:
			for k, x := range v.All() {
				walk(path+":"+value.Str(k), x)
			}
		case *value.List:
			for i, x := range v.Items {
				walk(path+":"+strconv.Itoa(i), x)
			}
		default:
			out = append(out, strings.TrimPrefix(path, ":"))
		}
	}
	walk("", m)
	return out
}

// Without returns answers without the values at some paths; what is in a list of
// plain values goes with the list.
func (a *Answers) Without(paths []string) *Answers {
	out := &Answers{Targets: a.Targets}
	out.Values, _ = value.Clone(a.Values).(*value.Map)
	for _, p := range paths {
		remove(out.Values, strings.Split(p, ":"))
	}
	return out
}

// remove removes the value at a path, and reports whether what holds it is to go,
// too.
func remove(v value.Value, keys []string) bool {
	switch v := v.(type) {
	case *value.Map:
		if len(keys) == 1 || remove(v.At(keys[0]), keys[1:]) {
			v.Delete(keys[0])
		}
	case *value.List:
		n, err := strconv.Atoi(keys[0])
		if err != nil || n >= v.Len() {
			return false
		}
		return len(keys) == 1 || remove(v.Items[n], keys[1:])
	}
	return false
}
