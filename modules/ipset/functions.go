package ipset

import (
	"context"
	"errors"
	"slices"
	"strings"

	"brine/internal/fun"
	"brine/internal/value"
	"brine/modules/tool"
)

// refused is the return for what is missing or wrong: text, as Salt has it, and a
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
func find(ctx context.Context, c *fun.Call) (set *Set, what string, err error) {
	name := c.Str("name")
	if name == "" {
		return nil, "Error: Set needs to be specified", nil
	}
	set, err = Client{c.Env}.Find(ctx, name)
	if err == nil && set == nil {
		what = "Error: Set " + name + " does not exist"
	}
	return set, what, err
}

// findFor is find for functions about an entry.
func findFor(ctx context.Context, c *fun.Call) (set *Set, what string, err error) {
	if c.Str("name") != "" && len(c.Strings("entry")) == 0 {
		return nil, "Error: Entry needs to be specified", nil
	}
	return find(ctx, c)
}

func add(ctx context.Context, c *fun.Call) (fun.Result, error) {
	set, what, err := findFor(ctx, c)
	if err != nil {
		return fun.Result{}, err
	}
	if what != "" {
		return refused("%s", what)
	}
	entry := c.Str("entry")
	if set.Has(entry) && c.IsNone("comment") && c.IsNone("timeout") {
		return fun.Value("Warn: Entry " + entry + " already exists in set " + set.Name)
	}
	return outcome(Client{c.Env}.Add(ctx, set, entry, c.Args), "Success", "Error: ")
}

func check(ctx context.Context, c *fun.Call) (fun.Result, error) {
	set, what, err := findFor(ctx, c)
	if err != nil {
		return fun.Result{}, err
	}
	if what != "" {
		return refused("%s", what)
	}
	return fun.Value(slices.ContainsFunc(c.Strings("entry"), set.Has))
}

func checkSet(ctx context.Context, c *fun.Call) (fun.Result, error) {
	if c.Str("name") == "" {
		return refused("Error: Set needs to be specified")
	}
	set, _, err := find(ctx, c)
	return fun.Result{Value: set != nil}, err
}

func remove(ctx context.Context, c *fun.Call) (fun.Result, error) {
	set, what, err := findFor(ctx, c)
	if err != nil {
		return fun.Result{}, err
	}
	if what != "" {
		return refused("%s", what)
	}
	return outcome(Client{c.Env}.Delete(ctx, set.Name, c.Str("entry")), "Success", "Error: ")
}

func deleteSet(ctx context.Context, c *fun.Call) (fun.Result, error) {
	if c.Str("name") == "" {
		return refused("Error: Set needs to be specified")
	}
	return outcome(Client{c.Env}.Destroy(ctx, c.Str("name")), true, "")
}

func flush(ctx context.Context, c *fun.Call) (fun.Result, error) {
	err := Client{c.Env}.Flush(ctx, c.Str("name"))
	if _, is := errors.AsType[*fun.CommandError](err); is {
		c.Env.Log().Error(err.Error())
		return fun.Result{Value: false, Retcode: 1}, nil
	}
	return fun.Result{Value: true}, err
}

func listSets(ctx context.Context, c *fun.Call) (fun.Result, error) {
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

// DefinitionOf returns the set that the arguments describe.
func DefinitionOf(c *fun.Call) Definition {
	return Definition{Name: c.Str("name"), Type: c.Str("set_type"), Family: c.Str("family"), Options: c.Args, Comment: c.Bool("comment")}
}

func newSet(ctx context.Context, c *fun.Call) (fun.Result, error) {
	switch {
	case c.Str("name") == "":
		return refused("Error: Set Name needs to be specified")
	case c.Str("set_type") == "":
		return refused("Error: Set Type needs to be specified")
	}
	return outcome(Client{c.Env}.Create(ctx, DefinitionOf(c)), true, "")
}

func renameSet(ctx context.Context, c *fun.Call) (fun.Result, error) {
	if c.Str("name") != "" && c.Str("new_set") == "" {
		return refused("Error: New name for set needs to be specified")
	}
	set, what, err := find(ctx, c)
	switch {
	case err != nil:
		return fun.Result{}, err
	case set == nil && c.Str("name") != "":
		return refused("Error: Set does not exist")
	case what != "":
		return refused("%s", what)
	}
	other, err := Client{c.Env}.Find(ctx, c.Str("new_set"))
	switch {
	case err != nil:
		return fun.Result{}, err
	case other != nil:
		return refused("Error: New Set already exists")
	}
	return outcome(Client{c.Env}.run(ctx, "rename", set.Name, c.Str("new_set")), true, "")
}

func test(ctx context.Context, c *fun.Call) (fun.Result, error) {
	set, what, err := findFor(ctx, c)
	if err != nil {
		return fun.Result{}, err
	}
	if what != "" {
		return refused("%s", what)
	}
	words := splitEntry(c.Str("entry"))
	if err := checkWords(words...); err != nil {
		return fun.Result{}, err
	}
	out, err := tool.Look(ctx, c.Env.Host, append([]string{"ipset", "test", set.Name}, words...)...)
	return fun.Result{Value: out.Status == 0}, err
}

func version(ctx context.Context, c *fun.Call) (fun.Result, error) {
	out, err := tool.Look(ctx, c.Env.Host, "ipset", "--version")
	if err != nil {
		return fun.Result{}, err
	}
	if f := strings.Fields(out.Text); len(f) > 1 {
		return fun.Value(f[1])
	}
	return fun.Result{}, fun.Errorf("%s", out.Text)
}
