package lint

import (
	"fmt"
	"slices"
	"strings"
)

// A Severity is how bad a finding is.
type Severity int

// The severities, from the least to the worst.
const (
	Info Severity = iota
	Warning
	Error
)

var severityNames = [...]string{"info", "warning", "error"}

// String returns the name: "info", "warning" or "error".
func (s Severity) String() string { return severityNames[s] }

// ParseSeverity returns the severity of a name, and whether it is one.
func ParseSeverity(name string) (Severity, bool) {
	i := slices.Index(severityNames[:], name)
	return Severity(max(i, 0)), i >= 0
}

// A Rule is one kind of fault.
type Rule struct {
	ID       string
	Severity Severity
	Doc      string // one sentence: what is wrong
	Why      string // what comes of it, and what to write instead
	Off      bool   // only if it is selected
	Fix      bool   // --fix corrects it
	// partial says that a finding on some of the systems only is no more than a
	// warning: a tree need not serve all of them.
	partial bool
	// milder says when a finding is no more than a warning.
	milder string
}

// The IDs of the rules.
const (
	badCondition         = "bad-condition"
	badRetry             = "bad-retry"
	badReaction          = "bad-reaction"
	badSlot              = "bad-slot"
	compileWarning       = "compile-warning"
	conflictingArguments = "conflicting-arguments"
	dangerousPath        = "dangerous-path"
	decimalMode          = "decimal-mode"
	deprecated           = "deprecated"
	duplicateID          = "duplicate-id"
	duplicateKey         = "duplicate-key"
	duplicatePath        = "duplicate-path"
	emptyPath            = "empty-path"
	irregularSpace       = "irregular-space"
	jinjaCommentSpace    = "jinja-comment-space"
	jinjaStatementSpace  = "jinja-statement-space"
	jinjaVariableSpace   = "jinja-variable-space"
	lineLength           = "line-length"
	missingArgument      = "missing-argument"
	missingFile          = "missing-file"
	missingInclude       = "missing-include"
	missingRequisite     = "missing-requisite"
	modeZero             = "mode-zero"
	notInBrine           = "not-in-brine"
	notJudged            = "not-judged"
	pillarColon          = "pillar-colon"
	renderError          = "render-error"
	requisiteCycle       = "requisite-cycle"
	secretText           = "secret"
	starlark             = "starlark"
	stringBoolean        = "string-boolean"
	structure            = "structure"
	tabStyle             = "tab"
	trailingSpace        = "trailing-space"
	undefinedVariable    = "undefined-variable"
	unknownArgument      = "unknown-argument"
	unknownFunction      = "unknown-function"
	unknownGrain         = "unknown-grain"
	unknownRenderer      = "unknown-renderer"
	unknownRule          = "unknown-rule"
	unknownState         = "unknown-state"
	unreachableSLS       = "unreachable-sls"
	unquotedMode         = "unquoted-mode"
	unusedImport         = "unused-import"
	unusedInclude        = "unused-include"
	unusedPillar         = "unused-pillar"
	wrongValue           = "wrong-value"
	yamlBoolean          = "yaml-boolean"
	yamlOctal            = "yaml-octal"
	yamlTab              = "yaml-tab"
)

// Rules returns all rules, by ID.
func Rules() []Rule {
	return []Rule{
		{
			ID: badCondition, Severity: Warning, Doc: "A value of `onlyif`, `unless`, `creates` or `check_cmd` is not a command, path or function.",
			Why: "A run ignores it, or runs it as a command: `onlyif: true` does not call true(1). Quote the command: `onlyif: 'true'`.",
		},
		{
			ID: badReaction, Severity: Error, Doc: "A reaction to an event is malformed.",
			Why: "Nothing is called when the event comes. A reaction is `local.FUNCTION`, `runner.FUNCTION`, `wheel.FUNCTION` or " +
				"`caller.FUNCTION`; `local` needs `tgt`, and arguments are below `args`.",
		},
		{
			ID: badRetry, Severity: Warning, Doc: "An option of `retry` does not exist or has a wrong value.",
			Why: "A run ignores it and uses the default. The options are `attempts`, `interval`, `splay` and `until`.",
		},
		{
			ID: badSlot, Severity: Warning, Doc: "A slot is malformed.",
			Why: "The text stays as it is. Write `__slot__:salt:module.function(argument)`.",
		},
		{
			ID: compileWarning, Severity: Warning, Doc: "The compiler warns about an SLS.",
			Why: "Salt accepts it silently, and it rarely does what its author wanted. The message says what is wrong.",
		},
		{
			ID: conflictingArguments, Severity: Error, Doc: "A state has two arguments of which it takes only one.",
			Why: "The state fails when it runs. Remove one of them.",
		},
		{
			ID: dangerousPath, Severity: Error, Doc: "A state or command removes or rewrites a system directory.",
			Why: "An empty variable turns `rm -rf {{ dir }}/` into `rm -rf /`. Check the variable first. The argument " +
				"`force_system_path: True` says that it is meant.",
		},
		{
			ID: decimalMode, Severity: Warning, Doc: "The mode of a file is the decimal number of a usual mode.",
			Why: "A template that computes `0o644`, or JSON data, gives 420, which a run reads as the digits of a mode. Write the mode as a string: `'0644'`.",
		},
		{
			ID: deprecated, Severity: Warning, Doc: "A state or argument that Salt has replaced.",
			Why: "The message names the replacement.",
		},
		{
			ID: duplicateID, Severity: Error, Doc: "Two SLS files that run together declare the same ID.",
			Why: "Salt refuses to run them. Rename one ID, or use `extend`.",
		},
		{
			ID: duplicateKey, Severity: Error, Doc: "A mapping has the same key twice.",
			Why: "Salt refuses the file. An ID that is used twice in one SLS is such a key as well.",
		},
		{
			ID: duplicatePath, Severity: Warning, Doc: "Two states of a run decide what is at one path.",
			Why: "Each run changes the path twice, and the last state wins. Remove one of them, or give one a condition.",
		},
		{
			ID: emptyPath, Severity: Warning, Doc: "A path has an empty part, or one that is `None`.",
			Why: "An empty variable turns `/srv/{{ app }}/data` into `/srv//data`, which is another directory.",
		},
		{
			ID: irregularSpace, Severity: Info, Off: true, Doc: "A line contains a character that only looks like a space, such as a non-breaking space.",
			Why: "YAML and shells do not read it as a space. It is rule 212 of salt-lint.",
		},
		{
			ID: jinjaCommentSpace, Severity: Info, Off: true, Fix: true, Doc: "A Jinja comment has no space inside its delimiters.",
			Why: "Write `{# comment #}`. It is rule 209 of salt-lint.",
		},
		{
			ID: jinjaStatementSpace, Severity: Info, Off: true, Fix: true, Doc: "A Jinja statement has no space inside its delimiters.",
			Why: "Write `{% if x %}`. It is rule 202 of salt-lint.",
		},
		{
			ID: jinjaVariableSpace, Severity: Info, Off: true, Fix: true, Doc: "A Jinja expression has no space inside its delimiters.",
			Why: "Write `{{ x }}`. It is rule 206 of salt-lint.",
		},
		{
			ID: lineLength, Severity: Info, Off: true, Doc: "A line has more than 160 characters.",
			Why: "Break it. It is rule 204 of salt-lint.",
		},
		{
			ID: missingArgument, Severity: Error, Doc: "A state lacks a required argument.",
			Why: "The state fails when it runs. `brine doc FUNCTION` lists the arguments.",
		},
		{
			ID: missingFile, Severity: Error, partial: true, Doc: "A `salt://` file does not exist in the tree.",
			Why: "The state fails when it runs. Of a list of sources, one has to exist.",
		},
		{
			ID: missingInclude, Severity: Error, partial: true, Doc: "An include, a top file or a step of an orchestration names an SLS that does not exist.",
			Why: "Salt refuses the whole run. A step fails.",
		},
		{
			ID: missingRequisite, Severity: Error, partial: true, Doc: "A requisite or `extend` names a state that does not exist.",
			Why: "The state fails with \"The following requisites were not found\". Include the SLS that has the state.",
		},
		{
			ID: modeZero, Severity: Info, Off: true, Fix: true, Doc: "The mode of a file has no leading zero.",
			Why: "Write `'0644'`. It is rule 208 of salt-lint.",
		},
		{
			ID: notInBrine, Severity: Warning, Doc: "Salt has the function, brine does not.",
			Why: "See [compatibility](compatibility.md); `brine check` lists everything that a tree uses.",
		},
		{
			ID: notJudged, Severity: Info, Doc: "Something could not be checked: it depends on a value that only a machine has, or lint cannot read it.",
			Why: "The message says what and why. It is shown and counted at every `--level`, and does not change the exit status; `--strict` makes it an error.",
		},
		{
			ID: pillarColon, Severity: Warning, Doc: "`pillar.get` is called with a colon path.",
			Why: "`pillar` is a plain dict in templates: `pillar.get('a:b')` looks for a key named `a:b`. Write `salt['pillar.get']('a:b')`.",
		},
		{
			ID: renderError, Severity: Error, partial: true, Doc: "A file cannot be rendered.",
			Why: "The template or the YAML that it makes is invalid.",
		},
		{
			ID: requisiteCycle, Severity: Error, Doc: "States require each other in a circle.",
			Why: "None of them can run first. The message shows the circle.",
		},
		{
			ID: secretText, Severity: Warning, Doc: "A password, token or private key is in the tree as plain text.",
			Why: "Encrypt it with the gpg renderer, or read it from an external pillar.",
		},
		{
			ID: starlark, Severity: Error, Doc: "A Starlark module has a syntax error, or uses a name that nothing defines.",
			Why: "The module does not load, so none of its functions is available.",
		},
		{
			ID: stringBoolean, Severity: Warning, Doc: "A string such as `'false'` is given for a boolean.",
			Why: "Every string but the empty one is true. Write `False` without quotes.",
		},
		{
			ID: structure, Severity: Error, partial: true, Doc: "The data of an SLS or a top file does not have the right shape.",
			Why: "For example, an ID without a state, or arguments that are not a list.",
		},
		{
			ID: tabStyle, Severity: Info, Off: true, Doc: "A line contains a tab.",
			Why: "Use spaces.",
		},
		{
			ID: trailingSpace, Severity: Info, Off: true, Fix: true, Doc: "A line ends in spaces or tabs.",
			Why: "Remove them.",
		},
		{
			ID: undefinedVariable, Severity: Error, partial: true, Doc: "An SLS, or a template of a file, uses a variable, attribute or key that does not exist.",
			Why: "Rendering fails. Use `default`, `.get()` or `salt['pillar.get']` for what may be absent.",
		},
		{
			ID: unknownArgument, Severity: Error, milder: "if a run ignores the argument", Doc: "A state has an argument that its function does not take.",
			Why: "Salt refuses to run it, or ignores the argument. The hint has the nearest name.",
		},
		{
			ID: unknownFunction, Severity: Error, Doc: "A template, `module.run` or an orchestration calls a function that neither Salt nor the tree has.",
			Why: "The hint has the nearest name.",
		},
		{
			ID: unknownGrain, Severity: Warning, Doc: "A template or target uses a grain that no known machine has, and whose name is near to that of a grain.",
			Why: "The hint has the nearest name. Grains that the tree makes (`_grains`) or sets (`grains.present`), and those of `--grains` and of the configuration, are known.",
		},
		{
			ID: unknownRenderer, Severity: Error, Doc: "A template engine or renderer that neither Salt nor the tree has.",
			Why: "The state fails when it runs, or Salt refuses the SLS.",
		},
		{
			ID: unknownRule, Severity: Warning, Doc: "A `brine: ignore` comment names a rule that does not exist.",
			Why: "The comment has no effect.",
		},
		{
			ID: unknownState, Severity: Error, Doc: "A state function that neither Salt nor the tree has.",
			Why: "The state fails when it runs. The hint has the nearest name.",
		},
		{
			ID: unquotedMode, Severity: Info, Off: true, Fix: true, Doc: "The mode of a file is not quoted.",
			Why: "Write `'0644'`. It is rule 207 of salt-lint.",
		},
		{
			ID: unreachableSLS, Severity: Warning, Doc: "No name leads to an SLS file, so no run reads it.",
			Why: "A dot in an SLS name stands for a directory: `app.v1` is `app/v1.sls`, never `app.v1.sls`. Of `app.sls` and `app/init.sls`, `app` is the first. Rename the file.",
		},
		{
			ID: unusedImport, Severity: Warning, Fix: true, Doc: "A name that an SLS imports is not used.",
			Why: "Remove it from the import. --fix does so if the import has other names.",
		},
		{
			ID: unusedInclude, Severity: Warning, Doc: "An SLS is included twice, includes itself, or includes an SLS that has no states on any system.",
			Why: "Remove the include.",
		},
		{
			ID: unusedPillar, Severity: Info, Doc: "No file of the tree mentions a top-level pillar key.",
			Why: "Remove the key, unless a custom module or an external program reads it.",
		},
		{
			ID: wrongValue, Severity: Error, Doc: "The value of an argument has a wrong type, or is not one that the argument takes.",
			Why: "The state fails when it runs. `brine doc FUNCTION` lists the types of the arguments.",
		},
		{
			ID: yamlBoolean, Severity: Warning, Doc: "`on`, `off`, `yes` or `no` is a key or a list item.",
			Why: "YAML 1.1 reads it as a boolean: `no` becomes False. Quote it if it is a word.",
		},
		{
			ID: yamlOctal, Severity: Warning, Fix: true, Doc: "A number starts with 0.",
			Why: "YAML reads it as octal, and Salt drops the zero instead. Quote it: `mode: '0644'`. --fix quotes file modes.",
		},
		{
			ID: yamlTab, Severity: Error, partial: true, Doc: "A tab indents YAML.",
			Why: "YAML does not allow it. Use spaces.",
		},
	}
}

// ruleOf returns the rule of an ID; the zero one where there is none.
func ruleOf(id string) Rule {
	all := Rules()
	i, ok := slices.BinarySearchFunc(all, id, func(r Rule, id string) int { return strings.Compare(r.ID, id) })
	if !ok {
		return Rule{}
	}
	return all[i]
}

func ruleIDs() []string {
	var ids []string
	for _, r := range Rules() {
		ids = append(ids, r.ID)
	}
	return ids
}

// Page returns the documentation of the rules as Markdown, for docs/lint.md.
func Page() string {
	var b strings.Builder
	for _, r := range Rules() {
		how := r.Severity.String()
		if r.partial {
			how += "; warning if only some of the systems have the fault"
		}
		if r.milder != "" {
			how += "; warning " + r.milder
		}
		if r.Off {
			how += "; off unless selected"
		}
		if r.Fix {
			how += "; fixed by `--fix`"
		}
		fmt.Fprintf(&b, "### %s\n\n%s %s\n\nSeverity: %s.\n\n", r.ID, r.Doc, r.Why, how)
		e := examples[r.ID]
		write(&b, "Bad:", e.bad)
		write(&b, "Good:", e.good)
	}
	return strings.TrimSuffix(b.String(), "\n")
}
