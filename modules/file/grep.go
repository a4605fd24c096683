package file

import (
	"context"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/difflib"
	"brine/internal/py/pyre"
	"brine/internal/py/value"
)

type containsArgs struct {
	pathArg
	Text string `arg:"text,required" doc:"the text; white space around it is ignored"`
}

func contains(_ context.Context, c *fun.Call, a *containsArgs) (fun.Result, error) {
	f := on(c)
	b, err := f.ReadFile(f.Expand(a.Path))
	if err != nil {
		return fun.Value(false) // as in Salt
	}
	return fun.Value(strings.Contains(string(b), strings.TrimSpace(a.Text)))
}

type containsGlobArgs struct {
	pathArg
	GlobExpr string `arg:"glob_expr,required" doc:"the glob"`
}

func containsGlob(_ context.Context, c *fun.Call, a *containsGlobArgs) (fun.Result, error) {
	f := on(c)
	b, err := f.ReadFile(f.Expand(a.Path))
	if err != nil {
		return fun.Value(false) // as in Salt
	}
	return fun.Value(value.Fnmatch(a.GlobExpr, string(b)))
}

type containsRegexArgs struct {
	pathArg
	Regex string `arg:"regex,required" doc:"the regular expression"`
	Lchar string `arg:"lchar" default:"" doc:"characters to strip from the start of each line"`
}

func containsRegex(_ context.Context, c *fun.Call, a *containsRegexArgs) (fun.Result, error) {
	f := on(c)
	b, err := f.ReadFile(f.Expand(a.Path))
	if err != nil {
		return fun.Value(false) // as in Salt
	}
	re, err := pyre.Compile(a.Regex, 0)
	if err != nil {
		return fun.Result{}, err
	}
	for _, l := range difflib.SplitLines(string(b)) {
		if lc := a.Lchar; lc != "" {
			l = strings.TrimLeft(l, lc)
		}
		if ok, err := re.Has(l); ok || err != nil {
			return fun.Result{Value: ok}, err
		}
	}
	return fun.Value(false)
}

type searchArgs struct {
	pathArg
	patternArg
	Flags           value.Value `arg:"flags,str|int|list[str]" default:"8" doc:"flags of the expression: names, or Python's number"`
	_               value.Value `arg:"bufsize,str|int" default:"1" doc:"accepted"`
	IgnoreIfMissing bool        `arg:"ignore_if_missing" default:"False" doc:"a missing file has no match"`
	Multiline       bool        `arg:"multiline" default:"False" doc:"let ^ and $ match at line ends"`
}

func search(_ context.Context, c *fun.Call, a *searchArgs) (fun.Result, error) {
	f := on(c)
	flags, err := ReFlags(a.Flags)
	if err != nil {
		return fun.Result{}, err
	}
	if a.Multiline {
		flags |= pyre.Multiline
	}
	return wrap(f.Search(a.Path, a.Pattern, flags, a.IgnoreIfMissing))
}

type grepArgs struct {
	pathArg
	Pattern string `arg:"pattern,required" doc:"the pattern"`
	More    fun.Varargs
}

func grep(ctx context.Context, c *fun.Call, a *grepArgs) (fun.Result, error) {
	f := on(c)
	argv := []string{"grep"}
	for _, o := range a.More {
		s := value.Str(o)
		if len(strings.Fields(s)) > 1 {
			return fun.Result{}, invalid("Passing multiple command line arguments in a single string is not supported, please pass the following arguments separately: %s", s)
		}
		argv = append(argv, s)
	}
	p := f.Expand(a.Path)
	argv = append(argv, a.Pattern)
	if files := f.Glob(p); len(files) > 0 {
		argv = append(argv, files...)
	} else {
		argv = append(argv, p)
	}
	return result(f.runAll(ctx, argv))
}
