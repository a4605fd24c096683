package cmd

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"brine/cmd/app"
	"brine/cmd/internal/columns"
	"brine/cmd/internal/topics"
	"brine/internal/py/source"
)

// overview is the help of brine: all commands in groups, several of a kind on one line.
var overview = []struct {
	title string
	lines []struct{ names, text string }
}{
	{"Run", []struct{ names, text string }{
		{"call, ssh, run", "a function: here, on targets, of the controller"},
		{"orchestrate, react", "steps on many machines; what reacts to an event"},
		{"plan, apply, undo", "show what a run would change; run that; bring it back"},
		{"chain, template", "lists of actions; orchestrations of others"},
		{"schedule, recurring", "regularly: jobs of this machine; runs of workers"},
	}},
	{"Look", []struct{ names, text string }{
		{"doc, functions", "the documentation of functions, and their list"},
		{"graph, history, notify", "draw steps and states; back up what ran; tell of it"},
		{"docs, help, version", "the documentation; help of a command; version"},
	}},
	{"Write", []struct{ names, text string }{
		{"init, formula", "create a tree; add formulas to one"},
		{"lint, check, lsp", "find faults; what is not supported; SLS in editors"},
		{"test", "test the states of a tree, with or without machines"},
	}},
	{"Serve", []struct{ names, text string }{
		{"ui, worker, approval", "pages; runs of a queue; those that wait for people"},
		{"agent, python-path", "agents for other platforms; programs that import salt"},
		{"beacon, completion", "events of what is found here; completion for shells"},
	}},
}

// fitHelp makes the help of a command, and of those below it, as wide as the terminal.
func fitHelp(a *app.App, c *cobra.Command) {
	width := func(c *cobra.Command) int { return columns.Width(c.OutOrStdout(), a.Getenv) }
	c.SetHelpFunc(func(c *cobra.Command, _ []string) {
		_, _ = io.WriteString(c.OutOrStdout(), helpText(c, width(c)))
	})
	c.SetUsageFunc(func(c *cobra.Command) error {
		_, err := io.WriteString(c.OutOrStdout(), usageText(c, width(c)))
		return err
	})
}

// helpText returns the help of a command. That of brine is the overview.
func helpText(c *cobra.Command, width int) string {
	if !c.HasParent() && c.Name() == "brine" {
		return overviewText(c, width)
	}
	return columns.Prose(strings.TrimSpace(cmp.Or(c.Long, c.Short)), width) + "\n" + usageText(c, width)
}

func overviewText(c *cobra.Command, width int) string {
	var b strings.Builder
	b.WriteString(columns.Prose(c.Long, width) + "\n" + columns.Hang("Usage: ", "brine <command> [<argument>...] [flags]", 7, width))
	for _, g := range overview {
		b.WriteString(g.title + ":\n")
		var entries []columns.Entry
		for _, l := range g.lines {
			// The groups have one column, so that they look like a table.
			entries = append(entries, columns.Entry{Name: fmt.Sprintf("%-19s", l.names), Text: l.text})
		}
		b.WriteString(columns.Entries(entries, "  ", width))
	}
	b.WriteString(columns.Prose("'brine help <command>' has flags and examples; 'brine help <topic>' is about one of "+
		strings.Join(topics.Names(), ", ")+". Begin with: brine init mytree", width))
	return b.String()
}

// topicList returns the topics as indented lines.
func topicList() string {
	var b strings.Builder
	for _, t := range topics.All() {
		fmt.Fprintf(&b, "  %-12s   %s\n", t.Name, t.Short)
	}
	return b.String()
}

// usageText returns how a command is used: its line, examples, commands and flags.
func usageText(c *cobra.Command, width int) string {
	var b strings.Builder
	b.WriteString("Usage:\n")
	if c.Runnable() {
		b.WriteString(columns.Hang("  ", c.UseLine(), 6, width))
	}
	if c.HasAvailableSubCommands() {
		b.WriteString(columns.Hang("  ", c.CommandPath()+" [command]", 6, width))
	}
	if len(c.Aliases) > 0 {
		b.WriteString("\nAliases:\n" + columns.Hang("  ", c.NameAndAliases(), 2, width))
	}
	if c.HasExample() {
		b.WriteString("\nExamples:\n")
		for line := range strings.Lines(c.Example) {
			b.WriteString(columns.Command(strings.TrimRight(line, "\n"), width))
		}
	}
	if c.HasAvailableSubCommands() {
		var entries []columns.Entry
		for _, sub := range c.Commands() {
			if sub.IsAvailableCommand() {
				entries = append(entries, columns.Entry{Name: sub.Name(), Text: sub.Short})
			}
		}
		b.WriteString("\nAvailable Commands:\n" + columns.Entries(entries, "  ", width))
	}
	flagsText(&b, c, width)
	if c.HasAvailableSubCommands() {
		b.WriteString("\n" + columns.Prose(fmt.Sprintf("Use \"%s [command] --help\" for more information about a command.", c.CommandPath()), width))
	}
	return b.String()
}

// flagsText writes the flags of a command, in its groups if it has some.
func flagsText(b *strings.Builder, c *cobra.Command, width int) {
	groups, shown := app.GroupsOf(c), map[string]bool{}
	show := func(title string, flags *pflag.FlagSet, wants func(string) bool) {
		var entries []columns.Entry
		flags.VisitAll(func(f *pflag.Flag) {
			if !shown[f.Name] && wants(f.Name) {
				if e, ok := flagEntry(f); ok {
					entries = append(entries, e)
				}
				shown[f.Name] = true
			}
		})
		if len(entries) > 0 {
			b.WriteString("\n" + title + ":\n" + columns.Entries(entries, "  ", width))
		}
	}
	all := func(string) bool { return true }
	for _, g := range groups {
		names := strings.Fields(g.Names)
		show(g.Title, c.LocalFlags(), func(name string) bool { return slices.Contains(names, name) })
	}
	rest := "Flags"
	if len(groups) > 0 {
		rest = "Other"
	}
	show(rest, c.LocalFlags(), all)
	show("Global Flags", c.InheritedFlags(), all)
}

// flagEntry returns a flag as pflag describes it: alone in a set, it has one line, in
// which three blanks end its name. It returns false for a hidden flag.
func flagEntry(f *pflag.Flag) (columns.Entry, bool) {
	set := pflag.NewFlagSet("", pflag.ContinueOnError)
	set.AddFlag(f)
	line := strings.TrimPrefix(strings.TrimSuffix(set.FlagUsages(), "\n"), "  ")
	bare := strings.TrimLeft(line, " ")
	name, text, _ := strings.Cut(bare, "   ")
	return columns.Entry{Name: line[:len(line)-len(bare)] + name, Text: text}, bare != ""
}

// newHelpCmd returns the command help, for which a name that is none is a fault.
func newHelpCmd(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use: "help [<command>... | <topic>]", Short: "Print the help of a command, or about a topic",
		Long: "Print the help of a command, or about a topic of all commands:\n\n" + topicList() + "\nExit status: 0 success; 64 there is no such command or topic.",
		ValidArgsFunction: func(c *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
			var names []string
			if at, _, err := c.Root().Find(args); err == nil {
				for _, sub := range at.Commands() {
					if sub.IsAvailableCommand() && strings.HasPrefix(sub.Name(), prefix) {
						names = append(names, sub.Name())
					}
				}
			}
			if len(args) == 0 {
				names = append(names, app.Begins(topics.Names(), prefix)...)
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(c *cobra.Command, args []string) error {
			of := c.Root()
			if len(args) > 0 {
				if t, ok := topics.Find(args[0]); ok {
					return printTopic(a, c, t, args[1:])
				}
			}
			for _, name := range args {
				next, rest, err := of.Find([]string{name})
				if err != nil || next == of || len(rest) > 0 {
					return unknownHelp(c, of, name)
				}
				of = next
			}
			of.InitDefaultHelpFlag()
			return of.Help()
		},
	}
}

// printTopic prints a topic of the help.
func printTopic(a *app.App, c *cobra.Command, t topics.Topic, rest []string) error {
	if len(rest) > 0 {
		return app.Usagef(c, "unexpected argument %q: %s is a topic", rest[0], t.Name)
	}
	_, err := io.WriteString(a.Out, t.Text(columns.Width(a.Out, a.Getenv)))
	return err
}

// unknownHelp is the fault of a name that is neither a command of the command of, nor a
// topic.
func unknownHelp(c, of *cobra.Command, name string) error {
	if near, ok := source.Nearest(name, topics.Names()); ok && !of.HasParent() && app.NearCommand(of, name) == "" {
		return app.Usagef(c, "unknown command or topic %q (did you mean %q?)", name, near)
	}
	return app.UnknownCommand(of, []string{name})
}
