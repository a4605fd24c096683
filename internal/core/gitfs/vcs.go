package gitfs

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"brine/internal/core/host"
	"brine/internal/core/printable"
)

// A program fetches remotes that are not git's.
type program interface {
	// refs brings what is below dir up to date, and returns names as the refs of git have
	// them, each with an ID that can be the name of a directory.
	refs(ctx context.Context, dir string) (map[string]string, error)
	// export writes the files of an ID into an empty directory.
	// notes are what it leaves out.
	export(ctx context.Context, dir, id, to string) (notes []string, err error)
	// count returns how many files an ID has, and their bytes, before they are written.
	count(ctx context.Context, dir, id string) (files, bytes int64, err error)
}

// vcsTimeout bounds one call of a client.
const vcsTimeout = time.Hour

// client runs a program that only sees what it needs.
type client struct {
	run func(ctx context.Context, c host.Cmd) (host.Output, error)
	r   *Remote
	env []string
}

// call returns what the program prints. A URL comes after "--", so that it cannot be an option.
func (c *client) call(ctx context.Context, argv ...string) ([]byte, error) {
	if c.run == nil {
		return nil, fmt.Errorf("%s cannot run here", argv[0])
	}
	out, err := c.run(ctx, host.Cmd{Argv: argv, Env: slices.Concat(os.Environ(), unasked, c.env), Timeout: vcsTimeout})
	switch {
	case err != nil && errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s needs the program %s, which is not installed", c.r.Role, argv[0])
	case err != nil:
		return nil, fmt.Errorf("run %s: %w", argv[0], err)
	case out.TimedOut:
		return nil, fmt.Errorf("%s %s was ended after %s", argv[0], argv[1], vcsTimeout)
	case out.Status != 0:
		text := printable.Line(lastLine(string(out.Stderr)))
		return nil, fmt.Errorf("%s %s ended with status %d: %s", argv[0], argv[1], out.Status, text)
	}
	return out.Stdout, nil
}

// lastLine is what a program says last of what went wrong, without the advice that follows.
func lastLine(s string) string {
	s = strings.TrimSpace(s)
	if i := strings.LastIndex("\n"+s, "\nabort: "); i >= 0 {
		s, _, _ = strings.Cut(s[i:], "\n")
	}
	return s[strings.LastIndexByte(s, '\n')+1:]
}

// unasked has ssh fail where it would ask for a password: nobody is there to answer.
var unasked = []string{"SSH_ASKPASS_REQUIRE=force", "SSH_ASKPASS=false"}

// programOf returns the client of a remote; nil for git, which needs none.
func programOf(r *Remote, run func(context.Context, host.Cmd) (host.Output, error), now func() time.Time) program {
	switch r.Role {
	case Buckets, PillarBuckets:
		return bucket{r.Bucket, now}
	case Mercurial:
		// The settings of a person count, which have what logs in; aliases and colours do not.
		return &mercurial{client{run, r, []string{"HGPLAIN=1", "HGENCODING=utf-8", "HGENCODINGMODE=replace"}}}
	case Subversion:
		return &subversion{client{run, r, []string{"LC_ALL=C.UTF-8"}}}
	}
	return nil
}

// mercurial has a clone without a working copy in dir.
type mercurial struct{ client }

// hgRef is an entry of a list that hg prints.
type hgRef struct {
	Node, Branch, Tag, Bookmark string
}

// list returns what one of the commands branches, tags and bookmarks prints.
func (m *mercurial) list(ctx context.Context, dir, command string) (map[string]string, error) {
	out, err := m.call(ctx, "hg", command, "-R", dir, "-T", "json")
	if err != nil {
		return nil, err
	}
	var all []hgRef
	if err := json.Unmarshal(out, &all); err != nil {
		return nil, fmt.Errorf("hg %s: %w", command, err)
	}
	names := map[string]string{}
	for _, x := range all {
		if len(x.Node) == 40 && isHex(x.Node) {
			names[x.Branch+x.Tag+x.Bookmark] = x.Node
		}
	}
	return names, nil
}

// whole makes an empty repository where there is none, or one that a killed hg left in the
// middle of a change.
func (m *mercurial) whole(ctx context.Context, dir string) error {
	_, missing := os.Stat(filepath.Join(dir, ".hg"))
	_, ended := os.Stat(filepath.Join(dir, ".hg", "store", "journal"))
	if missing == nil && ended != nil {
		return nil
	}
	made := dir + ".new"
	for _, d := range []string{dir, made} {
		if err := os.RemoveAll(d); err != nil {
			return err
		}
	}
	if _, err := m.call(ctx, "hg", "init", "--", made); err != nil {
		return err
	}
	return os.Rename(made, dir)
}

// refs pulls. Bookmarks that the remote no longer has would stay, so they are all removed
// before; hg adds those of the remote.
//
// Salt: salt/fileserver/hgfs.py envs, _get_ref.
func (m *mercurial) refs(ctx context.Context, dir string) (map[string]string, error) {
	if err := m.whole(ctx, dir); err != nil {
		return nil, err
	}
	if m.r.BranchMethod != "branches" {
		old, err := m.list(ctx, dir, "bookmarks")
		if err != nil {
			return nil, err
		}
		if len(old) > 0 {
			argv := append([]string{"hg", "bookmarks", "-R", dir, "--delete", "--"}, slices.Sorted(maps.Keys(old))...)
			if _, err := m.call(ctx, argv...); err != nil {
				return nil, err
			}
		}
	}
	if _, err := m.call(ctx, "hg", "pull", "-R", dir, "--noninteractive", "--quiet", "--", m.r.URL); err != nil {
		return nil, err
	}
	refs := map[string]string{}
	var err error
	add := func(command, prefix string) error {
		names, err := m.list(ctx, dir, command)
		for name, node := range names {
			if ref := prefix + name; validRef(ref) && refs[ref] == "" && name != "tip" {
				refs[ref] = node
			}
		}
		return err
	}
	if m.r.BranchMethod != "bookmarks" {
		err = add("branches", branchPrefix)
	}
	if err == nil && m.r.BranchMethod != "branches" {
		err = add("bookmarks", branchPrefix)
	}
	if err == nil {
		err = add("tags", tagPrefix)
	}
	return refs, err
}

func (m *mercurial) count(ctx context.Context, dir, id string) (files, bytes int64, err error) {
	out, err := m.call(ctx, "hg", "manifest", "-R", dir, "-r", id, "-T", `{size}\n`)
	if err != nil {
		return 0, 0, err
	}
	for line := range strings.Lines(string(out)) {
		n, err := strconv.ParseInt(strings.TrimSpace(line), 10, 64)
		if err != nil {
			return 0, 0, fmt.Errorf("hg manifest printed %q instead of a size", printable.Line(line))
		}
		files, bytes = files+1, bytes+n
	}
	return files, bytes, nil
}

func (m *mercurial) export(ctx context.Context, dir, id, to string) ([]string, error) {
	_, err := m.call(ctx, "hg", "archive", "-R", dir, "-r", id, "-t", "files", "--config", "ui.archivemeta=False", "--", to)
	return nil, err
}

// subversion asks the server; there is no copy of the repository.
type subversion struct{ client }

// svn runs the client for a directory of the repository at a revision; 0 is the newest.
func (s *subversion) svn(ctx context.Context, rev int64, at string, words ...string) ([]byte, error) {
	return s.call(ctx, slices.Concat([]string{"svn"}, words, []string{"--non-interactive", "--", s.at(rev, at)})...)
}

// at is the URL of a directory, with the revision behind it: names may have an @.
func (s *subversion) at(rev int64, dir string) string {
	var u strings.Builder
	u.WriteString(strings.TrimRight(s.r.URL, "/"))
	for part := range strings.SplitSeq(dir, "/") {
		if part != "" {
			u.WriteString("/" + url.PathEscape(part))
		}
	}
	u.WriteByte('@')
	if rev > 0 {
		u.WriteString(strconv.FormatInt(rev, 10))
	}
	return u.String()
}

// svnEntry is an entry of a list, or of an info.
type svnEntry struct {
	Kind     string `xml:"kind,attr"`
	Revision int64  `xml:"revision,attr"`
	Name     string `xml:"name"`
	Size     int64  `xml:"size"`
	Commit   struct {
		Revision int64 `xml:"revision,attr"`
	} `xml:"commit"`
}

// list returns the entries of a directory.
func (s *subversion) list(ctx context.Context, rev int64, dir string, words ...string) ([]svnEntry, error) {
	out, err := s.svn(ctx, rev, dir, append([]string{"list", "--xml"}, words...)...)
	if err != nil {
		return nil, err
	}
	var lists struct {
		Entries []svnEntry `xml:"list>entry"`
	}
	if err := xml.Unmarshal(out, &lists); err != nil {
		return nil, fmt.Errorf("svn list: %w", err)
	}
	return lists.Entries, nil
}

// find returns the revision in which a directory changed last; 0 if it does not exist. It
// looks from the top down, so that a failure is none of a directory that is not there. list
// returns what a directory has.
func find(list func(dir string) ([]svnEntry, error), top int64, dir string) (int64, error) {
	at, last := "", top
	for part := range strings.SplitSeq(dir, "/") {
		if part == "" {
			continue
		}
		entries, err := list(at)
		if err != nil {
			return 0, err
		}
		i := slices.IndexFunc(entries, func(e svnEntry) bool { return e.Kind == "dir" && e.Name == part })
		if i < 0 {
			return 0, nil
		}
		at, last = path.Join(at, part), entries[i].Commit.Revision
	}
	return last, nil
}

// refs are the trunk, as the environment base, and what is in the directories of branches
// and tags.
//
// Salt: salt/fileserver/svnfs.py envs, _env_root.
func (s *subversion) refs(ctx context.Context, _ string) (map[string]string, error) {
	out, err := s.svn(ctx, 0, "", "info", "--xml")
	if err != nil {
		return nil, err
	}
	var info struct {
		Entry svnEntry `xml:"entry"`
	}
	if err := xml.Unmarshal(out, &info); err != nil {
		return nil, fmt.Errorf("svn info: %w", err)
	}
	listed := map[string][]svnEntry{} // each directory is asked for once
	list := func(dir string) (entries []svnEntry, err error) {
		entries, ok := listed[dir]
		if !ok {
			if entries, err = s.list(ctx, info.Entry.Revision, dir); err == nil {
				listed[dir] = entries
			}
		}
		return entries, err
	}
	top := info.Entry.Commit.Revision
	refs := map[string]string{}
	for _, in := range []struct{ dir, prefix string }{{s.r.Branches, branchPrefix}, {s.r.Tags, tagPrefix}} {
		there, err := find(list, top, in.dir)
		if err != nil {
			return nil, err
		}
		if there == 0 {
			continue
		}
		entries, err := list(in.dir)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if e.Kind == "dir" && validName(e.Name) && validRef(in.prefix+e.Name) {
				refs[in.prefix+e.Name] = svnID(e.Commit.Revision, path.Join(in.dir, e.Name))
			}
		}
	}
	delete(refs, branchPrefix+"base") // which is the trunk
	delete(refs, tagPrefix+"base")
	trunk, err := find(list, top, s.r.Trunk)
	if err == nil && trunk > 0 {
		refs[branchPrefix+"base"] = svnID(trunk, s.r.Trunk)
	}
	return refs, err
}

// svnID is a directory at a revision, as the name of a directory of the cache.
func svnID(rev int64, dir string) string {
	return strconv.FormatInt(rev, 10) + "-" + strings.ReplaceAll(url.PathEscape(dir), ".", "%2E")
}

// svnPlace is what an ID stands for.
func svnPlace(id string) (rev int64, dir string, err error) {
	number, name, _ := strings.Cut(id, "-")
	if rev, err = strconv.ParseInt(number, 10, 64); err == nil {
		dir, err = url.PathUnescape(name)
	}
	return rev, dir, err
}

func (s *subversion) count(ctx context.Context, _, id string) (files, bytes int64, err error) {
	rev, dir, err := svnPlace(id)
	if err != nil {
		return 0, 0, err
	}
	entries, err := s.list(ctx, rev, dir, "-R")
	for _, e := range entries {
		files, bytes = files+1, bytes+e.Size
	}
	return files, bytes, err
}

func (s *subversion) export(ctx context.Context, _, id, to string) ([]string, error) {
	rev, dir, err := svnPlace(id)
	if err != nil {
		return nil, err
	}
	_, err = s.call(ctx, "svn", "export", "--quiet", "--force", "--ignore-externals", "--non-interactive", "--", s.at(rev, dir), to)
	return nil, err
}

// exported writes the files of an ID into an empty directory, within the bounds of git's
// trees.
func exported(ctx context.Context, p program, dir, id, to string) (notes []string, err error) {
	files, bytes, err := p.count(ctx, dir, id)
	switch {
	case err != nil:
		return nil, err
	case files > maxEntries:
		return nil, fmt.Errorf("it has more than %d files", maxEntries)
	case bytes > maxTotal:
		return nil, fmt.Errorf("its files have more than %d bytes", int64(maxTotal))
	case files == 0: // which hg takes for a failure
		return nil, nil
	}
	if notes, err = p.export(ctx, dir, id, to); err != nil {
		return nil, err
	}
	err = filepath.WalkDir(to, func(at string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		fi, err := d.Info()
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(to, at)
		switch {
		case fi.IsDir() || fi.Mode()&fs.ModeSymlink != 0: // where a link leads is checked when it is used
			return nil
		case !fi.Mode().IsRegular():
			notes = append(notes, fmt.Sprintf("%s is not a file; it is left out", printable.Line(name)))
			return os.Remove(at)
		case fi.Size() > maxFile:
			notes = append(notes, fmt.Sprintf("%s has %d bytes, more than %d; it is left out", printable.Line(name), fi.Size(), maxFile))
			return os.Remove(at)
		}
		return os.Chmod(at, 0o644|fi.Mode()&0o111)
	})
	return notes[:min(len(notes), maxNotes)], err
}
