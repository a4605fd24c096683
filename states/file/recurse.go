package file

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	files "brine/modules/file"
)

// A recursePlan is the arguments of recurse that say which files there are.
type recursePlan struct {
	name              string
	source            value.Value
	keepLinks, empty  bool
	include, exclude  value.Value
	maxDepth          int // -1 means no limit
	saltenv           string
	sourcePath, senv  string // set when the source is found
	forceLinks, clean bool
}

// recurseFrom reads the plan from the low chunk of a recurse state.
func recurseFrom(name string, low *fun.Chunk) recursePlan {
	m := low.Low
	p := recursePlan{
		name: name, source: m.At("source"), keepLinks: value.Truth(m.At("keep_symlinks")), empty: value.Truth(m.At("include_empty")),
		include: m.At("include_pat"), exclude: m.At("exclude_pat"), maxDepth: -1, saltenv: low.SaltEnv,
	}
	if n, ok := value.AsInt(m.At("maxdepth")); ok {
		p.maxDepth = int(n)
	}
	return p
}

// A recurseSet is what a recurse state has: files with their sources,
// directories, links with their targets, all below the plan's name, and what
// clean keeps.
type recurseSet struct {
	keptLinks []string // paths in the source
	files     []managedSource
	dirs      []string
	links     []managedSource
	keep      map[string]bool
}

type managedSource struct{ dest, source string }

// relOK reports whether a relative path of the server may be used, and is not
// too deep. Salt: _is_valid_relpath.
func (p *recursePlan) relOK(rel string) bool {
	if strings.Contains("/"+rel+"/", "/../") {
		return false
	}
	return p.maxDepth < 0 || strings.Count(strings.Trim(rel, "/"), "/") <= p.maxDepth
}

// recurseSet lists what the source has. Salt: _gen_recurse_managed_files.
func (c *call) recurseSet(ctx context.Context, p recursePlan) (*recurseSet, error) {
	if p.sourcePath == "" && p.senv == "" {
		if err := c.findSource(ctx, &p); err != nil {
			return nil, err
		}
	}
	set := &recurseSet{keep: map[string]bool{}}
	all, err := c.Env.Up.List(ctx, p.senv, p.sourcePath)
	if err != nil {
		return nil, err
	}
	// rel returns a path below the source, and whether it is copied.
	rel := func(full string) (string, bool) {
		r, ok := strings.CutPrefix(full, p.sourcePath+"/")
		if p.sourcePath == "" {
			r, ok = full, true
		}
		return r, ok && r != "" && !set.linked(full) && p.relOK(r) && c.included(r, p.include, p.exclude)
	}
	if p.keepLinks {
		for _, fi := range all {
			if r, ok := rel(fi.Path); ok && fi.Link != "" {
				dest := filepath.Join(p.name, r)
				set.links = append(set.links, managedSource{dest, fi.Link})
				set.keep[dest] = true
				set.keptLinks = append(set.keptLinks, fi.Path)
			}
		}
	}
	for _, fi := range all {
		if r, ok := rel(fi.Path); ok && !fi.Mode.IsDir() {
			dest := filepath.Join(p.name, filepath.FromSlash(r))
			set.keep[dest] = true
			set.dirs = append(set.dirs, filepath.Dir(dest))
			set.files = append(set.files, managedSource{dest, "salt://" + fi.Path + "?saltenv=" + p.senv})
		}
	}
	if p.empty {
		dirs, err := c.Env.Up.Dirs(ctx, p.senv, p.sourcePath)
		if err != nil {
			return nil, err
		}
		for _, d := range dirs {
			if r, ok := rel(d); ok {
				dest := filepath.Join(p.name, filepath.FromSlash(r))
				set.dirs = append(set.dirs, dest)
				set.keep[dest] = true
			}
		}
	}
	slices.Sort(set.dirs)
	set.dirs = slices.Compact(set.dirs)
	return set, nil
}

// linked reports whether a path of the source is a link that is kept, or below
// one: what exists is not copied.
func (s *recurseSet) linked(full string) bool {
	return slices.ContainsFunc(s.keptLinks, func(l string) bool { return full == l || strings.HasPrefix(full, l+"/") })
}

// findSource sets where the source is.
func (c *call) findSource(ctx context.Context, p *recursePlan) error {
	f := *c.FS
	if p.saltenv != "" {
		f.SaltEnv = p.saltenv
	}
	var list value.List
	for _, s := range textParts(p.source) {
		list.Append(strings.TrimRight(s, "/"))
	}
	src, _, err := f.SourceList(ctx, &list, "")
	if err != nil {
		return err
	}
	rel, senv, _ := fun.SplitURL(src)
	if senv == "" {
		senv = f.SaltEnv
	}
	p.sourcePath, p.senv = strings.Trim(path.Clean("/"+rel), "/"), senv
	return nil
}

type recurseArgs struct {
	_              string         `arg:"name,required,path" doc:"absolute path of the directory to fill"`
	Source         value.Value    `arg:"source,required,str|list" doc:"salt:// URL of a directory; the first of a list that exists"`
	KeepSource     bool           `arg:"keep_source" default:"True" doc:"keep the copies of the sources in the cache"`
	Clean          bool           `arg:"clean" default:"False" doc:"remove files that are not in the source"`
	Require        value.Value    `arg:"require,list" doc:"requisites; clean keeps their files"`
	User           value.Value    `arg:"user,str|int" doc:"owner, by name or ID"`
	Group          value.Value    `arg:"group,str|int" doc:"group, by name or ID"`
	DirMode        value.Value    `arg:"dir_mode,mode" doc:"permissions of directories"`
	FileMode       value.Value    `arg:"file_mode,mode" oneof:"keep" doc:"permissions of files; keep copies those of the sources"`
	SymMode        value.Value    `arg:"sym_mode,mode" doc:"permissions of directories that are created for symbolic links"`
	Template       string         `arg:"template" doc:"template engine that renders the files: jinja or pongo2"`
	Context        value.Value    `arg:"context" doc:"template variables; they override defaults"`
	Replace        bool           `arg:"replace" default:"True" doc:"replace the content of existing files"`
	Defaults       value.Value    `arg:"defaults" doc:"default template variables"`
	IncludeEmpty   bool           `arg:"include_empty" default:"False" doc:"create empty directories too"`
	Backup         string         `arg:"backup" default:"" doc:"minion: keep copies of replaced files"`
	IncludePat     value.Value    `arg:"include_pat,str|list[str]" doc:"globs, or regular expressions after E@, of files to copy"`
	ExcludePat     value.Value    `arg:"exclude_pat,str|list[str]" doc:"globs, or regular expressions after E@, of files not to copy and not to clean"`
	Maxdepth       fun.Opt[int64] `arg:"maxdepth" doc:"levels of directories to copy; 0 copies only files directly in the source"`
	KeepSymlinks   bool           `arg:"keep_symlinks" default:"False" doc:"create symbolic links for those in the source instead of copying their targets"`
	ForceSymlinks  bool           `arg:"force_symlinks" default:"False" doc:"replace files that have the names of such links"`
	ShowChanges    bool           `arg:"show_changes" default:"True" doc:"show diffs of files; if False, changes show only that a file changed"`
	FollowSymlinks bool           `arg:"follow_symlinks" default:"True" doc:"write to the targets of symbolic links instead of replacing the links"`
	windowsArgs
	fun.SystemPath
	Rest fun.Kwargs
}

// recurse copies a directory of the file server.
//
// It fails where the source is not a directory there, where something else than a
// directory is at the name, or where one of the files fails.
// Salt: states/file.py recurse. Difference: files are in order of their names.
func recurse(ctx context.Context, fc *fun.Call, a *recurseArgs) fun.Ret {
	c := begin(fc)
	name := c.path()
	if a.Rest.Has("mode") {
		return c.fail("'mode' is not allowed in 'file.recurse'. Please use 'file_mode' and 'dir_mode'.")
	}
	user, group := c.owner(a.User, a.Group)
	dirMode := files.NormMode(a.DirMode)
	if s := c.unknownOwner(user, group); s != "" {
		return c.fail("%s", s)
	}
	if !filepath.IsAbs(name) {
		return c.fail("Specified file %s is not an absolute path", name)
	}
	if a.Clean {
		if err := c.CheckSystem(name, true); err != nil {
			return c.fail("%s", err)
		}
	}
	for _, s := range textParts(a.Source) {
		if !strings.HasPrefix(s, "salt://") {
			return c.fail("Invalid source '%s' (must be a salt:// URI)", strings.TrimRight(s, "/"))
		}
	}
	p := recursePlan{
		name: name, source: a.Source, keepLinks: a.KeepSymlinks, empty: a.IncludeEmpty,
		include: a.IncludePat, exclude: a.ExcludePat, maxDepth: -1, saltenv: c.SaltEnv,
		forceLinks: a.ForceSymlinks, clean: a.Clean,
	}
	if a.Maxdepth.Given {
		p.maxDepth = int(a.Maxdepth.V)
	}
	if err := c.findSource(ctx, &p); err != nil {
		for _, s := range textParts(p.source) {
			c.MissingFile(ctx, "source", s, cmp.Or(p.saltenv, c.SaltEnv))
		}
		return c.fail("Recurse failed: %s", err)
	}
	if fi, err := c.Env.Up.Stat(ctx, p.senv, p.sourcePath); err != nil || !fi.Mode.IsDir() {
		return c.fail("The directory '%s' does not exist on the salt fileserver in saltenv '%s'", p.sourcePath, p.senv)
	}
	perms := files.Perms{User: user, Group: group, Mode: dirMode}
	if !c.IsDir(name) {
		if c.Exists(name) {
			return c.fail("The path %s exists and is not a directory", name)
		}
		if !c.Test {
			if err := c.Mkdir(ctx, name, perms); err != nil {
				return c.fail("Failed to create directory %s: %s", name, host.OSError(err))
			}
		}
	}
	set, err := c.recurseSet(ctx, p)
	if err != nil {
		return c.fail("Recurse failed: %s", err)
	}
	b := &batch{call: c, a: a}
	if err := b.copyAll(ctx, set, p, perms); err != nil {
		return fun.Raise(err)
	}
	if p.clean {
		keep := c.keepFiles(ctx, name, a.Require)
		maps.Copy(keep, set.keep)
		removed, err := c.cleanDir(ctx, name, keep, p.exclude)
		if err != nil {
			return c.fail("Failed to clean %s: %s", name, host.OSError(err))
		}
		b.removed(removed)
	}
	return b.ret()
}

// copyAll makes the links, directories and files of a tree. It returns an error
// that ends the state.
func (b *batch) copyAll(ctx context.Context, set *recurseSet, p recursePlan, perms files.Perms) error {
	for _, l := range set.links {
		b.merge(l.dest, b.sub(l.dest).symlink(ctx, linkPlan{
			target: l.source, makedirs: true, force: p.forceLinks, user: perms.User, group: perms.Group, mode: files.NormMode(b.a.SymMode),
		}))
		if b.raised != nil {
			return b.raised
		}
	}
	for _, d := range set.dirs {
		if b.directory(ctx, d, perms, p.clean); b.raised != nil {
			return b.raised
		}
	}
	for _, f := range set.files {
		if err := ctx.Err(); err != nil {
			return err
		}
		if b.file(ctx, f, perms.User, perms.Group, p.clean); b.raised != nil {
			return b.raised
		}
	}
	return nil
}

// A batch gathers the returns of the parts of a recurse state.
type batch struct {
	*call
	a        *recurseArgs
	paths    []string
	comments map[string][]string
	raised   error // of a part: it is one of the whole, which goes no further
}

// sub returns the call of a part.
func (c *call) sub(path string) *call {
	s := *c
	s.ret = files.NewReturn(path)
	return &s
}

func (b *batch) note(path string, comments ...string) {
	if b.comments == nil {
		b.comments = map[string][]string{}
	}
	if _, ok := b.comments[path]; !ok {
		b.paths = append(b.paths, path)
	}
	b.comments[path] = append(b.comments[path], comments...)
}

// merge takes the return of a part in: the worst result, the comment where it
// is not good, and the changes.
func (b *batch) merge(path string, r fun.Ret) {
	if r.Err != nil {
		b.raised = r.Err
		return
	}
	if r.Result == fun.Failed || b.call.ret.Result == fun.OK {
		b.call.ret.Result = r.Result
	}
	if r.Result != fun.OK && value.Truth(r.Comment) {
		b.note(path, value.Str(r.Comment))
	}
	if ch, ok := r.Changes.(*value.Map); ok && ch.Len() > 0 {
		b.call.ret.Changes.Set(path, ch)
	}
}

// replaceOther removes what is at path and is not what it is to become.
func (b *batch) replaceOther(path, would, did string) (stop bool) {
	r := fun.Ret{Result: fun.OK}
	if b.Test {
		r.Result, r.Comment = fun.WouldChange, would
		b.merge(path, r)
		return true
	}
	if _, err := b.Remove(path); err != nil {
		b.merge(path, fun.Fail("%s", err))
		return true
	}
	r.Changes = value.MapOf("diff", did)
	b.merge(path, r)
	return false
}

func (b *batch) directory(ctx context.Context, path string, perms files.Perms, clean bool) {
	if clean && b.Exists(path) && !b.IsDir(path) {
		if b.replaceOther(path, fmt.Sprintf("Replacing %s with a directory", path), "Replaced file with a directory") {
			return
		}
	}
	b.merge(path, b.sub(path).directory(ctx, dirPlan{
		user: perms.User, group: perms.Group, dirMode: perms.Mode, maxDepth: -1, makedirs: true, allowLink: true,
	}))
}

func (b *batch) file(ctx context.Context, f managedSource, user, group value.Value, clean bool) {
	c := b.call
	replace := b.a.Replace
	if clean && replace && c.IsDir(f.dest) {
		if b.replaceOther(f.dest, fmt.Sprintf("Replacing directory %s with a file", f.dest), "Replaced directory with a new file") {
			return
		}
	}
	m := &managedFile{
		source: f.source, hash: "", template: b.a.Template, makedirs: true, context: b.a.Context,
		defaults: b.a.Defaults, replace: replace, backup: b.a.Backup, create: true, dropSource: !b.a.KeepSource,
		perms: files.Perms{User: user, Group: group, Follow: true},
	}
	m.setMode(b.a.FileMode)
	m.hideDiff, m.perms.Follow = !b.a.ShowChanges, b.a.FollowSymlinks
	b.merge(f.dest, c.sub(f.dest).manageChecked(ctx, m))
}

func (b *batch) removed(paths []string) {
	if len(paths) == 0 {
		return
	}
	r := b.call.ret
	if !b.Test {
		r.Changes.Set("removed", value.Strings(paths...))
		return
	}
	if r.Result == fun.OK {
		r.Result = fun.WouldChange
	}
	b.note("removed", paths...)
}

// ret reports the whole.
func (b *batch) ret() fun.Ret {
	r := b.call.ret
	var parts []string
	for _, p := range b.paths {
		parts = append(parts, fmt.Sprintf("\n#### %s ####\n%s", p, strings.Join(b.comments[p], "\n")))
	}
	r.Comment = strings.TrimSpace(strings.Join(parts, "\n"))
	if r.Comment == "" {
		r.Comment = "Recursively updated " + r.Name
	}
	if r.Changes.Len() == 0 && r.Result == fun.OK {
		r.Comment = fmt.Sprintf("The directory %s is in the correct state", r.Name)
	}
	return r.Ret()
}
