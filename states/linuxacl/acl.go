// Package linuxacl is Salt's state module "linux_acl", which serves as "acl".
package linuxacl

import (
	"context"
	"slices"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/linuxacl"
)

// States returns the rows of the state module "acl".
func States() fun.Module {
	return fun.Module{Name: "acl", Kind: fun.State, Doc: "Manage access control lists.", Specs: specs, Avail: available}
}

func available(e *fun.Env) (bool, string) {
	for _, name := range []string{"getfacl", "setfacl"} {
		if _, err := e.Host.LookPath(name, ""); err != nil {
			return false, "The linux_acl state cannot be loaded: the getfacl or setfacl binary is not in the path."
		}
	}
	return true, ""
}

// A work is one call of a state.
type work struct {
	c     *fun.Call
	admin linuxacl.Admin
	lists []*linuxacl.ACL // of the file, and of what is under it
	def   bool
	kind  string

	aclType string // def and kind, as the argument has them
	perms   string
	force   bool
}

// begin reads the lists. fault says why nothing can be done.
func begin(ctx context.Context, c *fun.Call, aclType string, recurse bool) (w *work, fault string, err error) {
	w = &work{c: c, aclType: aclType, admin: linuxacl.Admin{Env: c.Env, Recursive: recurse}}
	if _, err := c.Env.Host.Stat(c.Name); err != nil {
		return nil, c.Name + " does not exist", nil
	}
	if err := w.admin.CheckSystem(c.Name); err != nil {
		return nil, err.Error(), nil
	}
	var ok bool
	var status int
	if w.def, w.kind, ok = linuxacl.ParseType(aclType); !ok {
		return nil, "ACL Type does not exist", nil
	}
	if w.lists, status, err = w.admin.Get(ctx, c.Name); err != nil {
		return nil, "", err
	}
	if len(w.lists) == 0 {
		return nil, "getfacl failed for " + c.Name + (map[bool]string{true: "", false: " with status " + value.Str(int64(status))})[status == 0], nil
	}
	if !w.def && w.kind != "mask" && !w.lists[0].Has(false, w.kind) {
		return nil, "ACL Type does not exist", nil
	}
	return w, "", nil
}

// search returns the name under which the entry of an argument is found.
func (w *work) search(a *linuxacl.ACL, name string) string {
	if name == "" {
		return map[string]string{"user": a.Owner, "group": a.Group}[w.kind]
	}
	return name
}

// wanted returns the permissions that perms means for a file: X is x
// for directories and for what somebody may execute.
func (w *work) wanted(a *linuxacl.ACL) int {
	n := 0
	for _, c := range w.perms {
		switch c {
		case 'r':
			n |= 4
		case 'w':
			n |= 2
		case 'x':
			n |= 1
		case 'X':
			st, err := w.c.Env.Host.Stat(a.File)
			if err == nil && st.Mode.IsDir() || slices.ContainsFunc(a.Entries, func(e linuxacl.Entry) bool { return e.Perm&1 != 0 && e.Kind != "mask" && !e.Default }) {
				n |= 1
			}
		case '0', '1', '2', '3', '4', '5', '6', '7':
			n |= int(c - '0')
		}
	}
	return n
}

// fits reports whether a file has the wanted entry. Only directories have default
// lists.
func (w *work) fits(a *linuxacl.ACL, name string) bool {
	if w.def && a != w.lists[0] {
		if st, err := w.c.Env.Host.Stat(a.File); err != nil || !st.Mode.IsDir() {
			return true
		}
	}
	e, ok := a.Find(w.def, w.kind, w.search(a, name))
	return ok && e.Perm == w.wanted(a)
}

// entry is a part of the changes.
func (w *work) entry(names, perms string) *value.Map {
	return value.MapOf("acl_name", names, "acl_type", w.aclType, "perms", perms)
}

// set gives names the wanted permissions.
func (w *work) set(ctx context.Context, names []string) error {
	if w.force {
		out, err := w.admin.Wipe(ctx, w.c.Name)
		if err != nil {
			return err
		}
		if !out.OK() {
			return fun.Errorf("%s", out.Fault())
		}
	}
	for _, n := range names {
		out, err := w.admin.Set(ctx, w.aclType, n, w.perms, w.c.Name)
		if err != nil {
			return err
		}
		if !out.OK() {
			return fun.Errorf("%s", out.Fault())
		}
	}
	return nil
}

// change makes entries for names. list is how comments that name several of them
// write the names.
func (w *work) change(ctx context.Context, names []string, list string) fun.Ret {
	joined, perms := strings.Join(names, ", "), w.perms
	first := w.lists[0]
	due, missing := false, false
	old := ""
	for _, n := range names {
		e, ok := first.Find(w.def, w.kind, w.search(first, n))
		fits := !slices.ContainsFunc(w.lists, func(a *linuxacl.ACL) bool { return !w.fits(a, n) })
		if !fits && ok && old == "" {
			old = linuxacl.Text(e.Perm)
		}
		due, missing = due || !fits, missing || !ok
	}
	if !due {
		return fun.Ret{Result: fun.OK, Comment: "Permissions are in the desired state"}
	}
	changes := value.MapOf("new", w.entry(joined, perms))
	would, did := "New permissions will be applied for "+list+": "+perms, "Applied new permissions for "+joined
	if !missing {
		changes.Set("old", w.entry(joined, old))
		would, did = "Updated permissions will be applied for "+list+": "+old+" -> "+perms, "Updated permissions for "+list
	}
	if w.c.Test {
		return fun.Ret{Result: fun.WouldChange, Comment: would, Changes: changes}
	}
	if err := w.set(ctx, names); err != nil {
		return fun.Fail("Error updating permissions for %s: %s", list, err)
	}
	return fun.Ret{Result: fun.OK, Comment: did, Changes: changes}
}

type presentArgs struct {
	fileArg
	typeArg
	nameArg
	permsArg
	recurseArg
	forceArg
	fun.SystemPath
}

// present gives a user or group permissions.
//
// Salt: salt/states/linux_acl.py present. Differences: the type other works, and X
// is compared.
func present(ctx context.Context, c *fun.Call, a *presentArgs) fun.Ret {
	w, fault, err := begin(ctx, c, a.ACLType, a.Recurse)
	if err != nil {
		return fun.Raise(err)
	}
	if fault != "" {
		return fun.Fail("%s", fault)
	}
	w.perms, w.force = a.Perms, a.Force
	name := a.ACLName
	return w.change(ctx, []string{name}, name)
}

type listPresentArgs struct {
	fileArg
	typeArg
	namesArg
	permsArg
	recurseArg
	forceArg
	fun.SystemPath
}

// listPresent gives several users or groups permissions.
// Salt: salt/states/linux_acl.py list_present.
func listPresent(ctx context.Context, c *fun.Call, a *listPresentArgs) fun.Ret {
	w, fault, err := begin(ctx, c, a.ACLType, a.Recurse)
	if err != nil {
		return fun.Raise(err)
	}
	if fault != "" {
		return fun.Fail("%s", fault)
	}
	w.perms, w.force = a.Perms, a.Force
	names := a.ACLNames
	if len(names) == 0 {
		names = []string{""}
	}
	return w.change(ctx, names, value.Repr(value.Strings(names...)))
}

// remove takes the entries of names out.
func (w *work) remove(ctx context.Context, names []string) fun.Ret {
	var found []string
	old := ""
	for _, n := range names {
		for _, a := range w.lists {
			if e, ok := a.Find(w.def, w.kind, w.search(a, n)); ok && (e.Name != "" || w.def || w.kind == "mask") {
				if found = append(found, n); old == "" {
					old = linuxacl.Text(e.Perm)
				}
				break
			}
		}
	}
	if len(found) == 0 {
		return fun.Ret{Result: fun.OK, Comment: "Permissions are in the desired state"}
	}
	ret := fun.Ret{Result: fun.WouldChange, Comment: "Removing permissions", Changes: value.MapOf("old", w.entry(strings.Join(found, ", "), old))}
	if w.c.Test {
		return ret
	}
	for _, n := range found {
		out, err := w.admin.Remove(ctx, w.aclType, n, w.c.Name)
		if err != nil {
			return fun.Raise(err)
		}
		if !out.OK() {
			return fun.Fail("Error removing permissions for %s: %s", n, out.Fault())
		}
	}
	ret.Result = fun.OK
	return ret
}

type absentArgs struct {
	fileArg
	typeArg
	nameArg
	_ string `arg:"perms" default:"" doc:"accepted; the whole entry is removed"`
	recurseArg
	fun.SystemPath
}

// absent takes the entry of a user or group out. The entries of the owner, the
// owning group and others cannot be removed.
// Salt: salt/states/linux_acl.py absent.
func absent(ctx context.Context, c *fun.Call, a *absentArgs) fun.Ret {
	w, fault, err := begin(ctx, c, a.ACLType, a.Recurse)
	if err != nil {
		return fun.Raise(err)
	}
	if fault != "" {
		return fun.Fail("%s", fault)
	}
	return w.remove(ctx, []string{a.ACLName})
}

type listAbsentArgs struct {
	fileArg
	typeArg
	namesArg
	recurseArg
	fun.SystemPath
}

// listAbsent takes the entries of several users or groups out.
// Salt: salt/states/linux_acl.py list_absent.
func listAbsent(ctx context.Context, c *fun.Call, a *listAbsentArgs) fun.Ret {
	w, fault, err := begin(ctx, c, a.ACLType, a.Recurse)
	if err != nil {
		return fun.Raise(err)
	}
	if fault != "" {
		return fun.Fail("%s", fault)
	}
	return w.remove(ctx, a.ACLNames)
}
