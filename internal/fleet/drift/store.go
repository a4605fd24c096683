package drift

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"brine/internal/core/host"
)

// Format is the version of the files.
const Format = 1

// tail is how the names of files end.
const tail = ".drift"

// A Store is the directory of drift records. Whoever writes holds its lock; files are
// replaced as a whole, so that readers need none.
type Store struct {
	dir string
	h   host.Host
}

// New returns the store below a cache directory.
func New(h host.Host, cache string) *Store { return &Store{filepath.Join(cache, "drift"), h} }

// head is the first line of a file; each further line is a [Record].
type head struct {
	Format  int    `json:"format"`
	Subject string `json:"subject"`
}

// file returns the path of a subject.
func (s *Store) file(subject string) string {
	sum := sha256.Sum256([]byte(subject))
	return filepath.Join(s.dir, hex.EncodeToString(sum[:16])+tail)
}

// A FormatError is a file that a newer brine wrote.
type FormatError struct {
	Path   string
	Format int
}

func (e *FormatError) Error() string {
	return fmt.Sprintf("%s: a newer brine wrote it: it has format %d, and this one reads format %d", e.Path, e.Format, Format)
}

// read reads a file. It returns fs.ErrNotExist where there is none.
func (s *Store) read(path string) (*Subject, error) {
	st, err := s.h.Lstat(path)
	switch {
	case err != nil:
		return nil, err
	case !st.Mode.IsRegular() || st.UID != s.h.Geteuid() || st.Perm()&0o022 != 0:
		return nil, fmt.Errorf("%s: it is not a file that only you can write", path)
	case st.Size > maxFile:
		return nil, fmt.Errorf("%s: it is larger than %d MiB", path, maxFile>>20)
	}
	data, err := s.h.ReadFile(path)
	if err != nil {
		return nil, err
	}
	first, rest, _ := bytes.Cut(data, []byte("\n"))
	var hd head
	if err := json.Unmarshal(first, &hd); err != nil || hd.Format < 1 {
		return nil, fmt.Errorf("%s: it is damaged", path)
	}
	if hd.Format > Format {
		return nil, &FormatError{path, hd.Format}
	}
	if s.file(hd.Subject) != path {
		return nil, fmt.Errorf("%s: it is damaged: it has the records of something else", path)
	}
	out := &Subject{Name: hd.Subject}
	seen := map[string]bool{}
	now := s.h.Now()
	for line := range bytes.Lines(rest) {
		var r Record
		d := json.NewDecoder(bytes.NewReader(line))
		d.DisallowUnknownFields()
		err := d.Decode(&r)
		if _, more := d.Token(); err != nil || !errors.Is(more, io.EOF) || r.fault(now) != "" || seen[r.Host] || len(out.Records) == MaxHosts {
			out.Damaged++
			continue
		}
		seen[r.Host] = true
		out.Records = append(out.Records, r)
	}
	slices.SortFunc(out.Records, byHost)
	return out, nil
}

// write replaces the file of a subject.
func (s *Store) write(sub *Subject) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(head{Format, sub.Name}); err != nil {
		return err
	}
	for _, r := range sub.Records {
		if err := e.Encode(r); err != nil {
			return err
		}
	}
	mode := fs.FileMode(0o600)
	return s.h.WriteFile(s.file(sub.Name), &b, host.WriteOptions{Mode: &mode, Sync: true})
}

// locked calls a function that changes records.
func (s *Store) locked(do func() error) error {
	if err := s.h.MkdirAll(s.dir, 0o700); err != nil {
		return err
	}
	unlock, err := s.h.Lock(filepath.Join(s.dir, "lock"))
	if err != nil {
		return err
	}
	defer unlock()
	return do()
}

// Put takes in what a plan of a subject found, by when it was made. A damaged file is
// set aside, and the bounds of what is kept hold; warn is called with what is lost.
func (s *Store) Put(subject string, at time.Time, seen []Seen, warn func(string)) error {
	subject = short(subject)
	return s.locked(func() error {
		path := s.file(subject)
		sub, err := s.read(path)
		var newer *FormatError
		switch {
		case errors.Is(err, fs.ErrNotExist):
			sub = &Subject{Name: subject}
		case errors.As(err, &newer):
			return err
		case err != nil:
			aside := path + ".damaged"
			if merr := s.h.Rename(path, aside); merr != nil {
				return errors.Join(err, merr)
			}
			warn(fmt.Sprintf("%v: it was set aside as %s, and begins again", err, aside))
			sub = &Subject{Name: subject}
		case sub.Damaged > 0:
			warn(fmt.Sprintf("%s: %d damaged records are left out", path, sub.Damaged))
		}
		known := make(map[string]Record, len(sub.Records)+len(seen))
		for _, r := range sub.Records {
			known[r.Host] = r
		}
		for _, x := range seen {
			known[x.Host] = known[x.Host].take(x, at)
		}
		sub.Records = sub.Records[:0]
		for _, r := range known {
			if r.fault(s.h.Now()) == "" {
				sub.Records = append(sub.Records, r)
			}
		}
		if n := len(known) - len(sub.Records); n > 0 {
			warn(fmt.Sprintf("drift records: %d hosts have names or times that are not kept", n))
		}
		if n := len(sub.Records) - MaxHosts; n > 0 {
			slices.SortFunc(sub.Records, func(a, b Record) int { return cmp.Or(b.Tried.Compare(a.Tried), byHost(a, b)) })
			sub.Records = sub.Records[:MaxHosts]
			warn(fmt.Sprintf("drift records: no more than %d hosts are kept: the %d that were planned the longest ago are dropped", MaxHosts, n))
		}
		slices.SortFunc(sub.Records, byHost)
		if err := s.write(sub); err != nil {
			return err
		}
		return s.bound(path, warn)
	})
}

// short bounds the name of a subject.
func short(name string) string {
	if len(name) <= 1000 {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	return cut(name) + " " + hex.EncodeToString(sum[:8])
}

// bound removes the subjects that were planned the longest ago, where there are too
// many. That of keep stays.
func (s *Store) bound(keep string, warn func(string)) error {
	paths, err := s.paths()
	if err != nil || len(paths) <= MaxSubjects {
		return err
	}
	type aged struct {
		path string
		at   time.Time
	}
	var all []aged
	for _, p := range paths {
		x := aged{path: p} // what cannot be read goes first
		if sub, err := s.read(p); err == nil {
			x.at = sub.tried()
		}
		if p != keep {
			all = append(all, x)
		}
	}
	slices.SortFunc(all, func(a, b aged) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.path, b.path)) })
	all = all[:len(paths)-MaxSubjects]
	for _, x := range all {
		if err := s.h.Remove(x.path); err != nil {
			return err
		}
	}
	warn(fmt.Sprintf("drift records: no more than %d plans are kept: the %d that were made the longest ago are dropped", MaxSubjects, len(all)))
	return nil
}

// paths returns the files of all subjects, sorted.
func (s *Store) paths() ([]string, error) {
	names, err := s.h.ReadDir(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []string
	for _, n := range names {
		if strings.HasSuffix(n, tail) {
			out = append(out, filepath.Join(s.dir, n))
		}
	}
	return out, nil
}

// All returns all subjects, sorted by name, with the faults of files that cannot be
// read. err is for the store itself.
func (s *Store) All() (subjects []*Subject, faults []error, err error) {
	paths, err := s.paths()
	if err != nil {
		return nil, nil, err
	}
	for _, p := range paths {
		sub, err := s.read(p)
		switch {
		case errors.Is(err, fs.ErrNotExist): // removed meanwhile
		case err != nil:
			faults = append(faults, err)
		default:
			subjects = append(subjects, sub)
		}
	}
	slices.SortFunc(subjects, func(a, b *Subject) int { return cmp.Compare(a.Name, b.Name) })
	return subjects, faults, nil
}

// Forget removes the records for which drop returns true, and returns how many there
// were.
func (s *Store) Forget(drop func(subject, host string) bool) (n int, err error) {
	if paths, err := s.paths(); err != nil || len(paths) == 0 {
		return 0, err
	}
	err = s.locked(func() error {
		subjects, _, err := s.All()
		if err != nil {
			return err
		}
		for _, sub := range subjects {
			had := len(sub.Records)
			sub.Records = slices.DeleteFunc(sub.Records, func(r Record) bool { return drop(sub.Name, r.Host) })
			if len(sub.Records) == had {
				continue
			}
			n += had - len(sub.Records)
			if len(sub.Records) == 0 {
				err = s.h.Remove(s.file(sub.Name))
			} else {
				err = s.write(sub)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	return n, err
}
