//go:build !slim

// Package ldap3 is Salt's execution modules "ldap3" and "ldap": entries of servers of LDAP.
package ldap3

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"brine/internal/core/fun"
	"brine/internal/core/ldap"
	"brine/internal/py/value"
	"brine/modules/machine"
)

// Module returns the execution module "ldap3".
func Module() fun.Module {
	return fun.Module{Name: "ldap3", Kind: fun.Exec, Doc: "Read and write entries of LDAP.", Specs: specs}
}

// OldModule returns the execution module "ldap".
func OldModule() fun.Module {
	return fun.Module{Name: "ldap", Kind: fun.Exec, Doc: "Search entries of LDAP.", Specs: oldSpecs}
}

// Open connects to the server of a connect_spec.
func Open(ctx context.Context, env *fun.Env, spec *value.Map) (*ldap.Conn, error) {
	s, err := serverOf(env, spec)
	if err != nil {
		return nil, err
	}
	c, err := ldap.Dial(ctx, s)
	if err != nil {
		return nil, fun.Errorf("%v", err)
	}
	return c, nil
}

// with calls f with a connection that ends after it.
func with(ctx context.Context, env *fun.Env, spec *value.Map, f func(c *ldap.Conn) (value.Value, error)) (fun.Result, error) {
	c, err := Open(ctx, env, spec)
	if err != nil {
		return fun.Result{}, err
	}
	defer c.Close()
	v, err := f(c)
	if err != nil {
		return fun.Result{}, fun.Errorf("%v", err)
	}
	return fun.Result{Value: v}, nil
}

// Value is text, or bytes if it is not valid UTF-8.
func Value(s string) value.Value {
	if !utf8.ValidString(s) {
		return value.Bytes(s)
	}
	return s
}

func valueList(vals []string) *value.List {
	l := value.NewList()
	for _, v := range vals {
		l.Append(Value(v))
	}
	return l
}

func attrsOf(e *ldap.Entry) *value.Map {
	m := value.NewMap(len(e.Attrs))
	for _, a := range e.Attrs {
		m.Set(a.Name, valueList(a.Values))
	}
	return m
}

func search(ctx context.Context, c *fun.Call, a *searchArgs) (fun.Result, error) {
	return with(ctx, c.Env, a.Spec, func(l *ldap.Conn) (value.Value, error) {
		scope := slices.Index([]string{"base", "onelevel", "subtree"}, a.Scope)
		out := value.NewMap(4)
		found, err := l.Search(ldap.Query{Base: a.Base, Scope: scope, Filter: a.Filter, Attrs: a.Attrs, NamesOnly: value.Truth(a.Only)})
		if err != nil && !ldap.NoSuchObject(err) {
			return nil, err
		}
		for i := range found {
			out.Set(found[i].DN, attrsOf(&found[i]))
		}
		return out, nil
	})
}

// Values returns the values that an argument gives an attribute: of a list, of one value,
// or none of None.
func Values(attr string, v value.Value) ([]string, error) {
	items := []value.Value{v}
	switch v := v.(type) {
	case nil:
		return nil, nil
	case *value.List:
		items = v.Items
	case value.Tuple:
		items = v
	}
	var out []string
	for _, x := range items {
		var text string
		switch x := x.(type) {
		case value.Bytes:
			text = string(x)
		case string, bool, int64, float64:
			text = value.Str(x)
		default:
			if _, ok := value.AsInt(x); !ok {
				return nil, fmt.Errorf("the attribute %s has %s as a value", attr, value.Kind(x))
			}
			text = value.Str(x)
		}
		if !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return out, nil
}

// attrOf is an attribute as it is sent. The passwords of Active Directory have a form of
// their own: in quotes, in UTF-16.
func attrOf(name string, vals []string) ldap.Attr {
	if name == "unicodePwd" {
		vals = slices.Clone(vals)
		for i, v := range vals {
			var b strings.Builder
			for _, u := range utf16.Encode([]rune(`"` + v + `"`)) {
				b.WriteByte(byte(u))
				b.WriteByte(byte(u >> 8))
			}
			vals[i] = b.String()
		}
	}
	return ldap.Attr{Name: name, Values: vals}
}

// attrsFrom returns the attributes of an argument, in its order.
func attrsFrom(m *value.Map) ([]ldap.Attr, error) {
	var out []ldap.Attr
	for k, v := range m.All() {
		name := value.Str(k)
		vals, err := Values(name, v)
		if err != nil {
			return nil, err
		}
		out = append(out, ldap.Attr{Name: name, Values: vals})
	}
	return out, nil
}

// Add adds an entry.
func Add(l *ldap.Conn, dn string, attrs []ldap.Attr) error {
	sent := make([]ldap.Attr, len(attrs))
	for i, a := range attrs {
		if len(a.Values) == 0 {
			return fmt.Errorf("the attribute %s has no value", a.Name)
		}
		sent[i] = attrOf(a.Name, a.Values)
	}
	return l.Add(dn, sent)
}

// Change makes the attributes of an entry that differ between before and after those of
// after. What neither has stays as it is.
func Change(l *ldap.Conn, dn string, before, after []ldap.Attr) error {
	find := func(in []ldap.Attr, name string) []string {
		for _, a := range in {
			if strings.EqualFold(a.Name, name) {
				return a.Values
			}
		}
		return nil
	}
	var mods []ldap.Mod
	for _, a := range after {
		if !SameValues(find(before, a.Name), a.Values) {
			mods = append(mods, ldap.Mod{Op: "replace", Attr: attrOf(a.Name, a.Values)})
		}
	}
	for _, b := range before {
		if len(b.Values) > 0 && !slices.ContainsFunc(after, func(a ldap.Attr) bool { return strings.EqualFold(a.Name, b.Name) }) {
			mods = append(mods, ldap.Mod{Op: "delete", Attr: ldap.Attr{Name: b.Name}})
		}
	}
	if len(mods) == 0 {
		return nil
	}
	return l.Modify(dn, mods)
}

// SameValues reports whether two attributes have the same values: they have no order.
func SameValues(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

func addEntry(ctx context.Context, c *fun.Call, a *addArgs) (fun.Result, error) {
	attrs, err := attrsFrom(a.Attributes)
	if err != nil {
		return fun.Result{}, fun.Errorf("%v", err)
	}
	return with(ctx, c.Env, a.Spec, func(l *ldap.Conn) (value.Value, error) { return true, Add(l, a.DN, attrs) })
}

func deleteEntry(ctx context.Context, c *fun.Call, a *dnArgs) (fun.Result, error) {
	return with(ctx, c.Env, a.Spec, func(l *ldap.Conn) (value.Value, error) { return true, l.Delete(a.DN) })
}

func changeEntry(ctx context.Context, c *fun.Call, a *changeArgs) (fun.Result, error) {
	before, err := attrsFrom(a.Before)
	if err != nil {
		return fun.Result{}, fun.Errorf("%v", err)
	}
	after, err := attrsFrom(a.After)
	if err != nil {
		return fun.Result{}, fun.Errorf("%v", err)
	}
	return with(ctx, c.Env, a.Spec, func(l *ldap.Conn) (value.Value, error) { return true, Change(l, a.DN, before, after) })
}

func modifyEntry(ctx context.Context, c *fun.Call, a *modifyArgs) (fun.Result, error) {
	var mods []ldap.Mod
	for i, d := range a.Directives {
		var parts []value.Value
		switch d := d.(type) {
		case *value.List:
			parts = d.Items
		case value.Tuple:
			parts = d
		}
		if len(parts) != 3 {
			return fun.Result{}, fun.Errorf("directive %d is not a list of an operation, an attribute and its values", i+1)
		}
		op, name := value.Str(parts[0]), value.Str(parts[1])
		if op != "add" && op != "delete" && op != "replace" {
			return fun.Result{}, fun.Errorf("directive %d: unknown operation %q; there are add, delete and replace", i+1, op)
		}
		vals, err := Values(name, parts[2])
		if err != nil {
			return fun.Result{}, fun.Errorf("directive %d: %v", i+1, err)
		}
		mods = append(mods, ldap.Mod{Op: op, Attr: attrOf(name, vals)})
	}
	return with(ctx, c.Env, a.Spec, func(l *ldap.Conn) (value.Value, error) { return true, l.Modify(a.DN, mods) })
}

// Salt: salt/modules/ldapmod.py search. Difference: scope 0 is the entry itself; Salt takes
// it for the default.
func oldSearch(ctx context.Context, c *fun.Call, a *oldSearchArgs) (fun.Result, error) {
	or := func(v value.Value, name string) value.Value {
		if v == nil {
			v = machine.Option(ctx, c.Env, "ldap."+name)
		}
		if v == nil {
			v = map[string]value.Value{"anonymous": true, "port": "389", "scope": "2", "server": "localhost"}[name]
		}
		return v
	}
	text := func(v value.Value) string {
		if v == nil {
			return ""
		}
		return value.Str(v)
	}
	q := ldap.Query{Filter: a.Filter, Base: a.DN}
	if q.Base == "" {
		q.Base = text(or(nil, "basedn"))
	}
	scope, err := strconv.Atoi(text(or(a.Scope, "scope")))
	if q.Scope = scope; err != nil || scope < 0 || scope > 2 {
		return fun.Result{}, fun.Errorf("unknown scope %s; there are 0 (base), 1 (onelevel) and 2 (subtree)", value.Repr(a.Scope))
	}
	if attrs := a.Attrs; attrs != "" {
		if q.Attrs, err = Values("attrs", or(attrs, "attrs")); err != nil {
			return fun.Result{}, fun.Errorf("%v", err)
		}
	}
	s := ldap.Server{URL: text(or(a.URI, "uri")), StartTLS: value.Truth(or(a.TLS, "tls"))}
	if s.URL == "" {
		s.URL = "ldap://" + net.JoinHostPort(text(or(a.Server, "server")), text(or(a.Port, "port")))
	}
	if value.Truth(or(a.NoVerify, "no_verify")) {
		s.TLS = &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: true}
	}
	if !value.Truth(or(a.Anonymous, "anonymous")) {
		s.DN, s.Password = text(or(a.BindDN, "binddn")), text(or(a.BindPW, "bindpw"))
	}
	start := time.Now()
	l, err := ldap.Dial(ctx, s)
	if err != nil {
		return fun.Result{}, fun.Errorf("Failed to bind to LDAP server %s as %s: %v", s.URL, s.DN, err)
	}
	defer l.Close()
	found, err := l.Search(q)
	if err != nil {
		return fun.Result{}, fun.Errorf("%v", err)
	}
	took := time.Since(start)
	human := strconv.FormatFloat(took.Seconds()*1000, 'f', 1, 64) + "ms"
	if took >= 200*time.Millisecond {
		human = strconv.FormatFloat(took.Seconds(), 'f', 2, 64) + "s"
	}
	results := value.NewList()
	for i := range found {
		results.Append(value.NewList(found[i].DN, attrsOf(&found[i])))
	}
	return fun.Result{Value: value.MapOf("results", results, "count", int64(len(found)),
		"time", value.MapOf("human", human, "raw", strconv.FormatFloat(took.Seconds(), 'f', 5, 64)))}, nil
}
