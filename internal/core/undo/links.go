package undo

import (
	"errors"
	"io/fs"
	"maps"
	"path"
	"slices"
	"time"

	"brine/internal/core/host"
)

// maxNames is how many names of a directory are looked at for those of a file.
const maxNames = 20000

// others returns further names that a file has which had several: those in the directories
// in which the run, or its undo, changed something.
func (r *restorer) others(p *Path) []string {
	if r.dirs == nil {
		for _, x := range r.rec.Paths {
			if dir := path.Dir(x.Name); !slices.Contains(r.dirs, dir) {
				r.dirs = append(r.dirs, dir)
			}
		}
	}
	var out []string
	for _, dir := range r.dirs {
		names, err := r.env.Host.ReadDir(dir)
		if err != nil || len(names) > maxNames {
			continue
		}
		for _, base := range names {
			at := path.Join(dir, base)
			if st, err := r.env.Host.Lstat(at); err == nil && at != p.Name && inodeOf(st) == p.Was.Inode {
				out = append(out, at)
			}
		}
	}
	return out
}

// twin returns a name under which the file of a path is as it was before the run, while the
// path has another one, or none; "" where there is none.
func (r *restorer) twin(p *Path, cur *Stat) string {
	if at := r.made[p.Was.Inode]; at != "" && at != p.Name {
		return at
	}
	if cur != nil && cur.Inode == p.Was.Inode {
		return ""
	}
	for _, at := range r.others(p) {
		if st, err := look(r.env.Host, at, p.Was.Sum != ""); err == nil && st != nil && asBefore(p.Was, st) {
			return at
		}
	}
	return ""
}

// more reports whether other names of a file are still to be brought back.
func (r *restorer) more(p *Path) bool {
	return slices.ContainsFunc(r.rec.Paths, func(x *Path) bool {
		return x != p && x.Was != nil && x.Was.Inode == p.Was.Inode && !r.done[x]
	})
}

// joins reports whether a path can be a name of its file again: another one is as before the
// run, all are brought back, or all are changed alike and are found.
func (r *restorer) joins(p *Path, cur *Stat) bool {
	if p.Was.Inode == "" {
		return false
	}
	if r.twin(p, cur) != "" {
		return true
	}
	var back int64
	for _, x := range r.rec.Paths {
		if x.Was != nil && x.Was.Inode == p.Was.Inode {
			back++
		}
	}
	if back == p.Was.Links {
		return true
	}
	return cur != nil && cur.Inode == p.Was.Inode && int64(len(r.others(p)))+1 >= p.Was.Links
}

// restoreLinked brings back a file that had several names.
func (r *restorer) restoreLinked(p *Path) error {
	cur, err := look(r.env.Host, p.Name, false)
	if err != nil {
		return err
	}
	if at := r.twin(p, cur); at != "" {
		return r.link(at, p.Name)
	}
	var along []string
	if cur != nil && cur.Inode == p.Was.Inode { // changed under all its names
		along = r.others(p)
	}
	if err := r.restoreContent(p); err != nil {
		return err
	}
	if p.Was.Inode != "" {
		r.made[p.Was.Inode] = p.Name
	}
	for _, at := range along {
		if err := r.link(p.Name, at); err != nil {
			return err
		}
	}
	return nil
}

// link has a path be a name of a file, in one step.
func (r *restorer) link(file, name string) error {
	h := r.env.Host
	a, err := h.Lstat(file)
	if err != nil {
		return err
	}
	if b, err := h.Lstat(name); err == nil && inodeOf(a) == inodeOf(b) {
		return nil
	}
	tmp := path.Join(path.Dir(name), ".brine-undo-"+r.env.JID)
	if err := h.Link(file, tmp); err != nil {
		return err
	}
	if err := h.Rename(tmp, name); err != nil {
		_ = h.Remove(tmp)
		return err
	}
	return nil
}

// ownTimes returns the directories that nobody else changed since the run, whose times can
// be brought back.
func (r *restorer) ownTimes() []string {
	var out []string
	for dir, d := range r.rec.times {
		if st, err := r.env.Host.Lstat(dir); err == nil && st.Mode.IsDir() && !d.others && st.Mtime.Equal(d.now) {
			out = append(out, dir)
		}
	}
	slices.SortFunc(out, func(a, b string) int { return len(b) - len(a) })
	return out
}

// restoreTimes sets the times of directories in which all is as before the run. It returns
// those that do not have them then, and those of which the run changed nothing else.
func (r *restorer) restoreTimes(own []string, items []*Item) []*Item {
	in, fails := map[string]bool{}, map[string]bool{}
	for _, it := range items {
		if it.path != nil {
			dir := path.Dir(it.Name)
			in[it.Name], in[dir] = true, true
			fails[dir] = fails[dir] || it.Verdict != Back && it.Verdict != Already
		}
	}
	var out []*Item
	for _, dir := range slices.Sorted(maps.Keys(r.rec.times)) {
		d := r.rec.times[dir]
		it := &Item{Kind: "dir", Name: dir, Verdict: Back, Comment: "its time is as before the run", Began: r.env.Host.Now()}
		st, err := r.env.Host.Lstat(dir)
		switch {
		case err != nil, st.Mtime.Equal(d.was):
			continue
		case !in[dir] && d.was.Equal(d.now), fails[dir]: // its names are not those of before
			continue
		case !slices.Contains(own, dir):
			it.Verdict, it.Comment = Since, "its time was changed since the run"
		case r.o.Test:
		default:
			if err := setTime(r.env.Host, dir, d.was); err != nil {
				it.Verdict, it.Comment = Fault, "its time could not be brought back: "+err.Error()
			}
		}
		if !in[dir] || it.Verdict == Fault {
			out = append(out, it)
		}
	}
	return out
}

// setTime sets the time of a directory, and looks at it.
func setTime(h host.Host, dir string, to time.Time) error {
	st, err := h.Lstat(dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && (!st.Mode.IsDir() || st.Mtime.Equal(to)) {
		return nil // as it is, or gone: the run had made it
	}
	if err != nil {
		return err
	}
	if err := h.Chtimes(dir, st.Atime, to); err != nil {
		return err
	}
	if st, err = h.Lstat(dir); err == nil && !st.Mtime.Equal(to) {
		err = errors.New("it is another one")
	}
	return err
}
