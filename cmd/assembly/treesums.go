//go:build !slim

package assembly

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"maps"
	"slices"

	"brine/internal/core/fileserver"
	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/fleet/approval"
	"brine/internal/fleet/jobs"
	"brine/internal/py/value"
)

// TreeSums are digests of what steps apply: the files of the tree and of the pillar. They
// remember files that have not been touched since, so that asking again is cheap.
type TreeSums struct {
	git  *Git
	seen map[string]seenFile
}

// A seenFile is the digest of a file as it was at a time.
type seenFile struct {
	at  host.Stat
	sum string
}

// NewTreeSums returns the digests of files, also of those that git has.
func NewTreeSums(git *Git) *TreeSums { return &TreeSums{git, map[string]seenFile{}} }

// A TreeState is a state of the files.
type TreeState struct {
	approval.Tree
	Pillar string            // by a key
	files  map[string]string // digests, by environment and path
}

// Changed returns what differs from an earlier state, in words.
func (t *TreeState) Changed(old *TreeState) (out []string) {
	names := map[string]bool{}
	for name, sum := range t.files {
		if old.files[name] != sum {
			names[name] = true
		}
	}
	for name := range old.files {
		if _, ok := t.files[name]; !ok {
			names[name] = true
		}
	}
	out = slices.Sorted(maps.Keys(names))
	const most = 3
	if n := len(out); n > most {
		out = append(out[:most], fmt.Sprintf("%d more files", n-most))
	}
	if t.Revision != old.Revision {
		out = append(out, "the commit")
	}
	if t.Pillar != old.Pillar {
		out = append(out, "the pillar")
	}
	return out
}

// State looks at the files of env; sources are the commits of its git repositories. key is
// that of the hash of the pillar, by which nobody without it can guess values.
func (t *TreeSums) State(ctx context.Context, env *fun.Env, sources *value.List, key []byte) (*TreeState, error) {
	out := &TreeState{files: map[string]string{}}
	own := *env // whose files are listed as they are now
	all := sha256.New()
	if err := t.add(ctx, &own, newUpstream(&own, t.git).files, all, out.files); err != nil {
		return nil, err
	}
	if sources != nil {
		sum(all, "sources", string(value.EncodeJSON(sources)))
	}
	pillar := hmac.New(sha256.New, key)
	if err := t.add(ctx, &own, fileserver.New(env.Host, fileserver.RootsOf(env.Opts, "pillar_roots")), pillar, map[string]string{}); err != nil {
		return nil, fmt.Errorf("the pillar: %w", err)
	}
	ext := env.Opts.List("ext_pillar")
	for i := range ext.Len() {
		sum(pillar, "ext_pillar", string(value.EncodeJSON(ext.Items[i])))
		if m, ok := ext.Items[i].(*value.Map); ok {
			for name := range m.All() {
				if value.Str(name) != "git" { // whose commits are among the sources
					out.Unknown = append(out.Unknown, "ext_pillar "+value.Str(name))
				}
			}
		}
	}
	out.Digest, out.Pillar, out.Revision = hex.EncodeToString(all.Sum(nil)), hex.EncodeToString(pillar.Sum(nil)), jobs.Revision(env)
	return out, nil
}

// add adds the files of all environments to a digest.
func (t *TreeSums) add(ctx context.Context, env *fun.Env, s *fileserver.Server, to hash.Hash, files map[string]string) error {
	envs, err := s.Envs(ctx)
	if err != nil {
		return err
	}
	slices.Sort(envs)
	for _, saltenv := range envs {
		list, err := s.List(ctx, saltenv, "")
		if err != nil {
			return err
		}
		for _, fi := range list {
			text, err := t.file(ctx, env, s, fi)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil {
				text = Unreadable(fi)
			}
			name := saltenv + ":" + fi.Path
			files[name] = text
			sum(to, name, fmt.Sprint(fi.Mode.Type(), fi.Mode&0o111 != 0), text) // the rest is that of who checked it out
		}
	}
	return nil
}

// Unreadable stands for the digest of a file that nobody can be served, such as a link that
// leads nowhere, or out of the roots. It may lead elsewhere later.
func Unreadable(fi fun.FileInfo) string { return "unreadable: " + fi.Link }

// file is the digest of a file.
func (t *TreeSums) file(ctx context.Context, env *fun.Env, s *fileserver.Server, fi fun.FileInfo) (string, error) {
	st, err := env.Host.Stat(fi.Abs)
	known := fi.Abs != "" && err == nil
	if x, ok := t.seen[fi.Abs]; known && ok && x.at.Unchanged(st) {
		return x.sum, nil
	}
	text, err := s.Hash(ctx, fi.SaltEnv, fi.Path, "sha256")
	if err == nil && known && st.Settled(env.Host.Now()) {
		t.seen[fi.Abs] = seenFile{st, text}
	}
	return text, err
}

// sum adds texts to a digest, so that none of them can look like two.
func sum(to io.Writer, texts ...string) {
	for _, text := range texts {
		_, _ = fmt.Fprintf(to, "%d:%s,", len(text), text) // a hash does not fail
	}
}
