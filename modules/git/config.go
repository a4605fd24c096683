package git

import (
	"context"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// config returns where the arguments cwd and global say that configuration is.
func config(c *fun.Call, user string, cwd fun.Opt[string], global bool) (*Client, Config, error) {
	g := in{user: user}.client(c)
	f := Config{Global: global}
	if !cwd.Given {
		if !f.Global {
			return nil, f, fun.Errorf("'cwd' argument required unless global=True")
		}
		return g, f, nil
	}
	f.Dir = g.Path(cwd.V)
	return g, f, nil
}

type configGetArgs struct {
	_             fun.Arguments
	Key           string          `arg:"key,required" doc:"name of the setting"`
	Cwd           fun.Opt[string] `arg:"cwd,path" doc:"path of the repository"`
	User          string          `arg:"user" doc:"account that runs git"`
	_             string          `arg:"password,secret" doc:"accepted for compatibility; it is used on Windows only"`
	IgnoreRetcode bool            `arg:"ignore_retcode" default:"False" doc:"a failing git does not change the exit status"`
	_             string          `arg:"output_encoding" doc:"accepted; output is UTF-8"`
	All           bool            `arg:"all,kw" default:"False" doc:"all values"`
	Global        bool            `arg:"global,kw" default:"False" doc:"the configuration of the account instead of a repository's"`
}

func configGet(ctx context.Context, c *fun.Call, a *configGetArgs) (fun.Result, error) {
	g, f, err := config(c, a.User, a.Cwd, a.Global)
	if err != nil {
		return fun.Result{}, err
	}
	vals, code, err := g.ConfigGet(ctx, f, a.Key)
	res := fun.Result{Retcode: status(a.IgnoreRetcode, code)}
	switch {
	case err != nil || code == 1:
	case a.All:
		res.Value = value.Strings(vals...)
	case len(vals) == 0:
		res.Value = ""
	default:
		res.Value = vals[len(vals)-1]
	}
	return res, err
}

type configGetRegexpArgs struct {
	_             fun.Arguments
	Key           string          `arg:"key,required" doc:"name of the setting"`
	ValueRegex    value.Value     `arg:"value_regex,str" doc:"only values that match this regular expression"`
	Cwd           fun.Opt[string] `arg:"cwd,path" doc:"path of the repository"`
	User          string          `arg:"user" doc:"account that runs git"`
	_             string          `arg:"password,secret" doc:"accepted for compatibility; it is used on Windows only"`
	IgnoreRetcode bool            `arg:"ignore_retcode" default:"False" doc:"a failing git does not change the exit status"`
	_             string          `arg:"output_encoding" doc:"accepted; output is UTF-8"`
	Global        bool            `arg:"global,kw" default:"False" doc:"the configuration of the account instead of a repository's"`
}

func configGetRegexp(ctx context.Context, c *fun.Call, a *configGetRegexpArgs) (fun.Result, error) {
	g, f, err := config(c, a.User, a.Cwd, a.Global)
	if err != nil {
		return fun.Result{}, err
	}
	m, code, err := g.ConfigMatch(ctx, f, a.Key, a.ValueRegex)
	return fun.Result{Value: m, Retcode: status(a.IgnoreRetcode, code)}, err
}

type configSetArgs struct {
	_        fun.Arguments
	Key      string            `arg:"key,required" doc:"name of the setting"`
	Value    fun.Opt[string]   `arg:"value" doc:"value"`
	Multivar fun.Opt[[]string] `arg:"multivar,comma[str]" doc:"values of a setting that has several"`
	Cwd      fun.Opt[string]   `arg:"cwd,path" doc:"path of the repository"`
	User     string            `arg:"user" doc:"account that runs git"`
	_        string            `arg:"password,secret" doc:"accepted for compatibility; it is used on Windows only"`
	_        bool              `arg:"ignore_retcode" default:"False" doc:"a failing git does not change the exit status"`
	_        string            `arg:"output_encoding" doc:"accepted; output is UTF-8"`
	Add      bool              `arg:"add,kw" default:"False" doc:"add the value to those that the setting has"`
	Global   bool              `arg:"global,kw" default:"False" doc:"the configuration of the account instead of a repository's"`
}

func configSet(ctx context.Context, c *fun.Call, a *configSetArgs) (fun.Result, error) {
	g, f, err := config(c, a.User, a.Cwd, a.Global)
	if err != nil {
		return fun.Result{}, err
	}
	var vals []string
	switch {
	case a.Value.Given && a.Multivar.Given:
		return fun.Result{}, fun.Errorf("Only one of 'value' and 'multivar' is permitted")
	case a.Value.Given:
		vals = []string{a.Value.V}
	case a.Multivar.Given:
		vals = a.Multivar.V
	default:
		return fun.Result{}, fun.Errorf("One of 'value' and 'multivar' is required")
	}
	now, err := g.ConfigSet(ctx, f, a.Key, vals, a.Add && a.Value.Given)
	return fun.Result{Value: value.Strings(now...)}, err
}

type configUnsetArgs struct {
	_          fun.Arguments
	Key        string          `arg:"key,required" doc:"name of the setting"`
	ValueRegex value.Value     `arg:"value_regex,str" doc:"only values that match this regular expression"`
	Cwd        fun.Opt[string] `arg:"cwd,path" doc:"path of the repository"`
	User       string          `arg:"user" doc:"account that runs git"`
	_          string          `arg:"password,secret" doc:"accepted for compatibility; it is used on Windows only"`
	_          bool            `arg:"ignore_retcode" default:"False" doc:"a failing git does not change the exit status"`
	_          string          `arg:"output_encoding" doc:"accepted; output is UTF-8"`
	All        bool            `arg:"all,kw" default:"False" doc:"all values"`
	Global     bool            `arg:"global,kw" default:"False" doc:"the configuration of the account instead of a repository's"`
}

func configUnset(ctx context.Context, c *fun.Call, a *configUnsetArgs) (fun.Result, error) {
	g, f, err := config(c, a.User, a.Cwd, a.Global)
	if err != nil {
		return fun.Result{}, err
	}
	err = g.ConfigUnset(ctx, f, a.Key, a.ValueRegex, a.All)
	return fun.Result{Value: err == nil}, err
}
