package file

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/cp"
)

// BackupSuffix returns the suffix that the argument backup asks for; "" is no backup.
func BackupSuffix(backup value.Value) string {
	if value.Truth(backup) {
		return value.Str(backup)
	}
	return ""
}

func textOf(o fun.Opt[string]) *string {
	if !o.Given {
		return nil
	}
	return &o.V
}

// changed returns the difference of lines where show says so, or whether there is one.
func changed(show bool, before, after []string) (fun.Result, error) {
	d := DiffLines(before, after)
	if !show {
		return fun.Value(d != "")
	}
	return fun.Value(d)
}

type blockReplaceRowArgs struct {
	pathArg
	MarkerStart       string        `arg:"marker_start" default:"#-- start managed zone --" doc:"text of the line before the block"`
	MarkerEnd         string        `arg:"marker_end" default:"#-- end managed zone --" doc:"text of the line after it"`
	Content           string        `arg:"content" default:"" doc:"the lines of the block"`
	AppendIfNotFound  bool          `arg:"append_if_not_found" default:"False" doc:"append the block if there are no markers"`
	PrependIfNotFound bool          `arg:"prepend_if_not_found" default:"False" doc:"prepend the block if there are no markers"`
	Backup            value.Value   `arg:"backup,str|bool" default:"'.bak'" doc:"keep a copy of the file with this suffix; False keeps none"`
	DryRun            bool          `arg:"dry_run" default:"False" doc:"change nothing"`
	ShowChanges       bool          `arg:"show_changes" default:"True" doc:"return the diff instead of whether there is one"`
	AppendNewline     fun.Opt[bool] `arg:"append_newline" default:"False" doc:"end the content with a newline; None: only if it has none"`
	InsertBeforeMatch string        `arg:"insert_before_match" doc:"if there are no markers, add the block before the first line that matches"`
	InsertAfterMatch  string        `arg:"insert_after_match" doc:"if there are no markers, add the block after the first line that matches"`
}

func blockReplaceRow(_ context.Context, c *fun.Call, a *blockReplaceRowArgs) (fun.Result, error) {
	f := on(c)
	b := Block{
		Path: a.Path, Start: a.MarkerStart, End: a.MarkerEnd, Content: a.Content,
		Append: a.AppendIfNotFound, Prepend: a.PrependIfNotFound,
		InsertBefore: a.InsertBeforeMatch, InsertAfter: a.InsertAfterMatch, Backup: BackupSuffix(a.Backup), DryRun: a.DryRun,
	}
	if a.AppendNewline.Given {
		nl := a.AppendNewline.V
		b.Newline = &nl
	}
	before, after, err := f.BlockReplace(b)
	if err != nil {
		return fun.Result{}, err
	}
	return changed(a.ShowChanges, before, after)
}

// commentGiven are the arguments of comment and uncomment.
type commentGiven struct {
	pathArg
	regexArg
	commentArgs
	backupArgs
}

func comment(_ context.Context, c *fun.Call, a *commentGiven) (fun.Result, error) {
	return setComment(c, a, true)
}

func uncomment(_ context.Context, c *fun.Call, a *commentGiven) (fun.Result, error) {
	return setComment(c, a, false)
}

func setComment(c *fun.Call, a *commentGiven, commented bool) (fun.Result, error) {
	f := on(c)
	before, after, err := f.CommentLine(a.Path, a.Regex, a.Char, commented, BackupSuffix(a.Backup))
	if err != nil {
		return fun.Result{}, err
	}
	if before == nil {
		return fun.Value(false)
	}
	return fun.Value(DiffLines(before, after))
}

type commentLineRowArgs struct {
	pathArg
	regexArg
	Char string `arg:"char" default:"#" doc:"the comment character"`
	Cmnt bool   `arg:"cmnt" default:"True" doc:"False removes the comment character"`
	backupArgs
}

func commentLineRow(_ context.Context, c *fun.Call, a *commentLineRowArgs) (fun.Result, error) {
	f := on(c)
	before, after, err := f.CommentLine(a.Path, a.Regex, a.Char, a.Cmnt, BackupSuffix(a.Backup))
	if err != nil {
		return fun.Result{}, err
	}
	if before == nil {
		return fun.Value(false)
	}
	return fun.Value(DiffLines(before, after))
}

type lineRowArgs struct {
	pathArg
	Content     fun.Opt[string] `arg:"content" doc:"the line"`
	Match       string          `arg:"match" doc:"text or regular expression of the line; default: content"`
	Mode        string          `arg:"mode" doc:"insert, ensure, replace or delete"`
	Location    string          `arg:"location" doc:"where to insert: start or end"`
	Before      fun.Opt[string] `arg:"before" doc:"line before which to insert"`
	After       fun.Opt[string] `arg:"after" doc:"line after which to insert"`
	ShowChanges bool            `arg:"show_changes" default:"True" doc:"return the diff instead of whether there is one"`
	Backup      bool            `arg:"backup" default:"False" doc:"keep a copy of the file with the time as suffix"`
	Quiet       bool            `arg:"quiet" default:"False" doc:"a missing file is not an error"`
	Indent      bool            `arg:"indent" default:"True" doc:"indent like the neighbouring line"`
}

func lineRow(_ context.Context, c *fun.Call, a *lineRowArgs) (fun.Result, error) {
	f := on(c)
	before, after, err := f.Line(LineEdit{
		Path: a.Path, Content: textOf(a.Content), Match: a.Match, Mode: a.Mode, Location: a.Location,
		Before: textOf(a.Before), After: textOf(a.After), Backup: a.Backup, Quiet: a.Quiet, NoIndent: !a.Indent,
	})
	if err != nil {
		return fun.Result{}, err
	}
	if d := DiffLines(before, after); d != "" && a.ShowChanges {
		return fun.Value(d)
	}
	return fun.Value(strings.Join(before, "") != strings.Join(after, ""))
}

type replaceRowArgs struct {
	pathArg
	patternArg
	Repl              string          `arg:"repl,required" doc:"the replacement"`
	Count             int64           `arg:"count" default:"0" doc:"replace at most this many matches; 0 is all"`
	Flags             value.Value     `arg:"flags,str|int|list[str]" default:"8" doc:"flags of the expression: names, or Python's number"`
	_                 value.Value     `arg:"bufsize,str|int" default:"1" doc:"accepted"`
	AppendIfNotFound  bool            `arg:"append_if_not_found" default:"False" doc:"append the text if nothing matches"`
	PrependIfNotFound bool            `arg:"prepend_if_not_found" default:"False" doc:"prepend the text if nothing matches"`
	NotFoundContent   fun.Opt[string] `arg:"not_found_content" doc:"text to add then; default: repl"`
	Backup            value.Value     `arg:"backup,str|bool" default:"'.bak'" doc:"keep a copy of the file with this suffix; False keeps none"`
	DryRun            bool            `arg:"dry_run" default:"False" doc:"change nothing"`
	SearchOnly        bool            `arg:"search_only" default:"False" doc:"only return whether it matches"`
	ShowChanges       bool            `arg:"show_changes" default:"True" doc:"return the diff instead of whether there is one"`
	IgnoreIfMissing   bool            `arg:"ignore_if_missing" default:"False" doc:"a missing file is not an error"`
	_                 bool            `arg:"preserve_inode" default:"True" doc:"accepted; the file is replaced atomically"`
	BackslashLiteral  bool            `arg:"backslash_literal" default:"False" doc:"take backslashes in repl literally"`
}

func replaceRow(_ context.Context, c *fun.Call, a *replaceRowArgs) (fun.Result, error) {
	f := on(c)
	flags, err := ReFlags(a.Flags)
	if err != nil {
		return fun.Result{}, err
	}
	if a.SearchOnly {
		if a.AppendIfNotFound || a.PrependIfNotFound {
			return fun.Result{}, invalid("search_only cannot be used with append/prepend_if_not_found")
		}
		return wrap(f.Search(a.Path, a.Pattern, flags, a.IgnoreIfMissing))
	}
	count := a.Count
	before, after, err := f.Replace(Replacement{
		Path: a.Path, Pattern: a.Pattern, Repl: a.Repl, Count: int(count), Flags: flags,
		Append: a.AppendIfNotFound, Prepend: a.PrependIfNotFound, NotFound: textOf(a.NotFoundContent),
		Backup: BackupSuffix(a.Backup), DryRun: a.DryRun || f.Test, IgnoreMissing: a.IgnoreIfMissing, Literal: a.BackslashLiteral,
	})
	if err != nil {
		return fun.Result{}, err
	}
	if before == nil && after == nil && !f.Exists(f.Expand(a.Path)) {
		return fun.Value(false)
	}
	return changed(a.ShowChanges, before, after)
}

type sedArgs struct {
	pathArg
	Before      string      `arg:"before,required" doc:"the pattern"`
	After       string      `arg:"after,required" doc:"the replacement"`
	Limit       string      `arg:"limit" default:"" doc:"pattern of the lines to edit"`
	Backup      value.Value `arg:"backup,str|bool" default:"'.bak'" doc:"keep a copy of the file with this suffix; False keeps none"`
	Options     string      `arg:"options" default:"-r -e" doc:"options of sed"`
	Flags       string      `arg:"flags" default:"g" doc:"flags of the s command"`
	EscapeAll   bool        `arg:"escape_all" default:"False" doc:"take special characters literally"`
	NegateMatch bool        `arg:"negate_match" default:"False" doc:"edit the lines that limit does not match"`
}

func sed(ctx context.Context, c *fun.Call, a *sedArgs) (fun.Result, error) {
	f := on(c)
	p := f.Expand(a.Path)
	if !f.Exists(p) {
		return fun.Value(false)
	}
	esc := func(s string) string {
		s = strings.ReplaceAll(s, "/", `\/`)
		if a.EscapeAll {
			for _, ch := range "^.[$()|*+?{" {
				s = strings.ReplaceAll(s, string(ch), `\`+string(ch))
			}
		}
		return s
	}
	limit := esc(a.Limit)
	if limit != "" {
		limit = "/" + limit + "/ "
	}
	if a.NegateMatch {
		limit += "!"
	}
	argv := append([]string{"sed", "-i" + BackupSuffix(a.Backup)}, strings.Fields(a.Options)...)
	return result(f.runOn(ctx, p, append(argv, fmt.Sprintf("%ss/%s/%s/%s", limit, esc(a.Before), esc(a.After), a.Flags))))
}

type applyTemplateArgs struct {
	_        fun.Arguments
	Contents string     `arg:"contents,required" doc:"the text"`
	Template string     `arg:"template,required" doc:"template engine"`
	Context  *value.Map `arg:"context,required,any" doc:"variables; they take precedence over defaults"`
	Defaults *value.Map `arg:"defaults,required,any" doc:"variables"`
	SaltEnv  string     `arg:"saltenv,required" doc:"environment of imports"`
}

func applyTemplate(ctx context.Context, c *fun.Call, a *applyTemplateArgs) (fun.Result, error) {
	f := onEnv(c, a.SaltEnv)
	out, err := f.cp().Render(ctx, a.Template, "contents", []byte(a.Contents), cp.Vars(nil, a.Defaults, a.Context))
	if unknown, ok := errors.AsType[*cp.UnknownTemplateError](err); ok {
		return fun.Value(value.MapOf("result", false, "comment", unknown.Error()))
	}
	return fun.Result{Value: out}, err
}

// fetching says how a source is had and looked at: the functions have these arguments
// in different orders.
type fetching struct{ keepMode, verify, follow bool }

// wouldManage returns what a managed file would change, or what there is to say
// where its source cannot be had.
func wouldManage(ctx context.Context, f *FS, a *managedArgs, how fetching) (*value.Map, string, error) {
	p := Plan{Name: a.Name, Perms: permsOf(a.Group, a.Mode, a.User), KeepMode: how.keepMode}
	p.Perms.Follow, p.Perms.Attrs = how.follow, textOf(a.Attrs)
	if a.Contents.Given {
		p.HasText, p.Contents = true, []byte(a.Contents.V)
	} else {
		src, hash, err := f.SourceList(ctx, a.Source, a.SourceHash)
		if err != nil {
			return nil, "", err
		}
		q := Request{
			Name: p.Name, Source: src, HashName: a.SourceHashName, Template: a.Template, SkipVerify: a.SkipVerify, NoVerify: !how.verify,
			Vars: cp.Vars(value.MapOf("name", p.Name, "source", src), a.Defaults, a.Context),
		}
		if value.Truth(hash) {
			q.Hash = value.Str(hash)
		}
		from, fault, err := f.GetManaged(ctx, q)
		if err != nil || fault != "" {
			return nil, fault, err
		}
		p.Source = src
		if from.Content != nil {
			p.From = from
		}
	}
	m, err := f.WouldChange(ctx, p)
	return m, "", err
}

type checkManagedChangesArgs struct {
	managedArgs
	KeepMode       bool `arg:"keep_mode" default:"False" doc:"use the mode of the source"`
	VerifySSL      bool `arg:"verify_ssl" default:"True" doc:"verify certificates"`
	FollowSymlinks bool `arg:"follow_symlinks" default:"False" doc:"follow symbolic links"`
	contextArgs
	_ fun.Kwargs
}

func checkManagedChanges(ctx context.Context, c *fun.Call, a *checkManagedChangesArgs) (fun.Result, error) {
	f := onEnv(c, a.SaltEnv)
	m, fault, err := wouldManage(ctx, f, &a.managedArgs, fetching{keepMode: a.KeepMode, verify: a.VerifySSL, follow: a.FollowSymlinks})
	if err != nil {
		return fun.Result{}, err
	}
	if fault != "" {
		return fun.Value(value.NewList(false, fault))
	}
	return fun.Value(m)
}

type checkManagedArgs struct {
	managedArgs
	FollowSymlinks bool `arg:"follow_symlinks" default:"False" doc:"follow symbolic links"`
	KeepMode       bool `arg:"keep_mode" default:"False" doc:"use the mode of the source"`
	VerifySSL      bool `arg:"verify_ssl" default:"True" doc:"verify certificates"`
	contextArgs
	_ fun.Kwargs
}

func checkManaged(ctx context.Context, c *fun.Call, a *checkManagedArgs) (fun.Result, error) {
	f := onEnv(c, a.SaltEnv)
	m, fault, err := wouldManage(ctx, f, &a.managedArgs, fetching{keepMode: a.KeepMode, verify: a.VerifySSL, follow: a.FollowSymlinks})
	switch {
	case err != nil:
		return fun.Result{}, err
	case fault != "":
		return fun.Value(value.NewList(false, fault))
	case m.Len() == 0:
		return fun.Value(value.NewList(true, fmt.Sprintf("The file %s is in the correct state", a.Name)))
	}
	var b strings.Builder
	b.WriteString("The following values are set to be changed:\n")
	for k, v := range m.All() {
		fmt.Fprintf(&b, "%s: %s\n", k, value.Str(v))
	}
	return fun.Value(value.NewList(nil, b.String()))
}

// given returns the return that a caller passes on, or a new one.
func given(name string, ret *value.Map) *Return {
	r := NewReturn(name)
	m := ret
	if m.Len() == 0 {
		return r
	}
	if ch := m.Map("changes"); ch != nil {
		r.Changes = ch
	}
	r.Comment = m.Str("comment")
	switch m.At("result") {
	case false:
		r.Result = fun.Failed
	case nil:
		r.Result = fun.WouldChange
	}
	return r
}

type checkPermsArgs struct {
	Name string     `arg:"name,required,path" doc:"the file"`
	Ret  *value.Map `arg:"ret,required,any" doc:"state return to add to, or None"`
	userArg
	groupArg
	modeArg
	Attrs          fun.Opt[string] `arg:"attrs" doc:"chattr(1) attributes"`
	FollowSymlinks bool            `arg:"follow_symlinks" default:"False" doc:"follow a symbolic link"`
	contextArgs
}

func checkPerms(ctx context.Context, c *fun.Call, a *checkPermsArgs) (fun.Result, error) {
	f := on(c)
	p := permsOf(a.Group, a.Mode, a.User)
	p.Attrs, p.Follow = textOf(a.Attrs), a.FollowSymlinks
	r := given(a.Name, a.Ret)
	was, err := f.CheckPerms(ctx, a.Name, r, p)
	if err != nil {
		return fun.Result{}, err
	}
	perms := value.MapOf("luser", was.User, "lgroup", was.Group, "lmode", was.Mode)
	for k, to := range map[string]string{"user": "cuser", "group": "cgroup", "mode": "cmode"} {
		if v, ok := r.Changes.Get(k); ok {
			perms.Set(to, v)
		}
	}
	return fun.Value(value.NewList(r.Value(), perms))
}

type sourceSumArgs struct {
	FileName   string `arg:"file_name" default:"" doc:"the file"`
	Source     string `arg:"source" default:"" doc:"its URL"`
	SourceHash string `arg:"source_hash" doc:"digest, or a file of digests"`
	hashNameOpt
	SaltEnv   string `arg:"saltenv" default:"base" doc:"environment of salt:// URLs"`
	VerifySSL bool   `arg:"verify_ssl" default:"True" doc:"verify certificates"`
}

func sourceSum(ctx context.Context, c *fun.Call, a *sourceSumArgs) (fun.Result, error) {
	f := onEnv(c, a.SaltEnv)
	s, err := f.SourceSum(ctx, a.FileName, a.Source, a.SourceHash, a.SourceHashName, cp.Options{NoVerify: !a.VerifySSL})
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(value.MapOf("hash_type", s.Type, "hsum", s.Hex))
}

type manageFileArgs struct {
	Name      string     `arg:"name,required,path" doc:"the file"`
	Sfn       string     `arg:"sfn,required,any" doc:"path of the new content, or empty"`
	Ret       *value.Map `arg:"ret,required,any" doc:"state return to add to, or None"`
	Source    string     `arg:"source,required,any" doc:"URL of the source"`
	SourceSum *value.Map `arg:"source_sum,required,any" doc:"its digest: {hash_type, hsum}"`
	userArg
	groupArg
	modeArg
	attrsArg
	saltenvArg
	Backup         string          `arg:"backup,required,any" doc:"backup mode"`
	Makedirs       bool            `arg:"makedirs" default:"False" doc:"create missing directories"`
	_              string          `arg:"template" doc:"accepted"`
	ShowChanges    bool            `arg:"show_changes" default:"True" doc:"show the diff"`
	Contents       fun.Opt[string] `arg:"contents" doc:"the content, instead of a source"`
	DirMode        value.Value     `arg:"dir_mode,mode" doc:"permissions of directories that are created"`
	FollowSymlinks bool            `arg:"follow_symlinks" default:"True" doc:"write to the target of a symbolic link"`
	SkipVerify     bool            `arg:"skip_verify" default:"False" doc:"do not check the digest"`
	KeepMode       bool            `arg:"keep_mode" default:"False" doc:"use the mode of the source"`
	Encoding       string          `arg:"encoding" doc:"encoding of contents"`
	EncodingErrors string          `arg:"encoding_errors" default:"strict" doc:"how to treat characters that the encoding lacks"`
	VerifySSL      bool            `arg:"verify_ssl" default:"True" doc:"verify certificates"`
	UseEtag        bool            `arg:"use_etag" default:"False" doc:"ask a web server by ETag whether its file changed"`
	contextArgs
	_ fun.Kwargs
}

func manageFile(ctx context.Context, c *fun.Call, a *manageFileArgs) (fun.Result, error) {
	f := onEnv(c, a.SaltEnv)
	p := Plan{
		Name: a.Name, Source: a.Source, Perms: permsOf(a.Group, a.Mode, a.User), KeepMode: a.KeepMode, Backup: a.Backup,
		MakeDirs: a.Makedirs, DirMode: NormMode(a.DirMode), HideDiff: !a.ShowChanges, SkipVerify: a.SkipVerify,
	}
	p.Perms.Follow, p.Perms.Attrs = a.FollowSymlinks, textOf(a.Attrs)
	switch {
	case a.Contents.Given:
		b, err := Encode(a.Contents.V, a.Encoding, a.EncodingErrors)
		if err != nil {
			return fun.Result{}, err
		}
		p.HasText, p.Contents = true, b
	case p.Source != "" || a.Sfn != "":
		from := &Managed{Content: f.FileAt(a.Sfn)}
		if a.Sfn == "" {
			path, err := f.cp().CacheFile(ctx, p.Source, cp.Options{NoVerify: !a.VerifySSL, UseETag: a.UseEtag})
			if err != nil {
				return fun.Result{}, err
			}
			if path == "" {
				return fun.Value(given(a.Name, a.Ret).Fail("Source file '%s' not found", p.Source).Value())
			}
			from.Content = f.FileAt(path)
		}
		sum := a.SourceSum
		from.Sum = cp.Sum{Type: sum.Str("hash_type"), Hex: strings.ToLower(sum.Str("hsum"))}
		if from.Sum.Hex == "" {
			hex, err := from.Content.Sum("sha256")
			if err != nil {
				return fun.Result{}, osError(err)
			}
			from.Sum = cp.Sum{Type: "sha256", Hex: hex}
		}
		p.From = from
	}
	return fun.Value(f.ManageFile(ctx, given(a.Name, a.Ret), p).Value())
}
