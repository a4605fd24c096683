// Package approval has the questions of runs that wait until a second person approves
// them, and the answers. Start at [Store].
//
// A question is a file below the cache directory, and its answer another one, which is
// written once: of two people who answer at once, the first one counts. The process of a
// run that waits holds the lock of its question, so that a run that was killed does not
// look as if it waited. A question of the run of a queue has no process: the run is put
// back, and goes on when a worker, which may be one of another machine, finds the answer.
// Such questions are in the database of the queue, see internal/fleet/queue.
package approval

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"brine/internal/fleet/jobs"
)

// Version is the version of the files.
const Version = 1

// Start is the point before the first step of a run.
const Start = "start"

// TokenPrefix begins the names of tokens of the API, which no user can have.
const TokenPrefix = "token:"

// Roles are the roles that a rule can name, from the lowest.
var Roles = []string{"viewer", "operator", "editor"}

// maxName bounds the names of a rule, and maxComment a comment, in bytes.
const (
	maxName    = 64
	maxComment = 1000
)

// CheckBy returns an error unless a rule can name somebody: a role, a user, or a token as
// token:NAME.
func CheckBy(name string) error {
	if name == "" || len(name) > maxName || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return fmt.Errorf("%q is neither a role (%s) nor the name of a user", name, strings.Join(Roles, ", "))
	}
	return nil
}

// A Rule says that a second person is asked. A nil rule is that nobody is.
type Rule struct {
	By []string // roles, users and tokens; empty: any operator
}

// A Question asks whether a run may go on.
type Question struct {
	Version int    `json:"version"`
	JID     string `json:"jid"`           // of the run; of one of a queue, that of its entry
	Run     string `json:"run,omitempty"` // of a queue: the run of the entry that asked
	Kind    string `json:"kind"`          // chain or template
	Name    string `json:"name"`
	Point   string `json:"point"`          // [Start], or which step it comes before
	Step    string `json:"step,omitempty"` // that step in words
	// What are the steps and targets of the run in words, without secrets.
	What []string `json:"what,omitempty"`
	// By are the roles, users and tokens that may answer; empty: any operator.
	By   []string `json:"by,omitempty"`
	User string   `json:"user"` // who started the run, and may not answer
	// Definition is a hash of what is asked about: what runs, its tree and its pillar.
	Definition string    `json:"definition"`
	Asked      time.Time `json:"asked"`
	Queued     bool      `json:"queued,omitempty"`
	Tree       Tree      `json:"tree,omitzero"`
	// Key is that of the hash of the pillar, which nobody who sees the others may guess
	// values by. Only who can read the question itself has it.
	Key []byte `json:"key,omitempty"`
}

// A Tree is the state of the files that were asked about.
type Tree struct {
	Digest   string   `json:"digest"`             // SHA-256 of the files of all environments
	Revision string   `json:"revision,omitempty"` // commit, where the tree is one of git
	Unknown  []string `json:"unknown,omitempty"`  // what also decides what is applied, and is not in Definition
}

// String is the tree in words; "" where nothing is known of it.
func (t Tree) String() string {
	if t.Digest == "" {
		return ""
	}
	text := "tree " + t.Digest[:min(12, len(t.Digest))]
	if t.Revision != "" {
		text += ", commit " + t.Revision[:min(12, len(t.Revision))]
	}
	if len(t.Unknown) > 0 {
		text += "; not known: " + strings.Join(t.Unknown, ", ")
	}
	return text
}

// An Answer is what somebody decided.
type Answer struct {
	Approved   bool      `json:"approved"`
	User       string    `json:"user"`
	Comment    string    `json:"comment,omitempty"`
	At         time.Time `json:"at"`
	Definition string    `json:"definition"` // that was seen
}

// Text is an answer in words.
func (a *Answer) Text() string {
	verb := "refused"
	if a.Approved {
		verb = "approved"
	}
	text := verb + " by " + a.User
	if a.Comment != "" {
		text += ": " + a.Comment
	}
	return text
}

// An Entry is a question with its answer.
type Entry struct {
	Question
	Answer *Answer // nil: there is none
	// Lost says that nobody waits for the answer any more.
	Lost bool
}

// Waits reports whether the answer is waited for.
func (e *Entry) Waits() bool { return e.Answer == nil && !e.Lost }

// ID is the name of a question.
func (q *Question) ID() string { return q.JID + "-" + q.Point }

// Asker is the job id of the run that has asked.
func (q *Question) Asker() string { return cmp.Or(q.Run, q.JID) }

// Before says in words what the run waits before.
func (q *Question) Before() string {
	if q.Point == Start {
		return "before it starts"
	}
	return "before " + cmp.Or(q.Step, q.Point)
}

// Whom says in words who may answer.
func (q *Question) Whom() string {
	if len(q.By) == 0 {
		return "another operator or editor"
	}
	return "one of " + strings.Join(q.By, ", ") + ", other than " + q.User
}

// A ForbiddenError says why somebody may not answer a question.
type ForbiddenError struct{ Why string }

// Error says why.
func (e *ForbiddenError) Error() string { return e.Why }

// May returns a *ForbiddenError if somebody may not answer. has reports whether this
// person has a role.
func (q *Question) May(name string, has func(role string) bool) error {
	isToken := strings.HasPrefix(name, TokenPrefix)
	switch {
	case name == "" || name == q.User:
		return &ForbiddenError{"You have started this run, so somebody else has to approve or refuse it."}
	case slices.Contains(q.By, name):
		return nil
	case isToken:
		return &ForbiddenError{"A token can answer only where the definition names it, as " + name + "."}
	case len(q.By) == 0 && has("operator"), slices.ContainsFunc(q.By, func(by string) bool { return slices.Contains(Roles, by) && has(by) }):
		return nil
	}
	return &ForbiddenError{"This is for " + q.Whom() + "."}
}

// ErrNotFound is returned (wrapped) for a question that does not exist.
var ErrNotFound = errors.New("not found")

// ErrAnswered is returned (wrapped) for a question that somebody else has answered, or for
// whose answer nobody waits.
var ErrAnswered = errors.New("nobody waits for the answer any more")

// A Store is the directory of the questions.
type Store struct {
	dir string
	now func() time.Time
}

// New returns the questions below a cache directory.
func New(cacheDir string, now func() time.Time) *Store {
	return &Store{dir: filepath.Join(cacheDir, "approvals"), now: now}
}

// keeps is how many questions are kept that nobody waits for.
const keeps = 500

const (
	questionEnd = ".json"
	answerEnd   = ".answer"
)

var idPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9]{20}-[a-z0-9]{1,64}$`) })

func (s *Store) path(id, end string) (string, error) {
	if !idPattern().MatchString(id) {
		return "", fmt.Errorf("%q is not the ID of an approval: %w", id, ErrNotFound)
	}
	return filepath.Join(s.dir, id+end), nil
}

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

// A Wait is a question that this process waits for.
type Wait struct {
	s    *Store
	q    Question
	lock *os.File
}

// Ask asks a question for the run of this process.
func (s *Store) Ask(q Question) (*Wait, error) {
	path, err := s.path(q.ID(), questionEnd)
	if err == nil {
		err = q.Prepare(s.now())
	}
	if err != nil {
		return nil, err
	}
	if q.Queued {
		return nil, fmt.Errorf("the approval %s belongs in the database of its queue", q.ID())
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return nil, err
	}
	if err := own(s.dir); err != nil {
		return nil, err
	}
	if s.held(q.ID()) {
		return nil, fmt.Errorf("the approval %s is waited for by another process", q.ID())
	}
	s.clean()
	if err := s.forget(q.ID(), answerEnd); err != nil {
		return nil, err
	}
	text, err := json.Marshal(q)
	if err == nil {
		err = write(path, text)
	}
	if err != nil {
		return nil, err
	}
	w := &Wait{s: s, q: q}
	if w.lock, err = os.Open(path); err != nil {
		return nil, err
	}
	if err := flock(w.lock, syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(fmt.Errorf("the approval %s is waited for by another process: %w", q.ID(), err), w.lock.Close())
	}
	return w, nil
}

// Prepare completes a question that is asked now.
func (q *Question) Prepare(now time.Time) error {
	q.Version, q.Asked = Version, now.UTC()
	if !jobs.IsJID(q.JID) || !idPattern().MatchString(q.ID()) {
		return fmt.Errorf("invalid approval %q", q.ID())
	}
	return nil
}

// Answer returns the answer; nil: there is none yet.
func (w *Wait) Answer() (*Answer, error) {
	a, err := w.s.answer(w.q.ID())
	if err != nil || a == nil || a.Definition == w.q.Definition {
		return a, err
	}
	// Somebody has answered the question of an earlier definition at this moment.
	return nil, w.s.forget(w.q.ID(), answerEnd)
}

// Close says that the answer is not waited for any more.
func (w *Wait) Close() error { return w.lock.Close() }

// write writes a file whole or not at all.
func write(path string, text []byte) error {
	if err := os.WriteFile(path+".new", text, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

func flock(f *os.File, how int) error {
	for {
		if err := syscall.Flock(int(f.Fd()), how); err != syscall.EINTR {
			return err
		}
	}
}

// forget removes a file of a question.
func (s *Store) forget(id, end string) error {
	path, err := s.path(id, end)
	if err == nil {
		err = os.Remove(path)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// read returns a question.
func (s *Store) read(id string) (*Question, error) {
	path, err := s.path(id, questionEnd)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("approval %s: %w", id, ErrNotFound)
	}
	var q *Question
	if err == nil {
		q, err = ParseQuestion(id, text)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return q, nil
}

// maxSize bounds the text of a question or an answer that is read, in bytes.
const maxSize = 1 << 20

// ParseQuestion reads a question that must have an ID.
func ParseQuestion(id string, text []byte) (*Question, error) {
	q := &Question{}
	if err := parse(text, q); err != nil {
		return nil, err
	}
	switch {
	case q.Version != Version:
		return nil, fmt.Errorf("version %d was written by another version of brine, which knows how to read it", q.Version)
	case q.ID() != id || !idPattern().MatchString(id):
		return nil, fmt.Errorf("this is another approval, %q", q.ID())
	}
	return q, nil
}

// ParseAnswer reads an answer.
func ParseAnswer(text []byte) (*Answer, error) {
	a := &Answer{}
	return a, parse(text, a)
}

func parse(text []byte, into any) error {
	if len(text) > maxSize {
		return fmt.Errorf("it has %d bytes, more than %d", len(text), maxSize)
	}
	return json.Unmarshal(text, into)
}

// answer returns the answer of a question; nil: there is none.
func (s *Store) answer(id string) (*Answer, error) {
	path, err := s.path(id, answerEnd)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var a *Answer
	if err == nil {
		a, err = ParseAnswer(text)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return a, nil
}

// Entry returns a question with its answer.
func (s *Store) Entry(id string) (*Entry, error) {
	q, err := s.read(id)
	if err != nil {
		return nil, err
	}
	e := &Entry{Question: *q}
	if e.Answer, err = s.answer(id); err != nil {
		return nil, err
	}
	if e.Answer != nil && e.Answer.Definition != q.Definition {
		e.Answer = nil
	}
	e.Lost = e.Answer == nil && !s.held(id)
	return e, nil
}

// held reports whether the process lives that waits for an answer.
func (s *Store) held(id string) bool {
	path, err := s.path(id, questionEnd)
	if err != nil {
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	return flock(f, syscall.LOCK_SH|syscall.LOCK_NB) != nil
}

// List returns the questions, the newest first; those of one run where jid is not "".
func (s *Store) List(jid string) ([]*Entry, error) {
	if err := own(s.dir); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	found, err := os.ReadDir(s.dir)
	if err != nil {
		return nil, err
	}
	var out []*Entry
	for _, f := range slices.Backward(found) {
		id, ok := strings.CutSuffix(f.Name(), questionEnd)
		if !ok || !strings.HasPrefix(id, jid) || !idPattern().MatchString(id) {
			continue
		}
		e, err := s.Entry(id)
		if errors.Is(err, ErrNotFound) { // removed meanwhile
			continue
		}
		if err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	slices.SortStableFunc(out, func(a, b *Entry) int { return b.Asked.Compare(a.Asked) })
	return out, nil
}

// Waiting returns the runs that wait, by their job ids.
func (s *Store) Waiting() (map[string]*Entry, error) {
	all, err := s.List("")
	out := map[string]*Entry{}
	for _, e := range all {
		if e.Waits() {
			out[e.Asker()] = e
		}
	}
	return out, err
}

// Changed is when a question or an answer last came or went.
func (s *Store) Changed() time.Time {
	st, err := os.Stat(s.dir)
	if err != nil {
		return time.Time{}
	}
	return st.ModTime()
}

// Accept completes an answer that is given now, or says why it comes too late. definition
// is what who answers has seen; "": what the question has now.
func (e *Entry) Accept(definition string, a *Answer, now time.Time) error {
	if a.Comment = strings.TrimSpace(a.Comment); len(a.Comment) > maxComment {
		return fmt.Errorf("a comment has at most %d bytes", maxComment)
	}
	switch {
	case e.Answer != nil:
		return fmt.Errorf("it was %s: %w", e.Answer.Text(), ErrAnswered)
	case e.Lost && e.Queued:
		return fmt.Errorf("the run has ended: %w", ErrAnswered)
	case e.Lost:
		return fmt.Errorf("the process of the run has ended: %w", ErrAnswered)
	case definition != "" && definition != e.Definition:
		return fmt.Errorf("the %s, its tree or its pillar has been changed since it was shown: %w", e.Kind, ErrAnswered)
	}
	a.At, a.Definition = now.UTC(), e.Definition
	return nil
}

// ErrSecond is the error of an answer that came after another one.
var ErrSecond = fmt.Errorf("somebody else was first: %w", ErrAnswered)

// Decide answers a question for somebody who may: see [Question.May] and [Entry.Accept].
func (s *Store) Decide(id, definition string, a Answer) (*Entry, error) {
	e, err := s.Entry(id)
	if err == nil {
		err = e.Accept(definition, &a, s.now())
	}
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(a)
	if err != nil {
		return nil, err
	}
	path, err := s.path(id, answerEnd)
	if err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(s.dir, ".new-*")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.Remove(f.Name()) }() // it has its name by then, or is of no use
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	if err := os.Link(f.Name(), path); errors.Is(err, fs.ErrExist) {
		return nil, ErrSecond
	} else if err != nil {
		return nil, err
	}
	e.Answer = &a
	return e, nil
}

// clean removes the oldest questions that nobody waits for.
func (s *Store) clean() {
	found, err := os.ReadDir(s.dir)
	if err != nil || len(found) <= 2*keeps {
		return
	}
	all, err := s.List("")
	if err != nil {
		return
	}
	for _, e := range all[min(keeps, len(all)):] {
		if !e.Waits() {
			_ = errors.Join(s.forget(e.ID(), questionEnd), s.forget(e.ID(), answerEnd))
		}
	}
}
