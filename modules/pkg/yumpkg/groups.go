package yumpkg

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"sync"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/pkg"
)

// groupSections are the headings of the list of groups, and their keys.
var groupSections = map[string]string{
	"installed groups:": "installed", "available groups:": "available",
	"installed environment groups:": "installed environments", "available environment groups:": "available environments",
	"available language groups:": "available languages",
}

// languageGroup is a group for a language: "Dutch Support [nl]".
var languageGroup = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(.+) \[(.+)\]`) })

func groupList(ctx context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	y, err := newYum(c)
	if err != nil {
		return fun.Result{}, err
	}
	if err := y.notDNF5("group_list"); err != nil {
		return fun.Result{}, err
	}
	out, err := y.query(ctx, "grouplist", "hidden")
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Result{Value: readGroupList(out.Stdout), Retcode: out.Status}, nil
}

func readGroupList(text string) *value.Map {
	ret := value.MapOf("installed", value.NewList(), "available", value.NewList(), "installed environments", value.NewList(),
		"available environments", value.NewList(), "available languages", value.NewMap(0))
	key := ""
	for line := range strings.SplitSeq(text, "\n") {
		low := strings.ToLower(strings.TrimSpace(line))
		if low == "done" {
			break
		}
		if section, ok := groupSections[low]; ok {
			key = section
			continue
		}
		line = strings.TrimSpace(line)
		switch {
		case key == "" || line == "":
		case key != "available languages":
			ret.List(key).Append(line)
		default:
			if m := languageGroup().FindStringSubmatch(line); m != nil {
				ret.Map(key).Set(line, value.MapOf("name", m[1], "language", m[2]))
			}
		}
	}
	return ret
}

// packageKinds are the parts of a group.
var packageKinds = [...]string{"mandatory", "optional", "default", "conditional"}

type groupInfoArgs struct {
	groupArg
	Expand       bool     `arg:"expand" default:"False" doc:"return the packages of the groups of an environment rather than the groups"`
	IgnoreGroups []string `arg:"ignore_groups" doc:"groups not to expand"`
}

func groupInfo(ctx context.Context, c *fun.Call, a *groupInfoArgs) (fun.Result, error) {
	y, err := newYum(c)
	if err != nil {
		return fun.Result{}, err
	}
	m, err := y.group(ctx, a.Name, &expansion{on: a.Expand, done: a.IgnoreGroups})
	return fun.Result{Value: m}, err
}

// An expansion says whether the groups in an environment are replaced by their
// packages, and which of them were already.
type expansion struct {
	on    bool
	done  []string
	depth int
}

// maxGroups bounds how deep groups are in groups.
const maxGroups = 8

// group describes a group. Salt: salt/modules/yumpkg.py group_info.
func (y *yum) group(ctx context.Context, name string, e *expansion) (*value.Map, error) {
	if err := y.notDNF5("group_info"); err != nil {
		return nil, err
	}
	if err := pkg.CheckName(name); err != nil {
		return nil, err
	}
	out, err := y.query(ctx, "--quiet", "groupinfo", name)
	if err != nil {
		return nil, err
	}
	ret, members := readGroup(out.Stdout)
	if ret == nil {
		return nil, fun.Errorf("Group '%s' not found", name)
	}
	if e.on && ret.Str("type") == "environment group" && e.depth < maxGroups {
		if members, err = y.expand(ctx, members, e); err != nil {
			return nil, err
		}
	}
	for _, kind := range packageKinds {
		slices.Sort(members[kind])
		ret.Set(kind, value.Strings(slices.Compact(members[kind])...))
	}
	return ret, nil
}

// expand replaces groups by their packages.
func (y *yum) expand(ctx context.Context, groups map[string][]string, e *expansion) (map[string][]string, error) {
	members := map[string][]string{}
	for _, kind := range packageKinds {
		for _, g := range groups[kind] {
			if slices.Contains(e.done, g) {
				continue
			}
			e.done = append(e.done, g)
			e.depth++
			inner, err := y.group(ctx, "@"+g, e) // with @, only the group of this very name is meant
			if _, none := errors.AsType[*fun.CommandError](err); none {
				inner, err = y.group(ctx, g, e) // dnf knows names with blanks only so
			}
			e.depth--
			if err != nil {
				return nil, err
			}
			for _, k := range packageKinds {
				members[k] = append(members[k], inner.List(k).Strs()...)
			}
		}
	}
	return members, nil
}

// readGroup reads what dnf groupinfo prints. It returns nil where that is not a group.
func readGroup(text string) (*value.Map, map[string][]string) {
	about := map[string]string{}
	members := map[string][]string{}
	kind := ""
	seen := map[string]bool{}
	for line := range strings.SplitSeq(text, "\n") {
		if key, val, ok := strings.Cut(line, ":"); ok && !strings.Contains(val, ":") {
			if k := strings.ToLower(strings.TrimSpace(key)); about[k] == "" {
				about[k] = strings.TrimSpace(val)
			}
		}
		line = strings.TrimLeft(strings.TrimSpace(line), "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
		if k, ok := heading(line); ok {
			if kind = k; seen[k] {
				kind = "" // another group's
			}
			seen[k] = true
			continue
		}
		if kind != "" && line != "" {
			members[kind] = append(members[kind], line)
		}
	}
	ret := value.NewMap(8)
	name, id := about["group"], about["group-id"]
	if env := about["environment group"]; env != "" {
		ret.Set("type", "environment group")
		name, id = env, about["environment-id"]
	} else {
		ret.Set("type", "package group")
	}
	if name == "" && id == "" {
		return nil, nil
	}
	ret.Set("group", name)
	ret.Set("id", nil)
	if id != "" {
		ret.Set("id", id)
	}
	ret.Set("description", about["description"])
	return ret, members
}

// heading returns the kind of the packages or groups after a line.
func heading(line string) (kind string, ok bool) {
	line = strings.ToLower(line)
	for _, k := range packageKinds {
		if line == k+" packages:" || line == k+" groups:" {
			return k, true
		}
	}
	return "", false
}

func groupDiff(ctx context.Context, c *fun.Call, a *groupArg) (fun.Result, error) {
	y, err := newYum(c)
	if err != nil {
		return fun.Result{}, err
	}
	have, err := y.installed(ctx, nil)
	if err != nil {
		return fun.Result{}, err
	}
	m, err := y.group(ctx, a.Name, &expansion{on: true})
	if err != nil {
		return fun.Result{}, err
	}
	ret := value.NewMap(len(packageKinds))
	for _, kind := range packageKinds {
		here, absent := value.NewList(), value.NewList()
		for _, n := range m.List(kind).Strs() {
			if have.Has(n) {
				here.Append(n)
			} else {
				absent.Append(n)
			}
		}
		ret.Set(kind, value.MapOf("installed", here, "not installed", absent))
	}
	return fun.Value(ret)
}

type groupInstallGiven struct {
	Name    []string `arg:"name,required,comma[str]" doc:"names of groups"`
	Skip    []string `arg:"skip,comma[str]" doc:"default packages not to install"`
	Include []string `arg:"include,comma[str]" doc:"further packages to install, such as optional ones"`
	Rest    fun.Kwargs
}

func groupInstall(ctx context.Context, c *fun.Call, a *groupInstallGiven) (fun.Result, error) {
	y, err := newYum(c)
	if err != nil {
		return fun.Result{}, err
	}
	groups := a.Name
	if len(groups) == 0 {
		return fun.Result{}, &fun.InvocationError{Msg: "no groups specified"}
	}
	skip := a.Skip
	var targets []string
	for _, g := range groups {
		m, err := y.group(ctx, g, &expansion{on: true})
		if err != nil {
			return fun.Result{}, err
		}
		targets = append(targets, m.List("mandatory").Strs()...)
		targets = append(targets, slices.DeleteFunc(m.List("default").Strs(), func(n string) bool { return slices.Contains(skip, n) })...)
	}
	targets = append(targets, a.Include...)
	have, err := y.installed(ctx, nil)
	if err != nil {
		return fun.Result{}, err
	}
	var due []string
	for _, n := range targets {
		if !have.Has(n) && !slices.Contains(due, n) {
			due = append(due, n)
		}
	}
	if len(due) == 0 {
		return fun.Value(value.NewMap(0))
	}
	kw := a.Rest.Copy()
	kw.Set("pkgs", value.Strings(due...))
	return c.Env.Invoker.Invoke(ctx, fun.Exec, "pkg.install", fun.Args{Kw: kw})
}
