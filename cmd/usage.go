package cmd

import (
	"errors"
	"fmt"
	"sort"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"brine/internal/core/fun"
	"brine/internal/py/source"
)

// unknownCommand makes a word that is no command a usage fault that names the
// nearest one.
func unknownCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, sub := range c.Commands() {
		names = append(names, sub.Name())
	}
	if !c.HasParent() {
		names = append(names, saltPrograms[:]...)
		if strings.Contains(args[0], ".") { // a function, without the command that calls it
			return &statusError{status: exitUsage, err: fmt.Errorf("unknown command %q", args[0]), hint: fmt.Sprintf(
				"write 'brine call %[1]s' for this machine, 'brine ssh TARGET %[1]s' for targets, 'brine run %[1]s' for a runner function", args[0])}
		}
	}
	return usagef(c, "unknown command %q%s", args[0], source.DidYouMean(args[0], names))
}

// usagef is a fault of the command line.
func usagef(c *cobra.Command, format string, args ...any) error {
	return &statusError{status: exitUsage, err: fmt.Errorf(format, args...), hint: "see '" + c.CommandPath() + " --help'"}
}

// flagError makes an unknown flag a usage fault that names the nearest one and
// the way out.
func flagError(c *cobra.Command, err error) error {
	if errors.Is(err, errHelp) {
		return err
	}
	var ne *pflag.NotExistError
	if !errors.As(err, &ne) || ne.GetSpecifiedShortnames() != "" {
		return usagef(c, "%s", err)
	}
	if ne.GetSpecifiedName() == "test" {
		return &statusError{status: exitUsage, err: err, hint: "test mode is an argument of the function: test=True"}
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
		return usagef(c, "%s", err)
	}
	return usagef(c, "%s (did you mean --%s?)", err, near)
}

// usageOf makes an argument fault name the function's signature.
func usageOf(name string, err error) error {
	hint := fmt.Sprintf("'brine doc %s' shows the arguments", name)
	var arg *fun.ArgError
	if errors.As(err, &arg) && arg.Nearest != "" {
		hint = fmt.Sprintf("did you mean %q? %s", arg.Nearest, hint)
	}
	return &statusError{status: exitGeneric, err: fmt.Errorf("%s: %w", name, err), hint: hint}
}
