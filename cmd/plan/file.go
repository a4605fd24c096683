package plan

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"brine/cmd/app"
	"brine/internal/view/plan"
)

// planKey returns the key of the user's plans, which is made on first use.
func planKey(a *app.App) (*plan.Key, error) {
	dir := a.Getenv("XDG_CACHE_HOME")
	if dir == "" {
		home := a.Getenv("HOME")
		if home == "" {
			return nil, errors.New("there is no place for the key of plans: HOME is not set")
		}
		dir = filepath.Join(home, ".cache")
	}
	dir = filepath.Join(dir, "brine")
	path := filepath.Join(dir, "plan.key")
	if key, err := readKey(a, path); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make a key for plans: %w", err)
	}
	key := make([]byte, plan.KeySize)
	if _, err := rand.Read(key); err != nil {
		return nil, fmt.Errorf("make a key for plans: %w", err)
	}
	// Linked into place, a key is there whole or not at all, and the first wins.
	tmp, err := os.CreateTemp(dir, ".plan.key.*") // with mode 0600
	if err != nil {
		return nil, fmt.Errorf("make a key for plans: %w", err)
	}
	defer func() { _ = os.Remove(tmp.Name()) }()
	_, err = tmp.Write(key)
	if cerr := tmp.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Link(tmp.Name(), path)
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("make a key for plans: %w", err)
	}
	return readKey(a, path)
}

// readKey reads a key that nobody else can know.
func readKey(a *app.App, path string) (*plan.Key, error) {
	st, err := a.Host.Lstat(path)
	if err != nil {
		return nil, fmt.Errorf("key of plans: %w", err)
	}
	if !st.Mode.IsRegular() || st.Perm()&0o077 != 0 || st.UID != a.Host.Geteuid() {
		return nil, &app.StatusError{Status: app.ExitGeneric, Err: fmt.Errorf("key of plans: %s is not a file that only you can read", path), Hint: "remove it: a new one is made, and earlier plans cannot be applied"}
	}
	secret, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("key of plans: %w", err)
	}
	key, err := plan.NewKey(secret)
	if err != nil {
		return nil, &app.StatusError{Status: app.ExitGeneric, Err: fmt.Errorf("key of plans: %s: %w", path, err), Hint: "remove it: a new one is made, and earlier plans cannot be applied"}
	}
	return key, nil
}

// save writes the file of a plan, which only the user can read.
func (m *madePlan) save(path string) error {
	data, err := plan.Encode(m.Plan, m.key)
	if err != nil {
		return fmt.Errorf("write the plan: %w", err)
	}
	if len(data) > plan.MaxFile {
		return fmt.Errorf("write the plan: it is larger than %d MiB", plan.MaxFile>>20)
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*") // with mode 0600
	if err != nil {
		return fmt.Errorf("write the plan: %w", err)
	}
	_, err = tmp.Write(data)
	if cerr := tmp.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		_ = os.Remove(tmp.Name())
		return fmt.Errorf("write the plan: %w", err)
	}
	return nil
}

// readPlan reads a plan that this user made.
func readPlan(a *app.App, path string) (*plan.Plan, error) {
	st, err := a.Host.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &app.StatusError{Status: app.ExitGeneric, Err: fmt.Errorf("there is no plan %s", path), Hint: "'brine plan <sls> -o " + path + "' makes one"}
	}
	if err != nil {
		return nil, fmt.Errorf("plan: %w", err)
	}
	switch {
	case !st.Mode.IsRegular():
		return nil, fmt.Errorf("plan %s: it is not a regular file", path)
	case st.UID != a.Host.Geteuid():
		return nil, &app.StatusError{Status: app.ExitGeneric, Err: fmt.Errorf("plan %s: the file belongs to another user (uid %d)", path, st.UID), Hint: "a plan is applied by who made it"}
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("plan: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, plan.MaxFile+1))
	if err != nil {
		return nil, fmt.Errorf("plan %s: %w", path, err)
	}
	key, err := planKey(a)
	if err != nil {
		return nil, err
	}
	p, err := plan.Decode(data, key)
	if err != nil {
		return nil, &app.StatusError{Status: app.ExitGeneric, Err: fmt.Errorf("plan %s: %w", path, err), Hint: "make it again with 'brine plan'"}
	}
	return p, nil
}
