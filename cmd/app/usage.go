package app

import (
	"errors"
	"fmt"
	"sort"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"brine/cmd/internal/progress"
	"brine/internal/core/fun"
	"brine/internal/py/source"
)

// NoArguments makes an argument a usage fault.
func NoArguments(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return Usagef(c, "unexpected argument %q", args[0])
	}
	return nil
}

// ProgressValue is the error of a value that --progress does not take, since it
// stands behind a blank.
func ProgressValue() error {
	return &StatusError{
		Status: ExitUsage, Err: errors.New("--progress takes its value behind \"=\""), Hint: "write --progress=" + strings.Join(progress.Names(), ", --progress="),
	}
}

// NoCompletion offers nothing to the shell, also no files.
func NoCompletion(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveNoFileComp
}

// AddCommands adds the commands of brine. A word after one that has commands itself is
// one of these, or a usage fault.
func AddCommands(root *cobra.Command, commands ...*cobra.Command) {
	root.AddCommand(commands...)
	for _, sub := range commands {
		if sub.HasSubCommands() && sub.Args == nil {
			sub.Args = UnknownCommand
		}
	}
}

// UnknownCommand makes a word that is not a command a usage fault that names the
// nearest one.
func UnknownCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if !c.HasParent() {
		if hint := HintOfWord(args[0]); hint != "" {
			return &StatusError{Status: ExitUsage, Err: fmt.Errorf("unknown command %q", args[0]), Hint: hint}
		}
	}
	if hint := hintBelow(c, args[0]); hint != "" {
		return &StatusError{Status: ExitUsage, Err: fmt.Errorf("unknown command %q", args[0]), Hint: hint}
	}
	return Usagef(c, "unknown command %q%s", args[0], NearCommand(c, args[0]))
}

// Arguments makes fewer arguments than least a usage fault, and more than most unless
// that is negative; wants says which are taken.
func Arguments(c *cobra.Command, args []string, least, most int, wants string) error {
	switch {
	case len(args) < least, most == 0 && len(args) > 0:
		return Usagef(c, "%s", wants)
	case most < 0 || len(args) <= most:
		return nil
	}
	err := &StatusError{Status: ExitUsage, Err: fmt.Errorf("%q is one argument too many: %s", args[most], wants), Hint: "see '" + c.CommandPath() + " --help'"}
	if _, _, assigns := strings.Cut(args[most], "="); assigns && c.Flags().Lookup("set") != nil {
		err.Hint = "answers are given with --set: --set '" + args[most] + "'"
	}
	return err
}

// NearCommand returns ` (did you mean "x"?)` for the nearest of the commands below c, and of
// the programs that brine can be; "" where none is near.
func NearCommand(c *cobra.Command, word string) string {
	var names []string
	for _, sub := range c.Commands() {
		names = append(names, sub.Name())
	}
	if !c.HasParent() {
		names = append(names, SaltPrograms[:]...)
	}
	return source.DidYouMean(word, names)
}

// Usagef is a fault of the command line.
func Usagef(c *cobra.Command, format string, args ...any) error {
	return &StatusError{Status: ExitUsage, Err: fmt.Errorf(format, args...), Hint: "see '" + c.CommandPath() + " --help'"}
}

// badValue says what a flag takes whose value is none.
func badValue(bad *pflag.InvalidValueError) string {
	wants := map[string]string{
		"int": "a whole number", "int64": "a whole number", "uint": "a number of at least 0", "float64": "a number", "bool": "true or false",
		"duration": "a time such as 90s or 2h", "count": "a whole number",
	}[bad.GetFlag().Value.Type()]
	_, known := errors.AsType[*strconv.NumError](bad)
	if wants == "" || !known && bad.GetFlag().Value.Type() != "duration" {
		return bad.Error()
	}
	return fmt.Sprintf("--%s takes %s, not %q", bad.GetFlag().Name, wants, bad.GetValue())
}

// FlagError makes an unknown flag a usage fault that names the nearest one and
// the way out.
func FlagError(c *cobra.Command, err error) error {
	if errors.Is(err, errHelp) {
		return err
	}
	if bad, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		return Usagef(c, "%s", badValue(bad))
	}
	var ne *pflag.NotExistError
	if !errors.As(err, &ne) {
		return Usagef(c, "%s", err)
	}
	if h, ok := HabitOf(c, ne.GetSpecifiedName()); ok {
		return &StatusError{Status: ExitUsage, Err: err, Hint: h.hint}
	}
	if ne.GetSpecifiedShortnames() != "" {
		return Usagef(c, "%s", err)
	}
	var names []string
	add := func(fl *pflag.Flag) {
		if !fl.Hidden {
			names = append(names, fl.Name)
		}
	}
	c.Flags().VisitAll(add)
	c.InheritedFlags().VisitAll(add)
	sort.Strings(names)
	near, ok := source.Nearest(strings.ReplaceAll(ne.GetSpecifiedName(), "_", "-"), names)
	if !ok {
		return Usagef(c, "%s", err)
	}
	return Usagef(c, "%s (did you mean --%s?)", err, near)
}

// UsageOf makes an argument fault name the function's signature.
func UsageOf(name string, err error) error {
	hint := fmt.Sprintf("'brine doc %s' shows the arguments", name)
	var arg *fun.ArgError
	if errors.As(err, &arg) && arg.Nearest != "" {
		hint = fmt.Sprintf("did you mean %q? %s", arg.Nearest, hint)
	}
	return &StatusError{Status: ExitGeneric, Err: fmt.Errorf("%s: %w", name, err), Hint: hint}
}

// NoArgs makes any argument a usage fault.
func NoArgs(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return Usagef(c, "%s takes no arguments, and %q was given", c.Name(), args[0])
	}
	return nil
}
