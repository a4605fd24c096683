package host

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
)

// planned are the accounts that an overlay has of its own, those of the machine that it
// does not have, and crontabs. Forks of an overlay share them.
type planned struct {
	mu       sync.Mutex
	users    map[string]*Account // nil: removed
	groups   map[string]*Group
	crontabs map[string]*string
	// The names that were put or taken out, in order.
	putUsers, putGroups, putCrontabs []string
}

// PutUser adds a user, or replaces the one of its name.
func (o *Overlay) PutUser(a Account) {
	put(o.accounts, o.accounts.users, &o.accounts.putUsers, a.Name, &a)
}

// DropUser takes a user out.
func (o *Overlay) DropUser(name string) {
	put(o.accounts, o.accounts.users, &o.accounts.putUsers, name, nil)
}

// PutGroup adds a group, or replaces the one of its name.
func (o *Overlay) PutGroup(g Group) {
	put(o.accounts, o.accounts.groups, &o.accounts.putGroups, g.Name, &g)
}

// DropGroup takes a group out.
func (o *Overlay) DropGroup(name string) {
	put(o.accounts, o.accounts.groups, &o.accounts.putGroups, name, nil)
}

func put[T any](p *planned, m map[string]*T, names *[]string, name string, x *T) {
	p.mu.Lock()
	defer p.mu.Unlock()
	m[name] = x
	*names = append(*names, name)
}

// over returns what a machine lists with what is planned, and whether anything is.
func over[T any](p *planned, m map[string]*T, below []T, name func(T) string) []T {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := slices.DeleteFunc(slices.Clone(below), func(x T) bool {
		_, ok := m[name(x)]
		return ok
	})
	for _, x := range sorted(m) {
		out = append(out, *x)
	}
	return out
}

// sorted returns those that are not deleted, in the order of their names.
func sorted[T any](m map[string]*T) []*T {
	var names []string
	for name, x := range m {
		if x != nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	out := make([]*T, len(names))
	for i, name := range names {
		out[i] = m[name]
	}
	return out
}

// find returns what is planned under a key; known is false where the machine below has
// to be asked.
func find[T any](p *planned, m map[string]*T, is func(T) bool) (x T, known bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, x := range sorted(m) {
		if is(*x) {
			return *x, true
		}
	}
	return x, false
}

// isDeleted reports whether something is taken out.
func isDeleted[T any](p *planned, m map[string]*T, name string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, ok := m[name]
	return ok
}

func noUser(key string) (Account, error) {
	return Account{}, fmt.Errorf("user %s: %w", key, ErrNoAccount)
}

func noGroup(key string) (Group, error) {
	return Group{}, fmt.Errorf("group %s: %w", key, ErrNoAccount)
}

// user finds a user that is planned, else that of the machine below.
func (o *Overlay) user(key string, is func(Account) bool, below func() (Account, error)) (Account, error) {
	if a, ok := find(o.accounts, o.accounts.users, is); ok {
		return a, nil
	}
	a, err := below()
	if err == nil && isDeleted(o.accounts, o.accounts.users, a.Name) {
		return noUser(key)
	}
	return a, err
}

// LookupUser finds a user by name, LookupUID by number.
func (o *Overlay) LookupUser(name string) (Account, error) {
	return o.user(name, func(a Account) bool { return a.Name == name }, func() (Account, error) { return o.machine.LookupUser(name) })
}

// LookupUID finds a user by number.
func (o *Overlay) LookupUID(uid int) (Account, error) {
	return o.user(strconv.Itoa(uid), func(a Account) bool { return a.UID == uid }, func() (Account, error) { return o.machine.LookupUID(uid) })
}

// group finds a group that is planned, else that of the machine below.
func (o *Overlay) group(key string, is func(Group) bool, below func() (Group, error)) (Group, error) {
	if g, ok := find(o.accounts, o.accounts.groups, is); ok {
		return g, nil
	}
	g, err := below()
	if err == nil && isDeleted(o.accounts, o.accounts.groups, g.Name) {
		return noGroup(key)
	}
	return g, err
}

// LookupGroup finds a group by name, LookupGID by number.
func (o *Overlay) LookupGroup(name string) (Group, error) {
	return o.group(name, func(g Group) bool { return g.Name == name }, func() (Group, error) { return o.machine.LookupGroup(name) })
}

// LookupGID finds a group by number.
func (o *Overlay) LookupGID(gid int) (Group, error) {
	return o.group(strconv.Itoa(gid), func(g Group) bool { return g.GID == gid }, func() (Group, error) { return o.machine.LookupGID(gid) })
}

// Users returns all users.
func (o *Overlay) Users() ([]Account, error) {
	below, err := o.machine.Users()
	return over(o.accounts, o.accounts.users, below, func(a Account) string { return a.Name }), err
}

// Groups returns all groups.
func (o *Overlay) Groups() ([]Group, error) {
	below, err := o.machine.Groups()
	return over(o.accounts, o.accounts.groups, below, func(g Group) string { return g.Name }), err
}

// GroupIDs returns the ids of all groups of a user, primary first.
func (o *Overlay) GroupIDs(user string) ([]int, error) {
	a, err := o.LookupUser(user)
	if err != nil {
		return nil, err
	}
	ids := []int{a.GID}
	add := func(gid int) {
		if !slices.Contains(ids, gid) {
			ids = append(ids, gid)
		}
	}
	below, err := o.machine.GroupIDs(user)
	if err != nil && !errors.Is(err, ErrNoAccount) {
		return nil, err
	}
	for _, gid := range below[min(1, len(below)):] {
		if g, err := o.LookupGID(gid); err == nil && !isDeleted(o.accounts, o.accounts.groups, g.Name) {
			add(gid)
		}
	}
	o.accounts.mu.Lock()
	defer o.accounts.mu.Unlock()
	for _, g := range sorted(o.accounts.groups) {
		if slices.Contains(g.Members, user) {
			add(g.GID)
		}
	}
	return ids, nil
}

// NextID returns a number that neither a user nor a group has, as useradd chooses it.
func (o *Overlay) NextID(system bool) (int, error) {
	users, err := o.Users()
	if err != nil {
		return 0, err
	}
	groups, err := o.Groups()
	if err != nil {
		return 0, err
	}
	used := map[int]bool{}
	for _, a := range users {
		used[a.UID] = true
	}
	for _, g := range groups {
		used[g.GID] = true
	}
	id, step := 1000, 1
	if system {
		id, step = 999, -1
	}
	for used[id] {
		id += step
	}
	return id, nil
}
