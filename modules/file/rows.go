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

func editRows() []fun.Spec {
	backup := fun.Opt("backup", fun.Any, ".bak", "keep a copy whose name ends in this; False keeps none")
	show := fun.Opt("show_changes", fun.Bool, true, "return the difference instead of whether there is one")
	dry := fun.Opt("dry_run", fun.Bool, false, "change nothing")
	char := fun.Opt("char", fun.Str, "#", "the comment character")
	regex := fun.Need("regex", fun.Str, "regular expression for the lines")
	return []fun.Spec{
		row("blockreplace", "Replace the lines between two marker lines.", blockReplaceRow, pathArg(),
			fun.Opt("marker_start", fun.Str, "#-- start managed zone --", "text of the line before the block"),
			fun.Opt("marker_end", fun.Str, "#-- end managed zone --", "text of the line after it"),
			fun.Opt("content", fun.Any, "", "the lines of the block"),
			fun.Opt("append_if_not_found", fun.Bool, false, "add the block at the end where there are no markers"),
			fun.Opt("prepend_if_not_found", fun.Bool, false, "add it at the beginning then"),
			backup, dry, show, fun.Opt("append_newline", fun.Any, false, "end the content in a newline; None is where it does not"),
			fun.Opt("insert_before_match", fun.Any, nil, "add the block before the first line that matches, where there are no markers"),
			fun.Opt("insert_after_match", fun.Any, nil, "add it after that line")),
		row("comment", "Put a comment character before lines.", commentRow(true), pathArg(), regex, char, backup),
		row("comment_line", "Put a comment character before lines, or take it off.", commentLineRow, pathArg(), regex, char,
			fun.Opt("cmnt", fun.Bool, true, "False takes it off"), backup),
		row("uncomment", "Take the comment character off lines.", commentRow(false), pathArg(), regex, char, backup),
		row("line", "Insert, replace, ensure or delete one line.", lineRow, pathArg(),
			fun.Opt("content", fun.Any, nil, "the line"), fun.Opt("match", fun.Any, nil, "text or regular expression of the line; default: content"),
			fun.Opt("mode", fun.Any, nil, "insert, ensure, replace or delete"), fun.Opt("location", fun.Any, nil, "where to insert: start or end"),
			fun.Opt("before", fun.Any, nil, "line before which to insert"), fun.Opt("after", fun.Any, nil, "line after which to insert"), show,
			fun.Opt("backup", fun.Bool, false, "keep a copy whose name ends in the time"), fun.Opt("quiet", fun.Bool, false, "a file that is not there is no error"),
			fun.Opt("indent", fun.Bool, true, "indent as the line beside")),
		row("replace", "Replace what a regular expression matches.", replaceRow, pathArg(), fun.Need("pattern", fun.Any, "the expression"), fun.Need("repl", fun.Any, "the text to put there"),
			fun.Opt("count", fun.Int, int64(0), "at most this many; 0 is all"), fun.Opt("flags", fun.Any, int64(8), "flags of the expression: names, or Python's number"),
			fun.Opt("bufsize", fun.Any, int64(1), "accepted"), fun.Opt("append_if_not_found", fun.Bool, false, "add the text at the end where nothing matches"),
			fun.Opt("prepend_if_not_found", fun.Bool, false, "add it at the beginning then"), fun.Opt("not_found_content", fun.Any, nil, "text to add then; default: repl"),
			backup, dry, fun.Opt("search_only", fun.Bool, false, "only tell whether it matches"), show,
			fun.Opt("ignore_if_missing", fun.Bool, false, "a file that is not there is no error"), fun.Opt("preserve_inode", fun.Bool, true, "accepted; the file is replaced atomically"),
			fun.Opt("backslash_literal", fun.Bool, false, "take backslashes in repl as they are")),
		row("sed", "Run sed(1) on a file: replace before by after.", sed, pathArg(), fun.Need("before", fun.Any, "pattern"), fun.Need("after", fun.Any, "text to put there"),
			fun.Opt("limit", fun.Any, "", "pattern of the lines to edit"), backup, fun.Opt("options", fun.Str, "-r -e", "options of sed"), fun.Opt("flags", fun.Str, "g", "flags of the s command"),
			fun.Opt("escape_all", fun.Bool, false, "take special characters as they are"), fun.Opt("negate_match", fun.Bool, false, "edit the lines that limit does not match")),
	}
}

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
func changed(c *fun.Call, before, after []string) (value.Value, error) {
	d := DiffLines(before, after)
	if c.Args.Has("show_changes") && !c.Bool("show_changes") {
		return d != "", nil
	}
	return d, nil
}

func blockReplaceRow(_ context.Context, f *FS, c *fun.Call) (value.Value, error) {
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
		return nil, err
	}
	return changed(c, before, after)
}

func commentRow(on bool) func(context.Context, *FS, *fun.Call) (value.Value, error) {
	return func(_ context.Context, f *FS, c *fun.Call) (value.Value, error) {
		before, after, err := f.CommentLine(c.Str("path"), c.Str("regex"), c.Str("char"), on, suffix(c))
		if err != nil {
			return nil, err
		}
		return DiffLines(before, after), nil
	}
}

func commentLineRow(_ context.Context, f *FS, c *fun.Call) (value.Value, error) {
	before, after, err := f.CommentLine(c.Str("path"), c.Str("regex"), c.Str("char"), c.Bool("cmnt"), suffix(c))
	if err != nil {
		return nil, err
	}
	if before == nil {
		return false, nil
	}
	return DiffLines(before, after), nil
}

func lineRow(_ context.Context, f *FS, c *fun.Call) (value.Value, error) {
	before, after, err := f.Line(LineEdit{
		Path: c.Str("path"), Content: textOf(c, "content"), Match: c.Str("match"), Mode: c.Str("mode"), Location: c.Str("location"),
		Before: textOf(c, "before"), After: textOf(c, "after"), Backup: c.Bool("backup"), Quiet: c.Bool("quiet"), NoIndent: !c.Bool("indent"),
	})
	if err != nil {
		return nil, err
	}
	if d := DiffLines(before, after); d != "" && c.Bool("show_changes") {
		return d, nil
	}
	return strings.Join(before, "") != strings.Join(after, ""), nil
}

func replaceRow(_ context.Context, f *FS, c *fun.Call) (value.Value, error) {
	flags, err := ReFlags(c.Value("flags"))
	if err != nil {
		return nil, err
	}
	if c.Bool("search_only") {
		if c.Bool("append_if_not_found") || c.Bool("prepend_if_not_found") {
			return nil, invalid("search_only cannot be used with append/prepend_if_not_found")
		}
		return wrap(f.Search(c.Str("path"), c.Str("pattern"), flags, c.Bool("ignore_if_missing")))
	}
	count := c.Int("count")
	before, after, err := f.Replace(Replacement{
		Path: c.Str("path"), Pattern: c.Str("pattern"), Repl: value.Str(c.Value("repl")), Count: int(count), Flags: flags,
		Append: c.Bool("append_if_not_found"), Prepend: c.Bool("prepend_if_not_found"), NotFound: textOf(c, "not_found_content"),
		Backup: suffix(c), DryRun: c.Bool("dry_run") || f.Test, IgnoreMissing: c.Bool("ignore_if_missing"), Literal: c.Bool("backslash_literal"),
	})
	if err != nil {
		return nil, err
	}
	if before == nil && after == nil && !f.Exists(f.Expand(c.Str("path"))) {
		return false, nil
	}
	return changed(c, before, after)
}

func sed(ctx context.Context, f *FS, c *fun.Call) (value.Value, error) {
	p := f.Expand(c.Str("path"))
	if !f.Exists(p) {
		return false, nil
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
	return f.runAll(ctx, append(argv, fmt.Sprintf("%ss/%s/%s/%s", limit, esc("before"), esc("after"), c.Str("flags")), p))
}

func manageRows() []fun.Spec {
	name := fun.Need("name", fun.Str, "the file")
	perms := []fun.Arg{fun.Need("user", fun.Any, "owner"), fun.Need("group", fun.Any, "group"), fun.Need("mode", fun.Any, "permissions")}
	managed := append(append([]fun.Arg{
		name, fun.Need("source", fun.Any, "URL or path, or a list"), fun.Need("source_hash", fun.Any, "digest of the source"), fun.Need("source_hash_name", fun.Any, "name to look for in a file of digests"),
	}, perms...),
		fun.Need("attrs", fun.Any, "chattr(1) attributes"), fun.Need("template", fun.Any, "template engine"), fun.Need("context", fun.Any, "variables of the template"),
		fun.Need("defaults", fun.Any, "variables of the template"), fun.Need("saltenv", fun.Str, "environment of salt:// URLs"),
		fun.Opt("contents", fun.Any, nil, "the content, instead of a source"), fun.Opt("skip_verify", fun.Bool, false, "take a remote source without a digest"),
		fun.Opt("keep_mode", fun.Bool, false, "the mode of the source"), fun.Opt("verify_ssl", fun.Bool, true, "check certificates"), fun.Opt("follow_symlinks", fun.Bool, false, "look where a link leads"))
	kw := func(s fun.Spec) fun.Spec { s.VarKw = true; return s }
	return []fun.Spec{
		row("apply_template_on_contents", "Render text as a template.", applyTemplate, fun.Need("contents", fun.Str, "the text"), fun.Need("template", fun.Str, "template engine"),
			fun.Need("context", fun.Any, "variables; they go before defaults"), fun.Need("defaults", fun.Any, "variables"), fun.Need("saltenv", fun.Str, "environment of imports")),
		kw(row("check_managed", "Tell what a managed file would change, as a result and text.", checkManaged, managed...)),
		kw(row("check_managed_changes", "Return what a managed file would change.", checkManagedChanges, managed...)),
		row("check_perms", "Give a file its owner and mode; return what changed and what was.", checkPerms, append(append([]fun.Arg{name, fun.Need("ret", fun.Any, "return to add to, or None")}, perms...),
			fun.Opt("attrs", fun.Any, nil, "chattr(1) attributes"), fun.Opt("follow_symlinks", fun.Bool, false, "of a link, what it leads to"))...),
		row("get_source_sum", "Return the digest that a source_hash names.", sourceSum, fun.Opt("file_name", fun.Str, "", "the file"), fun.Opt("source", fun.Str, "", "its URL"),
			fun.Opt("source_hash", fun.Any, nil, "digest, or a file of digests"), fun.Opt("source_hash_name", fun.Any, nil, "name to look for first"), fun.Opt("saltenv", fun.Str, "base", "environment of salt:// URLs"), fun.Opt("verify_ssl", fun.Bool, true, "check certificates")),
		kw(row("manage_file", "Make a file what is wanted, and return what changed.", manageFile, append(append([]fun.Arg{
			name, fun.Need("sfn", fun.Any, "path of the new content, or empty"), fun.Need("ret", fun.Any, "return to add to, or None"), fun.Need("source", fun.Any, "URL of the source"), fun.Need("source_sum", fun.Any, "its digest: {hash_type, hsum}"),
		}, perms...),
			fun.Need("attrs", fun.Any, "chattr(1) attributes"), fun.Need("saltenv", fun.Str, "environment of salt:// URLs"), fun.Need("backup", fun.Any, "backup mode"),
			fun.Opt("makedirs", fun.Bool, false, "make missing directories"), fun.Opt("template", fun.Any, nil, "accepted"), fun.Opt("show_changes", fun.Bool, true, "show the difference"),
			fun.Opt("contents", fun.Any, nil, "the content, instead of a source"), fun.Opt("dir_mode", fun.Any, nil, "permissions of directories that are made"),
			fun.Opt("follow_symlinks", fun.Bool, true, "write where a link leads"), fun.Opt("skip_verify", fun.Bool, false, "do not check the digest"), fun.Opt("keep_mode", fun.Bool, false, "the mode of the source"),
			fun.Opt("encoding", fun.Any, nil, "encoding of contents"), fun.Opt("encoding_errors", fun.Str, "strict", "what to do with characters it does not have"))...)),
	}
}

func applyTemplate(ctx context.Context, f *FS, c *fun.Call) (value.Value, error) {
	defaults, _ := c.Value("defaults").(*value.Map)
	context, _ := c.Value("context").(*value.Map)
	out, err := f.cp().Render(ctx, c.Str("template"), "contents", []byte(c.Str("contents")), cp.Vars(nil, defaults, context))
	var unknown *cp.UnknownTemplateError
	if errors.As(err, &unknown) {
		return value.MapOf("result", false, "comment", unknown.Error()), nil
	}
	return out, err
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
		defaults, _ := c.Value("defaults").(*value.Map)
		context, _ := c.Value("context").(*value.Map)
		q := Request{
			Name: p.Name, Source: src, HashName: c.Str("source_hash_name"), Template: c.Str("template"), SkipVerify: c.Bool("skip_verify"), NoVerify: !c.Bool("verify_ssl"),
			Vars: cp.Vars(value.MapOf("name", p.Name, "source", src), defaults, context),
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

func checkManagedChanges(ctx context.Context, f *FS, c *fun.Call) (value.Value, error) {
	m, fault, err := wouldManage(ctx, f, c)
	if err != nil {
		return nil, err
	}
	if fault != "" {
		return value.NewList(false, fault), nil
	}
	return m, nil
}

func checkManaged(ctx context.Context, f *FS, c *fun.Call) (value.Value, error) {
	m, fault, err := wouldManage(ctx, f, c)
	switch {
	case err != nil:
		return nil, err
	case fault != "":
		return value.NewList(false, fault), nil
	case m.Len() == 0:
		return value.NewList(true, fmt.Sprintf("The file %s is in the correct state", c.Str("name"))), nil
	}
	var b strings.Builder
	b.WriteString("The following values are set to be changed:\n")
	for k, v := range m.All() {
		fmt.Fprintf(&b, "%s: %s\n", k, value.Str(v))
	}
	return value.NewList(nil, b.String()), nil
}

// given returns the return that a caller passes on, or a new one.
func given(c *fun.Call) *Return {
	r := NewReturn(c.Str("name"))
	m, _ := c.Value("ret").(*value.Map)
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

func checkPerms(ctx context.Context, f *FS, c *fun.Call) (value.Value, error) {
	p := permsOf(c)
	p.Attrs, p.Follow = textOf(c, "attrs"), c.Bool("follow_symlinks")
	r := given(c)
	was, err := f.CheckPerms(ctx, c.Str("name"), r, p)
	if err != nil {
		return nil, err
	}
	perms := value.MapOf("luser", was.User, "lgroup", was.Group, "lmode", was.Mode)
	for k, to := range map[string]string{"user": "cuser", "group": "cgroup", "mode": "cmode"} {
		if v, ok := r.Changes.Get(k); ok {
			perms.Set(to, v)
		}
	}
	return value.NewList(r.Value(), perms), nil
}

func sourceSum(ctx context.Context, f *FS, c *fun.Call) (value.Value, error) {
	s, err := f.SourceSum(ctx, c.Str("file_name"), c.Str("source"), c.Str("source_hash"), c.Str("source_hash_name"), cp.Options{NoVerify: !c.Bool("verify_ssl")})
	if err != nil {
		return nil, err
	}
	return value.MapOf("hash_type", s.Type, "hsum", s.Hex), nil
}

func manageFile(ctx context.Context, f *FS, c *fun.Call) (value.Value, error) {
	p := Plan{
		Name: c.Str("name"), Source: c.Str("source"), Perms: permsOf(c), KeepMode: c.Bool("keep_mode"), Backup: c.Str("backup"),
		MakeDirs: c.Bool("makedirs"), DirMode: NormMode(c.Value("dir_mode")), HideDiff: !c.Bool("show_changes"), SkipVerify: c.Bool("skip_verify"),
	}
	p.Perms.Follow, p.Perms.Attrs = c.Bool("follow_symlinks"), textOf(c, "attrs")
	switch {
	case !c.IsNone("contents"):
		b, err := Encode(c.Str("contents"), c.Str("encoding"), c.Str("encoding_errors"))
		if err != nil {
			return nil, err
		}
		p.HasText, p.Contents = true, b
	case p.Source != "" || c.Str("sfn") != "":
		from := &Managed{Content: f.FileAt(c.Str("sfn"))}
		if c.Str("sfn") == "" {
			path, err := f.cp().CacheFile(ctx, p.Source, cp.Options{})
			if err != nil {
				return nil, err
			}
			if path == "" {
				return given(c).Fail("Source file '%s' not found", p.Source).Value(), nil
			}
			from.Content = f.FileAt(path)
		}
		sum, _ := c.Value("source_sum").(*value.Map)
		from.Sum = cp.Sum{Type: sum.Str("hash_type"), Hex: strings.ToLower(sum.Str("hsum"))}
		if from.Sum.Hex == "" {
			hex, err := from.Content.Sum("sha256")
			if err != nil {
				return nil, osError(err)
			}
			from.Sum = cp.Sum{Type: "sha256", Hex: hex}
		}
		p.From = from
	}
	return f.ManageFile(ctx, given(c), p).Value(), nil
}
