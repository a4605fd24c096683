package file

import (
	"fmt"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
)

// BackupMode returns the backup mode of a call, else the configured one.
func (f *FS) BackupMode(mode string) string {
	if mode != "" {
		return mode
	}
	return f.Opt("backup_mode")
}

// backupRoot is where backups are kept.
func (f *FS) backupRoot() string { return filepath.Join(f.cp().CacheDir(), "file_backup") }

// Backup keeps a copy of a file, with mode and owner, in the cache.
//
// Salt: salt/utils/files.py backup_minion.
func (f *FS) Backup(path string) error {
	now := f.Now()
	real, err := f.Target(path)
	if err != nil {
		return err
	}
	name := fmt.Sprintf("%s_%s%06d_%04d", filepath.Base(real), now.Format("Mon_Jan_02_15:04:05_"), now.Nanosecond()/1000, now.Year())
	dir := filepath.Join(f.backupRoot(), filepath.Dir(real))
	if err := f.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return f.copyWithOwner(path, filepath.Join(dir, name))
}

// copyWithOwner copies a file with mode and owner. An ordinary user may not
// give files away; the copy then is his own.
func (f *FS) copyWithOwner(from, to string) error {
	st, err := f.Stat(from)
	if err != nil {
		return err
	}
	mode := host.FileMode(st.Perm())
	opts := host.WriteOptions{Mode: &mode}
	if f.Geteuid() == 0 {
		opts.UID, opts.GID = &st.UID, &st.GID
	}
	r, err := f.Open(from)
	if err != nil {
		return err
	}
	defer r.Close()
	return f.WriteFile(to, r, opts)
}

// A backup is one kept copy.
type backup struct {
	at   time.Time
	path string
	size int64
}

// backups returns the copies of a file, newest first.
func (f *FS) backups(path string) []backup {
	dir := filepath.Join(f.backupRoot(), filepath.Dir(path))
	names, err := f.ReadDir(dir)
	if err != nil {
		return nil
	}
	var all []backup
	for _, n := range names {
		stamp, ok := strings.CutPrefix(n, filepath.Base(path)+"_")
		if !ok {
			continue
		}
		at, ok := backupTime(stamp)
		if !ok {
			continue
		}
		p := filepath.Join(dir, n)
		st, err := f.Stat(p)
		if err != nil {
			continue
		}
		all = append(all, backup{at, p, st.Size})
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].at.After(all[j].at) })
	return all
}

// backupTime reads the stamp of a backup: Mon_Jan_02_15:04:05_123456_2006.
func backupTime(stamp string) (time.Time, bool) {
	parts := strings.Split(stamp, "_")
	if len(parts) != 6 || len(parts[4]) != 6 {
		return time.Time{}, false
	}
	at, err := time.ParseInLocation("Mon_Jan_02_15:04:05.000000_2006",
		strings.Join(parts[:4], "_")+"."+parts[4]+"_"+parts[5], time.Local)
	return at, err == nil
}

// ListBackups returns the kept copies of a file by number, newest first: Backup
// Time, Size, Location.
//
// Salt: list_backups.
func (f *FS) ListBackups(path string, limit int) *value.Map {
	m := value.NewMap(4)
	for i, b := range f.backups(f.Expand(path)) {
		if limit > 0 && i >= limit {
			break
		}
		m.Set(int64(i), value.MapOf(
			"Backup Time", b.at.Format("Mon Jan 02 2006 15:04:05.000000"),
			"Size", b.size,
			"Location", b.path,
		))
	}
	return m
}

// RestoreBackup puts the numbered copy of a file back; the present one is kept
// as a backup first.
//
// Salt: restore_backup.
func (f *FS) RestoreBackup(path string, id int) *value.Map {
	ret := value.MapOf("result", false, "comment", fmt.Sprintf("Invalid backup_id '%d'", id))
	path = f.Expand(path)
	all := f.backups(path)
	if id < 0 || id >= len(all) {
		ret.Set("comment", fmt.Sprintf("backup_id '%d' does not exist for %s", id, path))
		return ret
	}
	if f.Exists(path) {
		if err := f.Backup(path); err != nil {
			ret.Set("comment", fmt.Sprintf("Unable to restore %s to %s: %s", all[id].path, path, host.OSError(err)))
			return ret
		}
	}
	if err := f.copyWithOwner(all[id].path, path); err != nil {
		ret.Set("comment", fmt.Sprintf("Unable to restore %s to %s: %s", all[id].path, path, host.OSError(err)))
		return ret
	}
	ret.Set("result", true)
	ret.Set("comment", fmt.Sprintf("Successfully restored %s to %s", all[id].path, path))
	return ret
}

// DeleteBackup takes the numbered copy of a file out.
//
// Salt: delete_backup.
func (f *FS) DeleteBackup(path string, id int) (*value.Map, error) {
	path = f.Expand(path)
	ret := value.MapOf("result", false, "comment", fmt.Sprintf("Invalid backup_id '%d'", id))
	all := f.backups(path)
	if id < 0 || id >= len(all) {
		ret.Set("comment", fmt.Sprintf("backup_id '%d' does not exist for %s", id, path))
		return ret, nil
	}
	if err := f.Host.Remove(all[id].path); err != nil {
		return nil, fun.Errorf("Unable to remove %s: %s", all[id].path, host.OSError(err))
	}
	ret.Set("result", true)
	ret.Set("comment", fmt.Sprintf("Successfully removed %s", all[id].path))
	return ret, nil
}
