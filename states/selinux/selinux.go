// Package selinux is Salt's state module "selinux": mode, booleans, modules and
// policy of SELinux.
package selinux

import (
	"context"
	"fmt"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/selinux"
)

// States returns the rows of the state module "selinux".
func States() fun.Module {
	return fun.Module{Name: "selinux", Kind: fun.State, Doc: "Manage SELinux.", Avail: fun.Needs("selinux", "selinux module could not be loaded"), Specs: specs}
}

func due(changes *value.Map, format string, args ...any) fun.Ret {
	return fun.Report(fun.WouldChange, changes, fmt.Sprintf(format, args...))
}

func done(changes *value.Map, format string, args ...any) fun.Ret {
	return fun.Report(fun.OK, changes, fmt.Sprintf(format, args...))
}

func oldNew(old, now value.Value) *value.Map { return value.MapOf("old", old, "new", now) }

// modeOf returns the mode that a word stands for; "" is none.
func modeOf(word string) string {
	w := strings.ToLower(word)
	switch {
	case strings.HasPrefix(w, "e"), w == "1", w == "on", w == "true":
		return "Enforcing"
	case strings.HasPrefix(w, "p"), w == "0", w == "off", w == "false":
		return "Permissive"
	case strings.HasPrefix(w, "d"):
		return "Disabled"
	}
	return ""
}

type modeArgs struct {
	_ fun.Arguments
	_ string `arg:"name,required" doc:"enforcing, permissive or disabled"`
}

// mode sets the mode of SELinux. Salt: salt/states/selinux.py mode. Difference: a mode
// that needs a boot is set when the configuration has it.
func mode(ctx context.Context, c *fun.Call, _ *modeArgs) fun.Ret {
	h := c.Env.Host
	want := modeOf(c.Name)
	if want == "" {
		return fun.Fail("%s is not an accepted mode", c.Name)
	}
	now, kept := selinux.Enforce(h), selinux.Config(h)
	boots := now != want && (now == "Disabled" || want == "Disabled")
	have := now
	if boots || now == want && kept != want {
		have = kept
	}
	switch {
	case have == want && boots:
		return fun.Same("SELinux will be in %s mode after a reboot", want)
	case have == want:
		return fun.Same("SELinux is already in %s mode", want)
	case c.Test:
		return due(oldNew(have, want), "SELinux mode is set to be changed to %s", want)
	}
	if err := selinux.SetMode(ctx, c.Env, want); err != nil {
		return fun.Fail("Failed to set SELinux to %s mode: %v", want, err)
	}
	switch now = selinux.Enforce(h); {
	case now == want:
		return done(oldNew(have, now), "SELinux has been set to %s mode", want)
	case boots && selinux.Config(h) == want:
		return done(oldNew(have, want), "SELinux will be in %s mode after a reboot", want)
	}
	return fun.Fail("Failed to set SELinux to %s mode", want)
}

// onOff returns the value that a word stands for; "" is none.
func onOff(word string) string {
	switch strings.ToLower(word) {
	case "1", "on", "yes", "true":
		return "on"
	case "0", "off", "no", "false":
		return "off"
	}
	return ""
}

type booleanArgs struct {
	_       fun.Arguments
	_       string `arg:"name,required" doc:"the boolean"`
	Value   string `arg:"value,required" doc:"on or off, or another word for that"`
	Persist bool   `arg:"persist" default:"False" doc:"keep the value over a boot"`
}

// boolean sets a boolean. Salt: salt/states/selinux.py boolean.
func boolean(ctx context.Context, c *fun.Call, a *booleanArgs) fun.Ret {
	bools, _, err := selinux.Bools(ctx, c.Env)
	if err != nil {
		return fun.Raise(err)
	}
	have, ok := bools[c.Name]
	want, persist := onOff(a.Value), a.Persist
	changes := value.NewMap(2)
	if have.State != want {
		changes.Set("State", oldNew(have.State, want))
	}
	if persist && have.Default != want {
		changes.Set("Default", oldNew(have.Default, want))
	}
	switch {
	case !ok:
		return fun.Fail("Boolean %s is not available", c.Name)
	case want == "":
		return fun.Fail("%s is not a valid value for the boolean", a.Value)
	case changes.Len() == 0:
		return fun.Same("Boolean is in the correct state")
	case c.Test:
		return due(nil, "Boolean %s is set to be changed to %s", c.Name, want)
	}
	out, err := selinux.SetBools(ctx, c.Env, persist, c.Name, want)
	if err != nil {
		return fun.Raise(err)
	}
	if !out.OK() {
		return fun.Fail("Failed to set the boolean %s to %s", c.Name, want)
	}
	return done(changes, "Boolean %s has been set to %s", c.Name, want)
}

// enabledOf returns the state of a module that a word stands for; "" is none.
func enabledOf(word string) string {
	switch s := strings.ToLower(word); s {
	case "enabled", "disabled":
		return s
	default:
		return map[string]string{"on": "enabled", "off": "disabled"}[onOff(s)]
	}
}

type moduleArgs struct {
	_           string `arg:"name,required" doc:"the module"`
	ModuleState string `arg:"module_state,str|bool" default:"'Enabled'" doc:"Enabled or Disabled"`
	Version     string `arg:"version" default:"any" doc:"fail for another version; new versions of semodule show none"`
	Install     bool   `arg:"install,kw" default:"False" doc:"install the module from source, on every run"`
	Source      string `arg:"source,kw,path" doc:"with install: path or salt:// URL of the module; default: its name"`
	Remove      bool   `arg:"remove,kw" default:"False" doc:"remove the module instead"`
	_           fun.Kwargs
}

// module enables or disables a module. Salt: salt/states/selinux.py module.
// Differences: changes say what changed, and a dry run installs and removes
// nothing.
func module(ctx context.Context, c *fun.Call, a *moduleArgs) fun.Ret {
	install := a.Install
	if install && a.Remove {
		return fun.Fail("Cannot install and remove at the same time")
	}
	if a.Remove {
		return removeModule(ctx, c)
	}
	changes := value.NewMap(1)
	if install {
		source := a.Source
		if source == "" {
			source = c.Name
		}
		ret := installFrom(ctx, c, source)
		if ret.Err != nil || ret.Result != fun.OK {
			return ret
		}
		if m, ok := ret.Changes.(*value.Map); ok && m != nil {
			changes.Update(m)
		}
	}
	word, version := a.ModuleState, a.Version
	mods, _, err := selinux.Semods(ctx, c.Env)
	if err != nil {
		return fun.Raise(err)
	}
	have, ok := mods[c.Name]
	want := enabledOf(word)
	old := "disabled"
	if have.Enabled {
		old = "enabled"
	}
	switch {
	case !ok:
		return fun.Fail("Module %s is not available", c.Name)
	case want == "":
		return fun.Fail("%s is not a valid state for the %s module.", word, c.Name)
	case version != "any" && version != have.Version:
		shown := have.Version
		if shown == "" {
			shown = "None"
		}
		return fun.Fail("Module version is %s and does not match the desired version of %s or you are using semodule >= 2.4", shown, version)
	case want == old:
		return done(changes, "Module %s is in the desired state", c.Name)
	case c.Test:
		return due(nil, "Module %s is set to be toggled to %s", c.Name, word)
	}
	out, err := selinux.SetSemod(ctx, c.Env, c.Name, want)
	if err != nil {
		return fun.Raise(err)
	}
	if !out.OK() {
		return fun.Fail("Failed to set the Module %s to %s", c.Name, word)
	}
	changes.Set(c.Name, oldNew(old, want))
	return done(changes, "Module %s has been set to %s", c.Name, word)
}

// installFrom installs a module. Changes are the modules that were not there before.
func installFrom(ctx context.Context, c *fun.Call, source string) fun.Ret {
	if c.Test {
		return due(nil, "Module %s is set to be installed", source)
	}
	before, _, err := selinux.Semods(ctx, c.Env)
	if err != nil {
		return fun.Raise(err)
	}
	out, err := selinux.InstallSemod(ctx, c.Env, source)
	if err != nil {
		return fun.Fail("Failed to install module %s: %v", source, err)
	}
	if !out.OK() {
		return fun.Fail("Failed to install module %s", source)
	}
	_, names, err := selinux.Semods(ctx, c.Env)
	if err != nil {
		return fun.Raise(err)
	}
	changes := value.NewMap(1)
	for _, n := range names {
		if _, ok := before[n]; !ok {
			changes.Set(n, oldNew("", "installed"))
		}
	}
	return done(changes, "Module %s has been installed", source)
}

type moduleInstallArgs struct {
	_ fun.Arguments
	_ string `arg:"name,required,path" doc:"path or salt:// URL of the module"`
}

// moduleInstall installs a module. Salt: salt/states/selinux.py module_install.
func moduleInstall(ctx context.Context, c *fun.Call, _ *moduleInstallArgs) fun.Ret {
	return installFrom(ctx, c, c.Name)
}

type moduleRemoveArgs struct {
	_ fun.Arguments
	_ string `arg:"name,required" doc:"the module"`
}

func moduleRemove(ctx context.Context, c *fun.Call, _ *moduleRemoveArgs) fun.Ret {
	return removeModule(ctx, c)
}

// removeModule removes a module. Salt: salt/states/selinux.py module_remove.
// Difference: a module that is not there is no failure.
func removeModule(ctx context.Context, c *fun.Call) fun.Ret {
	mods, _, err := selinux.Semods(ctx, c.Env)
	if err != nil {
		return fun.Raise(err)
	}
	if _, ok := mods[c.Name]; !ok {
		return fun.Same("Module %s is not available", c.Name)
	}
	changes := value.MapOf(c.Name, oldNew("installed", ""))
	if c.Test {
		return due(changes, "Module %s is set to be removed", c.Name)
	}
	out, err := selinux.RemoveSemod(ctx, c.Env, c.Name)
	if err != nil {
		return fun.Raise(err)
	}
	if !out.OK() {
		return fun.Fail("Failed to remove module %s", c.Name)
	}
	return done(changes, "Module %s has been removed", c.Name)
}

type fcontextPresentArgs struct {
	specArg
	SelType string `arg:"sel_type,required" doc:"type of the context"`
	filetypeArg
	userArg
	levelArg
}

// fcontextPresent adds a policy for files. Salt: salt/states/selinux.py
// fcontext_policy_present. Difference: the policy in effect is compared, where
// several are about the same files.
func fcontextPresent(ctx context.Context, c *fun.Call, a *fcontextPresentArgs) fun.Ret {
	want := selinux.FContext{
		Spec: c.Name, FileType: a.Filetype, Context: selinux.Context{User: a.SelUser, Type: a.SelType, Level: a.SelLevel},
	}
	kind, err := selinux.FileType(want.FileType)
	if err != nil {
		return fun.Raise(err)
	}
	have, err := selinux.FindFContext(ctx, c.Env, selinux.FContext{Spec: want.Spec, FileType: want.FileType})
	if err != nil {
		return fun.Raise(err)
	}
	old, now := value.NewMap(1), value.MapOf(c.Name, value.MapOf("filetype", kind, "sel_type", want.Type))
	if have != nil {
		was, is := value.NewMap(1), value.NewMap(1)
		for _, f := range [...][3]string{{"sel_type", have.Type, want.Type}, {"sel_user", have.User, want.User}, {"sel_level", have.Level, want.Level}} {
			if f[2] != "" && f[1] != f[2] {
				was.Set(f[0], f[1])
				is.Set(f[0], f[2])
			}
		}
		if is.Len() == 0 {
			return fun.Same(`SELinux policy for "%s" already present with specified filetype "%s" and sel_type "%s".`, c.Name, kind, want.Type)
		}
		old, now = value.MapOf(c.Name, was), value.MapOf(c.Name, is)
	}
	if c.Test {
		return due(oldNew(old, now), `SELinux policy for "%s" is set to be added with filetype "%s" and sel_type "%s".`, c.Name, kind, want.Type)
	}
	out, err := selinux.ChangeFContext(ctx, c.Env, "add", want)
	if err != nil {
		return fun.Raise(err)
	}
	if !out.OK() {
		return fun.Fail("Error adding new rule: %s", out.Fault())
	}
	return done(oldNew(old, now), "")
}

// orNone is a text as Salt shows an argument that was not given.
func orNone(s string) string {
	if s == "" {
		return "None"
	}
	return s
}

type fcontextAbsentArgs struct {
	specArg
	filetypeArg
	typeArg
	userArg
	levelArg
}

// fcontextAbsent deletes a policy for files. Salt: salt/states/selinux.py
// fcontext_policy_absent.
func fcontextAbsent(ctx context.Context, c *fun.Call, a *fcontextAbsentArgs) fun.Ret {
	want := selinux.FContext{
		Spec: c.Name, FileType: a.Filetype, Context: selinux.Context{User: a.SelUser, Type: a.SelType, Level: a.SelLevel},
	}
	have, err := selinux.FindFContext(ctx, c.Env, want)
	if err != nil {
		return fun.Raise(err)
	}
	if have == nil {
		return fun.Same(`SELinux policy for "%s" already absent with specified filetype "%s" and sel_type "%s".`, c.Name, want.FileType, orNone(want.Type))
	}
	changes := oldNew(value.MapOf(c.Name, have.Value()), value.NewMap(0))
	if c.Test {
		return due(changes, "")
	}
	if want.Type == "" {
		want.Type = have.Type
	}
	out, err := selinux.ChangeFContext(ctx, c.Env, "delete", want)
	if err != nil {
		return fun.Raise(err)
	}
	if !out.OK() {
		return fun.Fail("Error removing policy: %s", out.Fault())
	}
	return done(changes, "")
}

type fcontextAppliedArgs struct {
	_         fun.Arguments
	_         string `arg:"name,required,path" doc:"path of a file or directory"`
	Recursive bool   `arg:"recursive" default:"False" doc:"with all below a directory"`
}

// fcontextApplied gives files the contexts of the policy. Salt:
// salt/states/selinux.py fcontext_policy_applied.
func fcontextApplied(ctx context.Context, c *fun.Call, a *fcontextAppliedArgs) fun.Ret {
	recursive := a.Recursive
	text, err := selinux.Unapplied(ctx, c.Env, c.Name, recursive)
	if err != nil {
		return fun.Fail("%v", err)
	}
	if text == "" {
		return fun.Same(`SElinux policies are already applied for filespec "%s"`, c.Name)
	}
	if c.Test {
		changes, err := selinux.Relabelled(text)
		if err != nil {
			return fun.Fail("%v", err)
		}
		return due(changes, "")
	}
	out, changes, err := selinux.Apply(ctx, c.Env, c.Name, recursive)
	if err != nil {
		return fun.Fail("%v", err)
	}
	if !out.OK() {
		return fun.Fail("restorecon failed: %s", out.Fault())
	}
	return done(changes, "")
}

// port returns what is said of a port in a comment.
func port(argPort string, protocol string, selType string) string {
	return fmt.Sprintf(`sel_type "%s", protocol "%s" and port "%s".`, orNone(selType), orNone(protocol), orNone(argPort))
}

// portValue is a policy of ports as changes show it.
func portValue(p *selinux.Port) value.Value {
	if p == nil {
		return nil
	}
	return p.Value()
}

type portPresentArgs struct {
	portNameArg
	SelType string `arg:"sel_type,required" doc:"type of the port"`
	protocolArg
	portArg
	SelRange string `arg:"sel_range" doc:"range of levels"`
}

// portPresent gives a port a type. Salt: salt/states/selinux.py port_policy_present.
func portPresent(ctx context.Context, c *fun.Call, a *portPresentArgs) fun.Ret {
	want, err := selinux.ParsePort(a.Name, a.Protocol, a.Port)
	if err != nil {
		return fun.Raise(err)
	}
	want.Type, want.Range = a.SelType, a.SelRange
	have, err := selinux.FindPort(ctx, c.Env, want)
	if err != nil {
		return fun.Raise(err)
	}
	if have != nil {
		return fun.Same(`SELinux policy for "%s" already present with specified %s`, c.Name, port(a.Port, a.Protocol, a.SelType))
	}
	if c.Test {
		return due(oldNew(nil, want.Value()), "")
	}
	out, err := selinux.ChangePort(ctx, c.Env, "add", want)
	if err != nil {
		return fun.Raise(err)
	}
	if !out.OK() {
		return fun.Fail("Error adding new policy: %s", out.Fault())
	}
	now, err := selinux.FindPort(ctx, c.Env, want)
	if err != nil {
		return fun.Raise(err)
	}
	return done(oldNew(nil, portValue(now)), "")
}

type portAbsentArgs struct {
	portNameArg
	typeArg
	protocolArg
	portArg
}

// portAbsent deletes the policy of a port. Salt: salt/states/selinux.py
// port_policy_absent.
func portAbsent(ctx context.Context, c *fun.Call, a *portAbsentArgs) fun.Ret {
	want, err := selinux.ParsePort(a.Name, a.Protocol, a.Port)
	if err != nil {
		return fun.Raise(err)
	}
	want.Type = a.SelType
	have, err := selinux.FindPort(ctx, c.Env, want)
	if err != nil {
		return fun.Raise(err)
	}
	if have == nil {
		return fun.Same(`SELinux policy for "%s" already absent with specified %s`, c.Name, port(a.Port, a.Protocol, a.SelType))
	}
	if c.Test {
		return due(oldNew(have.Value(), nil), "")
	}
	gone := want
	gone.Type = "" // semanage deletes a port whatever its type is
	out, err := selinux.ChangePort(ctx, c.Env, "delete", gone)
	if err != nil {
		return fun.Raise(err)
	}
	if !out.OK() {
		return fun.Fail("Error deleting policy: %s", out.Fault())
	}
	now, err := selinux.FindPort(ctx, c.Env, want)
	if err != nil {
		return fun.Raise(err)
	}
	return done(oldNew(have.Value(), portValue(now)), "")
}
