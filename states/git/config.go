package git

import (
	"context"
	"slices"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/git"
)

// where returns the configuration that the arguments repo and global name.
func (r *report) where(repo string, global bool) (git.Config, *fun.Ret) {
	f := git.Config{Global: global}
	if repo != "" {
		f.Dir = r.g.Path(repo)
	} else if !f.Global {
		return f, r.fail("Non-global config options require the 'repo' argument to be set")
	}
	return f, nil
}

type configSetArgs struct {
	Name     string            `arg:"name,required" doc:"name of the setting"`
	Value    fun.Opt[string]   `arg:"value" doc:"the value"`
	Multivar fun.Opt[[]string] `arg:"multivar,comma[str]" doc:"values of a setting that has several"`
	Repo     string            `arg:"repo,path" doc:"the repository; not needed with global"`
	User     string            `arg:"user" doc:"account that runs git"`
	_        string            `arg:"password,secret" doc:"accepted for compatibility; it is used on Windows only"`
	_        string            `arg:"output_encoding" doc:"accepted; output is UTF-8"`
	Global   bool              `arg:"global,kw" default:"False" doc:"the configuration of the account instead of a repository's"`
	Rest     fun.Kwargs
}

// configSet makes sure that a setting has a value, or with multivar its values.
// Salt: salt/states/git.py config_set.
func configSet(ctx context.Context, c *fun.Call, a *configSetArgs) fun.Ret {
	r := newReport(c, a.Name, a.User)
	name := a.Name
	if a.Value.Given && a.Multivar.Given {
		return *r.fail("Only one of 'value' and 'multivar' is permitted")
	}
	if stop := r.unknown(a.Rest); stop != nil {
		return *stop
	}
	f, stop := r.where(a.Repo, a.Global)
	if stop != nil {
		return *stop
	}
	if stop := r.option(word{"name", name}); stop != nil {
		return *stop
	}
	var want []string
	var shown string
	switch {
	case a.Value.Given:
		want, shown = []string{a.Value.V}, "'"+a.Value.V+"'"
	case a.Multivar.Given:
		want = a.Multivar.V
		shown = value.Repr(value.Strings(want...))
	default:
		return *r.fail("One of 'value' and 'multivar' is required")
	}
	key := "'" + name + "'"
	if f.Global {
		key = "Global key " + key
	}
	pre, status, err := r.g.ConfigGet(ctx, f, name)
	if err != nil {
		return *r.failed("Failed to read "+key+": ", err)
	}
	none := status == 1
	if !none && slices.Equal(pre, want) {
		return *r.ret(fun.OK, key+" is already set to "+shown)
	}
	had, did := value.Value(value.Strings(pre...)), "set to"
	if none {
		had, did = nil, "added as"
	}
	if c.Test {
		r.changes = value.MapOf("old", had, "new", value.Strings(want...))
		return *r.would(key, " would be ", did, " ", shown)
	}
	post, err := r.g.ConfigSet(ctx, f, name, want, false)
	fault := "Failed to set '" + name + "' to " + shown
	if f.Global {
		fault = "Failed to set global key '" + name + "' to " + shown
	}
	if err != nil {
		return *r.failed(fault+": ", err)
	}
	if none || !slices.Equal(pre, post) {
		r.changes.Set(name, value.MapOf("old", had, "new", value.Strings(post...)))
	}
	if !slices.Equal(post, want) {
		return *r.fail(fault)
	}
	return *r.ret(fun.OK, key+" was "+did+" "+shown)
}

type configUnsetArgs struct {
	Name       string      `arg:"name,required" doc:"regular expression for the names of the settings"`
	ValueRegex value.Value `arg:"value_regex,str" doc:"only values that match this regular expression"`
	Repo       string      `arg:"repo,path" doc:"the repository; not needed with global"`
	User       string      `arg:"user" doc:"account that runs git"`
	_          string      `arg:"password,secret" doc:"accepted for compatibility; it is used on Windows only"`
	_          string      `arg:"output_encoding" doc:"accepted; output is UTF-8"`
	Global     bool        `arg:"global,kw" default:"False" doc:"the configuration of the account instead of a repository's"`
	All        bool        `arg:"all,kw" default:"False" doc:"remove all values of a setting that has several"`
	Rest       fun.Kwargs
}

// configUnset makes sure that the settings whose names match a regular expression
// have no values, or none that match value_regex.
// Salt: salt/states/git.py config_unset.
func configUnset(ctx context.Context, c *fun.Call, a *configUnsetArgs) fun.Ret {
	ret := unset(ctx, c, a)
	ret.Order = nil
	return *ret
}

func unset(ctx context.Context, c *fun.Call, a *configUnsetArgs) *fun.Ret {
	r := newReport(c, a.Name, a.User)
	if stop := r.unknown(a.Rest); stop != nil {
		return stop
	}
	f, stop := r.where(a.Repo, a.Global)
	if stop != nil {
		return stop
	}
	key, valueRE := "^"+strings.TrimRight(strings.TrimLeft(a.Name, "^"), "$")+"$", a.ValueRegex
	matches, _, err := r.g.ConfigMatch(ctx, f, key, valueRE)
	if err != nil {
		return r.failed("", err)
	}
	if matches.Len() == 0 {
		return r.ret(fun.OK, "No matching keys are set")
	}
	if !a.All {
		if many := shown(matches, 2); len(many) > 0 {
			what := "Multivar(s) matched by the key expression (set 'all' to True to force removal): "
			if valueRE != nil {
				what = "Multiple values are matched by value_regex for the following keys (set 'all' to True to force removal): "
			}
			return r.fail(what, strings.Join(many, "; "))
		}
	}
	if c.Test {
		r.changes = matches
		return r.would(value.Str(int64(matches.Len())), " key(s) would have value(s) unset")
	}
	pre := matches
	if valueRE != nil {
		if pre, _, err = r.g.ConfigMatch(ctx, f, key, nil); err != nil {
			return r.failed("", err)
		}
	}
	if stop := r.unsetKeys(ctx, f, matches, valueRE, a.All); stop != nil {
		return stop
	}
	return r.unsetReport(ctx, f, key, pre, valueRE)
}

// unsetKeys unsets each key. A failure names the keys and what git said of them.
func (r *report) unsetKeys(ctx context.Context, f git.Config, matches *value.Map, valueRE value.Value, all bool) *fun.Ret {
	var failed []string
	for k := range matches.All() {
		name := value.Str(k)
		err := r.g.ConfigUnset(ctx, f, name, valueRE, all)
		if err == nil {
			continue
		}
		if !git.IsFailure(err) {
			ret := fun.Raise(err)
			return &ret
		}
		failed = append(failed, name+" ("+git.Strip(err)+")")
	}
	if len(failed) > 0 {
		return r.fail("Error(s) occurred unsetting values for the following keys: ", strings.Join(failed, ", "))
	}
	return nil
}

// unsetReport reports what is gone of the values that there were.
func (r *report) unsetReport(ctx context.Context, f git.Config, key string, pre *value.Map, valueRE value.Value) *fun.Ret {
	post, _, err := r.g.ConfigMatch(ctx, f, key, nil)
	if err != nil {
		return r.failed("", err)
	}
	for k, v := range pre.All() {
		gone := &value.List{}
		for _, x := range v.(*value.List).Items {
			if l := post.List(k); l == nil || !slices.ContainsFunc(l.Items, func(y value.Value) bool { return value.Str(x) == value.Str(y) }) {
				gone.Items = append(gone.Items, x)
			}
		}
		if len(gone.Items) > 0 {
			r.changes.Set(k, gone)
		}
	}
	left := post
	if valueRE != nil {
		if left, _, err = r.g.ConfigMatch(ctx, f, key, valueRE); err != nil {
			return r.failed("", err)
		}
	}
	if left.Len() > 0 {
		return r.fail("Failed to unset value(s): ", strings.Join(shown(left, 1), "; "))
	}
	return r.ret(fun.OK, "Value(s) successfully unset")
}

// shown returns "key (value, value)" of the keys that have at least n values.
func shown(m *value.Map, n int) []string {
	var out []string
	for k, v := range m.All() {
		l, _ := v.(*value.List)
		if l == nil || len(l.Items) < n {
			continue
		}
		vals := make([]string, len(l.Items))
		for i, x := range l.Items {
			vals[i] = value.Str(x)
		}
		out = append(out, value.Str(k)+" ("+strings.Join(vals, ", ")+")")
	}
	return out
}
