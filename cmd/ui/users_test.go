package ui

import (
	"os"
	"strings"
	"testing"
	"time"

	"brine/cmd/app"
	"brine/internal/core/host"
)

// TestUsersFile reads the file of users again when it changes.
func TestUsersFile(t *testing.T) {
	t.Parallel()
	h := host.NewFake()
	var errs strings.Builder
	f := newUsersFile(&app.App{Host: h, Err: &errs}, "/etc/users")
	put := func(text string, mode os.FileMode) {
		h.SetNow(h.Now().Add(time.Second))
		h.PutFile("/etc/users", text, mode)
	}
	put("ann:viewer:-\n", 0o600)
	if one, err := f.now(); err != nil {
		t.Error(err)
	} else if two, _ := f.now(); two == one {
		t.Error("a file of just now was not read again: it may have changed at the same time")
	}
	h.SetNow(h.Now().Add(time.Minute))
	first, err := f.now()
	if again, _ := f.now(); err != nil || first == nil || again != first {
		t.Errorf("users %v, again %v, %v", first, again, err)
	}
	put("ann:editor:-\n", 0o600)
	if next, err := f.now(); err != nil || next == first {
		t.Errorf("users %v, %v", next, err)
	}
	for range 3 {
		put("ann:editor:-\n", 0o620)
		if u, err := f.now(); err == nil || u != nil {
			t.Errorf("others may write to the file: %v", u)
		}
	}
	if strings.Count(errs.String(), "nobody can log in") != 1 {
		t.Errorf("printed: %s", errs.String())
	}
	put("ann:editor:-\n", 0o600)
	if _, err := f.now(); err != nil {
		t.Error(err)
	}
	// The directory was away for a moment: the file is what it was.
	f.app.Host = host.NewFake()
	if _, err := f.now(); err == nil {
		t.Error("a file that is not there was read")
	}
	f.app.Host = h
	if u, err := f.now(); err != nil || u == nil {
		t.Errorf("the file is back: %v", err)
	}
}
