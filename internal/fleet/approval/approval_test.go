package approval

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

const jid = "20260102030405000001"

func sample() Question {
	return Question{JID: jid, Kind: "chain", Name: "friday", Point: Start, User: "ann", Definition: "d1"}
}

func roles(names ...string) func(string) bool {
	return func(role string) bool { return slices.Contains(names, role) }
}

// TestMayHostile: who may answer.
func TestMayHostile(t *testing.T) {
	t.Parallel()
	operator, editor := roles("viewer", "operator"), roles("viewer", "operator", "editor")
	for _, tt := range []struct {
		what, name string
		by         []string
		has        func(string) bool
		may        bool
	}{
		{"an operator", "bob", nil, operator, true},
		{"a viewer", "bob", nil, roles("viewer"), false},
		{"who started it", "ann", nil, editor, false},
		{"who started it, named", "ann", []string{"ann", "editor"}, editor, false},
		{"nobody", "", nil, editor, false},
		{"a token", "token:ci", nil, editor, false},
		{"a token, by its role", "token:ci", []string{"operator"}, editor, false},
		{"a token that is named", "token:ci", []string{"token:ci"}, operator, true},
		{"a role that is too low", "bob", []string{"editor"}, operator, false},
		{"a role", "bob", []string{"editor"}, editor, true},
		{"somebody who is named", "bob", []string{"bob"}, roles("viewer"), true},
		{"somebody else", "eve", []string{"bob"}, editor, false},
	} {
		q := sample()
		q.By = tt.by
		if err := q.May(tt.name, tt.has); (err == nil) != tt.may {
			t.Errorf("%s: %v", tt.what, err)
		}
	}
}

// TestAnswer: one answer counts, for the definition that was seen, and nobody answers for a
// run whose process is gone.
func TestAnswer(t *testing.T) {
	t.Parallel()
	s := New(t.TempDir(), time.Now)
	if all, err := s.List(""); all != nil || err != nil {
		t.Errorf("nothing: %v, %v", all, err)
	}
	w, err := s.Ask(sample())
	if err != nil {
		t.Fatal(err)
	}
	id := jid + "-start"
	if waiting, err := s.Waiting(); err != nil || waiting[jid] == nil {
		t.Errorf("waiting: %v, %v", waiting, err)
	}
	if _, err := s.Ask(sample()); err == nil {
		t.Error("two processes wait for one answer")
	}
	if _, err := s.Decide(id, "d0", Answer{Approved: true, User: "bob"}); !errors.Is(err, ErrAnswered) {
		t.Errorf("another definition: %v", err)
	}
	if _, err := s.Decide("../"+id, "", Answer{}); !errors.Is(err, ErrNotFound) {
		t.Errorf("a path: %v", err)
	}
	if _, err := s.Decide(id, "d1", Answer{Approved: true, User: "bob", Comment: " ok "}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Decide(id, "", Answer{User: "eve"}); !errors.Is(err, ErrAnswered) {
		t.Errorf("a second answer: %v", err)
	}
	if a, err := w.Answer(); err != nil || a.Text() != "approved by bob: ok" {
		t.Errorf("answer: %v, %v", a, err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	// A later run with the same id asks again.
	if w, err = s.Ask(sample()); err != nil {
		t.Fatal(err)
	}
	if a, err := w.Answer(); a != nil || err != nil {
		t.Errorf("an answer to an earlier question: %v, %v", a, err)
	}
	if err := w.Close(); err != nil { // as if it had been killed
		t.Fatal(err)
	}
	if _, err := s.Decide(id, "", Answer{Approved: true, User: "bob"}); !errors.Is(err, ErrAnswered) {
		t.Errorf("a lost run: %v", err)
	}
	if waiting, err := s.Waiting(); err != nil || len(waiting) != 0 {
		t.Errorf("waiting: %v, %v", waiting, err)
	}
}

// TestQueued: questions of a queue are in its database alone.
func TestQueued(t *testing.T) {
	t.Parallel()
	q := sample()
	q.Queued = true
	if _, err := New(t.TempDir(), time.Now).Ask(q); err == nil {
		t.Error("a question of a queue is in the directory of one machine")
	}
}

// TestParseHostile: what others wrote is a question or an error.
func TestParseHostile(t *testing.T) {
	t.Parallel()
	const id = jid + "-start"
	good := `{"version":1,"jid":"` + jid + `","point":"start"}`
	for _, tt := range []struct {
		id, text string
		ok       bool
	}{
		{id, good, true},
		{id, `{}`, false},
		{id, `null`, false},
		{id, `{"version":2,"jid":"` + jid + `","point":"start"}`, false},
		{jid + "-step2", good, false},
		{"../" + id, good, false},
		{id, `{"version":1,"jid":"../` + jid + `","point":"start"}`, false},
		{id, good + strings.Repeat(" ", maxSize), false},
		{id, "", false},
	} {
		if q, err := ParseQuestion(tt.id, []byte(tt.text)); (err == nil) != tt.ok || err == nil && q.ID() != id {
			t.Errorf("ParseQuestion(%q, %.80q) = %v, %v", tt.id, tt.text, q, err)
		}
	}
}

// TestForeignHostile: files of others are not believed.
func TestForeignHostile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := New(dir, time.Now)
	w, err := s.Ask(sample())
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := os.WriteFile(filepath.Join(dir, "approvals", jid+"-start.answer"), []byte(`{"approved": true, "user": "eve"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if a, err := w.Answer(); a != nil || err != nil {
		t.Errorf("an answer without the definition: %v, %v", a, err)
	}
	if err := os.Chmod(filepath.Join(dir, "approvals"), 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := s.List(""); err == nil {
		t.Error("a directory that others can change is read")
	}
	if _, err := s.Ask(sample()); err == nil {
		t.Error("a directory that others can change is used")
	}
}
