package file

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"brine/internal/fun"
	"brine/internal/value"
	"brine/modules/cp"
)

func suffix(c *fun.Call) string {
	if v := c.Value("backup"); value.Truth(v) {
		return value.Str(v)
	}
	return ""
}

func textOf(c *fun.Call, name string) *string {
	if c.IsNone(name) {
		return nil
	}
	s := c.Str(name)
	return &s
}

// changed returns the difference of lines, or whether there is one.
func changed(c *fun.Call, before, after []string) (fun.Result, error) {
	d := DiffLines(before, after)
	if c.Declares("show_changes") && !c.Bool("show_changes") {
		return fun.Value(d != "")
	}
	return fun.Value(d)
}

func blockReplaceRow(_ context.Context, c *fun.Call) (fun.Result, error) {
	f := on(c)
	b := Block{
		Path: c.Str("path"), Start: c.Str("marker_start"), End: c.Str("marker_end"), Content: c.Str("content"),
		Append: c.Bool("append_if_not_found"), Prepend: c.Bool("prepend_if_not_found"),
		InsertBefore: c.Str("insert_before_match"), InsertAfter: c.Str("insert_after_match"), Backup: suffix(c), DryRun: c.Bool("dry_run"),
	}
	if !c.IsNone("append_newline") {
		nl := c.Bool("append_newline")
		b.Newline = &nl
	}
	before, after, err := f.BlockReplace(b)
	if err != nil {
		return fun.Result{}, err
	}
	return changed(c, before, after)
}

func comment(_ context.Context, c *fun.Call) (fun.Result, error)   { return setComment(c, true) }
func uncomment(_ context.Context, c *fun.Call) (fun.Result, error) { return setComment(c, false) }

func setComment(c *fun.Call, commented bool) (fun.Result, error) {
	f := on(c)
	before, after, err := f.CommentLine(c.Str("path"), c.Str("regex"), c.Str("char"), commented, suffix(c))
	if err != nil {
		return fun.Result{}, err
	}
	if before == nil {
		return fun.Value(false)
	}
	return fun.Value(DiffLines(before, after))
}

func commentLineRow(_ context.Context, c *fun.Call) (fun.Result, error) {
	f := on(c)
	before, after, err := f.CommentLine(c.Str("path"), c.Str("regex"), c.Str("char"), c.Bool("cmnt"), suffix(c))
	if err != nil {
		return fun.Result{}, err
	}
	if before == nil {
		return fun.Value(false)
	}
	return fun.Value(DiffLines(before, after))
}

func lineRow(_ context.Context, c *fun.Call) (fun.Result, error) {
	f := on(c)
	before, after, err := f.Line(LineEdit{
		Path: c.Str("path"), Content: textOf(c, "content"), Match: c.Str("match"), Mode: c.Str("mode"), Location: c.Str("location"),
		Before: textOf(c, "before"), After: textOf(c, "after"), Backup: c.Bool("backup"), Quiet: c.Bool("quiet"), NoIndent: !c.Bool("indent"),
	})
	if err != nil {
		return fun.Result{}, err
	}
	if d := DiffLines(before, after); d != "" && c.Bool("show_changes") {
		return fun.Value(d)
	}
	return fun.Value(strings.Join(before, "") != strings.Join(after, ""))
}

func replaceRow(_ context.Context, c *fun.Call) (fun.Result, error) {
	f := on(c)
	flags, err := ReFlags(c.Value("flags"))
	if err != nil {
		return fun.Result{}, err
	}
	if c.Bool("search_only") {
		if c.Bool("append_if_not_found") || c.Bool("prepend_if_not_found") {
			return fun.Result{}, invalid("search_only cannot be used with append/prepend_if_not_found")
		}
		return wrap(f.Search(c.Str("path"), c.Str("pattern"), flags, c.Bool("ignore_if_missing")))
	}
	count := c.Int("count")
	before, after, err := f.Replace(Replacement{
		Path: c.Str("path"), Pattern: c.Str("pattern"), Repl: c.Str("repl"), Count: int(count), Flags: flags,
		Append: c.Bool("append_if_not_found"), Prepend: c.Bool("prepend_if_not_found"), NotFound: textOf(c, "not_found_content"),
		Backup: suffix(c), DryRun: c.Bool("dry_run") || f.Test, IgnoreMissing: c.Bool("ignore_if_missing"), Literal: c.Bool("backslash_literal"),
	})
	if err != nil {
		return fun.Result{}, err
	}
	if before == nil && after == nil && !f.Exists(f.Expand(c.Str("path"))) {
		return fun.Value(false)
	}
	return changed(c, before, after)
}

func sed(ctx context.Context, c *fun.Call) (fun.Result, error) {
	f := on(c)
	p := f.Expand(c.Str("path"))
	if !f.Exists(p) {
		return fun.Value(false)
	}
	esc := func(name string) string {
		s := strings.ReplaceAll(c.Str(name), "/", `\/`)
		if c.Bool("escape_all") {
			for _, ch := range "^.[$()|*+?{" {
				s = strings.ReplaceAll(s, string(ch), `\`+string(ch))
			}
		}
		return s
	}
	limit := esc("limit")
	if limit != "" {
		limit = "/" + limit + "/ "
	}
	if c.Bool("negate_match") {
		limit += "!"
	}
	argv := append([]string{"sed", "-i" + suffix(c)}, strings.Fields(c.Str("options"))...)
	return result(f.runOn(ctx, p, append(argv, fmt.Sprintf("%ss/%s/%s/%s", limit, esc("before"), esc("after"), c.Str("flags")))))
}

func applyTemplate(ctx context.Context, c *fun.Call) (fun.Result, error) {
	f := on(c)
	out, err := f.cp().Render(ctx, c.Str("template"), "contents", []byte(c.Str("contents")), cp.Vars(nil, c.Map("defaults"), c.Map("context")))
	if unknown, ok := errors.AsType[*cp.UnknownTemplateError](err); ok {
		return fun.Value(value.MapOf("result", false, "comment", unknown.Error()))
	}
	return fun.Result{Value: out}, err
}

// wouldManage returns what a managed file would change, or what there is to say
// where its source cannot be had.
func wouldManage(ctx context.Context, f *FS, c *fun.Call) (*value.Map, string, error) {
	p := Plan{Name: c.Str("name"), Perms: permsOf(c), KeepMode: c.Bool("keep_mode")}
	p.Perms.Follow, p.Perms.Attrs = c.Bool("follow_symlinks"), textOf(c, "attrs")
	if !c.IsNone("contents") {
		p.HasText, p.Contents = true, []byte(c.Str("contents"))
	} else {
		src, hash, err := f.SourceList(ctx, c.Value("source"), c.Value("source_hash"))
		if err != nil {
			return nil, "", err
		}
		q := Request{
			Name: p.Name, Source: src, HashName: c.Str("source_hash_name"), Template: c.Str("template"), SkipVerify: c.Bool("skip_verify"), NoVerify: !c.Bool("verify_ssl"),
			Vars: cp.Vars(value.MapOf("name", p.Name, "source", src), c.Map("defaults"), c.Map("context")),
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

func checkManagedChanges(ctx context.Context, c *fun.Call) (fun.Result, error) {
	f := on(c)
	m, fault, err := wouldManage(ctx, f, c)
	if err != nil {
		return fun.Result{}, err
	}
	if fault != "" {
		return fun.Value(value.NewList(false, fault))
	}
	return fun.Value(m)
}

func checkManaged(ctx context.Context, c *fun.Call) (fun.Result, error) {
	f := on(c)
	m, fault, err := wouldManage(ctx, f, c)
	switch {
	case err != nil:
		return fun.Result{}, err
	case fault != "":
		return fun.Value(value.NewList(false, fault))
	case m.Len() == 0:
		return fun.Value(value.NewList(true, fmt.Sprintf("The file %s is in the correct state", c.Str("name"))))
	}
	var b strings.Builder
	b.WriteString("The following values are set to be changed:\n")
	for k, v := range m.All() {
		fmt.Fprintf(&b, "%s: %s\n", k, value.Str(v))
	}
	return fun.Value(value.NewList(nil, b.String()))
}

// given returns the return that a caller passes on, or a new one.
func given(c *fun.Call) *Return {
	r := NewReturn(c.Str("name"))
	m := c.Map("ret")
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

func checkPerms(ctx context.Context, c *fun.Call) (fun.Result, error) {
	f := on(c)
	p := permsOf(c)
	p.Attrs, p.Follow = textOf(c, "attrs"), c.Bool("follow_symlinks")
	r := given(c)
	was, err := f.CheckPerms(ctx, c.Str("name"), r, p)
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

func sourceSum(ctx context.Context, c *fun.Call) (fun.Result, error) {
	f := on(c)
	s, err := f.SourceSum(ctx, c.Str("file_name"), c.Str("source"), c.Str("source_hash"), c.Str("source_hash_name"), cp.Options{NoVerify: !c.Bool("verify_ssl")})
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(value.MapOf("hash_type", s.Type, "hsum", s.Hex))
}

func manageFile(ctx context.Context, c *fun.Call) (fun.Result, error) {
	f := on(c)
	p := Plan{
		Name: c.Str("name"), Source: c.Str("source"), Perms: permsOf(c), KeepMode: c.Bool("keep_mode"), Backup: c.Str("backup"),
		MakeDirs: c.Bool("makedirs"), DirMode: NormMode(c.Value("dir_mode")), HideDiff: !c.Bool("show_changes"), SkipVerify: c.Bool("skip_verify"),
	}
	p.Perms.Follow, p.Perms.Attrs = c.Bool("follow_symlinks"), textOf(c, "attrs")
	switch {
	case !c.IsNone("contents"):
		b, err := Encode(c.Str("contents"), c.Str("encoding"), c.Str("encoding_errors"))
		if err != nil {
			return fun.Result{}, err
		}
		p.HasText, p.Contents = true, b
	case p.Source != "" || c.Str("sfn") != "":
		from := &Managed{Content: f.FileAt(c.Str("sfn"))}
		if c.Str("sfn") == "" {
			path, err := f.cp().CacheFile(ctx, p.Source, cp.Options{NoVerify: !c.Bool("verify_ssl"), UseETag: c.Bool("use_etag")})
			if err != nil {
				return fun.Result{}, err
			}
			if path == "" {
				return fun.Value(given(c).Fail("Source file '%s' not found", p.Source).Value())
			}
			from.Content = f.FileAt(path)
		}
		sum := c.Map("source_sum")
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
	return fun.Value(f.ManageFile(ctx, given(c), p).Value())
}
