package host

import (
	"io/fs"
	"path"
)

// A veil is over what nobody knows of a machine as it would be: what a clone has, or
// what is mounted.
type veil struct {
	path, by string
	// whole says that nothing is known of the path itself either, not even whether it is
	// there.
	whole bool
}

// By says which state it is whose doing comes next, for what [Overlay.Veiled] returns.
func (o *Overlay) By(id string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.by = id
}

// Veil has nobody know what is in a directory, or what a file contains. With whole,
// nobody knows of p itself either: where there is nothing, there may be a file.
func (o *Overlay) Veil(p string, whole bool) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	seen := o.seen
	dir, full, n, err := o.locate("Veil", p, true)
	o.seen = seen // what is veiled once more is not read for that
	switch {
	case err != nil:
		return err
	case n == nil && !whole:
		return &fs.PathError{Op: "veil", Path: p, Err: fs.ErrNotExist}
	case n == nil:
		n = o.newNode(0o600)
		dir.kids[path.Base(full)] = n
	}
	n.veil = &veil{p, o.by, whole}
	if o.veils == nil {
		o.veils = map[string]*veil{}
	}
	o.veils[path.Clean(p)] = n.veil
	return nil
}

// LookBehind has an overlay note that somebody asks for what is at a path, which is not
// read itself: a file system that is mounted there may never answer.
func LookBehind(h Host, p string) {
	if x, ok := h.(interface{ lookBehind(string) }); ok {
		x.lookBehind(path.Clean(p))
	}
}

func (f *memory) lookBehind(p string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.see(f.veils[p])
}

// Veiled returns the first path that was read since it was last called although nobody
// knows what it has, and the state that is the cause; "" for none.
func (o *Overlay) Veiled() (p, by string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if v := o.seen; v != nil {
		p, by = v.path, v.by
	}
	o.seen = nil
	return p, by
}

// see notes that what is behind a veil is read.
func (f *memory) see(v *veil) {
	if v != nil && f.seen == nil {
		f.seen = v
	}
}

// PlannedOn returns the overlay on which what is done is planned only; nil for a
// machine.
func PlannedOn(h Host) *Overlay {
	switch x := h.(type) {
	case *Overlay:
		return x
	case forced:
		return PlannedOn(x.Host)
	}
	return nil
}

// PutCrontab has a user have a crontab, which is in no file that its readers look at.
func (o *Overlay) PutCrontab(user, text string) {
	put(o.accounts, o.accounts.crontabs, &o.accounts.putCrontabs, user, &text)
}

func (o *Overlay) crontab(user string) (text string, ok bool) {
	o.accounts.mu.Lock()
	defer o.accounts.mu.Unlock()
	if t := o.accounts.crontabs[user]; t != nil {
		return *t, true
	}
	return "", false
}

// PlannedCrontab returns the crontab that a user has on an overlay, whether h is one
// that is looked at or planned on. A machine has none of its own.
func PlannedCrontab(h Host, user string) (text string, ok bool) {
	switch x := h.(type) {
	case forced:
		return PlannedCrontab(x.Host, user)
	case interface{ crontab(string) (string, bool) }:
		return x.crontab(user)
	}
	return "", false
}
