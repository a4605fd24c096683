package file

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"brine/internal/difflib"
	"brine/internal/fun"
	"brine/internal/pyre"
	"brine/internal/value"
	files "brine/modules/file"
)

type replaceArgs struct {
	_ fun.Arguments
	_ string      `arg:"name,required,path" doc:"absolute path of the file"`
	_ value.Value `arg:"pattern,required" doc:"regular expression in Python's syntax"`
	_ string      `arg:"repl,required" doc:"replacement; \\1 and \\g<name> refer to groups"`
	_ int64       `arg:"count" default:"0" doc:"maximum number of replacements; 0 replaces all"`
	_ value.Value `arg:"flags,str|int|list" default:"8" doc:"flags of the expression: names such as IGNORECASE, or Python's number"`
	_ value.Value `arg:"bufsize,str|int" default:"1" doc:"accepted without effect; the whole file is searched at once"`
	_ bool        `arg:"append_if_not_found" default:"False" doc:"append the replacement if nothing matches"`
	_ bool        `arg:"prepend_if_not_found" default:"False" doc:"prepend the replacement if nothing matches"`
	_ string      `arg:"not_found_content" doc:"text to append or prepend; default: repl"`
	_ value.Value `arg:"backup,str|bool" default:"'.bak'" doc:"suffix of the backup copy; False keeps none"`
	_ bool        `arg:"show_changes" default:"True" doc:"show the difference"`
	_ bool        `arg:"ignore_if_missing" default:"False" doc:"succeed if the file does not exist"`
	_ bool        `arg:"backslash_literal" default:"False" doc:"take backslashes in repl literally"`
}

// replace replaces what a pattern matches in a file.
// Salt: states/file.py replace. Difference: the file is replaced atomically, so
// that further hard links keep the old content.
func replace(ctx context.Context, fc *fun.Call, _ *replaceArgs) fun.Ret {
	c := begin(fc)
	if c.path() == "" {
		return c.fail("Must provide name to file.replace")
	}
	if s := c.existing(); s != "" {
		if c.Bool("ignore_if_missing") && strings.Contains(s, "file not found") {
			return c.done(fun.OK, "No changes needed to be made")
		}
		return c.fail("%s", s)
	}
	if t := value.TypeName(c.Value("pattern")); t != "str" {
		return fun.Raise(value.Raise("TypeError", "expected str, bytes, or bytearray not <class '%s'>", t))
	}
	flags, err := files.ReFlags(c.Value("flags"))
	if err != nil {
		return fun.Raise(err)
	}
	before, after, err := c.Replace(files.Replacement{
		Path: c.path(), Pattern: c.Str("pattern"), Repl: c.Str("repl"), Count: int(c.Int("count")), Flags: flags,
		Append: c.Bool("append_if_not_found"), Prepend: c.Bool("prepend_if_not_found"), NotFound: c.textArg("not_found_content"),
		Backup: c.backupSuffix(), DryRun: c.Test, Literal: c.Bool("backslash_literal"),
	})
	if err != nil {
		return fun.Raise(err)
	}
	return c.edited(before, after, "Changes would have been made")
}

// edited reports how lines of a file changed.
func (c *call) edited(before, after []string, would string) fun.Ret {
	var diff value.Value
	if d := files.DiffLines(before, after); d != "" {
		diff = d
		if !c.Bool("show_changes") {
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
	_ fun.Arguments
	_ string      `arg:"name,required,path" doc:"absolute path of the file"`
	_ string      `arg:"marker_start" default:"#-- start managed zone --" doc:"text of the line before the block"`
	_ string      `arg:"marker_end" default:"#-- end managed zone --" doc:"text of the line after the block"`
	_ value.Value `arg:"source,str|list" doc:"file to read further content from; it is rendered"`
	_ string      `arg:"source_hash" doc:"digest of a source that is not on the file server"`
	_ string      `arg:"template" default:"jinja" doc:"template engine of the sources"`
	_ value.Value `arg:"sources,list[str]" doc:"list of such files"`
	_ value.Value `arg:"source_hashes,list[str]" doc:"digests of the sources"`
	_ value.Value `arg:"defaults,dict" doc:"default template variables"`
	_ value.Value `arg:"context,dict" doc:"template variables; they override defaults"`
	_ value.Value `arg:"content" default:"''" doc:"lines of the block"`
	_ bool        `arg:"append_if_not_found" default:"False" doc:"append the block if the markers are missing"`
	_ bool        `arg:"prepend_if_not_found" default:"False" doc:"prepend the block if the markers are missing"`
	_ value.Value `arg:"backup,str|bool" default:"'.bak'" doc:"suffix of the backup copy; False keeps none"`
	_ bool        `arg:"show_changes" default:"True" doc:"show the difference"`
	_ bool        `arg:"append_newline" doc:"end the content with a newline; default: if it has none"`
	_ string      `arg:"insert_before_match" doc:"without markers, insert the block before the first line that matches"`
	_ string      `arg:"insert_after_match" doc:"without markers, insert the block after the first line that matches"`
}

// blockreplace replaces the lines between two markers.
// Salt: states/file.py blockreplace.
func blockreplace(ctx context.Context, fc *fun.Call, _ *blockreplaceArgs) fun.Ret {
	c := begin(fc)
	if c.path() == "" {
		return c.fail("Must provide name to file.blockreplace")
	}
	from, fault := c.sources(ctx)
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
	content := c.withAccumulated(c.Str("content"))
	content += strings.Join(texts, "")
	b := files.Block{
		Path: c.path(), Start: c.Str("marker_start"), End: c.Str("marker_end"), Content: content,
		Append: c.Bool("append_if_not_found"), Prepend: c.Bool("prepend_if_not_found"),
		InsertBefore: c.Str("insert_before_match"), InsertAfter: c.Str("insert_after_match"),
		Backup: c.backupSuffix(), DryRun: c.Test,
	}
	method := "endswith" // the first one that Salt calls of the content
	if !c.IsNone("append_newline") {
		nl := c.Bool("append_newline")
		b.Newline, method = &nl, "split"
	}
	if v := c.Value("content"); value.TypeName(v) != "str" {
		b.Fault = value.Raise("AttributeError", "'%s' object has no attribute '%s'", value.TypeName(v), method)
	}
	before, after, err := c.BlockReplace(b)
	if err != nil {
		return c.fail("Encountered error managing block: %s. See the log for details.", err)
	}
	return c.edited(before, after, "Changes would be made")
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
	_ bool `arg:"ignore_missing" default:"False" doc:"succeed if no line matches"`
}

// comment comments lines out. Salt: states/file.py comment.
func comment(ctx context.Context, fc *fun.Call, _ *commentGiven) fun.Ret {
	c := begin(fc)
	if c.path() == "" {
		return c.fail("Must provide name to file.comment")
	}
	if s := c.existing(); s != "" {
		return c.fail("%s", s)
	}
	char, plain := c.Str("char"), unanchored(c.Str("regex"))
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
		case c.Bool("ignore_missing"):
			return c.done(fun.OK, "Pattern not found and ignore_missing set to True")
		}
		return c.fail("%s: Pattern not found", plain)
	}
	return c.commentLines(true, commented)
}

// uncomment takes comment characters off. Salt: states/file.py uncomment.
func uncomment(ctx context.Context, fc *fun.Call, _ *commentArgs) fun.Ret {
	c := begin(fc)
	if c.path() == "" {
		return c.fail("Must provide name to file.uncomment")
	}
	if s := c.existing(); s != "" {
		return c.fail("%s", s)
	}
	plain := strings.TrimLeft(c.Str("regex"), "^")
	bare := "^[ \t]*" + plain
	due, err := c.has(c.Str("char") + "[ \t]*" + plain)
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
		return c.fail("%s: Pattern not found", c.Str("regex"))
	}
	return c.commentLines(false, bare)
}

// has reports whether a pattern matches in the file.
func (c *call) has(pattern string) (bool, error) {
	return c.Search(c.path(), pattern, pyre.Multiline, false)
}

// commentLines edits the lines and checks that expect is found then.
func (c *call) commentLines(on bool, expect string) fun.Ret {
	name := c.path()
	if c.Test {
		c.ret.Changes.Set(name, "updated")
		return c.done(fun.WouldChange, fmt.Sprintf("File %s is set to be updated", name))
	}
	old, err := c.ReadFile(name)
	if err != nil {
		return fun.Raise(err)
	}
	if _, _, err := c.CommentLine(name, c.Str("regex"), c.Str("char"), on, c.backupSuffix()); err != nil {
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
	_ fun.Arguments
	_ string      `arg:"name,required,path" doc:"absolute path of the file"`
	_ value.Value `arg:"content,str|bool" doc:"the line"`
	_ value.Value `arg:"match,str|bool" doc:"text or regular expression of the line to replace or delete; default: content"`
	_ string      `arg:"mode" doc:"insert, ensure, replace or delete"`
	_ string      `arg:"location" doc:"where to insert: start or end"`
	_ string      `arg:"before" doc:"text or regular expression of the line to insert before"`
	_ string      `arg:"after" doc:"text or regular expression of the line to insert after"`
	_ bool        `arg:"show_changes" default:"True" doc:"show the difference"`
	_ bool        `arg:"backup" default:"False" doc:"keep a copy of the file with the time in its name"`
	_ bool        `arg:"quiet" default:"False" doc:"do not fail if the file does not exist"`
	_ bool        `arg:"indent" default:"True" doc:"indent the line like its neighbour"`
	_ bool        `arg:"create" default:"False" doc:"create an empty file if it is missing"`
	_ value.Value `arg:"user,str|int" doc:"owner, by name or ID"`
	_ value.Value `arg:"group,str|int" doc:"group, by name or ID"`
	_ string      `arg:"file_mode,mode" doc:"permissions, such as '0644'"`
}

// line edits one line of a file.
// Salt: states/file.py line. As in Salt, location end adds a line at each run,
// after an empty one where the file ends in a newline.
func line(ctx context.Context, fc *fun.Call, _ *lineArgs) fun.Ret {
	c := begin(fc)
	if c.path() == "" {
		return c.fail("Must provide name to file.line")
	}
	// What fails here is not told, as in Salt: a file that is missing is, below.
	user, group := c.owner()
	c.sub(c.path()).manageChecked(ctx, &managedFile{
		create: c.Bool("create"), perms: files.Perms{User: user, Group: group, Mode: files.NormMode(c.Value("file_mode")), Follow: true},
	})
	if s := c.existing(); s != "" {
		return c.fail("%s", s)
	}
	mode := strings.ToLower(c.Str("mode"))
	if mode == "" {
		return c.fail("Mode was not defined. How to process the file?")
	}
	if mode != "delete" && c.IsNone("content") {
		return c.fail("Content can only be empty if mode is ['delete']")
	}
	before, after, err := c.Line(files.LineEdit{
		Path: c.path(), Content: c.textArg("content"), Match: c.Str("match"), Mode: mode, Location: c.Str("location"),
		Before: c.textArg("before"), After: c.textArg("after"), Backup: c.Bool("backup"), Quiet: c.Bool("quiet"), NoIndent: !c.Bool("indent"),
	})
	if err != nil {
		return fun.Raise(err)
	}
	return c.edited(before, after, "Changes would be made")
}

type keyvalueArgs struct {
	_ fun.Arguments
	_ string      `arg:"name,required,path" doc:"path of the file"`
	_ string      `arg:"key" doc:"key to set"`
	_ value.Value `arg:"value" doc:"value of key"`
	_ value.Value `arg:"key_values" doc:"mapping of keys to values"`
	_ string      `arg:"separator" default:"=" doc:"text between key and value"`
	_ bool        `arg:"append_if_not_found" default:"False" doc:"append missing keys"`
	_ bool        `arg:"prepend_if_not_found" default:"False" doc:"prepend missing keys"`
	_ bool        `arg:"search_only" default:"False" doc:"accepted without effect"`
	_ bool        `arg:"show_changes" default:"True" doc:"show the difference"`
	_ bool        `arg:"ignore_if_missing" default:"False" doc:"succeed if the file does not exist"`
	_ int64       `arg:"count" default:"1" doc:"lines of a key to keep; -1 keeps all that are not commented out"`
	_ string      `arg:"uncomment" doc:"comment characters; a commented line is used if its key is missing"`
	_ bool        `arg:"key_ignore_case" default:"False" doc:"ignore the case of keys"`
	_ bool        `arg:"value_ignore_case" default:"False" doc:"ignore the case of values"`
}

// keyvalue sets keys to values. Salt: states/file.py keyvalue.
func keyvalue(ctx context.Context, fc *fun.Call, _ *keyvalueArgs) fun.Ret {
	c := begin(fc)
	name := c.path()
	if name == "" {
		return c.fail("Must provide name to file.keyvalue")
	}
	kv, isMap := c.Value("key_values").(*value.Map)
	switch {
	case !c.IsNone("key") && !c.IsNone("value"):
		// Salt refuses a dict beside them, but what an SLS has is none of
		// Python's own: a tree is taken, a call from the command line is not.
		if isMap && (c.Low == nil || c.Low.SLS == "") {
			return c.fail("file.keyvalue can not combine key_values with key and value")
		}
		if isMap {
			c.Env.Warn(fun.Warning{Where: c.Low.Pos.String(), Text: "file.keyvalue: key and value are taken, key_values has no effect beside them"})
		}
		kv = value.MapOf(c.Str("key"), c.Value("value"))
	case !value.Truth(c.Value("key_values")):
		return c.fail("file.keyvalue key and value not supplied and key_values is empty")
	case !isMap:
		return c.fail("file.keyvalue key and value not supplied and key_values is not a dictionary")
	}
	raw, err := c.ReadFile(name)
	if err != nil {
		o := fun.Failed
		if c.Bool("ignore_if_missing") {
			o = fun.OK
		}
		return c.done(o, "unable to open "+name)
	}
	k := newKeyEdit(c, kv)
	for _, l := range difflib.SplitLines(string(raw)) {
		k.line(l)
	}
	k.addMissing(c.Bool("append_if_not_found"), c.Bool("prepend_if_not_found"))
	if k.changes == 0 {
		return c.done(fun.OK, "")
	}
	show := c.Bool("show_changes")
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

func newKeyEdit(c *call, kv *value.Map) *keyEdit {
	k := &keyEdit{
		left: map[string]int{}, sep: c.Str("separator"), comment: c.Str("uncomment"),
		foldKey: c.Bool("key_ignore_case"), fold: c.Bool("value_ignore_case"),
	}
	count := c.Int("count")
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
