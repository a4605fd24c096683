package link

import (
	"context"
	"os"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"brine/internal/core/fun"
	"brine/sshexec/wire"
)

// Bounds of what a tree tells.
const (
	maxListed = 50_000    // files of one saltenv; beyond that agents ask for each
	hashFile  = 256 << 10 // files up to this size are hashed ahead,
	hashTotal = 32 << 20  // up to this many bytes
	keepJobs  = 8
)

// A Tree is a snapshot of files behind salt://, with their hashes, taken once a
// job however many targets the job has. Hashes of files that did not change
// are kept from job to job. It is safe for concurrent use.
type Tree struct {
	files  fun.Files
	hashes singleflight.Group

	mu    sync.Mutex
	jobs  []string // of snaps, oldest first
	snaps map[string]*snapshot
	sums  map[string]stamped

	wants wants
	room  room
	spool spool
}

// A stamped is a hash and what the file looked like.
type stamped struct {
	stamp stamp
	sum   string
}

type stamp struct {
	size  int64
	mtime time.Time
	inode any
}

// A snapshot is the tree of one job.
type snapshot struct {
	tree    *wire.Tree
	encoded []byte
	id      string

	mu    sync.Mutex
	ahead map[string][]ref
}

// NewTree returns the tree of files; nil is a tree without files.
func NewTree(files fun.Files) *Tree {
	return &Tree{files: files, snaps: map[string]*snapshot{}, sums: map[string]stamped{}}
}

// LimitReturns sets how much memory the larger returns of a job may take
// together, in bytes; 0 is 256 MiB.
func (t *Tree) LimitReturns(n int64) *Tree {
	t.room.limit = n
	return t
}

// forgetter is a file server that keeps listings.
type forgetter interface{ Forget() }

// at returns the snapshot of a job, taken when it is first asked for.
func (t *Tree) at(ctx context.Context, jid string) (*snapshot, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s := t.snaps[jid]; s != nil {
		return s, nil
	}
	s, err := t.take(ctx)
	if err != nil {
		return nil, err
	}
	if len(t.jobs) >= keepJobs {
		delete(t.snaps, t.jobs[0])
		t.jobs = t.jobs[1:]
	}
	for _, old := range t.snaps {
		if old.id == s.id {
			// Nothing changed since: what was worked out for it holds.
			s = old
			break
		}
	}
	t.jobs = append(t.jobs, jid)
	t.snaps[jid] = s
	return s, nil
}

func (t *Tree) take(ctx context.Context) (*snapshot, error) {
	s := &snapshot{tree: &wire.Tree{}, ahead: map[string][]ref{}}
	if t.files != nil {
		if f, ok := t.files.(forgetter); ok {
			f.Forget()
		}
		envs, err := t.files.Envs(ctx)
		if err != nil {
			return nil, err
		}
		total := int64(hashTotal)
		for _, name := range envs {
			e, err := t.env(ctx, name, &total)
			if err != nil {
				return nil, err
			}
			s.tree.Envs = append(s.tree.Envs, e)
		}
	}
	var err error
	s.encoded, s.id, err = s.tree.Encode()
	return s, err
}

// env lists one saltenv; total is how many bytes may still be hashed.
func (t *Tree) env(ctx context.Context, name string, total *int64) (*wire.TreeEnv, error) {
	files, err := t.files.List(ctx, name, "")
	if err != nil {
		return nil, err
	}
	dirs, err := t.files.Dirs(ctx, name, "")
	if err != nil {
		return nil, err
	}
	e := &wire.TreeEnv{Name: name}
	if len(files)+len(dirs) > maxListed {
		e.Partial = true
		return e, nil
	}
	e.Dirs = dirs
	e.Files = make([]wire.TreeFile, 0, len(files))
	for _, fi := range files {
		f := wire.TreeFile{Path: fi.Path, Size: fi.Size, Mode: fi.Mode, Link: fi.Link}
		if fi.Mode.IsRegular() && fi.Size <= hashFile && *total >= fi.Size {
			// A file that cannot be read now has no hash; whoever opens it gets
			// the error.
			if sum, err := t.sum(ctx, name, fi); err == nil {
				f.Sum = sum
				*total -= fi.Size
			} else if ctx.Err() != nil {
				return nil, ctx.Err()
			}
		}
		e.Files = append(e.Files, f)
	}
	return e, nil
}

// sum returns the SHA-256 of a file. The lock is held.
func (t *Tree) sum(ctx context.Context, env string, fi fun.FileInfo) (string, error) {
	key := fi.Abs
	st, ok := stampOf(fi.Abs)
	if ok && t.sums[key].stamp == st {
		return t.sums[key].sum, nil
	}
	sum, err := t.files.Hash(ctx, env, fi.Path, "sha256")
	if err == nil && ok {
		t.sums[key] = stamped{st, sum}
	}
	return sum, err
}

// hash returns the SHA-256 of a file for agents that ask: those that ask at
// once for the same file wait for one working out.
func (t *Tree) hash(ctx context.Context, env string, fi fun.FileInfo) (string, error) {
	st, ok := stampOf(fi.Abs)
	t.mu.Lock()
	known := t.sums[fi.Abs]
	t.mu.Unlock()
	if ok && known.stamp == st {
		return known.sum, nil
	}
	// Whoever came first may go before it is done.
	ch := t.hashes.DoChan(env+"\x00"+fi.Path, func() (any, error) {
		sum, err := t.files.Hash(context.WithoutCancel(ctx), env, fi.Path, "sha256") // without the lock: it may be large
		if err == nil && ok {
			t.mu.Lock()
			t.sums[fi.Abs] = stamped{st, sum}
			t.mu.Unlock()
		}
		return sum, err
	})
	select {
	case r := <-ch:
		sum, _ := r.Val.(string)
		return sum, r.Err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// stampOf tells a file's state; false where it lies elsewhere. A file that was
// changed within the last two seconds may change again within the clock's
// grain, so it has none.
func stampOf(abs string) (stamp, bool) {
	if abs == "" {
		return stamp{}, false
	}
	st, err := os.Stat(abs)
	if err != nil || !st.Mode().IsRegular() || time.Since(st.ModTime()) < 2*time.Second {
		return stamp{}, false
	}
	return stamp{st.Size(), st.ModTime(), inode(st)}, true
}

// A ref names a file of a snapshot.
type ref struct {
	env  string
	file *wire.TreeFile
	// sum is the file's hash where the tree has none.
	sum  string
	body bool // its body is wanted ahead
}
