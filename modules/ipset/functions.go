package ipset

import (
	"context"
	"errors"
	"slices"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/tool"
)

// refused is the return for what is missing or wrong: text, as in Salt, and a
// status that says so.
func refused(format string, args ...any) (fun.Result, error) {
	return fun.Result{Value: fun.Errorf(format, args...).Error(), Retcode: 1}, nil
}

// outcome is the return of a change: ok, or what ipset(8) said.
func outcome(err error, ok value.Value, prefix string) (fun.Result, error) {
	if ce, is := errors.AsType[*fun.CommandError](err); is {
		return refused("%s%s", prefix, strings.TrimPrefix(ce.Msg, prefix))
	}
	return fun.Result{Value: ok}, err
}

// find returns the set that the argument name names; what says why not.
func find(ctx context.Context, c *fun.Call, argName string) (set *Set, what string, err error) {
	name := argName
	if name == "" {
		return nil, "Error: Set needs to be specified", nil
	}
	set, err = Client{c.Env}.Find(ctx, name)
	if err == nil && set == nil {
		what = "Error: Set " + name + " does not exist"
	}
	return set, what, err
}

// findFor is find for functions about an entry, which may not be given.
func findFor(ctx context.Context, c *fun.Call, name string, given bool) (set *Set, what string, err error) {
	if name != "" && !given {
		return nil, "Error: Entry needs to be specified", nil
	}
	return find(ctx, c, name)
}

type addArgs struct {
	Name  string          `arg:"name" doc:"name of the set"`
	Entry fun.Opt[string] `arg:"entry" doc:"address, network, port and so on, with options"`
	_     string          `arg:"family" default:"ipv4" oneof:"ipv4|ip4|ipv6|ip6" doc:"has no effect: the set has a family"`
	AddArgs
	_ fun.Kwargs
}

func add(ctx context.Context, c *fun.Call, a *addArgs) (fun.Result, error) {
	set, what, err := findFor(ctx, c, a.Name, a.Entry.Given)
	if err != nil {
		return fun.Result{}, err
	}
	if what != "" {
		return refused("%s", what)
	}
	entry := a.Entry.V
	if set.Has(entry) && a.Comment == nil && a.Timeout == nil {
		return fun.Value("Warn: Entry " + entry + " already exists in set " + set.Name)
	}
	return outcome(Client{c.Env}.Add(ctx, set, entry, a.Options()), "Success", "Error: ")
}

type checkArgs struct {
	_     fun.Arguments
	Name  string   `arg:"name" doc:"name of the set"`
	Entry []string `arg:"entry" doc:"address, range, network and so on, or a list of them"`
	_     string   `arg:"family" default:"ipv4" oneof:"ipv4|ip4|ipv6|ip6" doc:"has no effect: the set has a family"`
}

func check(ctx context.Context, c *fun.Call, a *checkArgs) (fun.Result, error) {
	set, what, err := findFor(ctx, c, a.Name, len(a.Entry) > 0)
	if err != nil {
		return fun.Result{}, err
	}
	if what != "" {
		return refused("%s", what)
	}
	return fun.Value(slices.ContainsFunc(a.Entry, set.Has))
}

// checkSetArgs are the arguments of checkSet and deleteSet.
type checkSetArgs struct {
	_    fun.Arguments
	Name string `arg:"name" doc:"name of the set"`
	_    string `arg:"family" default:"ipv4" oneof:"ipv4|ip4|ipv6|ip6" doc:"has no effect: the set has a family"`
}

func checkSet(ctx context.Context, c *fun.Call, a *checkSetArgs) (fun.Result, error) {
	if a.Name == "" {
		return refused("Error: Set needs to be specified")
	}
	set, _, err := find(ctx, c, a.Name)
	return fun.Result{Value: set != nil}, err
}

// removeArgs are the arguments of remove and test.
type removeArgs struct {
	Name  string          `arg:"name" doc:"name of the set"`
	Entry fun.Opt[string] `arg:"entry" doc:"address, network, port and so on"`
	_     string          `arg:"family" default:"ipv4" oneof:"ipv4|ip4|ipv6|ip6" doc:"has no effect: the set has a family"`
	_     fun.Kwargs
}

func remove(ctx context.Context, c *fun.Call, a *removeArgs) (fun.Result, error) {
	set, what, err := findFor(ctx, c, a.Name, a.Entry.Given)
	if err != nil {
		return fun.Result{}, err
	}
	if what != "" {
		return refused("%s", what)
	}
	return outcome(Client{c.Env}.Delete(ctx, set.Name, a.Entry.V), "Success", "Error: ")
}

func deleteSet(ctx context.Context, c *fun.Call, a *checkSetArgs) (fun.Result, error) {
	if a.Name == "" {
		return refused("Error: Set needs to be specified")
	}
	return outcome(Client{c.Env}.Destroy(ctx, a.Name), true, "")
}

type flushArgs struct {
	_    fun.Arguments
	Name string `arg:"name" doc:"name of the set; without it, all sets"`
	_    string `arg:"family" default:"ipv4" oneof:"ipv4|ip4|ipv6|ip6" doc:"has no effect: the set has a family"`
}

func flush(ctx context.Context, c *fun.Call, a *flushArgs) (fun.Result, error) {
	err := Client{c.Env}.Flush(ctx, a.Name)
	if _, is := errors.AsType[*fun.CommandError](err); is {
		c.Env.Log().Error(err.Error())
		return fun.Result{Value: false, Retcode: 1}, nil
	}
	return fun.Result{Value: true}, err
}

type listSetsArgs struct {
	_ fun.Arguments
	_ string `arg:"family" default:"ipv4" oneof:"ipv4|ip4|ipv6|ip6" doc:"has no effect: sets of all families are listed"`
}

func listSets(ctx context.Context, c *fun.Call, _ *listSetsArgs) (fun.Result, error) {
	sets, err := Client{c.Env}.list(ctx, "-t")
	if err != nil {
		return fun.Result{}, err
	}
	out := value.NewList()
	for _, s := range sets {
		out.Items = append(out.Items, s.Info)
	}
	return fun.Value(out)
}

type newSetArgs struct {
	Name    string      `arg:"name" doc:"name of the set"`
	SetType string      `arg:"set_type" doc:"type of the set, such as hash:ip or list:set"`
	Family  string      `arg:"family" default:"ipv4" oneof:"ipv4|ip4|ipv6|ip6" doc:"family of the addresses"`
	Comment value.Value `arg:"comment" default:"False" doc:"entries may have comments; any text or True says so"`
	SetArgs
	_ fun.Kwargs
}

func newSet(ctx context.Context, c *fun.Call, a *newSetArgs) (fun.Result, error) {
	switch {
	case a.Name == "":
		return refused("Error: Set Name needs to be specified")
	case a.SetType == "":
		return refused("Error: Set Type needs to be specified")
	}
	return outcome(Client{c.Env}.Create(ctx, Definition{
		Name: a.Name, Type: a.SetType, Family: a.Family, Options: a.Options(), Comment: value.Truth(a.Comment),
	}), true, "")
}

type renameSetArgs struct {
	_      fun.Arguments
	Name   string `arg:"name" doc:"name of the set"`
	NewSet string `arg:"new_set" doc:"new name"`
	_      string `arg:"family" default:"ipv4" oneof:"ipv4|ip4|ipv6|ip6" doc:"has no effect: the set has a family"`
}

func renameSet(ctx context.Context, c *fun.Call, a *renameSetArgs) (fun.Result, error) {
	if a.Name != "" && a.NewSet == "" {
		return refused("Error: New name for set needs to be specified")
	}
	set, what, err := find(ctx, c, a.Name)
	switch {
	case err != nil:
		return fun.Result{}, err
	case set == nil && a.Name != "":
		return refused("Error: Set does not exist")
	case what != "":
		return refused("%s", what)
	}
	other, err := Client{c.Env}.Find(ctx, a.NewSet)
	switch {
	case err != nil:
		return fun.Result{}, err
	case other != nil:
		return refused("Error: New Set already exists")
	}
	return outcome(Client{c.Env}.run(ctx, "rename", set.Name, a.NewSet), true, "")
}

func test(ctx context.Context, c *fun.Call, a *removeArgs) (fun.Result, error) {
	set, what, err := findFor(ctx, c, a.Name, a.Entry.Given)
	if err != nil {
		return fun.Result{}, err
	}
	if what != "" {
		return refused("%s", what)
	}
	words := splitEntry(a.Entry.V)
	if err := checkWords(words...); err != nil {
		return fun.Result{}, err
	}
	out, err := tool.LookMerged(ctx, c.Env.Host, append([]string{"ipset", "test", set.Name}, words...)...)
	return fun.Result{Value: out.Status == 0}, err
}

func version(ctx context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	out, err := tool.LookMerged(ctx, c.Env.Host, "ipset", "--version")
	if err != nil {
		return fun.Result{}, err
	}
	if f := strings.Fields(out.Text); len(f) > 1 {
		return fun.Value(f[1])
	}
	return fun.Result{}, fun.Errorf("%s", out.Text)
}
