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
	// partial says that a finding on some of the systems only is no more than
	// partly: a tree need not serve all of them.
	partial bool
	partly  Severity
}

// The IDs of the rules.
const (
	compileWarning    = "compile-warning"
	dangerousPath     = "dangerous-path"
	deprecated        = "deprecated"
	duplicateID       = "duplicate-id"
	duplicateKey      = "duplicate-key"
	emptyPath         = "empty-path"
	missingArgument   = "missing-argument"
	missingFile       = "missing-file"
	missingInclude    = "missing-include"
	missingRequisite  = "missing-requisite"
	notInBrine        = "not-in-brine"
	notJudged         = "not-judged"
	pillarColon       = "pillar-colon"
	renderError       = "render-error"
	requisiteCycle    = "requisite-cycle"
	secretText        = "secret"
	starlark          = "starlark"
	structure         = "structure"
	tabStyle          = "tab"
	trailingSpace     = "trailing-space"
	undefinedVariable = "undefined-variable"
	unknownArgument   = "unknown-argument"
	unknownFunction   = "unknown-function"
	unknownRule       = "unknown-rule"
	unknownState      = "unknown-state"
	unusedImport      = "unused-import"
	unusedInclude     = "unused-include"
	unusedPillar      = "unused-pillar"
	yamlBoolean       = "yaml-boolean"
	yamlOctal         = "yaml-octal"
	yamlTab           = "yaml-tab"
)

// Rules returns all rules, by ID.
func Rules() []Rule {
	return []Rule{
		{
			ID: compileWarning, Severity: Warning, Doc: "The compiler warns about an SLS.",
			Why: "Salt accepts it silently, and it rarely does what its author wanted. The message says what is wrong.",
		},
		{
			ID: dangerousPath, Severity: Error, Doc: "A state or command removes or rewrites a system directory.",
			Why: "An empty variable turns `rm -rf {{ dir }}/` into `rm -rf /`. Check the variable first. The argument " +
				"`force_system_path: True` says that it is meant.",
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
			ID: emptyPath, Severity: Warning, Doc: "A path has an empty part, or one that is `None`.",
			Why: "An empty variable turns `/srv/{{ app }}/data` into `/srv//data`, which is another directory.",
		},
		{
			ID: missingArgument, Severity: Error, Doc: "A state lacks a required argument.",
			Why: "The state fails when it runs. `brine doc FUNCTION` lists the arguments.",
		},
		{
			ID: missingFile, Severity: Error, partial: true, partly: Warning, Doc: "A `salt://` file does not exist in the tree.",
			Why: "The state fails when it runs. Of a list of sources, one has to exist.",
		},
		{
			ID: missingInclude, Severity: Error, partial: true, Doc: "An include or a top file names an SLS that does not exist.",
			Why: "Salt refuses the whole run.",
		},
		{
			ID: missingRequisite, Severity: Error, partial: true, Doc: "A requisite or `extend` names a state that does not exist.",
			Why: "The state fails with \"The following requisites were not found\". Include the SLS that has the state.",
		},
		{
			ID: notInBrine, Severity: Warning, Doc: "Salt has the function, brine does not.",
			Why: "See [compatibility](compatibility.md); `brine check` lists everything that a tree uses.",
		},
		{
			ID: notJudged, Severity: Info, Doc: "Something could not be checked, because it depends on a value that only a machine has.",
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
			ID: undefinedVariable, Severity: Error, partial: true, Doc: "A template uses a variable, attribute or key that does not exist.",
			Why: "Rendering fails. Use `default`, `.get()` or `salt['pillar.get']` for what may be absent.",
		},
		{
			ID: unknownArgument, Severity: Error, Doc: "A state has an argument that its function does not take.",
			Why: "Salt refuses to run it, or ignores the argument. The hint has the nearest name.",
		},
		{
			ID: unknownFunction, Severity: Error, Doc: "A template, `module.run` or an orchestration calls a function that neither Salt nor the tree has.",
			Why: "The hint has the nearest name.",
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
			ID: unusedImport, Severity: Warning, Doc: "A name that an SLS imports is not used.",
			Why: "Remove it from the import.",
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
			how += "; " + r.partly.String() + " if only some of the systems have the fault"
		}
		if r.Off {
			how += "; off unless selected"
		}
		if r.Fix {
			how += "; fixed by `--fix`"
		}
		fmt.Fprintf(&b, "### %s\n\n%s %s\n\nSeverity: %s.\n\n", r.ID, r.Doc, r.Why, how)
	}
	return strings.TrimSuffix(b.String(), "\n")
}
