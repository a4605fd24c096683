package cmd

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"brine/cmd/app"
	"brine/cmd/assembly"
	"brine/internal/core/fun"
	"brine/internal/core/printable"
)

// A typed command line is one that names no command of brine, taken apart: what people
// type who know salt, salt-call or ansible.
type typed struct {
	a     *app.App
	root  *cobra.Command
	table *fun.Table
	args  []string
	words []int // the indexes of those that are neither flags nor values of flags
}

// misplaced returns the fault of a command line whose command is missing, with the
// command to type; nil where cobra's own text is right. It never runs what it guesses: a
// wrong guess could change machines.
func misplaced(a *app.App, root *cobra.Command, args []string) error {
	t := &typed{a: a, root: root, args: args}
	t.split()
	if len(t.words) == 0 {
		return nil
	}
	first := t.word(0)
	if strings.HasPrefix(first, "__") { // cobra's own, for completion
		return nil
	}
	if sub, _, err := root.Find([]string{first}); err == nil && sub != root {
		return t.fault(fmt.Sprintf("flags before the command %q", first), "write "+t.line(first, 0))
	}
	t.table = assembly.Table()
	if t.isFunction(first) {
		return t.fault(fmt.Sprintf("unknown command %q: it is a function", first), t.calls())
	}
	if n := t.firstFunction(); n == 1 {
		if near := app.NearCommand(root, first); near != "" {
			return t.fault(fmt.Sprintf("unknown command %q%s", first, near), "if it is a target, write "+t.line("ssh"))
		}
		return t.fault(fmt.Sprintf("unknown command %q: it is a target", first), "write "+t.line("ssh"))
	} else if n > 1 && t.areFiles(n) {
		return t.fault(
			fmt.Sprintf("unknown command %q", first),
			fmt.Sprintf("the shell has replaced an unquoted * by the files of this directory; quote the target: brine ssh '*' %s", t.quoted(t.args[t.words[n]:])),
		)
	}
	if hint := t.adHoc(); hint != "" {
		return t.fault(fmt.Sprintf("unknown command %q", first), hint)
	}
	if strings.Contains(first, ".") || app.HintOfWord(first) == "" && t.table.NotFound(fun.Exec, first).IsModule {
		nf := t.table.NotFound(fun.Exec, first)
		hint := nf.Hint()
		if nf.Nearest != "" {
			hint = fmt.Sprintf("did you mean the function %q? Write brine call %s for this machine, brine ssh TARGET %[2]s for targets", nf.Nearest, nf.Nearest)
		}
		if hint == "" {
			hint = fmt.Sprintf("for a function, write brine call %[1]s for this machine, brine ssh TARGET %[1]s for targets; 'brine functions' lists all", app.ShellWord(first))
		}
		return t.fault(fmt.Sprintf("unknown command %q", first), hint)
	}
	if t.hasFlags() { // the flags are not the fault, the word is
		return app.UnknownCommand(root, []string{first})
	}
	return nil
}

// fault is a usage fault.
func (t *typed) fault(text, hint string) error {
	return &app.StatusError{Status: app.ExitUsage, Err: fmt.Errorf("%s", text), Hint: hint}
}

func (t *typed) word(n int) string { return t.args[t.words[n]] }

// hasFlags reports whether there is a flag that is not brine's own.
func (t *typed) hasFlags() bool {
	return slices.ContainsFunc(t.args, func(arg string) bool { return strings.HasPrefix(arg, "-") && arg != "-h" && arg != "--help" })
}

// commandsOfFunctions are those that a command line without a command may be meant for:
// their flags say which words are values.
var commandsOfFunctions = []string{"ssh", "call", "run", "orchestrate"}

// flags returns the flags of a command.
func (t *typed) flags(command string) *pflag.FlagSet {
	c, _, err := t.root.Find([]string{command})
	if err != nil || c == t.root {
		return pflag.NewFlagSet(command, pflag.ContinueOnError)
	}
	return c.Flags()
}

// flag looks a flag up, as an argument has it.
func flagOf(f *pflag.FlagSet, arg string) *pflag.Flag {
	if long, ok := strings.CutPrefix(arg, "--"); ok {
		name, _, _ := strings.Cut(long, "=")
		if name == "" {
			return nil
		}
		return f.Lookup(name)
	}
	if len(arg) < 2 || arg[0] != '-' {
		return nil
	}
	return f.ShorthandLookup(arg[1:2])
}

// split finds the words.
func (t *typed) split() {
	var sets []*pflag.FlagSet
	for _, name := range commandsOfFunctions {
		sets = append(sets, t.flags(name))
	}
	ssh, _, _ := t.root.Find(commandsOfFunctions[:1])
	for i := 0; i < len(t.args); i++ {
		arg := t.args[i]
		if arg == "--" {
			for i++; i < len(t.args); i++ {
				t.words = append(t.words, i)
			}
			return
		}
		if !strings.HasPrefix(arg, "-") || arg == "-" {
			t.words = append(t.words, i)
			continue
		}
		if strings.Contains(arg, "=") || !strings.HasPrefix(arg, "--") && len(arg) > 2 {
			continue
		}
		known := false
		for _, f := range sets {
			if fl := flagOf(f, arg); fl != nil {
				known = true
				if fl.NoOptDefVal == "" {
					i++
				}
				break
			}
		}
		if h, ok := app.HabitOf(ssh, strings.TrimLeft(arg, "-")); !known && ok && h.Value {
			i++
		}
	}
}

// isFunction reports whether a word is the name of a function that brine has, or several
// with commas between them.
func (t *typed) isFunction(word string) bool {
	for name := range strings.SplitSeq(word, ",") {
		if !strings.Contains(name, ".") || !slices.ContainsFunc([]fun.Kind{fun.Exec, fun.State, fun.Runner}, func(k fun.Kind) bool { return t.table.Spec(k, name) != nil }) {
			return false
		}
	}
	return true
}

// firstFunction returns the number of the first word that is a function, or is meant to
// be one behind a target; 0 is none.
func (t *typed) firstFunction() int {
	for n := 1; n < len(t.words); n++ {
		if t.isFunction(t.word(n)) {
			return n
		}
	}
	if len(t.words) > 1 && strings.Contains(t.word(1), ".") && t.table.Nearest(fun.Exec, t.word(1)) != "" {
		return 1
	}
	return 0
}

// isTarget reports whether a word cannot be meant as a function.
func (t *typed) isTarget(word string) bool {
	nf := t.table.NotFound(fun.Exec, word)
	return !t.isFunction(word) && !nf.IsModule && !nf.InSalt && nf.Nearest == ""
}

// areFiles reports whether the first n words are files of the working directory: a shell
// has put them there for a pattern.
func (t *typed) areFiles(n int) bool {
	for i := range n {
		if _, err := t.a.Host.Lstat(t.word(i)); err != nil {
			return false
		}
	}
	return true
}

// calls returns the commands for a function without one.
func (t *typed) calls() string {
	name := t.word(0)
	one := func(k fun.Kind) bool { return t.table.Spec(k, name) != nil }
	var hints []string
	switch {
	case name == "state.orchestrate" || name == "state.orch":
		return "write " + t.line("orchestrate", 0)
	case one(fun.State) && !one(fun.Exec) && !one(fun.Runner):
		return "it is a state, for an SLS; to run it alone here: " + t.single()
	case one(fun.Exec) || strings.Contains(name, ","):
		hints = append(hints, "on this machine: "+t.line("call"), "on targets: "+t.line("ssh TARGET"))
	}
	if one(fun.Runner) {
		hints = append(hints, "as a runner function of the controller: "+t.line("run"))
	}
	return strings.Join(hints, "\n")
}

// single is the command that runs a state alone.
func (t *typed) single() string {
	args := slices.Clone(t.args)
	if len(t.words) > 1 && !strings.Contains(t.word(1), "=") {
		args[t.words[1]] = "name=" + args[t.words[1]]
	}
	args = slices.Insert(args, t.words[0], "state.single")
	return "brine call " + t.mended("call", args)
}

// line is the command line with a command in front, without some of its words. Flags of
// other programs are replaced by brine's.
func (t *typed) line(command string, without ...int) string {
	var args []string
	for i, arg := range t.args {
		if !slices.ContainsFunc(without, func(n int) bool { return t.words[n] == i }) {
			args = append(args, arg)
		}
	}
	name, _, _ := strings.Cut(command, " ")
	return strings.TrimRight("brine "+command+" "+t.mended(name, args), " ")
}

// mended quotes arguments for a shell, and replaces flags that a command does not have.
func (t *typed) mended(command string, args []string) string {
	c, _, err := t.root.Find([]string{command})
	if err != nil {
		return t.quoted(args)
	}
	var out []string
	for i, arg := range args {
		if arg == "--" {
			return strings.Join(append(out, t.quoted(args[i:])), " ")
		}
		name, value, hasValue := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		if h, ok := app.HabitOf(c, name); ok && strings.HasPrefix(arg, "-") && flagOf(c.Flags(), arg) == nil && h.As != "" {
			if arg = h.As; h.Value && hasValue {
				arg += " " + t.quoted([]string{value})
			}
			out = append(out, arg)
			continue
		}
		out = append(out, t.quoted([]string{arg}))
	}
	return strings.Join(out, " ")
}

// quoted are arguments as a shell takes them, on one line.
func (t *typed) quoted(args []string) string {
	out := make([]string, len(args))
	for i, arg := range args {
		out[i] = app.ShellWord(printable.Line(arg))
	}
	return strings.Join(out, " ")
}

// ansibleModules are the functions that do what modules of Ansible do.
var ansibleModules = map[string]string{
	"apt": "pkg.install", "command": "cmd.run", "copy": "cp.get_file", "cron": "cron.set_job", "dnf": "pkg.install", "file": "file.touch",
	"gather_facts": "grains.items", "git": "git.clone", "group": "group.add", "package": "pkg.install", "ping": "test.ping", "raw": "cmd.run",
	"reboot": "system.reboot", "script": "cmd.script", "service": "service.start", "setup": "grains.items", "shell": "cmd.run", "stat": "file.stats",
	"systemd": "service.start", "user": "user.add", "yum": "pkg.install",
}

// adHoc returns the command for one of Ansible's: all -m shell -a uptime -i hosts.ini; ""
// where it is none.
func (t *typed) adHoc() string {
	module, arg := "", ""
	if t.word(0) == "ansible" && len(t.words) > 1 {
		t.args = slices.Delete(t.args, t.words[0], t.words[0]+1)
		t.words = nil
		t.split()
	}
	var rest []string
	for i := 0; i < len(t.args); i++ {
		if i+1 < len(t.args) {
			switch v := t.args[i+1]; t.args[i] {
			case "-m", "--module-name":
				module, i = v, i+1
				continue
			case "-a", "--args":
				arg, i = v, i+1
				continue
			case "-i", "--inventory":
				rest, i = append(rest, "--roster", "ansible", "--roster-file", v), i+1
				continue
			}
		}
		if i != t.words[0] {
			rest = append(rest, t.args[i])
		}
	}
	if module == "" && arg == "" {
		return ""
	}
	args := []string{"ssh", t.word(0)}
	if t.word(0) == "all" {
		args[1] = "*"
	}
	name, ok := ansibleModules[module]
	switch {
	case module == "":
		args = append(args, "cmd.run", arg)
	case !ok:
		return "a function is named by its module and its name: brine " + t.quoted(args) + " FUNCTION ARGUMENT...; 'brine functions' lists all"
	case name == "cmd.run":
		args = append(args, name, arg)
	case arg != "":
		return "write brine " + t.quoted(append(args, name)) + " ARGUMENT...; 'brine doc " + name + "' shows its arguments"
	default:
		args = append(args, name)
	}
	return strings.TrimRight("write brine "+t.quoted(args)+" "+t.mended("ssh", rest), " ")
}

// betterFault returns the fault of a command line that names its command, where it says better
// how to mend it than err; that is what the command returned, or nil before it runs.
func betterFault(a *app.App, root, c *cobra.Command, err error) error {
	at := map[string]int{"call": 0, "run": 0, "orchestrate": 0, "ssh": 1}
	fn, ok := at[c.Name()]
	if !ok || c.Parent() != root || slices.Contains(a.Args, "--") {
		return nil
	}
	t := &typed{a: a, root: root, args: slices.Clone(a.Args)}
	if i := slices.Index(t.args, c.Name()); i >= 0 {
		t.args = slices.Delete(t.args, i, i+1)
	}
	t.split()
	if fault := t.unquoted(c, fn, err); fault != nil {
		return fault
	}
	early := c.Name() == "orchestrate" && len(t.words) > 1 && strings.Contains(t.word(1), ".") // it would report a fault of the SLS
	if err == nil && !early {
		return nil
	}
	t.table = assembly.Table()
	n := t.firstFunction()
	switch {
	case len(t.words) == 0:
	case fn == 1 && n > 1 && t.areFiles(n):
		return t.fault(err.Error(), "the shell has replaced an unquoted * by the files of this directory; quote the target: brine ssh '*' "+t.quoted(t.args[t.words[n]:]))
	case fn == 1 && len(t.words) == 1 && t.isFunction(t.word(0)):
		return t.fault("no target was given", "write "+t.line("ssh TARGET")+"\non this machine: "+t.line("call"))
	case fn == 0 && n == 1 && t.isTarget(t.word(0)):
		return t.fault(fmt.Sprintf("%q is not a function: it is a target", t.word(0)), "write "+t.line("ssh"))
	}
	return nil
}

// unquoted returns the fault of a shell command that is not quoted, so that brine reads
// its flags: cmd.run ls -l /. Some of them are brine's own, without any error.
func (t *typed) unquoted(c *cobra.Command, fn int, err error) error {
	from := fn + 1
	raw := slices.IndexFunc(t.args, func(arg string) bool { return arg == "-r" || arg == "--raw" })
	if raw >= 0 && c.Flags().Lookup("raw") != nil && (len(t.words) <= from || raw < t.words[from]) {
		from = fn
	} else if fn >= len(t.words) || !strings.HasPrefix(t.word(fn), "cmd.") {
		return nil
	}
	if from >= len(t.words) || strings.ContainsAny(t.word(from), " \t") {
		return nil
	}
	start := t.words[from]
	end, flag := t.commandEnd(c, start, err)
	text := fmt.Sprintf("flag %s of the command %q would be one of brine", flag, t.args[start])
	if flag == "" || err != nil && !isUsage(err) {
		var silent *app.StatusError
		if err == nil || errors.As(err, &silent) || from+1 >= len(t.words) || strings.ContainsAny(t.word(from+1), "=/") {
			return nil
		}
		text = err.Error() // the second word was taken for another argument
	}
	args := slices.Concat(t.args[:start], []string{strings.Join(t.args[start:end], " ")}, t.args[end:])
	return t.fault(
		text,
		fmt.Sprintf("quote the command: brine %s %s", c.Name(), t.quoted(args)),
	)
}

// commandEnd returns where the words of a shell command end that begins at start, with the
// first of its flags that brine takes for its own.
func (t *typed) commandEnd(c *cobra.Command, start int, err error) (end int, flag string) {
	for end = start + 1; end < len(t.args); end++ {
		arg := t.args[end]
		if arg == "-b" || strings.HasPrefix(arg, "--") && flagOf(c.Flags(), arg) != nil {
			break
		}
		if arg == "-c" && end+1 < len(t.args) {
			if st, err := t.a.Host.Stat(t.args[end+1]); err == nil && st.Mode.IsDir() {
				break
			}
		}
		if own := len(arg) > 1 && arg[0] == '-' && arg[1] != '-'; own && flag == "" && (err != nil || strings.Contains("hdr", arg[1:2])) {
			flag = arg
		}
	}
	return end, flag
}

// isUsage reports whether err is one of the command line, or of a file that is not there:
// a flag may have taken the wrong word for its value.
func isUsage(err error) bool {
	status, _ := app.Classify(err)
	return status == app.ExitUsage || errors.Is(err, fs.ErrNotExist)
}
