package app

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A FlagGroup is flags that the help of a command shows together.
type FlagGroup struct {
	Title string
	Names string // between blanks
}

// TargetGroups are the flags of the commands that run functions, here or on targets;
// all others are shown last.
var TargetGroups = []FlagGroup{
	{"Targets", "compound grain grain-pcre ipcidr list nodegroup pcre pillar pillar-pcre range delimiter limit subset retry-failed allow-unreachable hosts fleet"},
	{"Roster", "roster roster-file scan-ports scan-timeout update-roster"},
	{"Connection", "user priv sudo askpass identities-only host-keys ignore-host-keys key-deploy ssh-option pre-flight agent-dir wipe"},
	{"Run", "async batch batch-wait waves wave-wait wave-check max-failures max-procs timeout retries failhard failed-file raw refresh-grains static args-stdin no-parse local doc grains schedule splay retcode-passthrough lock no-lock lock-wait resume"},
	{"Queue", "queue attempts backoff drain-empty lease max-crashes max-runs once poll"},
	{"Output", "out out-file out-file-append out-indent output-diff state-output state-verbose color no-color force-color group no-group progress no-progress summary verbose report report-mode metrics metadata set-metadata quiet"},
	{"Log", "log-level log-file log-file-level strict"},
	{"Returners", "return return-config return-kwargs"},
	{"Configuration", "config-dir saltfile file-root pillar-root id at saltenv pillarenv cachedir"},
}

// GroupFlags makes the help of a command show its flags in groups.
func GroupFlags(c *cobra.Command, groups []FlagGroup) {
	c.SetUsageFunc(func(c *cobra.Command) error {
		var b strings.Builder
		fmt.Fprintf(&b, "Usage:\n  %s\n", c.UseLine())
		if len(c.Aliases) > 0 {
			fmt.Fprintf(&b, "\nAliases:\n  %s\n", c.NameAndAliases())
		}
		if c.HasExample() {
			fmt.Fprintf(&b, "\nExamples:\n%s\n", c.Example)
		}
		shown := map[string]bool{}
		show := func(title string, wants func(string) bool) {
			set := pflag.NewFlagSet(title, pflag.ContinueOnError)
			c.LocalFlags().VisitAll(func(f *pflag.Flag) {
				if !shown[f.Name] && wants(f.Name) {
					shown[f.Name] = true
					set.AddFlag(f)
				}
			})
			if set.HasAvailableFlags() {
				fmt.Fprintf(&b, "\n%s:\n%s", title, set.FlagUsages())
			}
		}
		for _, g := range groups {
			names := map[string]bool{}
			for name := range strings.FieldsSeq(g.Names) {
				names[name] = true
			}
			show(g.Title, func(name string) bool { return names[name] })
		}
		show("Other", func(string) bool { return true })
		_, err := fmt.Fprint(c.OutOrStdout(), b.String())
		return err
	})
}
