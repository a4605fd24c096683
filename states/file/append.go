package file

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/difflib"
	"brine/internal/py/pyre"
	"brine/internal/py/value"
	"brine/modules/cp"
	files "brine/modules/file"
	"brine/modules/textfile"
)

// whitespaceRegex returns a pattern that matches whole lines that are text but
// for blanks. Salt: salt/utils/stringutils.py build_whitespace_split_regex.
func whitespaceRegex(text string) string {
	const blanks = `(?:[\s]+)?`
	var b strings.Builder
	b.WriteString("(?m)^")
	for _, line := range files.SplitLines(text, false) {
		b.WriteString(blanks)
		for i, w := range words(line) {
			if i > 0 {
				b.WriteString(blanks)
			}
			b.WriteString(pyre.Escape(w))
		}
		b.WriteString(blanks)
	}
	b.WriteString("$")
	return b.String()
}

// words splits a line at blanks, as Python's shlex does for Salt: where the
// line has single quotes, what stands between double quotes is one word, blanks
// and all, and the other way round. A quote without its end is text.
func words(line string) []string {
	quote := byte(0)
	switch single, double := strings.Contains(line, "'"), strings.Contains(line, `"`); {
	case strings.Contains(line, `'"`):
	case single:
		quote = '"'
	case double:
		quote = '\''
	}
	var out []string
	for i := 0; i < len(line); {
		if strings.IndexByte(" \t\r\n", line[i]) >= 0 {
			i++
			continue
		}
		end := i + 1
		if n := strings.IndexByte(line[end:], quote); quote != 0 && line[i] == quote && n >= 0 {
			end += n + 1
		} else {
			for end < len(line) && strings.IndexByte(" \t\r\n", line[end]) < 0 {
				end++
			}
		}
		out = append(out, line[i:end])
		i = end
	}
	return out
}

// textSources are the files that text is taken from, and their digests.
type textSources struct {
	sourceArgs
	urls, digests []string
}

// sourceArgs are the arguments that say where text is taken from, and how it is
// rendered.
type sourceArgs struct {
	source, hash      value.Value
	sources, hashes   []string
	template          string
	defaults, context *value.Map
}

// oneSource are the arguments of which sources takes one.
var oneSource = [][]string{{"source", "sources"}}

// sources returns the files of source or sources; fault is what there is to
// say. Salt: _unify_sources_and_hashes.
func (c *call) sources(ctx context.Context, a sourceArgs) (s textSources, fault string) {
	s = textSources{sourceArgs: a, urls: a.sources, digests: a.hashes}
	if !value.Truth(a.source) {
		return s, ""
	}
	if len(s.urls) > 0 {
		return s, "source and sources are mutually exclusive"
	}
	if value.Truth(a.hash) && len(s.digests) > 0 {
		return s, "source_hash and source_hashes are mutually exclusive"
	}
	src, hash, err := c.SourceList(ctx, a.source, a.hash)
	if err != nil {
		return s, err.Error()
	}
	s = textSources{sourceArgs: a, urls: []string{src}}
	if value.Truth(hash) {
		s.digests = []string{value.Str(hash)}
	}
	return s, ""
}

// sourceTexts returns the rendered texts of files. What cannot be had is a
// fault, and the return is then named after it, as in Salt; what cannot be
// rendered is an error. Salt: _get_template_texts.
func (c *call) sourceTexts(ctx context.Context, from textSources) (texts []string, fault string, err error) {
	client := cp.New(c.Env, c.SaltEnv)
	for i, s := range from.urls {
		o := cp.Options{}
		if i < len(from.digests) {
			o.SourceHash = from.digests[i]
		}
		p, err := client.CacheFile(ctx, s, o)
		var raw []byte
		if err == nil && p != "" {
			raw, err = c.ReadFile(p)
		}
		if err != nil || p == "" {
			c.noTexts(s)
			return nil, "Failed to load template file " + s, nil // the comment says so
		}
		out := string(raw)
		if t := from.template; t != "" {
			out, err = client.Render(ctx, t, s, raw, cp.Vars(nil, from.defaults, from.context))
			if _, ok := errors.AsType[*cp.UnknownTemplateError](err); ok {
				c.noTexts(s)
				return nil, "Failed to load template file " + s, nil
			}
			if err != nil {
				return nil, "", err
			}
		}
		if out == "" {
			c.noTexts(s)
			return nil, fmt.Sprintf("Failed to read rendered template file %s (%s)", p, s), nil
		}
		texts = append(texts, out)
	}
	return texts, "", nil
}

// noTexts makes the return that of Salt's _get_template_texts.
func (c *call) noTexts(source string) {
	c.ret.Name, c.ret.Extra = source, value.MapOf("data", &value.List{})
}

// begun makes the file that text is added to, where it is missing; stop says
// that the return is complete.
func (c *call) begun(ctx context.Context, makedirs bool) (ret fun.Ret, stop bool) {
	name := c.path()
	if makedirs && !c.Test && filepath.IsAbs(name) && !c.IsDir(filepath.Dir(name)) {
		if err := c.MakeDirs(ctx, name, files.Perms{}); err != nil {
			return c.fail("%s", host.OSError(err)), true
		}
	}
	fault := c.existing()
	if fault == "" {
		return fun.Ret{}, false
	}
	t := c.sub(name)
	touched := t.touch(ctx, nil, nil, makedirs)
	if c.Test {
		return touched, true
	}
	if c.existing() != "" {
		return c.fail("%s", fault), true
	}
	return fun.Ret{}, false
}

// added is how text is added to a file.
type added struct {
	find func(chunk string) (bool, error) // whether a text is there
	put  func(lines []string) error
	diff func(before, after string) string
	join func(text string, lines []string) string
	say  string // "Appended %d lines"

	header bool // the text has to be at the very beginning

	// refusalIsNothing says that a file which is not searched, since it is
	// binary, counts as one without text to add: in Salt the one exception is
	// a kind of the other.
	refusalIsNothing bool
}

type appendTextArgs struct {
	textArgs
	IgnoreWhitespace bool `arg:"ignore_whitespace" default:"True" doc:"ignore differences in whitespace when looking for the text"`
}

// appendText adds text at the end of a file.
//
// It fails where the directory is missing and makedirs is not set, or where
// there is no text. Salt: states/file.py append.
func appendText(ctx context.Context, fc *fun.Call, a *appendTextArgs) fun.Ret {
	c := begin(fc)
	if c.path() == "" {
		return c.fail("Must provide name to file.append")
	}
	return c.add(ctx, &a.textArgs, added{
		find: func(chunk string) (bool, error) {
			if a.IgnoreWhitespace {
				chunk = whitespaceRegex(chunk)
			}
			return c.Search(c.path(), chunk, pyre.Multiline, false)
		},
		put: func(lines []string) error { return c.AppendLines(c.path(), lines) },
		diff: func(before, after string) string {
			// Lines without their ends, joined by newlines: so Salt shows it.
			return strings.Join(difflib.Unified(files.SplitLines(before, false), files.SplitLines(after, false), "", "", "\n"), "\n")
		},
		join: func(text string, lines []string) string {
			if text != "" && !strings.HasSuffix(text, "\n") {
				text += "\n"
			}
			return text + textfile.Join(lines)
		},
		say: "Appended %d lines", refusalIsNothing: true,
	})
}

type prependTextArgs struct {
	textArgs
	Header bool `arg:"header" doc:"require the text at the very beginning of the file"`
}

// prependText puts text before that of a file. Salt: states/file.py prepend.
func prependText(ctx context.Context, fc *fun.Call, a *prependTextArgs) fun.Ret {
	c := begin(fc)
	if c.path() == "" {
		return c.fail("Must provide name to file.prepend")
	}
	return c.add(ctx, &a.textArgs, added{
		find: func(chunk string) (bool, error) {
			if a.Header {
				return false, nil // the whole is compared
			}
			return c.Search(c.path(), whitespaceRegex(chunk), pyre.Multiline, false)
		},
		put: func(lines []string) error { return c.PrependLines(c.path(), lines) },
		diff: func(before, after string) string {
			return strings.Join(difflib.Unified(files.SplitLines(before, true), files.SplitLines(after, true), "", "", "\n"), "")
		},
		join: func(text string, lines []string) string { return textfile.Join(lines) + text },
		say:  "Prepended %d lines", header: a.Header,
	})
}

func (c *call) add(ctx context.Context, a *textArgs, how added) fun.Ret {
	const nothing = "No text found to append. Nothing appended"
	name := c.path()
	from, fault := c.sources(ctx, sourceArgs{a.Source, a.SourceHash, a.Sources, a.SourceHashes, a.Template, a.Defaults, a.Context})
	if fault != "" {
		return c.fail("%s", fault)
	}
	if ret, stop := c.begun(ctx, a.Makedirs); stop {
		return ret
	}
	var texts []string
	switch {
	case len(from.urls) > 0:
		var err error
		if texts, fault, err = c.sourceTexts(ctx, from); err != nil {
			return c.raise(err)
		}
		if fault != "" {
			return c.fail("%s", fault)
		}
	case a.Text == nil:
		return c.fail(nothing)
	default:
		texts = textParts(a.Text)
	}
	old, err := c.ReadFile(name)
	if err != nil {
		return fun.Raise(err)
	}
	var lines []string
	for _, chunk := range texts {
		there, err := how.find(chunk)
		var refused *fun.InvocationError
		if how.refusalIsNothing && errors.As(err, &refused) {
			return c.fail(nothing)
		}
		if err != nil {
			return fun.Raise(err)
		}
		if !there {
			lines = append(lines, files.SplitLines(chunk, false)...)
		}
	}
	// As in Salt, test mode shows the whole header, be it there or not.
	if how.header && !c.Test {
		head := files.SplitLines(string(old), false)
		if len(head) >= len(lines) && slices.Equal(head[:len(lines)], lines) {
			lines = nil
		}
	}
	if len(lines) == 0 {
		return c.done(fun.OK, fmt.Sprintf("File %s is in correct state", name))
	}
	diff := how.diff(string(old), how.join(string(old), lines))
	if !files.IsText(old) {
		diff = "Replace binary file"
	}
	c.ret.Changes.Set("diff", diff)
	if c.Test {
		return c.done(fun.WouldChange, fmt.Sprintf("File %s is set to be updated", name))
	}
	if err := how.put(lines); err != nil {
		c.ret.Changes = value.NewMap(0)
		return c.fail("Unable to write %s: %s", name, host.OSError(err))
	}
	return c.done(fun.OK, fmt.Sprintf(how.say, len(lines)))
}
