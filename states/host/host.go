// Package host is Salt's state module "host": entries of the hosts file.
package host

import (
	"context"
	"slices"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/hosts"
)

// States returns the rows of the state module "host".
func States() fun.Module {
	return fun.Module{Name: "host", Kind: fun.State, Doc: "Manage entries of the hosts file.", Specs: specs}
}

// work is what present has to do, and what it says.
type work struct {
	a        *presentArgs
	c        *fun.Call
	admin    hosts.Admin
	comments []string
	changes  *value.Map
	result   fun.Outcome
}

func (w *work) say(words ...string) { w.comments = append(w.comments, strings.Join(words, "")) }

// note adds to the changes, under a kind, what was done to an address.
func (w *work) note(kind, addr, what string) {
	m := w.changes.Map(kind)
	if m == nil {
		m = value.NewMap(1)
		w.changes.Set(kind, m)
	}
	l := m.List(addr)
	if l == nil {
		l = value.NewList()
		m.Set(addr, l)
	}
	l.Append(what)
}

// do makes one change, or says what it would be. would and did stand in front of
// what the comment is about.
func (w *work) do(kind, addr, what, would, did, failed string, act func() error) {
	if w.c.Test {
		if w.result == fun.OK {
			w.result = fun.WouldChange
		}
		w.say(would)
	} else if err := act(); err != nil {
		w.result = fun.Failed
		w.say(failed, ": ", err.Error())
		return
	} else {
		w.say(did)
	}
	w.note(kind, addr, what)
}

type presentArgs struct {
	nameArg
	IP      []string `arg:"ip,required" doc:"IP address, or a list of them"`
	Comment string   `arg:"comment" default:"" doc:"comment behind the host names of the address"`
	Clean   bool     `arg:"clean" default:"False" doc:"remove the host name from other addresses"`
}

// present gives addresses a host name. An address that is none is a failure.
// Salt: salt/states/host.py present.
func present(_ context.Context, c *fun.Call, a *presentArgs) fun.Ret {
	name, comment := a.Name, a.Comment
	if err := hosts.CheckName(name); err != nil {
		return fun.Fail("%s", err)
	}
	if strings.ContainsAny(comment, "\r\n\x00") {
		return fun.Fail("comment must be a single line")
	}
	w := &work{c: c, a: a, admin: hosts.Admin{Env: c.Env}, changes: value.NewMap(0), result: fun.OK}
	file, err := w.admin.Read()
	if err != nil {
		return fun.Raise(err)
	}
	ips := slices.Compact(slices.Clone(a.IP))
	var add, update, remove, warnings []string
	for _, addr := range ips {
		e := file.Find(addr)
		switch {
		case !hosts.IsAddr(addr):
			w.result = fun.Failed
			w.say("Invalid IP Address for ", name, " (", addr, ")")
			continue
		case e == nil || !slices.Contains(e.Aliases, name):
			add = append(add, addr)
		case comment == "" || e.Comment == comment:
			w.say("Host ", name, " (", addr, ") already present")
		}
		if comment != "" && (e == nil || e.Comment != comment) {
			update = append(update, addr)
		}
	}
	for _, e := range file {
		switch {
		case e.Addr == "" || slices.Contains(ips, e.Addr) || !slices.Contains(e.Aliases, name):
		case a.Clean:
			remove = append(remove, e.Addr)
		default:
			warnings = append(warnings, "Host "+name+" present for IP address "+e.Addr+". To get rid of this warning, either run this state with 'clean' set to True to remove "+
				name+" from "+e.Addr+", or add "+e.Addr+" to the 'ip' argument.")
		}
	}
	for _, addr := range add {
		of := "ost " + name + " (" + addr + ")"
		w.do("added", addr, name, "H"+of+" would be added", "Added h"+of, "Failed to add h"+of, func() error { return w.admin.Add(addr, name) })
	}
	for _, addr := range update {
		of := addr + " (" + comment + ")"
		w.do("comment_added", addr, comment, "Comment for "+of+" would be added", "Set comment for host "+of, "Failed to add comment for host "+of, func() error {
			_, err := w.admin.Comment(addr, comment)
			return err
		})
	}
	for _, addr := range remove {
		of := "ost " + name + " (" + addr + ")"
		w.do("removed", addr, name, "H"+of+" would be removed", "Removed h"+of, "Failed to remove h"+of, func() error { return w.admin.Remove(addr, name) })
	}
	ret := fun.Ret{Result: w.result, Changes: w.changes, Comment: strings.Join(w.comments, "\n")}
	if len(warnings) > 0 {
		ret.Extra = value.MapOf("warnings", value.Strings(warnings...))
	}
	return ret
}

type absentArgs struct {
	nameArg
	IP []string `arg:"ip,required" doc:"IP address, or a list of them"`
}

// absent takes a host name from addresses. Salt: salt/states/host.py absent.
func absent(_ context.Context, c *fun.Call, a *absentArgs) fun.Ret {
	admin := hosts.Admin{Env: c.Env}
	file, err := admin.Read()
	if err != nil {
		return fun.Raise(err)
	}
	ret := fun.Ret{Result: fun.OK}
	var comments []string
	for _, addr := range a.IP {
		of := c.Name + " (" + addr + ")"
		switch {
		case !file.Has(addr, c.Name):
			comments = append(comments, "Host "+of+" already absent")
		case c.Test:
			ret.Result = fun.WouldChange
			comments = append(comments, "Host "+of+" needs to be removed")
		default:
			if err := admin.Remove(addr, c.Name); err != nil {
				ret.Result = fun.Failed
				comments = append(comments, "Failed to remove host: "+err.Error())
				continue
			}
			ret.Changes = value.MapOf("host", c.Name)
			comments = append(comments, "Removed host "+of)
		}
	}
	ret.Comment = strings.Join(comments, "\n")
	return ret
}

type onlyArgs struct {
	_         fun.Arguments
	_         string   `arg:"name,required" doc:"IP address"`
	Hostnames []string `arg:"hostnames,required,str|list[str]|none" doc:"host name, or a list of them in their order; without any the address is removed"`
}

// only gives an address the given host names and no others.
// Salt: salt/states/host.py only.
func only(_ context.Context, c *fun.Call, a *onlyArgs) fun.Ret {
	admin := hosts.Admin{Env: c.Env}
	file, err := admin.Read()
	if err != nil {
		return fun.Raise(err)
	}
	if !hosts.IsAddr(c.Name) {
		return fun.Fail("Invalid IP Address %s", c.Name)
	}
	before := ""
	e := file.Find(c.Name)
	if e != nil {
		before = strings.Join(e.Aliases, " ")
	}
	var names []string
	for _, n := range a.Hostnames {
		if n = strings.TrimSpace(n); n != "" {
			names = append(names, n)
		}
	}
	now := strings.Join(names, " ")
	change := c.Name + ` from "` + before + `" to "` + now + `"`
	switch {
	case before == now && (e == nil) == (now == ""):
		return fun.Ret{Result: fun.OK, Comment: "IP address " + c.Name + ` already set to "` + now + `"`}
	case c.Test:
		return fun.Ret{Result: fun.WouldChange, Comment: "Would change " + change}
	}
	if err := admin.Set(c.Name, now, ""); err != nil {
		return fun.Fail("hosts.set_host failed to change %s: %s", change, err)
	}
	return fun.Ret{
		Result: fun.OK, Comment: "successfully changed " + change,
		Changes: value.MapOf(c.Name, value.MapOf("old", before, "new", now)),
	}
}
