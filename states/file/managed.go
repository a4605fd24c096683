package file

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/source"
	"brine/internal/py/value"
	"brine/modules/cp"
	files "brine/modules/file"
)

type managedGiven struct {
	_                 string      `arg:"name,required,path" doc:"absolute path of the file"`
	Source            value.Value `arg:"source,str|list" doc:"salt://, http://, https:// or file:// URL or a path; the first of a list that exists"`
	SourceHash        value.Value `arg:"source_hash,str" default:"" doc:"digest of a source that is not on the file server, as TYPE=DIGEST, or a file of digests"`
	SourceHashName    string      `arg:"source_hash_name" doc:"name to look up in a file of digests"`
	KeepSource        bool        `arg:"keep_source" default:"True" doc:"keep the copy of the source in the cache"`
	User              value.Value `arg:"user,str|int" doc:"owner, by name or ID"`
	Group             value.Value `arg:"group,str|int" doc:"group, by name or ID"`
	Mode              value.Value `arg:"mode,mode" oneof:"keep" doc:"permissions, such as '0644'; keep copies those of the source"`
	Attrs             value.Value `arg:"attrs,str" doc:"chattr(1) attributes"`
	Template          string      `arg:"template" doc:"template engine that renders the content: jinja or pongo2"`
	Makedirs          bool        `arg:"makedirs" default:"False" doc:"create missing parent directories"`
	DirMode           value.Value `arg:"dir_mode,mode" doc:"permissions of created parent directories; default: mode with search permission"`
	Context           value.Value `arg:"context" doc:"template variables; they override defaults"`
	Replace           bool        `arg:"replace" default:"True" doc:"replace the content of an existing file"`
	Defaults          value.Value `arg:"defaults" doc:"default template variables"`
	Backup            string      `arg:"backup" default:"" doc:"minion: keep a copy of the replaced file"`
	ShowChanges       bool        `arg:"show_changes" default:"True" doc:"show the diff"`
	Create            bool        `arg:"create" default:"True" doc:"create the file if it is missing"`
	Contents          value.Value `arg:"contents" doc:"content, as text or a list of lines"`
	TmpDir            string      `arg:"tmp_dir,path" default:"" doc:"directory of the temporary file for check_cmd"`
	TmpExt            string      `arg:"tmp_ext" default:"" doc:"suffix of the temporary file for check_cmd"`
	ContentsPillar    value.Value `arg:"contents_pillar,str|list" doc:"pillar key of the content, or a list of keys"`
	ContentsGrains    value.Value `arg:"contents_grains,str|list" doc:"grain that is the content, or a list of grains"`
	ContentsNewline   bool        `arg:"contents_newline" default:"True" doc:"end the content with a newline"`
	ContentsDelimiter string      `arg:"contents_delimiter" default:":" doc:"separator in contents_pillar and contents_grains"`
	Encoding          string      `arg:"encoding" doc:"encoding of the content, by Python's name; default: UTF-8"`
	EncodingErrors    string      `arg:"encoding_errors" default:"strict" doc:"handling of characters that the encoding lacks: strict, ignore, replace, xmlcharrefreplace or backslashreplace"`
	AllowEmpty        bool        `arg:"allow_empty" default:"True" doc:"accept empty contents"`
	FollowSymlinks    bool        `arg:"follow_symlinks" default:"True" doc:"write to the target of a symbolic link"`
	CheckCmd          string      `arg:"check_cmd" doc:"command that checks the new content, whose path it gets; it must succeed"`
	SkipVerify        bool        `arg:"skip_verify" default:"False" doc:"accept a web source without a digest"`
	Selinux           value.Value `arg:"selinux,dict" doc:"SELinux context; not managed"`
	windowsArgs
	windowsResetArgs
	VerifySSL bool `arg:"verify_ssl" default:"True" doc:"verify the certificates of https:// sources"`
	UseETag   bool `arg:"use_etag" default:"False" doc:"use ETag headers to check whether a web source changed"`
	Rest      fun.Kwargs
}

// managed manages a file.
//
// It fails where the source cannot be had, the directory is missing and
// makedirs is not set, the name is not absolute or is a directory, or user or
// group are not known. Salt: states/file.py managed. Differences: selinux is
// not managed.
func managed(ctx context.Context, fc *fun.Call, a *managedGiven) fun.Ret {
	c := begin(fc)
	if a.Rest.Has("file_mode") {
		c.ret.Warnings = append(c.ret.Warnings, "The 'file_mode' argument will be ignored.  Please use 'mode' instead to set file permissions.")
	}
	if value.Truth(a.Selinux) {
		c.ret.Warnings = append(c.ret.Warnings, "The 'selinux' argument is not managed by brine and was left out.")
	}
	return c.manage(ctx, a, managedArgs(c, a))
}

// A managedFile is the arguments of managed, which recurse sets for each file.
type managedFile struct {
	source, hash value.Value
	hashName     string
	keepMode     bool
	perms        files.Perms
	template     string
	makedirs     bool
	dirMode      string
	vars         *value.Map // defaults with context over them
	context      value.Value
	defaults     value.Value
	replace      bool
	backup       string
	hideDiff     bool
	create       bool
	checkCmd     string
	tmpDir       string // of the file that checkCmd sees
	tmpExt       string
	skipVerify   bool
	noVerify     bool
	useETag      bool
	dropSource   bool // keep_source: False

	text    []byte // the content that is given
	hasText bool
}

func managedArgs(c *call, a *managedGiven) *managedFile {
	user, group := c.owner(a.User, a.Group)
	m := &managedFile{
		source: a.Source, hash: a.SourceHash, hashName: a.SourceHashName,
		template: a.Template, makedirs: a.Makedirs, dirMode: files.NormMode(a.DirMode),
		context: a.Context, defaults: a.Defaults, replace: a.Replace, backup: a.Backup,
		hideDiff: !a.ShowChanges, create: a.Create, checkCmd: a.CheckCmd,
		tmpDir: a.TmpDir, tmpExt: a.TmpExt,
		skipVerify: a.SkipVerify, noVerify: !a.VerifySSL, useETag: a.UseETag,
		dropSource: !a.KeepSource,
		perms:      files.Perms{User: user, Group: group, Follow: a.FollowSymlinks, Attrs: textOf(a.Attrs)},
	}
	m.setMode(a.Mode)
	return m
}

// setMode sets the mode, of which keep is that of the source.
func (m *managedFile) setMode(mode value.Value) {
	if s, ok := mode.(string); ok && strings.EqualFold(s, "keep") {
		m.keepMode = true
		return
	}
	m.perms.Mode = files.NormMode(mode)
}

// given counts the arguments of content that are set.
func (a *managedGiven) given() (n int) {
	for _, v := range []value.Value{a.Contents, a.ContentsPillar, a.ContentsGrains} {
		if v != nil {
			n++
		}
	}
	return n
}

func (c *call) manage(ctx context.Context, a *managedGiven, m *managedFile) fun.Ret {
	name := c.path()
	if name == "" {
		return c.fail("Destination file name is required")
	}
	switch n := a.given(); {
	case value.Truth(m.source) && n > 0:
		return c.fail("'source' cannot be used in combination with 'contents', 'contents_pillar', or 'contents_grains'")
	case m.keepMode && n > 0:
		return c.fail("Mode preservation cannot be used in combination with 'contents', 'contents_pillar', or 'contents_grains'")
	case n > 1:
		return c.fail("Only one of 'contents', 'contents_pillar', and 'contents_grains' is permitted")
	case n == 1:
		if fault, err := c.contents(ctx, a, m); err != nil {
			return c.raise(err)
		} else if fault != "" {
			return c.fail("%s", fault)
		}
	case !value.Truth(m.source):
		m.replace = false // there is nothing to replace it with
	}
	return c.manageChecked(ctx, m)
}

// manageChecked manages a file whose content is known or to be fetched.
func (c *call) manageChecked(ctx context.Context, m *managedFile) fun.Ret {
	name := c.path()
	if !m.create && !c.IsFile(name) {
		return c.done(fun.OK, fmt.Sprintf("File %s is not present and is not set for creation", name))
	}
	if s := c.unknownOwner(m.perms.User, m.perms.Group); s != "" {
		return c.fail("%s", s)
	}
	if !filepath.IsAbs(name) {
		return c.fail("Specified file %s is not an absolute path", name)
	}
	if c.IsDir(name) {
		return c.fail("Specified target %s is a directory", name)
	}
	if fault := c.templateVars(m); fault != "" {
		return c.fail("%s", fault)
	}
	if !m.replace && c.Exists(name) {
		return c.permsOnly(ctx, m)
	}
	p, fault, err := c.plan(ctx, m)
	if err != nil {
		if c.Test && !isCommandError(err) {
			return c.raise(err)
		}
		return c.fail("Unable to manage file: %s", c.shown(err))
	}
	if fault != "" {
		return c.fail("%s", fault)
	}
	if c.Test {
		return c.wouldManage(ctx, p)
	}
	if m.checkCmd != "" {
		if ret, stop := c.checkCmd(ctx, m, p); stop {
			return ret
		}
	}
	ret := c.ManageFile(ctx, c.ret, *p).Ret()
	if m.dropSource && p.Source != "" {
		if cached := c.Cached(p.Source); cached != "" {
			_ = c.Host.Remove(cached) // what cannot be removed is only in the way
		}
	}
	return ret
}

// isCommandError reports whether err is one that Salt's functions raise on
// purpose, not one that it lets through as an exception.
func isCommandError(err error) bool {
	var ce *fun.CommandError
	return errors.As(err, &ce)
}

// raise reports an error as an exception: of a template in Salt's words.
func (c *call) raise(err error) fun.Ret {
	if _, ok := errors.AsType[*source.Error](err); ok {
		return fun.Raise(&value.PyError{Type: "salt.exceptions.SaltRenderError", Msg: c.shown(err)})
	}
	return fun.Raise(err)
}

// shown returns what Salt says of err; where it lies is shown beside the
// report.
func (c *call) shown(err error) string {
	if placed, ok := errors.AsType[*source.Error](err); ok {
		c.Env.Fault(placed)
		return placed.SaltText()
	}
	return host.OSError(err)
}

// templateVars makes the variables of the template.
func (c *call) templateVars(m *managedFile) string {
	context, ok := m.context.(*value.Map)
	if !ok && m.context != nil {
		return "Context must be formed as a dict"
	}
	defaults, ok := m.defaults.(*value.Map)
	if !ok && value.Truth(m.defaults) {
		return "Defaults must be formed as a dict"
	}
	attrs := value.Value(nil)
	if m.perms.Attrs != nil {
		attrs = *m.perms.Attrs
	}
	further := value.MapOf(
		"name", c.path(), "source", m.source, "user", m.perms.User, "group", m.perms.Group,
		"mode", value.OrNone(m.perms.Mode), "attrs", attrs,
	)
	further.Update(c.Kw)
	m.vars = cp.Vars(further, defaults, context)
	if acc := c.accumulated(c.path()); acc != nil {
		m.vars.Set("accumulator", acc)
	}
	return ""
}

// permsOnly checks the owner and mode of a file whose content is left alone.
func (c *call) permsOnly(ctx context.Context, m *managedFile) fun.Ret {
	name := c.path()
	was, err := c.CheckPerms(ctx, name, c.ret, m.perms)
	if err != nil {
		return fun.Raise(err)
	}
	switch {
	case c.Test && m.perms.Mode != "" && m.perms.Mode != was.Mode:
		c.ret.Comment = fmt.Sprintf("File %s will be updated with permissions %s from its current state of %s", name, m.perms.Mode, was.Mode)
	case c.Test:
		c.ret.Comment = fmt.Sprintf("File %s not updated", name)
	case c.ret.Changes.Len() == 0 && c.ret.Result == fun.OK:
		c.ret.Comment = fmt.Sprintf("File %s exists with proper permissions. No changes made.", name)
	}
	return c.ret.Ret()
}

// plan finds the source and makes the plan of what the file shall be.
func (c *call) plan(ctx context.Context, m *managedFile) (*files.Plan, string, error) {
	p := &files.Plan{
		Name: c.path(), Contents: m.text, HasText: m.hasText, Perms: m.perms, KeepMode: m.keepMode, Backup: m.backup,
		MakeDirs: m.makedirs, DirMode: m.dirMode, HideDiff: m.hideDiff, SkipVerify: m.skipVerify, UseETag: m.useETag,
	}
	if _, list := m.source.(*value.List); m.hasText || !list && !value.Truth(m.source) {
		return p, "", nil
	}
	src, hash, err := c.SourceList(ctx, m.source, m.hash)
	if err != nil {
		for _, s := range textParts(m.source) {
			c.MissingFile(ctx, "source", s, c.SaltEnv)
		}
		return nil, "", err
	}
	p.Source = src
	m.vars.Set("source", src)
	q := files.Request{
		Name: p.Name, Source: src, HashName: m.hashName, Template: m.template,
		SkipVerify: m.skipVerify, NoVerify: m.noVerify, UseETag: m.useETag, Vars: m.vars,
	}
	if value.Truth(hash) {
		q.Hash = value.Str(hash)
	}
	from, fault, err := c.GetManaged(ctx, q)
	p.From = from
	if fault != "" {
		if found, serr := cp.New(c.Env, c.SaltEnv).Exists(ctx, src); serr == nil && !found {
			c.MissingFile(ctx, "source", src, c.SaltEnv)
		}
	}
	if m.template != "" {
		// What was asked for was checked; the rendered text has a digest of its own.
		p.SkipVerify = true
	}
	return p, fault, err
}

// wouldManage reports what a run would do.
func (c *call) wouldManage(ctx context.Context, p *files.Plan) fun.Ret {
	changes, err := c.WouldChange(ctx, *p)
	if err != nil {
		return c.fail("Unable to manage file: %s", c.shown(err))
	}
	if changes.Len() == 0 {
		return c.done(fun.OK, fmt.Sprintf("The file %s is in the correct state", p.Name))
	}
	if p.HideDiff && changes.Has("diff") {
		changes.Set("diff", "<show_changes=False>")
	}
	c.ret.Changes = changes
	return c.preview(*p, changes, fmt.Sprintf("The file %s is set to be changed\nNote: No changes made, actual changes may\nbe different due to other states.", p.Name))
}

// preview reports what a run would do; in a plan also which content it would write.
func (c *call) preview(p files.Plan, changes *value.Map, comment string) fun.Ret {
	if !c.Env.Plan || !changes.Has("newfile") && !changes.Has("diff") {
		return c.done(fun.WouldChange, comment)
	}
	content, err := c.Preview(p)
	if err != nil {
		return c.fail("Unable to manage file: %s", c.shown(err))
	}
	ret := c.done(fun.WouldChange, comment)
	if content == nil {
		return ret
	}
	return ret.Planned(fun.PlanContent, content)
}

// checkCmd runs check_cmd on what the file shall be, in a temporary file; stop
// says that it did not succeed.
func (c *call) checkCmd(ctx context.Context, m *managedFile, p *files.Plan) (ret fun.Ret, stop bool) {
	dir, err := c.MkdirTemp(m.tmpDir, "brine-check-*")
	if err != nil {
		return c.fail("Unable to check_cmd file: %s", host.OSError(err)), true
	}
	defer func() { _ = c.RemoveAll(dir) }()
	tmp := *p
	tmp.Name = filepath.Join(dir, "file"+m.tmpExt)
	tmp.Backup, tmp.Perms.Attrs, tmp.HideDiff = "", nil, true
	mode := host.FileMode(0o600)
	var old []byte
	if c.IsFile(p.Name) {
		if old, err = c.ReadFile(p.Name); err != nil {
			return c.fail("Unable to copy file %s to %s: %s", p.Name, tmp.Name, host.OSError(err)), true
		}
	}
	if err := c.WriteFile(tmp.Name, strings.NewReader(string(old)), host.WriteOptions{Mode: &mode}); err != nil {
		return c.fail("Unable to check_cmd file: %s", host.OSError(err)), true
	}
	staged := c.ManageFile(ctx, files.NewReturn(tmp.Name), tmp)
	if staged.Changes.Len() == 0 {
		return fun.Ret{}, false
	}
	kw := value.MapOf("python_shell", false)
	if c.Env.Grains != nil {
		if sh, ok := c.Env.Grains.Get("shell"); ok {
			kw.Set("shell", sh)
		}
	}
	res, err := c.Env.Exec(ctx, "cmd.run_all", kw, m.checkCmd+" "+tmp.Name)
	if err != nil {
		return c.fail("Unable to check_cmd file: %s", err), true
	}
	out, _ := res.(*value.Map)
	if code, ok := value.AsInt(out.At("retcode")); ok && code == 0 {
		return fun.Ret{}, false
	}
	c.ret.Comment = "check_cmd execution failed"
	for _, k := range []string{"stdout", "stderr"} {
		if s := out.Str(k); s != "" {
			c.ret.Comment += "\n" + s
		}
	}
	c.ret.Result = fun.Failed
	c.ret.Extra = value.MapOf("skip_watch", true)
	return c.ret.Ret(), true
}
