package file

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/difflib"
	"brine/internal/py/pyre"
	"brine/internal/py/value"
	files "brine/modules/file"
)

type replaceArgs struct {
	_                 fun.Arguments
	_                 string      `arg:"name,required,path" doc:"absolute path of the file"`
	Pattern           value.Value `arg:"pattern,required" doc:"regular expression in Python's syntax"`
	Repl              string      `arg:"repl,required" doc:"replacement; \\1 and \\g<name> refer to groups"`
	Count             int64       `arg:"count" default:"0" doc:"maximum number of replacements; 0 replaces all"`
	Flags             value.Value `arg:"flags,str|int|list" default:"8" doc:"flags of the expression: names such as IGNORECASE, or Python's number"`
	_                 value.Value `arg:"bufsize,str|int" default:"1" doc:"accepted without effect; the whole file is searched at once"`
	AppendIfNotFound  bool        `arg:"append_if_not_found" default:"False" doc:"append the replacement if nothing matches"`
	PrependIfNotFound bool        `arg:"prepend_if_not_found" default:"False" doc:"prepend the replacement if nothing matches"`
	NotFoundContent   value.Value `arg:"not_found_content,str" doc:"text to append or prepend; default: repl"`
	Backup            value.Value `arg:"backup,str|bool" default:"'.bak'" doc:"suffix of the backup copy; False keeps none"`
	ShowChanges       bool        `arg:"show_changes" default:"True" doc:"show the diff"`
	IgnoreIfMissing   bool        `arg:"ignore_if_missing" default:"False" doc:"succeed if the file does not exist"`
	BackslashLiteral  bool        `arg:"backslash_literal" default:"False" doc:"take backslashes in repl literally"`
}

// replace replaces what a pattern matches in a file.
// Salt: states/file.py replace. Difference: the file is replaced atomically, so
// that further hard links keep the old content.
func replace(ctx context.Context, fc *fun.Call, a *replaceArgs) fun.Ret {
	c := begin(fc)
	if c.path() == "" {
		return c.fail("Must provide name to file.replace")
	}
	if s := c.existing(); s != "" {
		if a.IgnoreIfMissing && strings.Contains(s, "file not found") {
			return c.done(fun.OK, "No changes needed to be made")
		}
		return c.fail("%s", s)
	}
	if t := value.TypeName(a.Pattern); t != "str" {
		return fun.Raise(value.Raise("TypeError", "expected str, bytes, or bytearray not <class '%s'>", t))
	}
	flags, err := files.ReFlags(a.Flags)
	if err != nil {
		return fun.Raise(err)
	}
	before, after, err := c.Replace(files.Replacement{
		Path: c.path(), Pattern: fun.TextOf(a.Pattern), Repl: a.Repl, Count: int(a.Count), Flags: flags,
		Append: a.AppendIfNotFound, Prepend: a.PrependIfNotFound, NotFound: textOf(a.NotFoundContent),
		Backup: files.BackupSuffix(a.Backup), DryRun: c.Test, Literal: a.BackslashLiteral,
	})
	if err != nil {
		return fun.Raise(err)
	}
	return c.edited(before, after, a.ShowChanges, "Changes would have been made")
}

// edited reports how lines of a file changed.
func (c *call) edited(before, after []string, show bool, would string) fun.Ret {
	var diff value.Value
	if d := files.DiffLines(before, after); d != "" {
		diff = d
		if !show {
			diff = true
		}
	}
	switch {
	case diff == nil:
		return c.done(fun.OK, "No changes needed to be made")
	case c.Test:
		c.ret.Changes.Set("diff", diff)
		return c.done(fun.WouldChange, would)
	}
	c.ret.Changes.Set("diff", diff)
	return c.done(fun.OK, "Changes were made")
}

type blockreplaceArgs struct {
	_                 fun.Arguments
	_                 string        `arg:"name,required,path" doc:"absolute path of the file"`
	MarkerStart       string        `arg:"marker_start" default:"#-- start managed zone --" doc:"text of the line before the block"`
	MarkerEnd         string        `arg:"marker_end" default:"#-- end managed zone --" doc:"text of the line after the block"`
	Source            value.Value   `arg:"source,str|list" doc:"file to read further content from; it is rendered"`
	SourceHash        value.Value   `arg:"source_hash,str" doc:"digest of a source that is not on the file server"`
	Template          string        `arg:"template" default:"jinja" doc:"template engine of the sources"`
	Sources           []string      `arg:"sources" doc:"list of such files"`
	SourceHashes      []string      `arg:"source_hashes" doc:"digests of the sources"`
	Defaults          *value.Map    `arg:"defaults" doc:"default template variables"`
	Context           *value.Map    `arg:"context" doc:"template variables; they override defaults"`
	Content           value.Value   `arg:"content" default:"''" doc:"lines of the block"`
	AppendIfNotFound  bool          `arg:"append_if_not_found" default:"False" doc:"append the block if the markers are missing"`
	PrependIfNotFound bool          `arg:"prepend_if_not_found" default:"False" doc:"prepend the block if the markers are missing"`
	Backup            value.Value   `arg:"backup,str|bool" default:"'.bak'" doc:"suffix of the backup copy; False keeps none"`
	ShowChanges       bool          `arg:"show_changes" default:"True" doc:"show the diff"`
	AppendNewline     fun.Opt[bool] `arg:"append_newline" doc:"end the content with a newline; default: if it has none"`
	InsertBeforeMatch string        `arg:"insert_before_match" doc:"without markers, insert the block before the first line that matches"`
	InsertAfterMatch  string        `arg:"insert_after_match" doc:"without markers, insert the block after the first line that matches"`
}

// blockreplace replaces the lines between two markers.
// Salt: states/file.py blockreplace.
func blockreplace(ctx context.Context, fc *fun.Call, a *blockreplaceArgs) fun.Ret {
	c := begin(fc)
	if c.path() == "" {
		return c.fail("Must provide name to file.blockreplace")
	}
	from, fault := c.sources(ctx, sourceArgs{a.Source, a.SourceHash, a.Sources, a.SourceHashes, a.Template, a.Defaults, a.Context})
	if fault == "" {
		fault = c.existing()
	}
	if fault != "" {
		return c.fail("%s", fault)
	}
	texts, fault, err := c.sourceTexts(ctx, from)
	if err != nil {
		return c.raise(err)
	}
	if fault != "" {
		return c.fail("%s", fault)
	}
	content := c.withAccumulated(fun.TextOf(a.Content))
	content += strings.Join(texts, "")
	b := files.Block{
		Path: c.path(), Start: a.MarkerStart, End: a.MarkerEnd, Content: content,
		Append: a.AppendIfNotFound, Prepend: a.PrependIfNotFound,
		InsertBefore: a.InsertBeforeMatch, InsertAfter: a.InsertAfterMatch,
		Backup: files.BackupSuffix(a.Backup), DryRun: c.Test,
	}
	method := "endswith" // the first one that Salt calls of the content
	if a.AppendNewline.Given {
		nl := a.AppendNewline.V
		b.Newline, method = &nl, "split"
	}
	if v := a.Content; value.TypeName(v) != "str" {
		b.Fault = value.Raise("AttributeError", "'%s' object has no attribute '%s'", value.TypeName(v), method)
	}
	before, after, err := c.BlockReplace(b)
	if err != nil {
		return c.fail("Encountered error managing block: %s. See the log for details.", err)
	}
	return c.edited(before, after, a.ShowChanges, "Changes would be made")
}

// unanchored takes flags at the beginning, ^ and $ off a pattern.
func unanchored(pattern string) string {
	m := regexp.MustCompile(`(?s)^(?:\(\?[iLmsux]\))?\^?(.*?)\$?$`).FindStringSubmatch(pattern)
	if m == nil {
		return pattern
	}
	return m[1]
}

type commentGiven struct {
	commentArgs
	IgnoreMissing bool `arg:"ignore_missing" default:"False" doc:"succeed if no line matches"`
}

// comment comments lines out. Salt: states/file.py comment.
func comment(ctx context.Context, fc *fun.Call, a *commentGiven) fun.Ret {
	c := begin(fc)
	if c.path() == "" {
		return c.fail("Must provide name to file.comment")
	}
	if s := c.existing(); s != "" {
		return c.fail("%s", s)
	}
	char, plain := a.Char, unanchored(a.Regex)
	commented := char + plain
	due, err := c.has(`^(?!\s*` + char + `).*` + plain)
	if err != nil {
		return fun.Raise(err)
	}
	if !due {
		already, err := c.has(commented)
		switch {
		case err != nil:
			return fun.Raise(err)
		case already:
			return c.done(fun.OK, "Pattern already commented")
		case a.IgnoreMissing:
			return c.done(fun.OK, "Pattern not found and ignore_missing set to True")
		}
		return c.fail("%s: Pattern not found", plain)
	}
	return c.commentLines(&a.commentArgs, true, commented)
}

// uncomment takes comment characters off. Salt: states/file.py uncomment.
func uncomment(ctx context.Context, fc *fun.Call, a *commentArgs) fun.Ret {
	c := begin(fc)
	if c.path() == "" {
		return c.fail("Must provide name to file.uncomment")
	}
	if s := c.existing(); s != "" {
		return c.fail("%s", s)
	}
	plain := strings.TrimLeft(a.Regex, "^")
	bare := "^[ \t]*" + plain
	due, err := c.has(a.Char + "[ \t]*" + plain)
	if err != nil {
		return fun.Raise(err)
	}
	if !due {
		already, err := c.has(bare)
		switch {
		case err != nil:
			return fun.Raise(err)
		case already:
			return c.done(fun.OK, "Pattern already uncommented")
		}
		return c.fail("%s: Pattern not found", a.Regex)
	}
	return c.commentLines(a, false, bare)
}

// has reports whether a pattern matches in the file.
func (c *call) has(pattern string) (bool, error) {
	return c.Search(c.path(), pattern, pyre.Multiline, false)
}

// commentLines edits the lines and checks that expect is found then.
func (c *call) commentLines(a *commentArgs, on bool, expect string) fun.Ret {
	name := c.path()
	if c.Test {
		c.ret.Changes.Set(name, "updated")
		return c.done(fun.WouldChange, fmt.Sprintf("File %s is set to be updated", name))
	}
	old, err := c.ReadFile(name)
	if err != nil {
		return fun.Raise(err)
	}
	if _, _, err := c.CommentLine(name, a.Regex, a.Char, on, files.BackupSuffix(a.Backup)); err != nil {
		return fun.Raise(err)
	}
	now, err := c.ReadFile(name)
	if err != nil {
		return fun.Raise(err)
	}
	if diff := files.DiffLines(difflib.SplitLines(string(old)), difflib.SplitLines(string(now))); diff != "" {
		c.ret.Changes.Set("diff", diff)
	}
	ok, err := c.has(expect)
	if err != nil {
		return fun.Raise(err)
	}
	did, word := "Commented", "commented"
	if !on {
		did, word = "Uncommented", "uncommented"
	}
	if !ok {
		return c.fail("Expected %s lines not found", word)
	}
	return c.done(fun.OK, did+" lines successfully")
}

type lineArgs struct {
	_           fun.Arguments
	_           string      `arg:"name,required,path" doc:"absolute path of the file"`
	Content     value.Value `arg:"content,str|bool" doc:"the line"`
	Match       value.Value `arg:"match,str|bool" doc:"text or regular expression of the line to replace or delete; default: content"`
	Mode        string      `arg:"mode" doc:"insert, ensure, replace or delete"`
	Location    string      `arg:"location" doc:"where to insert: start or end"`
	Before      value.Value `arg:"before,str" doc:"text or regular expression of the line to insert before"`
	After       value.Value `arg:"after,str" doc:"text or regular expression of the line to insert after"`
	ShowChanges bool        `arg:"show_changes" default:"True" doc:"show the diff"`
	Backup      bool        `arg:"backup" default:"False" doc:"keep a copy of the file with the time in its name"`
	Quiet       bool        `arg:"quiet" default:"False" doc:"do not fail if the file does not exist"`
	Indent      bool        `arg:"indent" default:"True" doc:"indent the line like its neighbour"`
	Create      bool        `arg:"create" default:"False" doc:"create an empty file if it is missing"`
	User        value.Value `arg:"user,str|int" doc:"owner, by name or ID"`
	Group       value.Value `arg:"group,str|int" doc:"group, by name or ID"`
	FileMode    value.Value `arg:"file_mode,mode" doc:"permissions, such as '0644'"`
}

// line edits one line of a file.
// Salt: states/file.py line. As in Salt, location end adds a line at each run,
// after an empty one where the file ends in a newline.
func line(ctx context.Context, fc *fun.Call, a *lineArgs) fun.Ret {
	c := begin(fc)
	if c.path() == "" {
		return c.fail("Must provide name to file.line")
	}
	// What fails here is not told, as in Salt: a file that is missing is, below.
	user, group := c.owner(a.User, a.Group)
	c.sub(c.path()).manageChecked(ctx, &managedFile{
		create: a.Create, perms: files.Perms{User: user, Group: group, Mode: files.NormMode(a.FileMode), Follow: true},
	})
	if s := c.existing(); s != "" {
		return c.fail("%s", s)
	}
	mode := strings.ToLower(a.Mode)
	if mode == "" {
		return c.fail("Mode was not defined. How to process the file?")
	}
	if mode != "delete" && a.Content == nil {
		return c.fail("Content can only be empty if mode is ['delete']")
	}
	before, after, err := c.Line(files.LineEdit{
		Path: c.path(), Content: textOf(a.Content), Match: fun.TextOf(a.Match), Mode: mode, Location: a.Location,
		Before: textOf(a.Before), After: textOf(a.After), Backup: a.Backup, Quiet: a.Quiet, NoIndent: !a.Indent,
	})
	if err != nil {
		return fun.Raise(err)
	}
	return c.edited(before, after, a.ShowChanges, "Changes would be made")
}

type keyvalueArgs struct {
	_                 fun.Arguments
	_                 string          `arg:"name,required,path" doc:"path of the file"`
	Key               fun.Opt[string] `arg:"key" doc:"key to set"`
	Value             value.Value     `arg:"value" doc:"value of key"`
	KeyValues         value.Value     `arg:"key_values" doc:"mapping of keys to values"`
	Separator         string          `arg:"separator" default:"=" doc:"text between key and value"`
	AppendIfNotFound  bool            `arg:"append_if_not_found" default:"False" doc:"append missing keys"`
	PrependIfNotFound bool            `arg:"prepend_if_not_found" default:"False" doc:"prepend missing keys"`
	_                 bool            `arg:"search_only" default:"False" doc:"accepted without effect"`
	ShowChanges       bool            `arg:"show_changes" default:"True" doc:"show the diff"`
	IgnoreIfMissing   bool            `arg:"ignore_if_missing" default:"False" doc:"succeed if the file does not exist"`
	Count             int64           `arg:"count" default:"1" doc:"lines of a key to keep; -1 keeps all that are not commented out"`
	Uncomment         string          `arg:"uncomment" doc:"comment characters; a commented line is used if its key is missing"`
	KeyIgnoreCase     bool            `arg:"key_ignore_case" default:"False" doc:"ignore the case of keys"`
	ValueIgnoreCase   bool            `arg:"value_ignore_case" default:"False" doc:"ignore the case of values"`
}

// keyvalue sets keys to values. Salt: states/file.py keyvalue.
func keyvalue(ctx context.Context, fc *fun.Call, a *keyvalueArgs) fun.Ret {
	c := begin(fc)
	name := c.path()
	if name == "" {
		return c.fail("Must provide name to file.keyvalue")
	}
	kv, isMap := a.KeyValues.(*value.Map)
	switch {
	case a.Key.Given && a.Value != nil:
		// Salt refuses a dict beside them, but what an SLS has is none of
		// Python's own: a tree is taken, a call from the command line is not.
		if isMap && (c.Low == nil || c.Low.SLS == "") {
			return c.fail("file.keyvalue can not combine key_values with key and value")
		}
		if isMap {
			c.Env.Warn(fun.Warning{Where: c.Low.Pos.String(), Text: "file.keyvalue: key and value are taken, key_values has no effect beside them"})
		}
		kv = value.MapOf(a.Key.V, a.Value)
	case !value.Truth(a.KeyValues):
		return c.fail("file.keyvalue key and value not supplied and key_values is empty")
	case !isMap:
		return c.fail("file.keyvalue key and value not supplied and key_values is not a dictionary")
	}
	raw, err := c.ReadFile(name)
	if err != nil {
		o := fun.Failed
		if a.IgnoreIfMissing {
			o = fun.OK
		}
		return c.done(o, "unable to open "+name)
	}
	k := newKeyEdit(a, kv)
	for _, l := range difflib.SplitLines(string(raw)) {
		k.line(l)
	}
	k.addMissing(a.AppendIfNotFound, a.PrependIfNotFound)
	if k.changes == 0 {
		return c.done(fun.OK, "")
	}
	show := a.ShowChanges
	if show {
		c.ret.Changes.Set("diff", strings.Join(k.diff, ""))
	}
	if c.Test {
		say := fmt.Sprintf("File %s is set to be changed (%d lines)", name, k.changes)
		if show {
			say += "\nPredicted diff:\n\r\t\t" + strings.Join(k.diff, "\r\t\t")
		}
		return c.done(fun.WouldChange, say)
	}
	if err := c.Write(name, strings.Join(k.content, "")); err != nil {
		c.ret.Changes = value.NewMap(0)
		c.warn(err)
		return c.fail("%s not writable", name)
	}
	return c.done(fun.OK, fmt.Sprintf("Changed %d lines", k.changes))
}

// A keyEdit edits a file of keys and values line by line.
type keyEdit struct {
	keys          []string
	values        []value.Value
	left          map[string]int // how often a key may still come
	sep, comment  string
	foldKey, fold bool
	content, diff []string
	changes       int
}

func newKeyEdit(a *keyvalueArgs, kv *value.Map) *keyEdit {
	k := &keyEdit{
		left: map[string]int{}, sep: a.Separator, comment: a.Uncomment,
		foldKey: a.KeyIgnoreCase, fold: a.ValueIgnoreCase,
	}
	count := a.Count
	for key, v := range kv.All() {
		s := value.Str(key)
		k.keys, k.values = append(k.keys, s), append(k.values, v)
		k.left[s] = int(count)
	}
	return k
}

// line takes a line of the file.
func (k *keyEdit) line(l string) {
	bare := strings.TrimLeft(l, k.comment)
	if k.comment == "" {
		bare = strings.TrimLeft(l, " \t\n\r\v\f")
	}
	uncommented := len(l) > len(bare)
	for i, key := range k.keys {
		test, want := bare, key
		if k.foldKey {
			test, want = strings.ToLower(bare), strings.ToLower(key)
		}
		if !strings.HasPrefix(test, want) {
			continue
		}
		work := l
		if uncommented {
			work = bare
		}
		lineKey, lineValue, ok := strings.Cut(work, k.sep)
		if !ok || lineKey != key && (!k.foldKey || !strings.EqualFold(lineKey, key)) {
			continue
		}
		l = k.set(l, lineKey, strings.TrimSpace(lineValue), key, k.values[i], uncommented)
	}
	k.content = append(k.content, l)
}

// set returns the line of a key as it should be, "" where it goes.
func (k *keyEdit) set(l, lineKey, lineValue, key string, v value.Value, uncommented bool) string {
	want := strings.TrimSpace(value.Str(v))
	if k.fold {
		lineValue, want = strings.ToLower(lineValue), strings.ToLower(want)
	}
	same, due := lineValue == want, false
	switch {
	case uncommented && k.left[key] > 0:
		due = true
	case uncommented:
		same = true
	case k.left[key] == 0:
		due = true
	}
	if !same || due {
		k.diff = append(k.diff, "- "+l)
		l = ""
		if k.left[key] != 0 {
			l = lineKey + k.sep + value.Str(v) + "\n"
			if _, text := v.(string); text {
				k.diff = append(k.diff, "+ "+l)
			} else {
				k.diff = append(k.diff, fmt.Sprintf("+ %s (from %s type)\n", strings.TrimRight(l, " \t\r\n"), value.TypeName(v)))
			}
		}
		k.changes++
	}
	if k.left[key] > 0 {
		k.left[key]--
	}
	return l
}

// addMissing adds the keys that were not found.
func (k *keyEdit) addMissing(atEnd, atStart bool) {
	var lines []string
	for i, key := range k.keys {
		if k.left[key] > 0 {
			lines = append(lines, key+k.sep+value.Str(k.values[i])+"\n")
		}
	}
	if len(lines) == 0 || !atEnd && !atStart {
		return
	}
	k.changes += len(lines)
	if atEnd {
		k.diff = append(k.diff, "- <EOF>\n")
		for _, l := range lines {
			if n := len(k.content); n > 0 && !strings.HasSuffix(k.content[n-1], "\n") && k.content[n-1] != "" {
				k.content[n-1] += "\n"
			}
			k.diff, k.content = append(k.diff, "+ "+l), append(k.content, l)
		}
		k.diff = append(k.diff, "+ <EOF>\n")
		return
	}
	k.diff = append([]string{"  <SOF>\n"}, k.diff...)
	for _, l := range lines {
		k.diff = append(k.diff[:1:1], append([]string{"+ " + l}, k.diff[1:]...)...)
		k.content = append([]string{l}, k.content...)
	}
}
