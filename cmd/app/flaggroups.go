package app

import (
	"strings"

	"github.com/spf13/cobra"
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

// groupsKey is the annotation of a command that has its groups of flags.
const groupsKey = "brine-flag-groups"

// GroupFlags makes the help of a command show its flags in groups.
func GroupFlags(c *cobra.Command, groups []FlagGroup) {
	lines := make([]string, len(groups))
	for i, g := range groups {
		lines[i] = g.Title + "\t" + g.Names
	}
	if c.Annotations == nil {
		c.Annotations = map[string]string{}
	}
	c.Annotations[groupsKey] = strings.Join(lines, "\n")
}

// GroupsOf returns what [GroupFlags] was told of a command.
func GroupsOf(c *cobra.Command) (groups []FlagGroup) {
	for line := range strings.SplitSeq(c.Annotations[groupsKey], "\n") {
		if title, names, ok := strings.Cut(line, "\t"); ok {
			groups = append(groups, FlagGroup{title, names})
		}
	}
	return groups
}
