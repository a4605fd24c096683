// Package fun is the contract between brine's rooms: what a module, a function,
// a call and a return are.
//
// A room exports its module as a function that returns a literal [Module];
// cmd/assembly lists the rooms in a [Table]; internal/core/dispatch looks a
// function up, binds its arguments and calls it. Start with [Module].
package fun

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"

	"brine/internal/core/host"
	"brine/internal/core/saltnames"
	"brine/internal/py/source"
	"brine/internal/py/value"
)

// A Kind is a kind of function.
type Kind int

// The kinds, as Salt divides them.
const (
	Exec   Kind = iota // execution function: salt-call, salt['x.y']
	State              // state function
	Runner             // salt-run
	Wheel              // salt.wheel
)

// Short returns the kind in one word: "execution", "state", "runner", "wheel".
func (k Kind) Short() string {
	short, _, _ := strings.Cut(k.String(), " ")
	return short
}

// String returns the kind as messages name it.
func (k Kind) String() string {
	switch k {
	case Exec:
		return "execution function"
	case State:
		return "state function"
	case Runner:
		return "runner function"
	case Wheel:
		return "wheel function"
	}
	return fmt.Sprintf("Kind(%d)", int(k))
}

// A Module is one Salt module: "file" as states, "file" as functions.
type Module struct {
	Name    string // the name users type before the dot: "pkg"
	Aliases []string
	// Provider is the name of the module behind a virtual one: "aptpkg". The
	// table sets it from the module's entry; it is Name where that is not virtual.
	Provider string
	Kind     Kind
	Doc      string // one line
	Specs    []Spec // the functions, alphabetically

	// Avail is Salt's __virtual__: whether the module may serve on this
	// machine, else why not (a sentence part, such as "systemctl is missing").
	// nil is always.
	Avail func(*Env) (bool, string)
	// Watch is mod_watch: runs when a watched state changed. nil: none. Its
	// Call is bound for the state's own function; Low has fun mod_watch, sfun
	// (the state's own function) and, unless it is for listen, __reqs__: the
	// low data of the requisites by kind.
	Watch StateFn
	// CheckCmd is mod_run_check_cmd: module states such as file.managed, whose
	// check_cmd argument the module itself handles, set it true.
	OwnCheckCmd bool
	// Aggregate is mod_aggregate: it may merge into c what other chunks that
	// are still to run would do, and marks those by their "__agg__" key.
	Aggregate func(ctx context.Context, c *Call, chunks []*Chunk, running *value.Map) *Chunk
	// Dynamic gives the row of a function that is not among Specs: a custom
	// module that answers to any name. nil: none.
	Dynamic func(name string) *Spec
	// Init is mod_init: runs before the first state of the module in a run.
	Init StateFn
	// Broken is why a custom module cannot be loaded.
	Broken string
	// Brings reports whether a state of this module that changed something may
	// have brought programs or modules, so that modules are asked again whether
	// they may serve. nil: none does.
	Brings func(*Chunk) bool
}

// Always reports true: every state of a module may have brought programs.
func Always(*Chunk) bool { return true }

// SortSpecs puts the functions of a module in the order of their names.
func (m *Module) SortSpecs() {
	sort.Slice(m.Specs, func(i, j int) bool { return m.Specs[i].Name < m.Specs[j].Name })
}

// StateFn is a state function. The zero Ret is a failure.
type StateFn func(context.Context, *Call) Ret

// ExecFn is an execution, runner or wheel function.
type ExecFn func(context.Context, *Call) (Result, error)

// A Spec is the row of one function.
type Spec struct {
	Name   string // without the module
	Doc    string // first line: what it does, imperative; further lines: details
	Src    string // where Salt has it, for example "states/file.py managed"
	Args   []Arg
	VarArg bool // takes further positional arguments (*args)
	VarKw  bool // takes further keyword arguments (**kwargs)
	HideKw bool // and any of these may be a secret
	// Raw says that further positional arguments may be undefined variables of a
	// template, which other functions raise for.
	Raw bool
	// Hands says that further keyword arguments are another function's: their
	// names are not looked for among this one's.
	Hands bool
	// Of is the execution function that further keyword arguments are handed on to, such
	// as "http.query": they are checked by what it declares. "" is none.
	Of string
	// NearMiss says that a function with VarKw refuses a further keyword argument
	// whose name is close to that of a declared one: state.apply takes anything,
	// as in Salt, but never tset=True.
	NearMiss bool
	// MayLack says that only a call can tell whether the module has the function: it
	// returns a [MissingError] where it has not.
	MayLack bool
	// Lookup says that a runner function shows what others returned: its own record
	// and its event leave the return out.
	Lookup bool
	// Exclusive are groups of arguments: of each group, a state takes one. With two
	// that have values it fails.
	Exclusive [][]string
	// Always says that a state function acts on every run.
	Always bool
	// Files says that a state function changes the machine through [host.Files] alone,
	// and runs no program that is not ReadOnly: a plan runs it on an overlay, to learn
	// what it would leave. Where the host is an overlay ([host.PlannedOn]), it has that
	// be as a program that it would run leaves it.
	Files bool
	// Leaves has an overlay be as the machine would be behind a state function that has
	// something to change, as far as states after it can observe it. nil: nobody knows.
	Leaves func(context.Context, *Call, *host.Overlay) error

	// Do is what the function does: func(context.Context, *Call, *A) Ret for a state
	// function, (Result, error) for the others. The struct A declares the arguments.
	// From it the table sets Args, VarArg, VarKw, and State or Fn.
	Do    any
	State StateFn // for Kind State
	Fn    ExecFn  // for the others
}

// Positional returns how many of the arguments may be given by position.
func (s *Spec) Positional() int {
	n := len(s.Args)
	for n > 0 && s.Args[n-1].KwOnly {
		n--
	}
	return n
}

// Required returns the names of the arguments that have to be given.
func (s *Spec) Required() []string {
	var names []string
	for i := range s.Args {
		if s.Args[i].Required {
			names = append(names, s.Args[i].Name)
		}
	}
	return names
}

// Missing returns the names of the required arguments that the low data of a state does
// not give. Each state has a name.
func (s *Spec) Missing(low *value.Map) []string {
	return slices.DeleteFunc(s.Required(), func(name string) bool { return name == "name" || low.Has(name) })
}

// A Result is what an execution, runner or wheel function returns.
type Result struct {
	Value   value.Value
	Retcode int    // Salt's __context__['retcode']; 0 is success
	Out     string // outputter that the function wishes, such as "highstate"; "" is none
}

// Value is a plain result.
func Value(v value.Value) (Result, error) { return Result{Value: v}, nil }

// An Outcome is a state's result.
type Outcome int

// Outcomes; the zero one is failure, so a state that forgets reports none.
const (
	Failed      Outcome = iota // False
	OK                         // True
	WouldChange                // None: test mode and changes are due
)

// Value returns the outcome as Salt writes it: False, True or None.
func (o Outcome) Value() value.Value {
	switch o {
	case OK:
		return true
	case WouldChange:
		return nil
	default:
		return false
	}
}

// A Ret is what a state function returns.
type Ret struct {
	Name    string      // "" is the chunk's name
	Changes value.Value // nil is {}
	Result  Outcome
	Comment value.Value // text, or a list of text
	Extra   *value.Map  // further keys of the return: warnings, data, skip_watch, ...
	// Order is the order of the keys in the return, where Salt's function has
	// another than name, changes, result, comment.
	Order []string
	// Err is what the state would raise in Python: the return then is a failure
	// with Salt's text for an exception in a state, and only Name is used of
	// the rest.
	Err error
}

// Fail returns a failed Ret with a comment.
func Fail(format string, args ...any) Ret {
	return Ret{Comment: fmt.Sprintf(format, args...)}
}

// FailedBy returns the Ret of a state whose function failed with err: failed, with the
// message of a *CommandError behind before as its comment. Other errors are raised.
func FailedBy(err error, before string) Ret {
	if ce, ok := errors.AsType[*CommandError](err); ok {
		return Ret{Comment: before + ce.Msg}
	}
	return Raise(err)
}

// Same returns the Ret of a state that had nothing to change.
func Same(format string, args ...any) Ret {
	return Ret{Result: OK, Comment: fmt.Sprintf(format, args...)}
}

// Due returns the Ret of a state that would change something, in test mode.
func Due(format string, args ...any) Ret {
	return Ret{Result: WouldChange, Comment: fmt.Sprintf(format, args...)}
}

// Report returns a Ret whose comment has several parts. changes may be nil.
func Report(result Outcome, changes *value.Map, comment ...string) Ret {
	ret := Ret{Result: result, Comment: strings.Join(comment, "")}
	if changes != nil {
		ret.Changes = changes
	}
	return ret
}

// resultFirst is an order of the keys that many of Salt's functions have.
var resultFirst = []string{"name", "result", "comment", "changes"}

// ResultFirst returns the Ret with its keys in the order name, result, comment,
// changes.
func (r Ret) ResultFirst() Ret {
	r.Order = resultFirst
	return r
}

// Raise returns a Ret that reports err as Salt reports an exception in a state.
func Raise(err error) Ret { return Ret{Err: err} }

// A Chunk is a low chunk: one call of one state function.
type Chunk struct {
	State, Fun string // "file", "managed"
	ID, Name   string
	SLS        string
	SaltEnv    string
	Low        *value.Map // the whole chunk with Salt's keys: state, name, fun, __id__, __sls__, __env__, order, arguments, requisites
	Pos        source.Pos // where the state's ID was written
}

// Tag returns the key of the chunk's return: state_|-id_|-name_|-fun.
func (c *Chunk) Tag() string {
	return c.State + "_|-" + c.ID + "_|-" + c.Name + "_|-" + c.Fun
}

// An Invoker calls functions by name within one Env.
type Invoker interface {
	// Invoke calls kind's function name ("test.ping"). It returns a
	// *NotFoundError, an *ArgError, or the function's own error.
	Invoke(ctx context.Context, kind Kind, name string, args Args) (Result, error)
	// Bind checks and converts args for spec, as Invoke does.
	Bind(mod *Module, spec *Spec, args Args) (*Call, error)
}

// A NotFoundError says that a function is not there.
type NotFoundError struct {
	Kind    Kind
	Name    string
	Nearest string // the available name that was likely meant, or ""
	Reason  string // why its module cannot serve here, or ""
	InSalt  bool   // Salt has it, brine does not
	// SaltKind is the kind of Salt's function of that name, where InSalt; mostly Kind.
	SaltKind Kind
	Why      string // why brine lacks Salt's function, or ""
	// Other is the kind of function that has the name, where IsOther says that it is
	// another than Kind.
	Other    Kind
	IsOther  bool
	IsModule bool // the name is that of a module
}

// Error returns Salt's text for a function that is not available.
func (e *NotFoundError) Error() string {
	if e.Reason != "" {
		return fmt.Sprintf("'%s' is not available: %s", e.Name, e.Reason)
	}
	return fmt.Sprintf("'%s' is not available.", e.Name)
}

// Hint says what the user may do: "" where there is nothing to say.
func (e *NotFoundError) Hint() string {
	switch {
	case e.IsModule:
		return fmt.Sprintf("%[1]s is a module, and one of its functions has to be named: 'brine functions %[1]s' lists them", e.Name)
	case e.IsOther && e.Kind != State && e.Other == State:
		return fmt.Sprintf("%[1]s is a state: use it in an SLS, or run it with 'brine call state.single %[1]s name=...'", e.Name)
	case e.IsOther && e.Kind == State && e.Other == Exec:
		return fmt.Sprintf("%s is an execution function: call it by the state module.run", e.Name)
	case e.IsOther && e.Kind == Runner && e.Other == Exec:
		return fmt.Sprintf("%[1]s is an execution function: 'brine call %[1]s' calls it", e.Name)
	case e.IsOther && e.Kind == Exec && e.Other == Runner:
		return fmt.Sprintf("%[1]s is a runner function: 'brine run %[1]s' calls it", e.Name)
	case e.IsOther:
		return fmt.Sprintf("%s is %s", e.Name, withArticle(e.Other.String()))
	case e.InSalt && e.SaltKind == e.Kind && e.Why != "":
		return fmt.Sprintf("Salt %s has %s, brine does not: %s", saltnames.Version, e.Name, e.Why)
	case e.InSalt && e.SaltKind != e.Kind:
		return fmt.Sprintf("%s is %s of Salt %s, which brine does not have", e.Name, withArticle(e.SaltKind.String()), saltnames.Version)
	case e.InSalt:
		return fmt.Sprintf("Salt %s has %s, brine does not: see 'brine docs compatibility'", saltnames.Version, e.Name)
	case e.Nearest != "":
		return fmt.Sprintf("did you mean %q?", e.Nearest)
	}
	return ""
}

func withArticle(s string) string {
	if strings.ContainsRune("aeiou", rune(s[0])) {
		return "an " + s
	}
	return "a " + s
}

// An ArgError says that a function was called with wrong arguments, in the
// words of Python's TypeError.
type ArgError struct {
	Name string // the function
	Msg  string // "missing 1 required positional argument: 'text'"
	Spec *Spec
	// Nearest is the argument that was likely meant by one that there is not, or "".
	Nearest string
}

// Error returns "echo() missing 1 required positional argument: 'text'".
func (e *ArgError) Error() string { return e.Spec.Name + "() " + e.Msg }

// A CommandError is Salt's CommandExecutionError: the function ran and failed,
// and Error is the message meant for the user.
type CommandError struct {
	Msg  string
	Hint string // what may help; shown beside the message, not part of it
}

func (e *CommandError) Error() string { return e.Msg }

// Errorf returns a *CommandError.
func Errorf(format string, args ...any) error {
	return &CommandError{Msg: fmt.Sprintf(format, args...)}
}
