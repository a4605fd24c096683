// Package apache has Salt's state modules "apache", "apache_conf", "apache_module"
// and "apache_site".
package apache

import (
	"context"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/modules/apache"
	"brine/modules/textfile"
)

// States returns the state module "apache".
func States() fun.Module {
	return fun.Module{Name: "apache", Kind: fun.State, Doc: "Manage configuration files of Apache.", Avail: fun.Needs("apache", ""), Specs: specs}
}

// Conf returns the state module "apache_conf".
func Conf() fun.Module {
	return fun.Module{Name: "apache_conf", Kind: fun.State, Doc: "Enable and disable configurations of Apache.", Avail: onDebian, Specs: confSpecs}
}

// Modules returns the state module "apache_module".
func Modules() fun.Module {
	return fun.Module{Name: "apache_module", Kind: fun.State, Doc: "Enable and disable modules of Apache.", Avail: onDebian, Specs: moduleSpecs}
}

// Sites returns the state module "apache_site".
func Sites() fun.Module {
	return fun.Module{Name: "apache_site", Kind: fun.State, Doc: "Enable and disable sites of Apache.", Avail: onDebian, Specs: siteSpecs}
}

func onDebian(env *fun.Env) (bool, string) {
	if _, _, err := env.Find(fun.Exec, "apache.a2ensite"); err != nil {
		return false, "apache module could not be loaded"
	}
	return true, ""
}

type nameArgs struct {
	_ fun.Arguments
	_ string `arg:"name,required" doc:"its name"`
}

// specs are the functions of "apache".
var specs = []fun.Spec{
	{
		Name: "configfile", Do: configfile, Src: "states/apache.py configfile",
		Doc: "Write a configuration file of directives and sections.",
	},
}

var confSpecs = []fun.Spec{
	{Name: "disabled", Do: confDisabled, Src: "states/apache_conf.py disabled", Doc: "Disable a configuration."},
	{Name: "enabled", Do: confEnabled, Src: "states/apache_conf.py enabled", Doc: "Enable a configuration."},
}

var moduleSpecs = []fun.Spec{
	{Name: "disabled", Do: moduleDisabled, Src: "states/apache_module.py disabled", Doc: "Disable a module."},
	{Name: "enabled", Do: moduleEnabled, Src: "states/apache_module.py enabled", Doc: "Enable a module."},
}

var siteSpecs = []fun.Spec{
	{Name: "disabled", Do: siteDisabled, Src: "states/apache_site.py disabled", Doc: "Disable a site."},
	{Name: "enabled", Do: siteEnabled, Src: "states/apache_site.py enabled", Doc: "Enable a site."},
}

type configfileArgs struct {
	_      fun.Arguments
	_      string        `arg:"name,required,path" doc:"the file"`
	Config []value.Value `arg:"config,required" doc:"directives and sections, a mapping each; the key this is the argument of a section"`
}

// configfile writes a configuration file. Salt: states/apache.py configfile.
func configfile(_ context.Context, c *fun.Call, a *configfileArgs) fun.Ret {
	text, err := apache.Config(a.Config)
	if err != nil {
		return fun.Raise(err)
	}
	h := c.Env.Host
	old, err := textfile.Read(h, c.Name)
	if err != nil {
		return fun.Ret{Comment: "Failed to create apache configuration: " + host.OSError(err)}
	}
	if strings.TrimSpace(text) == strings.TrimSpace(old) {
		return fun.Ret{Result: fun.OK, Comment: "Configuration is up to date."}
	}
	changes := value.MapOf("old", old, "new", text)
	if c.Test {
		return fun.Ret{Result: fun.WouldChange, Comment: "Configuration will update.", Changes: changes}
	}
	if err := textfile.Write(h, c.Name, text+"\n"); err != nil {
		return fun.Ret{Comment: "Failed to create apache configuration: " + host.OSError(err)}
	}
	return fun.Ret{Result: fun.OK, Comment: "Successfully created configuration.", Changes: changes}
}

// A thing is what can be enabled.
type thing struct {
	noun    string // in comments
	check   string // execution functions
	enable  string
	disable string
}

var (
	conf   = thing{"conf", "apache.check_conf_enabled", "apache.a2enconf", "apache.a2disconf"}
	module = thing{"module", "apache.check_mod_enabled", "apache.a2enmod", "apache.a2dismod"}
	site   = thing{"site", "apache.check_site_enabled", "apache.a2ensite", "apache.a2dissite"}
)

func confEnabled(ctx context.Context, c *fun.Call, _ *nameArgs) fun.Ret {
	return conf.set(ctx, c, true)
}

func confDisabled(ctx context.Context, c *fun.Call, _ *nameArgs) fun.Ret {
	return conf.set(ctx, c, false)
}

func moduleEnabled(ctx context.Context, c *fun.Call, _ *nameArgs) fun.Ret {
	return module.set(ctx, c, true)
}

func moduleDisabled(ctx context.Context, c *fun.Call, _ *nameArgs) fun.Ret {
	return module.set(ctx, c, false)
}

func siteEnabled(ctx context.Context, c *fun.Call, _ *nameArgs) fun.Ret {
	return site.set(ctx, c, true)
}

func siteDisabled(ctx context.Context, c *fun.Call, _ *nameArgs) fun.Ret {
	return site.set(ctx, c, false)
}

// set enables or disables a thing.
func (t thing) set(ctx context.Context, c *fun.Call, on bool) fun.Ret {
	word, verb, call := "disabled", "disable", t.disable
	changes := value.MapOf("old", c.Name, "new", nil)
	if on {
		word, verb, call = "enabled", "enable", t.enable
		changes = value.MapOf("old", nil, "new", c.Name)
	}
	invoke := func(name string) (value.Value, error) {
		return c.Env.Exec(ctx, name, nil, c.Name)
	}
	is, err := invoke(t.check)
	if err != nil {
		return fun.Raise(err)
	}
	if value.Truth(is) == on {
		return fun.Ret{Result: fun.OK, Comment: c.Name + " already " + word + "."}
	}
	if c.Test {
		return fun.Ret{Result: fun.WouldChange, Comment: "Apache " + t.noun + " " + c.Name + " is set to be " + word + ".", Changes: changes}
	}
	done, err := invoke(call)
	if err != nil {
		return fun.Raise(err)
	}
	m, _ := done.(*value.Map)
	var status value.Value
	if m != nil {
		status = m.At("Status")
	}
	text, isText := status.(string)
	if isText && strings.HasSuffix(text, " "+word) {
		return fun.Ret{Result: fun.OK, Comment: "", Changes: changes}
	}
	comment := "Failed to " + verb + " " + c.Name + " Apache " + t.noun
	if isText {
		comment += " (" + text + ")"
	}
	return fun.Ret{Comment: comment}
}
