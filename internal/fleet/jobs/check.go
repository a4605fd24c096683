package jobs

import (
	"context"
	"errors"
	"os"
	"slices"
	"time"

	"brine/internal/py/value"
)

// A Finding is what [Files.Check] says of one record.
type Finding struct {
	JID      string
	Damage   string   // what is wrong with it
	Returns  []string // targets whose return is readable
	Repaired bool
	Removed  bool // it was empty
}

// keepEmpty is how old an empty record is that no process can be about to write.
const keepEmpty = time.Hour

// Check reads every record whole and returns how many there are, and those that
// are damaged. With repair it makes up for the damage: an empty record is
// removed; to others it adds what can be read of the load, and that the damage
// is known. Nothing that is in a record is taken out of it, so processes may add
// to it meanwhile. Indexes are brought up to date.
func (f *Files) Check(ctx context.Context, repair bool) (n int, found []Finding, err error) {
	hours, err := f.hours("", "")
	if err != nil {
		return 0, nil, err
	}
	for _, hour := range hours {
		keys, err := f.keys(hour)
		if err != nil {
			return n, found, err
		}
		for _, key := range keys {
			x, is, err := f.examine(ctx, jidOf(hour, key), repair)
			if is {
				n++
			}
			if x.Damage != "" {
				found = append(found, x)
			}
			if err != nil {
				return n, found, err
			}
		}
		if !repair {
			continue
		}
		if _, _, err := f.refresh(ctx, hour, keys); err != nil {
			return n, found, err
		}
		if err := f.compact(hour); err != nil && !errors.Is(err, os.ErrNotExist) {
			return n, found, err
		}
	}
	return n, found, nil
}

// examine reads one record; is reports whether there is one.
func (f *Files) examine(ctx context.Context, jid string, repair bool) (x Finding, is bool, err error) {
	x.JID = jid
	if err := ctx.Err(); err != nil {
		return x, false, err
	}
	j, err := f.Job(ctx, jid)
	if err != nil {
		x.Damage = "it cannot be read: " + err.Error()
		return x, true, nil
	}
	if j == nil || j.Damage == "" {
		return x, j != nil, nil
	}
	x.Damage = j.Damage
	for id, r := range j.Returns.All() {
		if m, ok := r.(*value.Map); ok && !m.Has("damaged") {
			x.Returns = append(x.Returns, value.Str(id))
		}
	}
	slices.Sort(x.Returns)
	if repair && j.State != Active {
		err = f.repair(j, &x)
	}
	return x, true, err
}

// repair makes up for the damage of a record.
func (f *Files) repair(j *Job, x *Finding) error {
	if st, err := os.Lstat(f.path(j.JID)); err == nil && st.Size() == 0 {
		if time.Since(st.ModTime()) < keepEmpty {
			return nil
		}
		x.Removed = true
		return os.Remove(f.path(j.JID))
	}
	rec, err := f.reopen(j.JID)
	if err != nil {
		return err
	}
	err = errors.Join(
		rec.write(value.EncodeJSON(value.MapOf("load", j.Load))),
		rec.Note("repaired", value.MapOf("faults", int64(len(j.faults)), "damage", j.Damage, "_stamp", rec.stamp())),
		rec.Leave(),
	)
	x.Repaired = err == nil
	return err
}
