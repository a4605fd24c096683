// Package kept has the runs that go on without who started them: what is run, how it
// goes, and how it ended, as files of a directory for each run. Start at [Store].
//
// The directory is named by the job id of the run. The process of the run holds the lock
// of it for as long as it lives, so that nobody takes one that was killed for one that
// is under way; what it writes to stderr, its progress among it, is in the file log.
package kept

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"brine/internal/fleet/jobs"
)

// Command is the command of brine that is the process of a run.
const Command = "kept-run"

// Version is the version of the files.
const Version = 1

// The files of a run.
const (
	specFile    = "spec.json"
	logFile     = "log"
	lockFile    = "lock"
	pidFile     = "pid"
	endFile     = "end.json"
	requestFile = "request"
	secretFile  = "answers.json"
	planFile    = "plan.json"
)

// The kinds of runs.
const (
	Orchestrations = "orchestrations"
	Chains         = "chains"
	Templates      = "templates"
	Functions      = "functions" // a function on hosts
	Jobs           = "jobs"      // a job on hosts, again on those that failed in it
	Hosts          = "hosts"     // hosts are asked whether they answer
	Plans          = "plans"     // the plan of an orchestration is made
	ChainPlans     = "chain-plans"
	TemplatePlans  = "template-plans"
)

// PlanOf is the kind of what a run makes the plan of; "": it makes no plan.
func PlanOf(kind string) string {
	return map[string]string{Plans: Orchestrations, ChainPlans: Chains, TemplatePlans: Templates}[kind]
}

// A Spec is what is run.
type Spec struct {
	Version int      `json:"version"`
	JID     string   `json:"jid"` // "" before the run is created: any that is free
	Kind    string   `json:"kind"`
	Name    string   `json:"name"`
	Test    bool     `json:"test,omitempty"`
	Resume  string   `json:"resume,omitempty"` // the job id of the run that it goes on with
	Plan    string   `json:"plan,omitempty"`   // the job id of the run whose plan it applies
	Hosts   []string `json:"hosts,omitempty"`  // that are asked whether they answer
	Once    string   `json:"once,omitempty"`   // digest of the form that asked for it; "": none did
	AdHoc   bool     `json:"ad_hoc,omitempty"` // it is not, or need not be, what is defined
	User    string   `json:"user"`
	// Within are globs for the hosts that the run may reach; none: all.
	Within  []string  `json:"within,omitempty"`
	Started time.Time `json:"started"`
	// Args are those of the command line of brine, without what is in [Run.Answers]; none:
	// somebody typed them.
	Args []string `json:"args,omitempty"`
}

// A State is how far a run is.
type State int

const (
	// Active runs have a process.
	Active State = iota
	// Ended runs have said how they ended.
	Ended
	// Lost runs have no process and have not said how they ended: the process was killed,
	// or the machine went down.
	Lost
)

// An End is how a run ended.
type End struct {
	Status int       `json:"status"` // the exit status of brine
	At     time.Time `json:"at"`
}

// A Request is what somebody asked of a run that is under way.
type Request string

// The requests.
const (
	None Request = ""
	Stop Request = "stop" // nothing new is to begin
	Kill Request = "kill" // what runs is to end
)

// A Store is the directory of the runs.
type Store struct {
	dir  string
	now  func() time.Time
	jids jobs.JIDs
}

// New returns the runs below a cache directory. Nothing is opened before it is used.
func New(cacheDir string, now func() time.Time) *Store {
	return &Store{dir: filepath.Join(cacheDir, "runs"), now: now}
}

// CacheDir is the cache directory.
func (s *Store) CacheDir() string { return filepath.Dir(s.dir) }

// ErrNotFound is returned (wrapped) for a run that is not kept.
var ErrNotFound = errors.New("not found")

// A Run is one of the runs.
type Run struct {
	Spec Spec
	dir  string
}

// keeps is how many runs that ended are kept.
const keeps = 200

// own returns an error unless a directory is one that only this user can change.
func own(dir string) error {
	st, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	sys, ok := st.Sys().(*syscall.Stat_t)
	if !st.IsDir() || st.Mode().Perm()&0o022 != 0 || ok && int(sys.Uid) != os.Geteuid() {
		return fmt.Errorf("%s is not a directory that only its owner, the user of brine, can change", dir)
	}
	return nil
}

// Create makes the directory of a run, under its job id or one that no other run has, and removes
// the oldest ones that ended. command returns the command line of the run. The lock is
// what the process of the run has as stdin, so that the run is under way from now on
// until its process, and this one, have closed it.
func (s *Store) Create(spec Spec, answers []byte, command func(*Run) []string) (r *Run, lock *os.File, err error) {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return nil, nil, err
	}
	if err := own(s.dir); err != nil {
		return nil, nil, err
	}
	s.clean()
	spec.Version, spec.Started = Version, s.now().UTC()
	r = &Run{}
	for asked := spec.JID; ; {
		spec.JID = cmp.Or(asked, s.jids.Next(s.now()))
		r.dir = filepath.Join(s.dir, spec.JID)
		if err = os.Mkdir(r.dir, 0o700); asked != "" || !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	if err != nil {
		return nil, nil, err
	}
	r.Spec = spec
	r.Spec.Args = command(r)
	if lock, err = r.fill(answers); err != nil {
		_ = os.RemoveAll(r.dir)
		return nil, nil, err
	}
	return r, lock, nil
}

// fill writes the files of a new run. Nobody sees it before it has a spec.
func (r *Run) fill(answers []byte) (lock *os.File, err error) {
	if lock, err = os.OpenFile(filepath.Join(r.dir, lockFile), os.O_CREATE|os.O_RDWR, 0o600); err != nil {
		return nil, err
	}
	if err = flock(lock, syscall.LOCK_EX|syscall.LOCK_NB); err == nil && answers != nil {
		err = os.WriteFile(r.Answers(), answers, 0o600)
	}
	if err == nil && len(r.Spec.Args) > 0 { // who asked for it looks at it
		err = r.Listen()
	}
	var text []byte
	if err == nil {
		text, err = json.Marshal(r.Spec)
	}
	if err == nil {
		err = write(filepath.Join(r.dir, specFile), text)
	}
	if err != nil {
		lock.Close()
	}
	return lock, err
}

// write writes a file whole or not at all.
func write(path string, text []byte) error {
	if err := os.WriteFile(path+".new", text, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// clean removes the oldest runs that ended, but for those that are kept, and the output of
// older ones.
func (s *Store) clean() {
	all, err := s.List()
	if err != nil {
		return
	}
	for _, jid := range all[min(keepsPrinted, len(all)):] {
		s.forgetPrinted(jid)
	}
	if len(all) <= keeps {
		return
	}
	over := len(all) - keeps
	for _, jid := range slices.Backward(all) {
		r, err := s.Open(jid)
		if over == 0 {
			return
		}
		unfinished := errors.Is(err, ErrNotFound) && jid < jobs.JIDAt(s.now().Add(-time.Hour))
		if unfinished || err == nil && r.State() != Active {
			_ = os.RemoveAll(filepath.Join(s.dir, jid))
			over--
		}
	}
}

// List returns the job ids of the runs, the newest first.
func (s *Store) List() ([]string, error) {
	d, err := os.Open(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer d.Close()
	names, err := d.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	names = slices.DeleteFunc(names, func(name string) bool { return !jobs.IsJID(name) })
	slices.Sort(names)
	slices.Reverse(names)
	return names, nil
}

// Open returns a run.
func (s *Store) Open(jid string) (*Run, error) {
	if !jobs.IsJID(jid) {
		return nil, fmt.Errorf("run %q: %w", jid, ErrNotFound)
	}
	r, err := OpenDir(filepath.Join(s.dir, jid))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("run %s: %w", jid, ErrNotFound)
	}
	if err == nil && r.Spec.JID != jid {
		err = fmt.Errorf("run %s: its files are those of another run", jid)
	}
	return r, err
}

// OpenDir returns the run of a directory.
func OpenDir(dir string) (*Run, error) {
	if err := own(dir); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(filepath.Join(dir, specFile))
	if err != nil {
		return nil, err
	}
	r := &Run{dir: dir}
	if err := json.Unmarshal(text, &r.Spec); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, specFile), err)
	}
	if r.Spec.Version != Version {
		return nil, fmt.Errorf("%s: version %d was written by another version of brine, which knows how to read it", filepath.Join(dir, specFile), r.Spec.Version)
	}
	return r, nil
}

// Dir is the directory of the run.
func (r *Run) Dir() string { return r.dir }

// CacheDir is the cache directory that the run is kept in.
func (r *Run) CacheDir() string { return filepath.Dir(filepath.Dir(r.dir)) }

// Remove removes a run that could not be started.
func (r *Run) Remove() { _ = os.RemoveAll(r.dir) }

// Answers is the file of the answers of a template, which only the user of brine can
// read. It is removed when the run has ended.
func (r *Run) Answers() string { return filepath.Join(r.dir, secretFile) }

// PlanFile is the file of the plan that a run makes.
func (r *Run) PlanFile() string { return filepath.Join(r.dir, planFile) }

// Plan returns the plan that the run has made.
func (r *Run) Plan() ([]byte, error) { return os.ReadFile(r.PlanFile()) }

// Log opens the log of the run, for writing. The process of the run has it as stdout and
// stderr.
func (r *Run) Log() (*os.File, error) {
	return os.OpenFile(filepath.Join(r.dir, logFile), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
}

func flock(f *os.File, how int) error {
	for {
		if err := syscall.Flock(int(f.Fd()), how); err != syscall.EINTR {
			return err
		}
	}
}

// held reports whether the process of the run lives.
func (r *Run) held() bool {
	f, err := os.Open(filepath.Join(r.dir, lockFile))
	if err != nil {
		return false
	}
	defer f.Close()
	if flock(f, syscall.LOCK_SH|syscall.LOCK_NB) != nil {
		return true
	}
	_ = flock(f, syscall.LOCK_UN)
	return false
}

// State returns how far the run is.
func (r *Run) State() State {
	if r.held() {
		return Active
	}
	if _, err := r.End(); err != nil {
		return Lost
	}
	return Ended
}

// End returns how the run ended.
func (r *Run) End() (*End, error) {
	text, err := os.ReadFile(filepath.Join(r.dir, endFile))
	if err != nil {
		return nil, err
	}
	e := &End{}
	return e, json.Unmarshal(text, e)
}

// LastWord is when the run last wrote to its log: the end of one that is lost.
func (r *Run) LastWord() time.Time {
	st, err := os.Stat(filepath.Join(r.dir, logFile))
	if err != nil {
		return r.Spec.Started
	}
	return st.ModTime().UTC()
}

// ReadFrom reads from the log at an offset and returns the number of bytes; 0 is that
// nothing more is there.
func (r *Run) ReadFrom(b []byte, offset int64) (int, error) {
	f, err := os.Open(filepath.Join(r.dir, logFile))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer f.Close()
	n, err := f.ReadAt(b, offset)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}

// Ask keeps what somebody asked of the run, for those who look at it. A stop does not
// take a kill back.
func (r *Run) Ask(w Request) error {
	if w == Stop && r.Asked() == Kill {
		return nil
	}
	return write(filepath.Join(r.dir, requestFile), []byte(w))
}

// Asked is what somebody asked of the run.
func (r *Run) Asked() Request {
	text, err := os.ReadFile(filepath.Join(r.dir, requestFile))
	if w := Request(text); err == nil && (w == Stop || w == Kill) {
		return w
	}
	return None
}

// startup is how long a process may take until it has said which one it is.
const startup = 5 * time.Second

// Signal sends a signal to the process of the run. It does nothing where there is none.
func (r *Run) Signal(sig syscall.Signal) error {
	for end := time.Now().Add(startup); ; time.Sleep(10 * time.Millisecond) {
		if !r.held() {
			return nil
		}
		text, err := os.ReadFile(filepath.Join(r.dir, pidFile))
		pid, perr := strconv.Atoi(strings.TrimSpace(string(text)))
		switch {
		case err == nil && perr == nil && pid > 1:
			if err := syscall.Kill(pid, sig); !errors.Is(err, syscall.ESRCH) {
				return err
			}
			return nil
		case time.Now().After(end):
			return errors.Join(fmt.Errorf("run %s: nobody knows its process", r.Spec.JID), err, perr)
		}
	}
}

// Forget removes the answers of a run that is lost: its process could not.
func (r *Run) Forget() {
	if r.State() != Active {
		_ = os.Remove(r.Answers())
	}
}
