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

func replaceSpec() fun.Spec {
	return fun.Spec{
		Name: "replace", State: replace, Src: "states/file.py replace",
		Doc: "Replace what a regular expression matches in a file.",
		Args: []fun.Arg{
			nameArg("the file, as an absolute path"),
			{Name: "pattern", Type: fun.Any, Required: true, Doc: "regular expression, as Python's"},
			{Name: "repl", Type: fun.Any, Required: true, Doc: "text to put there; \\1 and \\g<name> stand for groups"},
			fun.Opt("count", fun.Int, int64(0), "replace at most this many; 0 is all"),
			fun.Opt("flags", fun.Any, int64(8), "flags of the expression: names such as IGNORECASE, or Python's number"),
			fun.Opt("bufsize", fun.Any, int64(1), "accepted; the whole file is searched at once"),
			fun.Opt("append_if_not_found", fun.Bool, false, "add the text at the end where nothing matches"),
			fun.Opt("prepend_if_not_found", fun.Bool, false, "add the text at the beginning where nothing matches"),
			fun.Opt("not_found_content", fun.Any, nil, "text to add then; default: repl"),
			fun.Opt("backup", fun.Any, ".bak", "keep a copy whose name ends in this; False keeps none"),
			fun.Opt("show_changes", fun.Bool, true, "show the difference"),
			fun.Opt("ignore_if_missing", fun.Bool, false, "a file that is not there is no failure"),
			fun.Opt("backslash_literal", fun.Bool, false, "take backslashes in repl as they are"),
		},
	}
}

// replace replaces what a pattern matches in a file.
// Salt: states/file.py replace. Difference: the file is replaced atomically, so
// that further hard links keep the old content.
func replace(ctx context.Context, fc *fun.Call) fun.Ret {
	c := begin(ctx, fc)
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
	count := c.Int("count")
	before, after, err := c.Replace(files.Replacement{
		Path: c.path(), Pattern: c.Str("pattern"), Repl: value.Str(c.Value("repl")), Count: int(count), Flags: flags,
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

func blockreplaceSpec() fun.Spec {
	return fun.Spec{
		Name: "blockreplace", State: blockreplace, Src: "states/file.py blockreplace",
		Doc: "Replace the lines between two marker lines of a file.",
		Args: []fun.Arg{
			nameArg("the file, as an absolute path"),
			fun.Opt("marker_start", fun.Str, "#-- start managed zone --", "text of the line before the block"),
			fun.Opt("marker_end", fun.Str, "#-- end managed zone --", "text of the line after it"),
			fun.Opt("source", fun.Any, nil, "file to take further content from; it is rendered"),
			fun.Opt("source_hash", fun.Any, nil, "its digest, where it is not on the file server"),
			fun.Opt("template", fun.Any, "jinja", "template engine of sources"),
			fun.Opt("sources", fun.Any, nil, "list of such files"),
			fun.Opt("source_hashes", fun.Any, nil, "their digests"),
			fun.Opt("defaults", fun.Any, nil, "variables of the templates"),
			fun.Opt("context", fun.Any, nil, "variables of the templates; they go before defaults"),
			fun.Opt("content", fun.Any, "", "the lines of the block"),
			fun.Opt("append_if_not_found", fun.Bool, false, "add the block at the end where there are no markers"),
			fun.Opt("prepend_if_not_found", fun.Bool, false, "add it at the beginning then"),
			fun.Opt("backup", fun.Any, ".bak", "keep a copy whose name ends in this; False keeps none"),
			fun.Opt("show_changes", fun.Bool, true, "show the difference"),
			fun.Opt("append_newline", fun.Any, nil, "end the content in a newline; default: where it does not"),
			fun.Opt("insert_before_match", fun.Any, nil, "add the block before the first line that this expression matches, where there are no markers"),
			fun.Opt("insert_after_match", fun.Any, nil, "add it after that line"),
		},
	}
}

// blockreplace replaces the lines between two markers.
// Salt: states/file.py blockreplace.
func blockreplace(ctx context.Context, fc *fun.Call) fun.Ret {
	c := begin(ctx, fc)
	if c.path() == "" {
		return c.fail("Must provide name to file.blockreplace")
	}
	from, fault := c.sources()
	if fault == "" {
		fault = c.existing()
	}
	if fault != "" {
		return c.fail("%s", fault)
	}
	texts, fault, err := c.sourceTexts(from)
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

func commentArgs() []fun.Arg {
	return []fun.Arg{
		nameArg("the file, as an absolute path"),
		{Name: "regex", Type: fun.Str, Required: true, Doc: "regular expression for the lines, without the comment character"},
		fun.Opt("char", fun.Str, "#", "the comment character"),
		fun.Opt("backup", fun.Any, ".bak", "keep a copy whose name ends in this; False keeps none"),
	}
}

func commentSpec() fun.Spec {
	return fun.Spec{
		Name: "comment", State: comment, Src: "states/file.py comment",
		Doc:  "Put a comment character before the lines that match.",
		Args: append(commentArgs(), fun.Opt("ignore_missing", fun.Bool, false, "lines that are not there are no failure")),
	}
}

func uncommentSpec() fun.Spec {
	return fun.Spec{
		Name: "uncomment", State: uncomment, Src: "states/file.py uncomment",
		Doc: "Take the comment character off the lines that match.", Args: commentArgs(),
	}
}

// unanchored takes flags at the beginning, ^ and $ off a pattern.
func unanchored(pattern string) string {
	m := regexp.MustCompile(`(?s)^(?:\(\?[iLmsux]\))?\^?(.*?)\$?$`).FindStringSubmatch(pattern)
	if m == nil {
		return pattern
	}
	return m[1]
}

// comment comments lines out. Salt: states/file.py comment.
func comment(ctx context.Context, fc *fun.Call) fun.Ret {
	c := begin(ctx, fc)
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
func uncomment(ctx context.Context, fc *fun.Call) fun.Ret {
	c := begin(ctx, fc)
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

func lineSpec() fun.Spec {
	return fun.Spec{
		Name: "line", State: line, Src: "states/file.py line",
		Doc: "Insert, replace, ensure or delete one line of a file.",
		Args: []fun.Arg{
			nameArg("the file, as an absolute path"),
			fun.Opt("content", fun.Any, nil, "the line"),
			fun.Opt("match", fun.Any, nil, "text or regular expression of the line to replace or delete; default: content"),
			fun.Opt("mode", fun.Any, nil, "insert, ensure, replace or delete"),
			fun.Opt("location", fun.Any, nil, "where to insert: start or end"),
			fun.Opt("before", fun.Any, nil, "text or regular expression of the line before which to insert"),
			fun.Opt("after", fun.Any, nil, "of the line after which to insert"),
			fun.Opt("show_changes", fun.Bool, true, "show the difference"),
			fun.Opt("backup", fun.Bool, false, "keep a copy whose name ends in the time"),
			fun.Opt("quiet", fun.Bool, false, "a file that is not there is no failure of the edit"),
			fun.Opt("indent", fun.Bool, true, "indent as the line beside"),
			fun.Opt("create", fun.Bool, false, "make an empty file if it is missing"),
			fun.Opt("user", fun.Any, nil, userDoc),
			fun.Opt("group", fun.Any, nil, groupDoc),
			fun.Opt("file_mode", fun.Any, nil, modeDoc),
		},
	}
}

// line edits one line of a file.
// Salt: states/file.py line. As in Salt, location end adds a line at each run,
// after an empty one where the file ends in a newline.
func line(ctx context.Context, fc *fun.Call) fun.Ret {
	c := begin(ctx, fc)
	if c.path() == "" {
		return c.fail("Must provide name to file.line")
	}
	// What fails here is not told, as in Salt: a file that is missing is, below.
	user, group := c.owner()
	c.sub(c.path()).manageChecked(&managedFile{
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

func keyvalueSpec() fun.Spec {
	return fun.Spec{
		Name: "keyvalue", State: keyvalue, Src: "states/file.py keyvalue",
		Doc: "Set keys to values in a file of lines such as key=value.",
		Args: []fun.Arg{
			nameArg("the file"),
			fun.Opt("key", fun.Any, nil, "one key"),
			fun.Opt("value", fun.Any, nil, "its value"),
			fun.Opt("key_values", fun.Any, nil, "keys with their values"),
			fun.Opt("separator", fun.Str, "=", "what separates key and value"),
			fun.Opt("append_if_not_found", fun.Bool, false, "add missing keys at the end"),
			fun.Opt("prepend_if_not_found", fun.Bool, false, "add missing keys at the beginning"),
			fun.Opt("search_only", fun.Bool, false, "accepted; means nothing"),
			fun.Opt("show_changes", fun.Bool, true, "show the difference"),
			fun.Opt("ignore_if_missing", fun.Bool, false, "a file that is not there is no failure"),
			fun.Opt("count", fun.Int, int64(1), "how many lines of a key to keep; -1 is all that are not commented"),
			fun.Opt("uncomment", fun.Any, nil, "characters that comment a line out; such a line is used where a key is missing"),
			fun.Opt("key_ignore_case", fun.Bool, false, "find keys in any case"),
			fun.Opt("value_ignore_case", fun.Bool, false, "take a value in another case for right"),
		},
	}
}

// keyvalue sets keys to values. Salt: states/file.py keyvalue.
func keyvalue(ctx context.Context, fc *fun.Call) fun.Ret {
	c := begin(ctx, fc)
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
		if isMap && c.Env.Warn != nil {
			c.Env.Warn(fun.Warning{Where: c.Low.Pos.String(), Text: "file.keyvalue: key and value are taken, key_values has no effect beside them"})
		}
		kv = value.MapOf(value.Str(c.Value("key")), c.Value("value"))
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
		if !ok || lineKey != key && !(k.foldKey && strings.EqualFold(lineKey, key)) {
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
