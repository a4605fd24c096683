package gitfs

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"brine/internal/core/fun"
	"brine/internal/core/printable"
	"brine/internal/core/s3"
	"brine/internal/py/source"
	"brine/internal/py/value"
)

// A Bucket is what a remote of s3fs, or of the external pillar s3, serves.
type Bucket struct {
	Name   string
	Env    string // the saltenv that has all of it; "": each directory of the top is one
	Prefix string // what is served is below this directory
	of     s3.Service
}

// bucketOptions are the options of s3fs, which are without a remote.
//
// Salt: salt/fileserver/s3fs.py _get_s3_key.
var bucketOptions = []string{"s3.buckets", "s3.https_enable", "s3.key", "s3.keyid", "s3.location", "s3.path_style", "s3.service_url", "s3.verify_ssl"}

// otherBucketOptions are those of Salt's execution module s3.
var otherBucketOptions = []string{"s3.kms_keyid", "s3.role_arn"}

// parseBuckets reads the options of s3fs.
func parseBuckets(opts *value.Map) ([]*Remote, error) {
	for k := range opts.All() {
		name := value.Str(k)
		if strings.HasPrefix(name, "s3.") && !slices.Contains(bucketOptions, name) && !slices.Contains(otherBucketOptions, name) {
			return nil, faultAt(opts.Pos(k), "unknown option %q%s", name, source.DidYouMean(name, bucketOptions))
		}
	}
	p := parser{opts: opts, role: Buckets, conf: value.NewMap(0)}
	interval := p.seconds("update_interval", 30)
	of, err := serviceOf(opts, "s3.")
	if err = cmp.Or(p.err, err); err != nil {
		return nil, err
	}
	var out []*Remote
	add := func(env string, list value.Value, pos source.Pos) error {
		l, ok := list.(*value.List)
		if !ok {
			l = value.NewList(list)
		}
		for i, x := range l.Items {
			name, ok := x.(string)
			if !ok || !of.Bucket(name) {
				return faultAt(cmp.Or(l.PosAt(i), pos), "s3.buckets: %s is not the name of a bucket", value.Repr(x))
			}
			out = append(out, newBucket(Buckets, Bucket{Name: name, Env: env, of: of}, interval, cmp.Or(l.PosAt(i), pos)))
		}
		return nil
	}
	switch v := opts.At("s3.buckets").(type) {
	case nil:
		return nil, faultAt(opts.Pos("fileserver_backend"), "s3fs needs the option s3.buckets: a list of buckets, or a list of them for each saltenv")
	case *value.Map:
		for env, list := range v.All() {
			if name := value.Str(env); !validRef(branchPrefix + name) {
				return nil, faultAt(v.Pos(env), "s3.buckets: %q is not the name of a saltenv", name)
			} else if err := add(name, list, v.Pos(env)); err != nil {
				return nil, err
			}
		}
	default:
		err = add("", v, opts.Pos("s3.buckets"))
	}
	return out, err
}

// serviceOf reads where buckets are, by names that begin with prefix.
func serviceOf(conf *value.Map, prefix string) (s3.Service, error) {
	flag := func(name string, def bool) bool {
		if v, ok := conf.Get(prefix + name); ok && v != nil {
			return value.Truth(v)
		}
		return def
	}
	word := func(name string) string {
		if v := conf.At(prefix + name); value.Truth(v) {
			return value.Str(v)
		}
		return ""
	}
	of := s3.Service{
		Host: word("service_url"), Region: word("location"), KeyID: word("keyid"), Key: word("key"),
		Plain: !flag("https_enable", true), PathStyle: flag("path_style", false), SkipVerify: !flag("verify_ssl", true),
	}
	of.CA, _ = conf.At(prefix + "verify_ssl").(string)
	if (of.KeyID == "") != (of.Key == "") {
		return of, faultAt(conf.Pos(prefix+"keyid"), "%skeyid and %skey are needed together", prefix, prefix)
	}
	_, err := s3.New(of)
	if err != nil {
		err = faultAt(conf.Pos(prefix+"service_url"), "%sservice_url, %[1]sverify_ssl: %w", prefix, err)
	}
	return of, err
}

func newBucket(role string, b Bucket, interval time.Duration, pos source.Pos) *Remote {
	return &Remote{Role: role, URL: "s3://" + b.Name, Base: "base", RefTypes: []string{"branch"}, Interval: interval, Pos: pos, Bucket: &b, Auth: Auth{Password: b.of.Key}}
}

// PillarBuckets returns the trees of buckets, each by the arguments of the external pillar s3.
func (s *Store) PillarBuckets(ctx context.Context, all *value.List) ([]fun.PillarTree, error) {
	var out []fun.PillarTree
	for i, x := range all.Items {
		args, ok := x.(*value.Map)
		if !ok {
			return nil, faultAt(all.PosAt(i), "it needs its arguments by name, as in bucket: NAME, not %s", value.Repr(x))
		}
		tree, err := s.pillarBucket(ctx, args)
		if err != nil {
			return nil, err
		}
		if tree != nil {
			out = append(out, *tree)
		}
	}
	return out, nil
}

// pillarBucket returns the tree of a bucket.
//
// Salt: salt/pillar/s3.py. Difference: multiple_env works with a prefix too, and only what is
// below the prefix is read.
func (s *Store) pillarBucket(ctx context.Context, args *value.Map) (*fun.PillarTree, error) {
	known := []string{
		"bucket", "environment", "https_enable", "key", "keyid", "kms_keyid", "location", "multiple_env", "path_style", "prefix",
		"s3_cache_expire", "s3_sync_on_update", "service_url", "verify_ssl",
	}
	for k := range args.All() {
		if name := value.Str(k); !slices.Contains(known, name) {
			return nil, faultAt(args.Pos(k), "there is no argument %q%s", name, source.DidYouMean(name, known))
		}
	}
	b := Bucket{Name: args.Str("bucket")}
	var err error
	if b.of, err = serviceOf(args, ""); err != nil {
		return nil, err
	}
	if !b.of.Bucket(b.Name) {
		return nil, faultAt(args.Pos("bucket"), "%s is not the name of a bucket (argument bucket)", value.Repr(args.At("bucket")))
	}
	env := "base"
	if v := args.At("environment"); value.Truth(v) {
		env = value.Str(v)
	}
	p := parser{role: "s3", opts: args, conf: args}
	b.Env, b.Prefix = env, p.path("prefix", args.Str("prefix"))
	if value.Truth(args.At("multiple_env")) {
		b.Prefix = p.path("environment", b.Prefix+"/"+env)
	}
	interval := p.seconds("s3_cache_expire", 30)
	if p.err != nil {
		return nil, p.err
	}
	r := newBucket(PillarBuckets, b, interval, args.Pos("bucket"))
	commit, ok, err := s.commit(ctx, r, env)
	if err != nil || !ok {
		return nil, err
	}
	tree, err := s.tree(ctx, r, commit)
	if err != nil {
		return nil, err
	}
	return &fun.PillarTree{Env: env, Path: tree, Within: tree}, nil
}

// bucket is the program of a remote that is a bucket. Its directory has the lists of objects
// that IDs stand for.
type bucket struct {
	*Bucket
	now func() time.Time
}

// listed is an object as a file of an ID.
type listed struct {
	s3.Object
	Path string // of the file
}

// refs lists the bucket. The ID of a saltenv changes with each key, size and ETag in it.
func (b bucket) refs(ctx context.Context, dir string) (map[string]string, error) {
	c, err := s3.New(b.of)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	prefix := b.Prefix
	if prefix != "" {
		prefix += "/"
	}
	objects, err := c.List(ctx, b.Name, prefix)
	if err != nil {
		return nil, err
	}
	envs := map[string][]listed{}
	if b.Env != "" {
		envs[b.Env] = nil // a bucket without files is a saltenv without files
	}
	for _, o := range objects {
		at, below := strings.CutPrefix(o.Key, prefix)
		if !below || at == "" {
			continue
		}
		env := b.Env
		if env == "" {
			var ok bool
			if env, at, ok = strings.Cut(at, "/"); !ok || !validRef(branchPrefix+env) {
				continue
			}
		}
		if at == "" { // stands for the directory of the saltenv
			envs[env] = append(envs[env], []listed{}...)
			continue
		}
		envs[env] = append(envs[env], listed{o, at})
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	refs := map[string]string{}
	for env, files := range envs {
		text, err := json.Marshal(files)
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(text)
		id := hex.EncodeToString(sum[:20])
		if err := writeFile(filepath.Join(dir, id), text); err != nil {
			return nil, err
		}
		refs[branchPrefix+env] = id
	}
	return refs, b.forget(dir)
}

// forget removes the lists that no update has named for a day, but those of trees of the cache.
func (b bucket) forget(dir string) error {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		_, none := os.Stat(filepath.Join(filepath.Dir(dir), "trees", e.Name()))
		if fi, err := e.Info(); err == nil && none != nil && b.now().Sub(fi.ModTime()) > 24*time.Hour {
			_ = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
	return err
}

// files returns the list that an ID stands for.
func (bucket) files(dir, id string) ([]listed, error) {
	b, err := os.ReadFile(filepath.Join(dir, id))
	if err != nil {
		return nil, err
	}
	var out []listed
	return out, json.Unmarshal(b, &out)
}

func (b bucket) count(_ context.Context, dir, id string) (files, bytes int64, err error) {
	list, err := b.files(dir, id)
	for _, o := range list {
		files, bytes = files+1, bytes+o.Size
	}
	return files, bytes, err
}

// loads is how many objects are read at a time.
const loads = 8

// export reads the objects, but those that a tree of the cache has.
func (b bucket) export(ctx context.Context, dir, id, to string) (notes []string, err error) {
	list, err := b.files(dir, id)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(to)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	list, notes, err = b.place(root, list)
	if err != nil {
		return notes, err
	}
	c, err := s3.New(b.of)
	if err != nil {
		return notes, err
	}
	defer c.Close()
	here := b.here(dir, filepath.Dir(to))
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	free := make(chan struct{}, loads)
	for _, o := range list {
		if old := here[o.Object]; old != "" && os.Link(old, filepath.Join(to, o.Path)) == nil {
			continue
		}
		free <- struct{}{}
		if ctx.Err() != nil {
			break
		}
		wg.Go(func() {
			defer func() { <-free }()
			f, err := root.OpenFile(o.Path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
			if err == nil {
				err = errors.Join(c.Read(ctx, b.Name, o.Object, f), f.Close())
			}
			if err != nil {
				cancel(fmt.Errorf("read %s: %w", printable.Line(o.Key), err))
			}
		})
	}
	wg.Wait()
	return notes, context.Cause(ctx)
}

// place makes the directories of objects, and returns those that can be files.
func (bucket) place(root *os.Root, list []listed) (files []listed, notes []string, err error) {
	dirs := map[string]bool{}
	for _, o := range list {
		for i := range len(o.Path) {
			if o.Path[i] == '/' {
				dirs[o.Path[:i]] = true
			}
		}
	}
	for _, o := range list {
		name, isDir := strings.CutSuffix(o.Path, "/")
		why := ""
		switch {
		case slices.ContainsFunc(strings.Split(name, "/"), func(part string) bool { return !validName(part) }):
			why = "has a name that no file can have"
		case !isDir && dirs[name]:
			why = "is a directory of other objects, too"
		case o.Size > maxFile:
			why = fmt.Sprintf("has %d bytes, more than %d", o.Size, maxFile)
		}
		if why != "" {
			if len(notes) < maxNotes {
				notes = append(notes, fmt.Sprintf("%s %s; it is left out", printable.Line(o.Key), why))
			}
			continue
		}
		dir := name
		if !isDir {
			dir = filepath.Dir(name)
			files = append(files, o)
		}
		if err := root.MkdirAll(dir, 0o700); err != nil {
			return nil, nil, err
		}
	}
	return files, notes, nil
}

// here returns the files of the trees of the cache, by what they are in the bucket.
func (b bucket) here(dir, trees string) map[s3.Object]string {
	out := map[s3.Object]string{}
	lists, err := os.ReadDir(dir)
	if err != nil {
		return out
	}
	for _, e := range lists {
		tree := filepath.Join(trees, e.Name())
		if _, err := os.Stat(tree); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		files, err := b.files(dir, e.Name())
		if err != nil {
			continue
		}
		for _, o := range files {
			out[o.Object] = filepath.Join(tree, o.Path)
		}
	}
	return out
}
