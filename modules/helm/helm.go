// Package helm is Salt's execution module "helm": charts, releases and repositories of
// Helm, the package manager of Kubernetes.
//
// [Client] runs helm; the state module "helm" uses it, too.
package helm

import (
	"context"
	"slices"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/redact"
	"brine/internal/py/value"
	"brine/modules/tool"
)

// Module returns the execution module "helm".
func Module() fun.Module {
	return fun.Module{Name: "helm", Kind: fun.Exec, Doc: "Manage releases and repositories of Helm.", Avail: tool.Needs("helm", "The helm execution module failed to load: the helm binary is not in the path."), Specs: specs}
}

// Flags are options of a command.
type Flags struct {
	Plain []string   // without values
	Pairs *value.Map // with a value; that of set may be a list
}

// in returns the option for a namespace alone.
func (f Flags) in() Flags {
	out := Flags{Pairs: value.NewMap(1)}
	if v := f.Pairs.At("namespace"); v != nil {
		out.Pairs.Set("namespace", v)
	}
	return out
}

func long(name string) string {
	if strings.HasPrefix(name, "--") {
		return name
	}
	return "--" + name
}

func (f Flags) args() []string {
	var args []string
	for _, name := range f.Plain {
		args = append(args, long(name))
	}
	for k, v := range f.Pairs.All() {
		items := []value.Value{v}
		if l, ok := v.(*value.List); ok {
			items = l.Items
		}
		for _, x := range items {
			args = append(args, long(value.Str(k)), value.Str(x))
		}
	}
	return args
}

// output returns the form of the answer: that asked for, else JSON, which is asked for
// then.
func (f Flags) output() (Flags, string) {
	for _, key := range []string{"output", "--output"} {
		if v := f.Pairs.At(key); v != nil {
			return f, value.Str(v)
		}
	}
	f.Pairs = f.Pairs.Copy()
	f.Pairs.Set("output", "json")
	return f, "json"
}

// A Client runs helm.
type Client struct{ Env *fun.Env }

// Run runs a command of helm: its words and options. What it says where it fails is a
// *fun.CommandError.
func (h Client) Run(ctx context.Context, f Flags, words ...string) (string, error) {
	for _, w := range words {
		if w == "" || strings.HasPrefix(w, "-") || strings.ContainsRune(w, 0) {
			return "", fun.Errorf("invalid argument %s: it must not be empty or start with a dash", value.Repr(w))
		}
	}
	out, err := tool.Run(ctx, h.Env.Host, append(append([]string{"helm"}, words...), f.args()...)...)
	if err != nil {
		return "", err
	}
	if !out.OK() {
		return "", fun.Errorf("%s", redact.URLs(out.Fault()))
	}
	return out.Text(), nil
}

// Data runs a command and returns its answer: data where it is JSON, else text.
func (h Client) Data(ctx context.Context, f Flags, words ...string) (value.Value, error) {
	f, form := f.output()
	out, err := h.Run(ctx, f, words...)
	if err != nil || form != "json" {
		return out, err
	}
	v, err := value.ParseJSON(out)
	if err != nil {
		return nil, fun.Errorf("helm %s did not print JSON: %s", words[0], err)
	}
	return v, nil
}

// Release returns the status of a release; nil where it is not there.
func (h Client) Release(ctx context.Context, f Flags, name string) (*value.Map, error) {
	v, err := h.Data(ctx, f.in(), "status", name)
	if err != nil {
		if strings.Contains(err.Error(), "not found") {
			return nil, nil
		}
		return nil, err
	}
	m, ok := v.(*value.Map)
	if !ok {
		return nil, fun.Errorf("helm status did not print a mapping")
	}
	return m, nil
}

// A Repo is a repository of charts.
type Repo struct{ Name, URL string }

// Map returns the repository as repo_list shows it.
func (r Repo) Map() *value.Map { return value.MapOf("name", r.Name, "url", r.URL) }

// repos returns the repositories that are configured.
func (h Client) repos(ctx context.Context, f Flags) ([]Repo, error) {
	v, err := h.Data(ctx, f.in(), "repo", "list")
	if err != nil {
		if strings.Contains(err.Error(), "no repositories") {
			return nil, nil
		}
		return nil, err
	}
	l, _ := v.(*value.List)
	list := make([]Repo, 0, l.Len())
	for i := range l.Len() {
		if m, ok := l.Items[i].(*value.Map); ok {
			list = append(list, Repo{value.Str(m.At("name")), value.Str(m.At("url"))})
		}
	}
	return list, nil
}

// Desired are the repositories that are to exist, and those that are not.
type Desired struct {
	Present []Repo
	Absent  []string
}

// A Plan is what of a wish is there and what is to be done.
type Plan struct {
	Present, Add   []Repo
	Absent, Remove []string
}

// DesiredOf reads the arguments present and absent of repo_manage.
func DesiredOf(present []value.Value, absent []string) (Desired, error) {
	w := Desired{Absent: absent}
	for _, item := range present {
		m, ok := item.(*value.Map)
		if !ok || !m.Has("name") || !m.Has("url") {
			return w, fun.Errorf("Parameter present have to be formatted like [{'name': '<myRepoName>', 'url': '<myRepoUrl>'}]")
		}
		w.Present = append(w.Present, Repo{value.Str(m.At("name")), value.Str(m.At("url"))})
	}
	return w, nil
}

// Plan compares a wish with what is configured. With prune what is not wished for is
// to be removed.
func (h Client) Plan(ctx context.Context, f Flags, w Desired, prune bool) (*Plan, error) {
	have, err := h.repos(ctx, f)
	if err != nil {
		return nil, err
	}
	p := &Plan{}
	for _, r := range w.Present {
		if slices.Contains(have, r) {
			p.Present = append(p.Present, r)
		} else {
			p.Add = append(p.Add, r)
		}
	}
	wished := func(name string) bool {
		return slices.ContainsFunc(w.Present, func(r Repo) bool { return r.Name == name })
	}
	for _, r := range have {
		switch {
		case wished(r.Name):
		case prune || slices.Contains(w.Absent, r.Name):
			p.Remove = append(p.Remove, r.Name)
		default:
			p.Present = append(p.Present, r)
		}
	}
	for _, name := range w.Absent {
		if !slices.Contains(p.Remove, name) {
			p.Absent = append(p.Absent, name)
		}
	}
	return p, nil
}

// Apply carries a plan out and returns what became of each repository, and what helm
// said of those that failed.
func (h Client) Apply(ctx context.Context, f Flags, p *Plan) (*value.Map, []string, error) {
	present, added, failed := value.NewList(), value.NewList(), value.NewList()
	var said []string
	for _, r := range p.Present {
		present.Append(r.Map())
	}
	for _, r := range p.Add {
		if _, err := h.Run(ctx, f, "repo", "add", r.Name, r.URL); err == nil {
			added.Append(r.Map())
		} else if ctx.Err() != nil {
			return nil, nil, ctx.Err()
		} else {
			failed.Append(r.Map())
			said = append(said, err.Error())
		}
	}
	removed := value.NewList()
	for _, name := range p.Remove {
		if _, err := h.Run(ctx, f.in(), "repo", "remove", name); err == nil {
			removed.Append(name)
		} else if ctx.Err() != nil {
			return nil, nil, ctx.Err()
		} else {
			failed.Append(name)
			said = append(said, err.Error())
		}
	}
	return value.MapOf("present", present, "added", added, "absent", value.Strings(p.Absent...), "removed", removed, "failed", failed), said, nil
}
