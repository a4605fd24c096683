package cmd

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// overview is the help of brine: all commands in groups, several of a kind on one line.
var overview = []struct {
	title string
	lines []struct{ names, text string }
}{
	{"Run", []struct{ names, text string }{
		{"call, ssh, run", "a function: here, on targets, of the controller"},
		{"orchestrate", "steps on many machines, in an order"},
		{"react", "what reactors ask for as a reaction to an event"},
		{"plan, apply, undo", "show what a run would change; run that; bring it back"},
		{"chain, template", "lists of actions; orchestrations of others"},
		{"schedule, worker", "later and regularly; the runs of a queue"},
	}},
	{"Look", []struct{ names, text string }{
		{"doc, functions", "the documentation of functions, and their list"},
		{"graph", "draw steps and states with their requisites"},
		{"docs, help, version", "the documentation; help of a command; version"},
	}},
	{"Write", []struct{ names, text string }{
		{"init, formula", "create a tree; add formulas to one"},
		{"lint, check", "find faults in a tree; list what brine does not support"},
	}},
	{"Serve", []struct{ names, text string }{
		{"ui, lsp", "pages for browsers; editors of SLS files"},
		{"agent, python-path", "agents for other platforms; programs that import salt"},
		{"completion", "completion for shells"},
	}},
}

// helpFunc prints the overview as the help of brine, and the usual help of its commands.
func helpFunc(usual func(*cobra.Command, []string)) func(*cobra.Command, []string) {
	return func(c *cobra.Command, args []string) {
		if c.HasParent() {
			usual(c, args)
			return
		}
		var b strings.Builder
		fmt.Fprintf(&b, "%s\n\nUsage: brine <command> [<argument>...] [flags]\n", c.Long)
		for _, g := range overview {
			fmt.Fprintf(&b, "%s:\n", g.title)
			for _, l := range g.lines {
				fmt.Fprintf(&b, "  %-20s %s\n", l.names, l.text)
			}
		}
		b.WriteString("'brine help <command>' has flags and examples. Begin with: brine init mytree\n")
		_, _ = fmt.Fprint(c.OutOrStdout(), b.String())
	}
}
