//go:build !slim

package pillar

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strings"

	"brine/internal/core/fileserver"
	"brine/internal/core/ldap"
	"brine/internal/core/render"
	"brine/internal/py/source"
	"brine/internal/py/value"
	"brine/internal/py/yamlsalt"
)

// extLDAP makes pillar of searches in LDAP, which a file describes. The file is a template
// of Jinja with the grains as its variables.
//
// Salt: salt/pillar/pillar_ldap.py. Differences: values are text, not bytes, so that the
// modes split and dict work; text of grains is escaped; what goes wrong is an error.
func (j *job) extLDAP(ctx context.Context, _ *value.Map, a extArgs) (value.Mapping, error) {
	file, _ := a.get(0, "config_file").(string)
	if !filepath.IsAbs(file) {
		return nil, errors.New("it needs the absolute path of a file that describes the searches")
	}
	conf, err := j.ldapConfig(ctx, file)
	if err != nil {
		return nil, err
	}
	order, ok := conf.At("search_order").(*value.List)
	if !ok {
		return nil, &source.Error{Pos: source.Pos{File: file}, Err: errors.New("it has no list search_order")}
	}
	out := value.NewMap(4)
	for _, name := range order.Items {
		m, ok := conf.At(name).(*value.Map)
		if !ok {
			err = fmt.Errorf("search_order names %s, which the file does not have as a mapping", value.Repr(name))
		} else {
			err = j.ldapSource(ctx, value.Str(name), m, out)
		}
		if err != nil {
			return nil, &source.Error{Pos: source.Pos{File: file, Line: conf.Pos(name).Line}, Err: err}
		}
	}
	return out, nil
}

// ldapConfig renders a file of searches. Grains come from the machine that asks: their text
// can neither end a value of a filter nor one of YAML.
func (j *job) ldapConfig(ctx context.Context, file string) (*value.Map, error) {
	dir, name := filepath.Split(file)
	srv := fileserver.New(j.env.Host, &fileserver.Roots{Envs: []string{"base"}, Dirs: map[string][]string{"base": {filepath.Clean(dir)}}})
	fi, err := srv.Stat(ctx, "base", name)
	if err != nil {
		return nil, err
	}
	text, err := render.Read(ctx, srv, fi)
	if err != nil {
		return nil, err
	}
	vars := value.NewMap(64)
	grains := j.env.SubjectGrains()
	for _, k := range grains.Keys() {
		v, _ := grains.Get(k)
		vars.Set(k, escaped(v))
	}
	vars.Set("id", ldap.Escape(j.env.ID))
	out, err := render.New(j.env, srv).NameAbsolute().Lenient().Template(ctx, "jinja", render.Input{
		Path: name, Abs: fi.Abs, Name: file, Text: text, Vars: vars,
	})
	if err != nil {
		return nil, err
	}
	v, err := yamlsalt.Load(yamlsalt.LoadOptions{Name: file}, []byte(out))
	if err != nil {
		return nil, err
	}
	m, ok := v.(*value.Map)
	if !ok {
		return nil, &source.Error{Pos: source.Pos{File: file}, Err: fmt.Errorf("the file must be a mapping, not %s", value.Kind(v))}
	}
	return m, nil
}

// escaped returns v with all of its text escaped.
func escaped(v value.Value) value.Value {
	switch v := v.(type) {
	case string:
		return ldap.Escape(v)
	case *value.List:
		out := value.NewList()
		for _, x := range v.Items {
			out.Append(escaped(x))
		}
		return out
	case *value.Map:
		out := value.NewMap(v.Len())
		for k, x := range v.All() {
			out.Set(escaped(k), escaped(x))
		}
		return out
	case nil, bool, int64, float64:
		return v
	}
	return ldap.Escape(value.Str(v))
}

// ldapKeys are the keys of a search.
var ldapKeys = [...]string{
	"server", "port", "tls", "no_verify", "binddn", "bindpw", "anonymous", "referrals", "dn", "scope", "filter", "attrs", "lists", "mode", "dict_key_attr",
}

// ldapSource adds what one search finds to out.
func (j *job) ldapSource(ctx context.Context, name string, m, out *value.Map) error {
	for _, k := range m.Keys() {
		if !slices.Contains(ldapKeys[:], value.Str(k)) {
			return fmt.Errorf("%s: unknown key %q%s", name, value.Str(k), source.DidYouMean(value.Str(k), ldapKeys[:]))
		}
	}
	if value.Truth(m.At("referrals")) {
		return fmt.Errorf("%s: referrals are not followed: the password is for this server alone", name)
	}
	filter, ok := m.At("filter").(string)
	if !ok {
		return fmt.Errorf("%s: missing filter", name)
	}
	attrs, err := textsOf(m, "attrs")
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	lists, err := textsOf(m, "lists")
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	mode, keyAttr := m.At("mode"), m.Str("dict_key_attr")
	if keyAttr == "" {
		keyAttr = "dn"
	}
	if mode == nil {
		mode = "split"
	}
	if mode != "split" && mode != "map" && mode != "dict" {
		return fmt.Errorf("%s: unknown mode %s; there are dict, map and split", name, value.Repr(mode))
	}
	found, err := j.ldapSearch(ctx, m, filter, slices.Concat(lists, attrs, []string{keyAttr}))
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if len(found) == 0 {
		return nil
	}
	if mode == "split" {
		return splitInto(out, found[0], attrs, lists)
	}
	all, by := value.NewList(), value.NewMap(4)
	for i := range found {
		entry, key := ldapEntry(&found[i], attrs, lists, keyAttr)
		all.Append(entry)
		if l := by.List(key); l != nil {
			l.Append(entry)
		} else {
			by.Set(key, value.NewList(entry))
		}
	}
	if mode == "map" {
		out.Set(name, all)
	} else {
		out.Set(name, by)
	}
	return nil
}

// ldapEntry returns what attrs and lists name of an entry, and its key by keyAttr.
func ldapEntry(e *ldap.Entry, attrs, lists []string, keyAttr string) (entry *value.Map, key string) {
	entry = value.NewMap(4)
	if slices.Contains(attrs, "dn") || slices.Contains(attrs, "distinguishedName") {
		entry.Set("dn", e.DN)
	}
	for _, a := range e.Attrs {
		if n := len(a.Values); n > 0 && slices.Contains(attrs, a.Name) {
			entry.Set(a.Name, ldapValue(a.Values[n-1]))
		}
		if slices.Contains(lists, a.Name) {
			l := value.NewList()
			for _, v := range a.Values {
				l.Append(ldapValue(v))
			}
			entry.Set(a.Name, l)
		}
		if a.Name == keyAttr {
			key = strings.Join(slices.Sorted(slices.Values(a.Values)), ",")
		}
	}
	if keyAttr == "dn" || keyAttr == "distinguishedName" {
		key = e.DN
	}
	return entry, key
}

// ldapValue is text, or bytes if it is not valid UTF-8.
func ldapValue(s string) value.Value {
	if strings.ToValidUTF8(s, "") != s {
		return value.Bytes(s)
	}
	return s
}

// splitInto adds the values KEY=VALUE of an entry to out.
func splitInto(out *value.Map, e ldap.Entry, attrs, lists []string) error {
	for _, a := range e.Attrs {
		one := slices.Contains(attrs, a.Name)
		if !one && !slices.Contains(lists, a.Name) {
			continue
		}
		for _, item := range a.Values {
			k, v, ok := strings.Cut(item, "=")
			switch l, isList := out.At(k).(*value.List); {
			case !ok: // as documented, it is passed over
			case one:
				out.Set(k, ldapValue(v))
			case isList:
				l.Append(ldapValue(v))
			case out.Has(k):
				return fmt.Errorf("%s of %s has values for %q, which an attribute of attrs set", a.Name, e.DN, k)
			default:
				out.Set(k, value.NewList(ldapValue(v)))
			}
		}
	}
	return nil
}

// textsOf returns a list of names.
func textsOf(m *value.Map, key string) ([]string, error) {
	v := m.At(key)
	l, ok := v.(*value.List)
	if !ok {
		if v != nil {
			return nil, fmt.Errorf("%s must be a list, not %s", key, value.Kind(v))
		}
		return nil, nil
	}
	var out []string
	for _, x := range l.Items {
		s, ok := x.(string)
		if !ok {
			return nil, fmt.Errorf("%s has %s instead of a name", key, value.Kind(x))
		}
		out = append(out, s)
	}
	return out, nil
}

// textOf is v as text; nothing for None.
func textOf(v value.Value) string {
	if v == nil {
		return ""
	}
	return value.Str(v)
}

// ldapSearch connects to the server of a search. What the search does not have is of the
// options ldap.*.
func (j *job) ldapSearch(ctx context.Context, m *value.Map, filter string, attrs []string) ([]ldap.Entry, error) {
	option := func(name, opt string, def value.Value) value.Value {
		if v := m.At(name); v != nil {
			return v
		}
		if v := j.opts.At("ldap." + opt); v != nil {
			return v
		}
		return def
	}
	scope, ok := value.AsInt(option("scope", "scope", int64(2)))
	if !ok || scope < 0 || scope > 2 {
		return nil, fmt.Errorf("unknown scope %s; there are 0 (base), 1 (onelevel) and 2 (subtree)", value.Repr(m.At("scope")))
	}
	port := value.Str(option("port", "port", "389"))
	s := ldap.Server{
		URL:      "ldap://" + net.JoinHostPort(value.Str(option("server", "server", "localhost")), port),
		StartTLS: value.Truth(option("tls", "tls", false)),
	}
	if value.Truth(option("no_verify", "no_verify", false)) {
		s.TLS = &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: true}
	}
	// The account is of this search alone: another server does not get that of the options.
	if dn, pw := m.At("binddn"), m.At("bindpw"); value.Truth(dn) && value.Truth(pw) || !value.Truth(m.At("anonymous")) {
		s.DN, s.Password = textOf(dn), textOf(pw)
	}
	c, err := ldap.Dial(ctx, s)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	return c.Search(ldap.Query{Base: value.Str(option("dn", "basedn", "")), Scope: int(scope), Filter: filter, Attrs: attrs})
}
