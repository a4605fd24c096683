package cmd

import (
	"errors"
	"fmt"
	"strings"

	"brine/internal/dispatch"
	"brine/internal/fun"
	"brine/internal/value"
)

// exitCompound is salt's status of several functions whose arguments do not fit.
const exitCompound = 42

// compound returns the arguments of several functions, whose names have commas
// between: a list for each, what goes by name last in it. A lone separator parts
// them; where those are not as many as it takes, every separator does, within
// words too.
// Salt: salt/utils/parsers.py SaltCMDOptionParser._mixin_after_parsed.
func (o *sshOpts) compound(names string, words []string) (fun.Args, error) {
	sep, n := o.published.separator, strings.Count(names, ",")+1
	if o.prog != saltCLI {
		return fun.Args{}, &statusError{
			status: exitUsage, err: fmt.Errorf("%q are several functions, and one is called at a time", names),
			hint: "'brine salt' takes several, as salt does",
		}
	}
	if sep == "" {
		return fun.Args{}, &statusError{status: exitUsage, err: errors.New("--args-separator: the separator is empty")}
	}
	parts := [][]string{nil}
	next := func() { parts = append(parts, nil) }
	put := func(word string) { parts[len(parts)-1] = append(parts[len(parts)-1], word) }
	lone := 0
	for _, w := range words {
		if w == sep {
			lone++
		}
	}
	for _, w := range words {
		switch {
		case lone != n-1:
			for i, piece := range strings.Split(w, sep) {
				if i > 0 {
					next()
				}
				if piece != "" {
					put(piece)
				}
			}
		case w == sep:
			next()
		default:
			put(w)
		}
	}
	if len(parts) != n {
		text := "Cannot execute compound command without defining all arguments."
		if len(parts) > n {
			text = "Cannot execute compound command with more arguments than commands."
		}
		return fun.Args{}, &statusError{
			status: exitCompound, err: errors.New(text),
			hint: fmt.Sprintf("%d functions take %d lone %q between their arguments, also where there are none: %s%s", n, n-1, sep, names, strings.Repeat(" "+sep, n-1)),
		}
	}
	args := fun.Args{Kw: value.NewMap(0)}
	for _, part := range parts {
		in := dispatch.ParseInput(part, o.unparsed())
		if in.Kw.Len() > 0 {
			in.Kw.Set("__kwarg__", true)
			in.Pos = append(in.Pos, in.Kw)
		}
		args.Pos = append(args.Pos, value.NewList(in.Pos...))
	}
	return args, nil
}
