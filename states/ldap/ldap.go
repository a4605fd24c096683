//go:build !slim

// Package ldap is Salt's state module "ldap": entries of servers of LDAP.
package ldap

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/ldap"
	"brine/internal/core/redact"
	"brine/internal/py/value"
	"brine/modules/ldap3"
)

// States returns the rows of the state module "ldap".
func States() fun.Module {
	return fun.Module{Name: "ldap", Kind: fun.State, Doc: "Manage entries of LDAP.", Specs: []fun.Spec{
		{Name: "managed", Doc: "Create, change and delete entries.", Src: "states/ldap.py managed", Do: managed},
	}}
}

type managedArgs struct {
	_       fun.Arguments
	_       string        `arg:"name,required" doc:"URL of the server"`
	Entries []value.Value `arg:"entries,required" doc:"the entries by their DN, each a list of default, add, delete, replace and delete_others"`
	Spec    *value.Map    `arg:"connect_spec" doc:"how to connect, as for ldap3.search"`
}

// An entry is one of the server, and what becomes of it. Attributes have the names that
// the server gives them.
type entry struct {
	dn       string
	old, new []ldap.Attr // without any, it does not exist
}

// managed makes entries what the argument says.
//
// Salt: salt/states/ldap.py managed. Differences: names of attributes are compared without
// regard to case, and values without an order; passwords are hidden in the changes.
func managed(ctx context.Context, c *fun.Call, a *managedArgs) fun.Ret {
	spec := a.Spec.Copy()
	if spec == nil {
		spec = value.NewMap(1)
	}
	if !spec.Has("url") {
		spec.Set("url", c.Name)
	}
	l, err := ldap3.Open(ctx, c.Env, spec)
	if err != nil {
		return fun.Fail("%v", err)
	}
	defer l.Close()
	all, err := entriesOf(l, a.Entries)
	if err != nil {
		return fun.Fail("%v", err)
	}
	all = slices.DeleteFunc(all, func(e *entry) bool { return same(e.old, e.new) })
	changes := value.NewMap(len(all))
	switch {
	case len(all) == 0:
		return fun.Ret{Result: fun.OK, Comment: "LDAP entries already set"}
	case c.Test:
		for _, e := range all {
			changes.Set(e.dn, e.changes())
		}
		return fun.Ret{Result: fun.WouldChange, Comment: "Would change LDAP entries", Changes: changes}
	}
	var failed []string
	for _, e := range all {
		var op string
		switch {
		case len(e.old) == 0:
			op, err = "add", ldap3.Add(l, e.dn, e.new)
		case len(e.new) == 0:
			op, err = "delete", l.Delete(e.dn)
		default:
			op, err = "modify", ldap3.Change(l, e.dn, e.old, e.new)
		}
		if err != nil {
			failed = append(failed, fmt.Sprintf("%s entry %s(%v)", op, e.dn, err))
			continue
		}
		changes.Set(e.dn, e.changes())
	}
	ret := fun.Ret{Result: fun.OK, Comment: "Successfully updated LDAP entries", Changes: changes}
	if len(failed) > 0 {
		ret.Result, ret.Comment = fun.Failed, "failed to "+strings.Join(failed, ", ")
	}
	return ret
}

// find returns the index of an attribute; -1 if there is none.
func find(attrs []ldap.Attr, name string) int {
	return slices.IndexFunc(attrs, func(a ldap.Attr) bool { return strings.EqualFold(a.Name, name) })
}

func valuesOf(attrs []ldap.Attr, name string) []string {
	if i := find(attrs, name); i >= 0 {
		return attrs[i].Values
	}
	return nil
}

// same reports whether two views have the same attributes with the same values.
func same(a, b []ldap.Attr) bool {
	return len(a) == len(b) && !slices.ContainsFunc(a, func(x ldap.Attr) bool { return !ldap3.SameValues(x.Values, valuesOf(b, x.Name)) })
}

// secretAttrs are attributes with secrets, apart from those whose names say so.
var secretAttrs = []string{"krbprincipalkey", "userpkcs12", "ipanthash", "dbcsi", "supplementalcredentials", "lmpwdhistory", "ntpwdhistory"}

// changes are the attributes that differ, sorted values, None where there is no entry.
func (e *entry) changes() *value.Map {
	view := func(attrs []ldap.Attr) value.Value {
		if len(attrs) == 0 {
			return nil
		}
		m := value.NewMap(len(attrs))
		for _, a := range attrs {
			if ldap3.SameValues(valuesOf(e.old, a.Name), valuesOf(e.new, a.Name)) {
				continue
			}
			l := value.NewList()
			name, _, _ := strings.Cut(a.Name, ";") // of options: userPassword;x-1
			for _, v := range slices.Sorted(slices.Values(a.Values)) {
				if slices.Contains(secretAttrs, strings.ToLower(name)) {
					l.Append(redact.Hidden)
				} else {
					l.Append(redact.Named(name, ldap3.Value(v)))
				}
			}
			m.Set(a.Name, l)
		}
		return m
	}
	return value.MapOf("old", view(e.old), "new", view(e.new))
}

// entriesOf reads the entries that the argument names, and makes of them what it says. An
// entry that it names twice is changed twice.
func entriesOf(l *ldap.Conn, list []value.Value) ([]*entry, error) {
	var all []*entry
	for _, item := range list {
		m, ok := item.(*value.Map)
		if !ok {
			return nil, fmt.Errorf("an item of entries must be a mapping of a DN, not %s", value.Kind(item))
		}
		for k, v := range m.All() {
			dn := value.Str(k)
			directives, ok := v.(*value.List)
			if !ok {
				return nil, fmt.Errorf("%s must have a list of directives, not %s", dn, value.Kind(v))
			}
			i := slices.IndexFunc(all, func(e *entry) bool { return e.dn == dn })
			if i < 0 {
				e, err := read(l, dn)
				if err != nil {
					return nil, fmt.Errorf("search for %s: %w", dn, err)
				}
				i, all = len(all), append(all, e)
			}
			if err := all[i].apply(directives.Items); err != nil {
				return nil, fmt.Errorf("%s: %w", dn, err)
			}
		}
	}
	return all, nil
}

// read returns an entry as it is.
func read(l *ldap.Conn, dn string) (*entry, error) {
	e := &entry{dn: dn}
	found, err := l.Search(ldap.Query{Base: dn, Filter: "(objectClass=*)"})
	switch {
	case ldap.NoSuchObject(err):
		return e, nil
	case err != nil:
		return nil, err
	case len(found) > 1:
		return nil, fmt.Errorf("the server answered with %d entries", len(found))
	case len(found) == 1:
		for _, a := range found[0].Attrs {
			if len(a.Values) > 0 {
				e.old = append(e.old, a)
			}
		}
	}
	e.new = slices.Clone(e.old)
	return e, nil
}

// set gives an attribute values; without any it has none.
func (e *entry) set(name string, vals []string) {
	i := find(e.new, name)
	switch {
	case len(vals) == 0 && i >= 0:
		e.new = slices.Delete(e.new, i, i+1)
	case len(vals) == 0:
	case i < 0:
		e.new = append(e.new, ldap.Attr{Name: name, Values: vals})
	default:
		e.new[i].Values = vals
	}
}

// apply carries out the directives of an entry.
func (e *entry) apply(directives []value.Value) error {
	deleteOthers, named := false, map[string]bool{}
	for _, item := range directives {
		m, ok := item.(*value.Map)
		if !ok {
			return fmt.Errorf("a directive must be a mapping, not %s", value.Kind(item))
		}
		for k, state := range m.All() {
			name := value.Str(k)
			if name == "delete_others" {
				deleteOthers = value.Truth(state)
				continue
			}
			if name != "default" && name != "add" && name != "delete" && name != "replace" {
				return fmt.Errorf("unknown directive: %s; there are add, default, delete, delete_others and replace", name)
			}
			attrs, ok := state.(*value.Map)
			if !ok {
				return fmt.Errorf("%s must be a mapping of attributes, not %s", name, value.Kind(state))
			}
			for k, v := range attrs.All() {
				attr := value.Str(k)
				named[strings.ToLower(attr)] = true
				vals, err := ldap3.Values(attr, v)
				if err != nil {
					return err
				}
				e.direct(name, attr, vals)
			}
		}
	}
	if deleteOthers {
		e.new = slices.DeleteFunc(e.new, func(a ldap.Attr) bool { return !named[strings.ToLower(a.Name)] })
	}
	return nil
}

// direct carries out a directive for an attribute.
func (e *entry) direct(directive, attr string, vals []string) {
	have := valuesOf(e.new, attr)
	switch directive {
	case "default":
		if len(have) == 0 {
			e.set(attr, vals)
		}
	case "add":
		all := slices.Clone(vals)
		for _, v := range have {
			if !slices.Contains(all, v) {
				all = append(all, v)
			}
		}
		e.set(attr, all)
	case "delete":
		var left []string
		for _, v := range have {
			if len(vals) > 0 && !slices.Contains(vals, v) {
				left = append(left, v)
			}
		}
		e.set(attr, left)
	case "replace":
		e.set(attr, vals)
	}
}
