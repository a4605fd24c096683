package kept

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"brine/internal/core/tee"
)

// What the programs of a run printed is in the directory printed: the file hosts has a line
// for each host, and the file N has what the host of line N printed, as lines of JSON.
const (
	listenFile = "listen"
	printedDir = "printed"
	hostsFile  = "hosts"
)

// Bounds of what is kept of output.
const (
	// MaxHost is how much of a host is kept of a run, and MaxPrinted how much of all, in
	// bytes of the files.
	MaxHost    = 32 << 20
	MaxPrinted = 512 << 20
	// keepsPrinted is how many runs have their output; of those before it is removed.
	keepsPrinted = 20
	maxHosts     = 100_000
)

// A Printed is what a program of a run printed.
type Printed struct {
	Time time.Time `json:"time"`
	JID  string    `json:"jid"` // of the job
	tee.Part
}

// Listen has the process of a run keep what programs print from now on.
func (r *Run) Listen() error { return os.WriteFile(filepath.Join(r.dir, listenFile), nil, 0o600) }

// Heard reports whether somebody asked for what programs print, and since when.
func (r *Run) Heard() (since time.Time, ok bool) {
	st, err := os.Stat(filepath.Join(r.dir, listenFile))
	if err != nil {
		return time.Time{}, false
	}
	return st.ModTime().UTC(), true
}

// A Keeper keeps what the programs of a run print. It is safe for concurrent use.
type Keeper struct {
	dir string
	now func() time.Time

	mu    sync.Mutex
	hosts map[string]*printing
	size  int64 // of all files
	err   error // the first fault
}

// A printing is what a host prints.
type printing struct {
	mu      sync.Mutex
	path    string
	size    int64
	dropped map[string]int64 // bytes, by what printed them
	jid     string
}

// Keeper returns what keeps the output of the run.
func (r *Run) Keeper(now func() time.Time) (*Keeper, error) {
	k := &Keeper{dir: filepath.Join(r.dir, printedDir), now: now, hosts: map[string]*printing{}}
	return k, os.Mkdir(k.dir, 0o700)
}

// Take keeps a part, without its secrets.
func (k *Keeper) Take(at tee.Place, part tee.Part) {
	h := k.host(at.Host)
	if h == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.jid = at.JID
	part.Dropped += h.dropped[part.Of]
	line, err := json.Marshal(Printed{k.now().UTC(), at.JID, part})
	if err != nil {
		return // of strings, numbers and a time: it cannot fail
	}
	limit := int64(MaxHost)
	if part.Ended { // it says how the program ended
		limit += MaxHost / 4
	}
	if n := int64(len(line)) + 1; h.size+n > limit || !k.room(n) {
		h.dropped[part.Of] = part.Dropped + int64(len(part.Text))
		return
	}
	delete(h.dropped, part.Of)
	k.fault(h.write(line))
}

// room takes room for so many bytes, where there is any.
func (k *Keeper) room(n int64) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.size+n > MaxPrinted {
		return false
	}
	k.size += n
	return true
}

func (k *Keeper) fault(err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.err == nil {
		k.err = err
	}
}

func (h *printing) write(line []byte) error {
	h.size += int64(len(line)) + 1
	return appendTo(h.path, append(line, '\n'))
}

func appendTo(path string, line []byte) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(line)
	return errors.Join(err, f.Close())
}

// host returns where the output of a host goes; nil where there are too many.
func (k *Keeper) host(id string) *printing {
	k.mu.Lock()
	defer k.mu.Unlock()
	h := k.hosts[id]
	if h != nil || len(k.hosts) >= maxHosts {
		return h
	}
	name, err := json.Marshal(id)
	if err == nil {
		err = appendTo(filepath.Join(k.dir, hostsFile), append(name, '\n'))
	}
	if err != nil {
		if k.err == nil {
			k.err = err
		}
		return nil
	}
	h = &printing{path: filepath.Join(k.dir, strconv.Itoa(len(k.hosts))), dropped: map[string]int64{}}
	k.hosts[id] = h
	return h
}

// Close notes what was dropped, and returns the first fault.
func (k *Keeper) Close() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, h := range k.hosts {
		h.mu.Lock()
		for of, n := range h.dropped {
			line, err := json.Marshal(Printed{k.now().UTC(), h.jid, tee.Part{Of: of, Dropped: n}})
			if err == nil {
				err = h.write(line)
			}
			if k.err == nil {
				k.err = err
			}
		}
		h.mu.Unlock()
	}
	return k.err
}

// A PrintedHost is a host of which output is kept.
type PrintedHost struct {
	ID   string
	Size int64 // of its file
	file string
}

// PrintedHosts returns the hosts of which output is kept, in the order in which they began
// to print; none where nobody listened. removed says that it was there once.
func (r *Run) PrintedHosts() (hosts []PrintedHost, removed bool, err error) {
	dir := filepath.Join(r.dir, printedDir)
	f, err := os.Open(filepath.Join(dir, hostsFile))
	if errors.Is(err, fs.ErrNotExist) {
		_, err = os.Stat(filepath.Join(r.dir, removedFile))
		return nil, err == nil, nil
	}
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 1<<20)
	for i := 0; sc.Scan(); i++ {
		h := PrintedHost{file: filepath.Join(dir, strconv.Itoa(i))}
		if json.Unmarshal(sc.Bytes(), &h.ID) != nil {
			continue
		}
		if st, err := os.Stat(h.file); err == nil {
			h.Size = st.Size()
		}
		hosts = append(hosts, h)
	}
	return hosts, false, sc.Err()
}

// Grown looks how much the host has printed by now.
func (h *PrintedHost) Grown() error {
	st, err := os.Stat(h.file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		h.Size = st.Size()
	}
	return err
}

// removedFile says that the output of a run was removed.
const removedFile = "printed.removed"

// forgetPrinted removes the output of a run that is over.
func (s *Store) forgetPrinted(jid string) {
	dir := filepath.Join(s.dir, jid)
	old := filepath.Join(dir, printedDir)
	if _, err := os.Stat(old); err != nil {
		return
	}
	if r, err := s.Open(jid); err != nil || r.State() == Active {
		return
	}
	if os.WriteFile(filepath.Join(dir, removedFile), nil, 0o600) == nil {
		_ = os.RemoveAll(old)
	}
}

// Read calls f with what the host printed from an offset on, with the offset behind it, until
// f returns false. It returns the offset behind the last one: where to go on. An offset
// within a line means the next one.
func (h *PrintedHost) Read(offset int64, f func(p Printed, next int64) (more bool)) (next int64, err error) {
	file, err := os.Open(h.file)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer file.Close()
	next = max(0, min(offset, h.Size))
	from := max(0, next-1) // a line ends there, or has begun before
	if _, err := file.Seek(from, io.SeekStart); err != nil {
		return 0, err
	}
	r := bufio.NewReaderSize(file, 64<<10)
	if next > 0 {
		head, err := r.ReadSlice('\n')
		for errors.Is(err, bufio.ErrBufferFull) {
			from += int64(len(head))
			head, err = r.ReadSlice('\n')
		}
		if err != nil {
			return next, whole(err)
		}
		next = from + int64(len(head))
	}
	for {
		line, err := r.ReadBytes('\n')
		if err != nil { // what is not whole is being written
			return next, whole(err)
		}
		next += int64(len(line))
		var p Printed
		if err := json.Unmarshal(bytes.TrimSpace(line), &p); err != nil {
			return next, fmt.Errorf("%s: %w", h.file, err)
		}
		if !f(p, next) {
			return next, nil
		}
	}
}

// whole is an error of reading that is not the end.
func whole(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}
