// Package redact keeps secrets out of what is recorded, sent as an event or
// shown: [Hide] for any data, [Args] and [LeftOut] for the arguments of a call.
// What is a secret is known by its name alone.
package redact

import (
	"fmt"
	"slices"
	"strings"

	"brine/internal/py/value"
)

// Hidden replaces a secret. It is what Salt's user states show for a password.
const Hidden = "XXX-REDACTED-XXX"

// hide is what is recorded of an argument with a name, and whether that is
// another thing. Flags, such as enforce_password, and None tell nothing.
func hide(name string, v value.Value) (value.Value, bool) {
	if isSecret(name) || isInput(name) {
		return hideAll(v)
	}
	if isEnv(name) {
		if out, changed := hideEnv(v); changed {
			return out, true
		}
	}
	return hideIn(v)
}

// Hide returns v with [Hidden] in the place of each secret in its dicts: the
// values of keys such as password, passphrase, token, api_key and private_key, of
// environments and of headers such as Authorization. v stays as it is.
func Hide(v value.Value) value.Value {
	v, _ = hideIn(v)
	return v
}

func hideIn(v value.Value) (value.Value, bool) {
	switch v := v.(type) {
	case string:
		out := hidePasswords(hideHeaders(v))
		return out, out != v
	case *value.Map:
		return inMap(v, hide)
	case *value.List:
		return inList(v, hideIn)
	}
	return v, false
}

// inMap hides the values of a mapping, of which it makes a copy where there is
// one to hide.
func inMap(m *value.Map, hide func(name string, v value.Value) (value.Value, bool)) (value.Value, bool) {
	out := m
	for k, x := range m.All() {
		if y, changed := hide(value.Str(k), x); changed {
			if out == m {
				out = m.Copy()
			}
			out.Set(k, y)
		}
	}
	return out, out != m
}

// inList is inMap of a list.
func inList(l *value.List, hide func(v value.Value) (value.Value, bool)) (value.Value, bool) {
	if l == nil {
		return l, false
	}
	out := l
	for i, x := range l.Items {
		if y, changed := hide(x); changed {
			if out == l {
				out = l.Copy(0)
			}
			out.Items[i] = y
		}
	}
	return out, out != l
}

// hider is hide that counts further names as those of secrets; "**" are all that are not
// among names.
func hider(names, secret []string) func(string, value.Value) (value.Value, bool) {
	further := slices.Contains(secret, "**")
	return func(name string, v value.Value) (value.Value, bool) {
		if !isSecret(name) && (slices.Contains(secret, name) || further && !slices.Contains(names, name)) {
			name = "secret"
		}
		return hide(name, v)
	}
}

// nameAt is the name of a positional argument, "" where it is not known.
func nameAt(names []string, i int) string {
	if i >= len(names) {
		return ""
	}
	return names[i]
}

// LeftOut names the arguments of a call that [Args] leaves out or hides; names
// are those of the positional ones, as far as they are known.
func LeftOut(names []string, pos []value.Value, kw *value.Map, secret ...string) []string {
	var out []string
	hide := hider(names, secret)
	for i, v := range pos {
		name := nameAt(names, i)
		if _, hidden := hide(name, v); hidden {
			if name == "" {
				name = fmt.Sprintf("argument %d", i+1)
			}
			out = append(out, name)
		}
	}
	for k, v := range kw.All() {
		name := value.Str(k)
		if strings.HasPrefix(name, "__") {
			continue
		}
		if _, hidden := hide(name, v); hidden || name == "pillar" {
			out = append(out, name)
		}
	}
	return out
}

// Args returns the arguments of a call as records keep them: the positional
// ones and, last, the keyword arguments as Salt writes them, a dict with
// __kwarg__. The pillar that was handed over is left out, since it may hold
// secrets; [Hidden] replaces other secrets. names are those of the positional
// arguments, as far as they are known; secret are names of arguments whose row
// says that they hold secrets, "**" are all others.
func Args(names []string, pos []value.Value, kw *value.Map, secret ...string) *value.List {
	l := value.NewList()
	hide := hider(names, secret)
	for i, v := range pos {
		v, _ = hide(nameAt(names, i), v)
		l.Append(v)
	}
	if kw.Len() == 0 {
		return l
	}
	m := value.MapOf("__kwarg__", true)
	for k, v := range kw.All() {
		name := value.Str(k)
		if name == "pillar" || strings.HasPrefix(name, "__") {
			continue
		}
		v, _ = hide(name, v)
		m.Set(k, v)
	}
	if m.Len() > 1 {
		l.Append(m)
	}
	return l
}
