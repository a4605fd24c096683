package app

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// A Habit is a flag of another program, Ansible's or Terraform's for the most part, and
// what brine has instead.
type Habit struct {
	names string // long ones and shorthands, between blanks
	needs string // the flag that a command must have for the hint to hold
	As    string // what stands for it in a command line: a flag or an argument
	Value bool   // it has a value
	hint  string
}

// habits are searched from the top: the first one holds that the command can follow.
var habits = [...]Habit{
	{"check C dry-run dryrun noop no-op simulate what-if test", "", "test=True", false, "test mode is an argument of the function: test=True; 'brine plan' shows what a run would change"},
	{"syntax-check", "", "", false, "'brine lint' finds faults in a tree without running it, 'brine check' what brine does not support"},
	{"diff D", "", "", false, "test=True behind the function shows the differences, and 'brine plan' those of a whole run"},
	{"become b K ask-become-pass sudo", "sudo", "--sudo", false, "--sudo becomes root on the targets, or 'sudo: True' in the roster; --askpass asks for a password"},
	{"become b K ask-become-pass sudo", "roster", "", false, "write 'sudo: True' to the roster, or 'ssh_sudo: True' to the configuration: brine then becomes root on the targets"},
	{"become b K ask-become-pass sudo", "", "", false, "brine runs as the user that starts it: put sudo in front of it"},
	{"become-user become-method", "", "", true, "write 'sudo: True' and 'sudo_user: NAME' to the roster; a state that takes a user runs as that user"},
	{"tags skip-tags start-at-task step", "", "", true, "to run a part, name its SLS files: state.apply web,db; or one state: state.sls_id ID SLS"},
	{"port p bind address host", "listen", "--listen", true, "--listen ADDRESS:PORT says where the pages are, such as 127.0.0.1:8080"},
	{"pillar pillar-file", "", "", true, "a pillar is an argument of the function: pillar='{\"key\": \"value\"}'; --pillar-root names a pillar tree"},
	{"extra-vars e set var var-file values vars", "", "", true, "variables are pillar: write pillar='{key: value}' behind the function, or a file of the pillar tree"},
	{"module-name m args a module-path", "", "", true, "write the function and its arguments behind the target: test.ping for Ansible's ping, cmd.run 'COMMAND' for shell; 'brine functions' lists all"},
	{"list-hosts", "hosts", "--hosts", false, "--hosts lists the targets of the roster and runs nothing"},
	{"list-hosts", "", "", false, "'brine ssh --hosts' lists the targets of the roster"},
	{"list-tasks list-tags", "", "", false, "'brine call state.show_sls SLS' lists the states of an SLS, 'brine graph' draws an orchestration"},
	{"inventory inventory-file i", "roster", "--roster ansible --roster-file", true, "--roster ansible --roster-file FILE reads an inventory of Ansible"},
	{"inventory inventory-file i", "", "", true, "'brine ssh' and 'brine orchestrate' read an inventory of Ansible with --roster ansible --roster-file FILE"},
	{"limit l", "limit", "--limit", true, "--limit names some of the targets: ids, globs, a compound expression, @failed"},
	{"limit l", "", "", true, "the target says where it runs: brine ssh TARGET FUNCTION; in an orchestration it is tgt"},
	{"forks f parallelism p threads", "max-procs", "--max-procs", true, "--max-procs says how many targets to work on at once"},
	{"private-key key-file identity-file", "priv", "--priv", true, "--priv names the private key, or priv of the roster"},
	{"k ask-pass ask-password connection-password-file", "askpass", "--askpass", false, "--askpass asks for a password, once for all targets"},
	{"remote-user u login", "user", "--user", true, "--user names the user to log in as, or user of the roster"},
	{"ssh-common-args ssh-extra-args ssh-args", "ssh-option", "", true, "--ssh-option 'Name=value' gives an option of ssh, and may be repeated"},
	{"ssh-common-args ssh-extra-args ssh-args ssh-option", "roster", "", true, "write ssh_options to the roster or the configuration, or the option to ~/.ssh/config, which brine reads"},
	{"ask-vault-pass ask-vault-password vault-password-file vault-id vault-pass-file J", "", "", true, "secrets are values of the pillar: encrypted for the renderer gpg, or sdb:// URIs; see 'brine docs security'"},
	{"one-line o tree", "state-output", "", true, "--state-output=terse prints one line for each state, and --out names an outputter: json, yaml, txt, ..."},
	{"background B poll", "async", "", true, "--async does not wait: 'brine run jobs.lookup_jid JID' fetches the returns"},
	{"flush-cache force-handlers", "", "", false, "there is nothing to flush or to force: grains are read in each run, and a state with listen runs when what it listens to has changed"},
	{"json", "out", "--out=json", false, "--out=json prints JSON"},
	{"format output-format", "out", "--out", true, "--out names the format: json, yaml, nested, ..."},
	{"auto-approve", "yes", "--yes", false, "--yes asks nothing"},
	{"auto-approve assume-yes y yes force", "", "", false, "nothing is asked here: leave it out"},
	{"target replace", "", "", true, "to run a part, name its SLS files; --limit names some of the targets"},
	{"destroy", "", "", false, "brine keeps no record of what it made: write states that remove it, such as pkg.removed and file.absent"},
	{"refresh refresh-only", "", "", false, "brine has no state file: each run asks the machines"},
	{"state backend-config lock-timeout input upgrade reconfigure compact-warnings", "", "", true, "brine has no state file and no providers: leave it out"},
	{"chdir directory C", "config-dir", "-c", true, "-c names the directory of the configuration"},
	{"config config-file conf", "config-dir", "-c", true, "-c names the directory of the configuration"},
	{"namespace n all-namespaces A context kubeconfig selector", "", "", true, "targets are machines: brine ssh TARGET FUNCTION; -N names a group of them, -G selects by grains"},
	{"watch w follow f", "", "", false, "progress is shown on a terminal, or with --progress"},
	{"eauth auth username password make-token T", "", "", true, "there is no master to log in to: leave it out"},
	{"verbose v debug vv vvv", "log-level", "-l debug", false, "-l debug logs what brine does; -l info logs less"},
	{"verbose v debug vv vvv", "", "", false, "leave it out; --help lists the flags"},
	{"quiet q silent", "out", "--out=quiet", false, "--out=quiet prints nothing of the report, and -l quiet logs nothing"},
	{"timeout t", "timeout", "--timeout", true, "--timeout is the number of seconds"},
	{"nodegroups group hosts", "nodegroup", "", true, "-N GROUP targets a node group, -L HOST,HOST a list of hosts"},
}

// HabitOf returns what brine has in a command instead of a flag that it does not know.
func HabitOf(c *cobra.Command, name string) (Habit, bool) {
	for _, h := range habits {
		if slices.Contains(strings.Fields(h.names), name) && (h.needs == "" || c.Flags().Lookup(h.needs) != nil) {
			return h, true
		}
	}
	return Habit{}, false
}

// oneDash are flags that Terraform writes with one dash, which here are several
// shorthands.
const oneDash = "auto-approve chdir compact-warnings destroy detailed-exitcode input json lock lock-timeout no-color out parallelism " +
	"reconfigure refresh refresh-only replace state target upgrade var var-file"

// CheckHabits refuses flags that brine would take for others than they are meant.
func CheckHabits(c *cobra.Command, args []string) error {
	for _, check := range []func(*cobra.Command, []string) error{checkDashes, checkInventory, checkFormat} {
		if err := check(c, args); err != nil {
			return err
		}
	}
	return nil
}

// checkFormat refuses kubectl's -o json where -o names a file.
func checkFormat(c *cobra.Command, args []string) error {
	f := c.Flags().ShorthandLookup("o")
	if f == nil || f.Name != "save" {
		return nil
	}
	for i, arg := range args {
		format := strings.TrimPrefix(arg, "-o")
		if arg == "-o" && i+1 < len(args) {
			format = args[i+1]
		}
		if strings.HasPrefix(arg, "-o") && slices.Contains([]string{"json", "yaml", "text", "diff"}, format) {
			return &StatusError{
				Status: ExitUsage, Err: fmt.Errorf("-o %[1]s would write the plan to the file %[1]s", format),
				Hint: fmt.Sprintf("--out=%[1]s is the format; write -o ./%[1]s for a file of that name", format),
			}
		}
	}
	return nil
}

// checkDashes refuses long flags with one dash: -out plan is no -o with the value "ut".
func checkDashes(c *cobra.Command, args []string) error {
	for i, arg := range args {
		if arg == "--" {
			return nil
		}
		name, isFlag := strings.CutPrefix(arg, "-")
		name, _, _ = strings.Cut(name, "=")
		if !isFlag || strings.HasPrefix(name, "-") || !slices.Contains(strings.Fields(oneDash), name) || i > 0 && hasValue(c, args[i-1]) {
			continue
		}
		err := &StatusError{Status: ExitUsage, Err: fmt.Errorf("flag -%s: long flags have two dashes", name)}
		switch h, ok := HabitOf(c, name); {
		case name == "out" && c.Flags().ShorthandLookup("o") != nil:
			err.Hint = "-o FILE writes the plan to a file; --out is the format"
		case c.Flags().Lookup(name) != nil:
			err.Hint = "write --" + strings.TrimPrefix(arg, "-")
		case ok:
			err.Hint = h.hint
		default:
			err.Hint = "see '" + c.CommandPath() + " --help'"
		}
		return err
	}
	return nil
}

// checkInventory refuses -i with the file of an inventory, which means that to Ansible: here it
// would accept any host key, and take the file for an argument.
func checkInventory(c *cobra.Command, args []string) error {
	f := c.Flags().ShorthandLookup("i")
	if f == nil || f.Name != "ignore-host-keys" {
		return nil
	}
	for i, arg := range args[:max(0, len(args)-1)] {
		file := args[i+1]
		ext, base := filepath.Ext(file), filepath.Base(file)
		if arg != "-i" || ext != ".ini" && ext != ".cfg" && base != "hosts" && base != "inventory" && !strings.HasPrefix(base, "inventory.") && !strings.HasPrefix(base, "hosts.") {
			continue
		}
		return &StatusError{
			Status: ExitUsage, Err: fmt.Errorf("-i %s: here -i accepts any host key, as in salt-ssh", file),
			Hint: "write --roster ansible --roster-file " + ShellWord(file) + " to read an inventory of Ansible",
		}
	}
	return nil
}

// hasValue reports whether an argument is a flag whose value is the next one.
func hasValue(c *cobra.Command, arg string) bool {
	if name, ok := strings.CutPrefix(arg, "--"); ok {
		f := c.Flags().Lookup(name)
		return f != nil && f.NoOptDefVal == ""
	}
	if len(arg) != 2 || arg[0] != '-' {
		return false
	}
	f := c.Flags().ShorthandLookup(arg[1:])
	return f != nil && f.NoOptDefVal == ""
}

// otherWords are commands of other programs, and what brine has instead.
var otherWords = [...]struct{ names, hint string }{
	{"ansible", "brine ssh TARGET FUNCTION runs a function on targets: test.ping, cmd.run 'COMMAND'; 'brine functions' lists all"},
	{"ansible-playbook playbook", "brine ssh TARGET state.apply SLS runs states on targets, 'brine orchestrate SLS' steps on many; --roster ansible --roster-file FILE reads an inventory"},
	{"ansible-inventory inventory hosts targets machines nodes", "'brine ssh --hosts' lists the targets of the roster"},
	{"ansible-doc modules module explain", "'brine doc FUNCTION' prints the documentation of a function, 'brine functions' lists all"},
	{"ansible-galaxy galaxy spm", "'brine formula' adds formulas of known versions to a tree"},
	{"ansible-lint validate syntax-check verify", "'brine lint' finds faults in a tree without running it"},
	{"ansible-vault vault secrets encrypt decrypt", "secrets are values of the pillar: encrypted for the renderer gpg, or sdb:// URIs; see 'brine docs security'"},
	{"ansible-pull pull agent-run", "'brine call state.apply' applies the states of this machine; 'brine schedule' does so regularly"},
	{"terraform tofu pulumi", "brine has 'brine plan' and 'brine apply' itself: leave the first word out"},
	{"fmt format", "'brine lint --fix' mends what has one right form"},
	{"destroy taint untaint import output state refresh workspace providers", "brine has no state file: every run looks at the machines themselves; 'brine plan' shows what a run would change"},
	{"kubectl", "brine ssh TARGET FUNCTION runs a function on machines; it does not know clusters"},
	{"get describe show inspect", "'brine call grains.items' shows a machine, 'brine call pillar.items' its data, 'brine call state.show_highstate' its states"},
	{"diff preview dry-run dryrun noop", "'brine plan' shows what a run would change, and test=True behind a function what that would"},
	{"exec shell cmd command sh bash", "brine ssh TARGET -r 'COMMAND' runs a shell command on targets, 'brine call cmd.run COMMAND' on this machine"},
	{"ping", "brine ssh TARGET test.ping asks targets whether they answer"},
	{"highstate converge provision deploy up install", "'brine call state.apply' applies the states of the top file on this machine, brine ssh TARGET state.apply on targets"},
	{"orch orchestration runner-orchestrate", "write 'brine orchestrate SLS'"},
	{"runner", "write 'brine run FUNCTION'"},
	{"master minion server daemon start serve", "there is no master, minion or daemon to start: 'brine call' and 'brine ssh' run what is asked; 'brine ui' serves pages"},
	{"stop restart reload status", "there is no daemon: each command ends with its run; 'brine run jobs.active' lists what is running"},
	{"key keys accept", "there are no minion keys: targets are reached over SSH; --host-keys says which host keys are accepted"},
	{"jobs job logs log history events event", "'brine run jobs.list_jobs' lists earlier runs, 'brine run jobs.lookup_jid JID' shows one"},
	{"grains grain facts setup gather-facts", "'brine call grains.items' shows the grains of this machine, brine ssh TARGET grains.items those of targets"},
	{"pillar pillars data variables vars", "'brine call pillar.items' shows the pillar of this machine, 'brine run pillar.show_pillar ID' that of a target"},
	{"roster", "the roster is a file of the configuration directory; 'brine ssh --hosts' lists its targets"},
	{"config configuration settings", "'brine call config.items' shows the configuration; 'brine check --config' checks it"},
	{"apply-state state-apply states sls", "write 'brine call state.apply SLS'"},
	{"new create scaffold", "'brine init DIRECTORY' creates a tree to start from"},
	{"update upgrade self-update", "brine does not replace itself; 'brine version' prints what you have"},
	{"man manual handbook", "'brine docs' has the documentation"},
	{"proxy syndic cloud cp", "brine has no such part of Salt; 'brine functions cp' lists the functions that copy files"},
}

// wordsBelow are words behind a command of brine that other programs have there.
var wordsBelow = [...]struct{ parent, names, hint string }{
	{"formula", "install get download enable", "'brine formula add NAME@VERSION' adds a formula to the tree"},
	{"formula", "search find show info", "'brine formula list' lists those of the tree; others are at https://github.com/saltstack-formulas"},
	{"history", "list show ls view last runs jobs", "'brine run jobs.list_jobs' lists earlier runs, 'brine run jobs.lookup_jid JID' shows one; 'brine ui' has them as pages"},
	{"history", "restore load", "'brine history import FILE' reads an export"},
	{"history", "dump save", "'brine history export' writes all executions, 'brine history backup FILE' copies the database"},
	{"schedule", "add create new enable", "write the job to schedule in the configuration or the pillar; then 'brine schedule install'"},
	{"schedule", "delete disable uninstall", "'brine schedule remove NAME' removes the timer of a job"},
	{"recurring", "create new schedule", "'brine recurring add NAME' adds a schedule"},
	{"recurring", "delete del rm", "'brine recurring remove NAME' removes a schedule"},
	{"chain", "create", "'brine chain new NAME' makes a chain"},
	{"chain", "remove del", "'brine chain delete NAME' deletes a chain, 'brine chain rm NAME STEP' removes a step"},
	{"chain", "start execute exec apply", "'brine chain run NAME' runs a chain"},
	{"template", "create", "'brine template new NAME' makes a template"},
	{"template", "start execute exec apply", "'brine template run NAME' runs a template"},
	{"ui", "user users useradd adduser account", "'brine ui passwd NAME' adds a user or changes a password"},
	{"ui", "start serve run open", "leave the word out: 'brine ui' serves the pages"},
	{"beacon", "add create enable", "write it to beacons in the configuration; 'brine docs beacons' has their settings"},
	{"notify", "add new", "write the destination to the option notify; 'brine notify test NAME' sends it a message"},
}

// hintBelow returns what a command has instead of a word behind it; "" for most words.
func hintBelow(c *cobra.Command, word string) string {
	for _, w := range wordsBelow {
		if w.parent == c.Name() && slices.Contains(strings.Fields(w.names), word) {
			return w.hint
		}
	}
	return ""
}

// HintOfWord returns what brine has instead of a command of another program.
func HintOfWord(word string) string {
	for _, w := range otherWords {
		if slices.Contains(strings.Fields(w.names), word) {
			return w.hint
		}
	}
	return ""
}
