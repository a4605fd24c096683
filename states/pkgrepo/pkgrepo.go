// Package pkgrepo is Salt's state module "pkgrepo": repositories of packages. What
// a repository is, and where it is kept, is up to the provider of the execution
// module "pkg".
package pkgrepo

import (
	"context"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/machine"
)

// States returns the rows of the state module "pkgrepo".
func States() fun.Module {
	return fun.Module{Name: "pkgrepo", Kind: fun.State, Doc: "Manage repositories of packages.", Specs: specs, Avail: avail}
}

func avail(env *fun.Env) (bool, string) {
	if !env.Has("pkg.mod_repo") {
		return false, "the package manager of this system has no repositories that can be managed"
	}
	return true, ""
}

// later is what a dry run says of states that come after it.
const later = "This may cause pkg states to behave differently than stated if this action is repeated without test=True, due to the differences in the configured repositories."

// A family is how the systems of one kind differ.
type family struct {
	os, name string
	debian   bool
}

func familyOf(env *fun.Env) family {
	f := family{os: machine.Grain(env, "os"), name: machine.Grain(env, "os_family")}
	f.debian = f.name == "Debian"
	return f
}

// hasPPA reports whether there are Personal Package Archives for the system.
func (f family) hasPPA() bool { return f.os == "Ubuntu" || f.os == "Mint" || f.os == "neon" }

// given returns the arguments that the functions of the provider get: those that
// are given, but for the named ones.
func given(c *fun.Call, without ...string) *value.Map {
	kw := c.Kw.Copy()
	for k, v := range c.Args.All() {
		if v != nil {
			kw.Set(k, v)
		}
	}
	for _, name := range append(without, "name") {
		kw.Delete(name)
	}
	return kw
}

// isTrue is Salt's is_true: a positive number, text that says so, or what else is
// true. Salt: salt/utils/data.py is_true.
func isTrue(v value.Value) bool {
	if s, ok := v.(string); ok {
		if n, err := value.ToFloat(s); err == nil {
			return n > 0
		}
		return strings.EqualFold(s, "true")
	}
	if n, err := value.ToFloat(v); err == nil {
		return n > 0
	}
	return value.Truth(v)
}

// contradiction returns what is wrong with the arguments of managed, "" for
// nothing.
func contradiction(a *managedArgs) string {
	url, text, server := a.KeyURL.Given, a.KeyText != nil, a.Keyid != nil || a.Keyserver != nil
	switch {
	case a.Rest.Has("repo"):
		return "'repo' is not a supported argument for this state. The 'name' argument is probably what was intended."
	case url && text:
		return "You may not use both \"key_url\" and \"key_text\" argument."
	case text && server:
		return "You may not use both \"keyid\"/\"keyserver\" and \"key_text\" argument."
	case url && server:
		return "You may not use both \"keyid\"/\"keyserver\" and \"key_url\" argument."
	case a.Enabled != nil && a.Disabled != nil:
		return "Only one of enabled/disabled is allowed"
	case strings.HasPrefix(strings.TrimSpace(a.KeyURL.V), "http:") && !a.AllowInsecureKey:
		return "Cannot have 'key_url' using http with 'allow_insecure_key' set to True"
	case a.CleanFile && a.File == "":
		return "clean_file needs the argument file"
	}
	return ""
}

// A job is one call of managed.
type job struct {
	a    *managedArgs
	c    *fun.Call
	f    family
	repo string     // how the provider names the repository
	kw   *value.Map // the arguments for the provider
	want *value.Map // what is to be, by the provider's keys
	pre  *value.Map // what is; empty: nothing
	file string     // where that is
}

func newJob(c *fun.Call, a *managedArgs) *job {
	j := &job{c: c, a: a, f: familyOf(c.Env), repo: c.Name}
	j.kw = given(c, "ppa", "copr", "aptkey", "allow_insecure_key", "enabled", "disabled")
	off := a.Disabled
	if e := a.Enabled; e != nil {
		off = !isTrue(e)
	}
	switch {
	case j.f.debian:
		if ppa := a.PPA; ppa != "" && j.f.hasPPA() {
			j.repo = "ppa:" + strings.TrimPrefix(ppa, "ppa:")
		}
		j.kw.Set("disabled", isTrue(off))
	case j.f.name == "RedHat" || j.f.name == "Suse":
		if copr := a.Copr; copr != "" && j.f.name == "RedHat" {
			j.repo = "copr:" + copr
			j.kw.Set("name", c.Name)
		}
		if human := j.kw.At("humanname"); human != nil {
			j.kw.Set("name", human)
			j.kw.Delete("humanname")
		}
		if !j.kw.Has("name") {
			j.kw.Set("name", j.repo)
		}
		j.kw.Set("enabled", !isTrue(off))
	case j.f.name == "NILinuxRT" || j.f.name == "Poky":
		j.kw.Set("enabled", !isTrue(off))
	}
	return j
}

// get returns the repository as it is; empty: there is none.
func (j *job) get(ctx context.Context) (*value.Map, error) {
	kw := j.kw.Copy()
	kw.Set("repo", j.repo)
	v, err := j.c.Env.Exec(ctx, "pkg.get_repo", kw)
	if err != nil {
		return nil, err
	}
	if m, ok := v.(*value.Map); ok {
		return m.Copy(), nil
	}
	return value.NewMap(0), nil
}

// failed is the return for an error.
func (j *job) failed(err error) fun.Ret {
	return fun.Fail("Failed to configure repo '%s': %s", j.c.Name, err)
}

type managedArgs struct {
	_                string            `arg:"name,required" doc:"the repository: an entry in one line (apt), or its ID"`
	PPA              string            `arg:"ppa" doc:"OWNER/NAME of a Personal Package Archive (Ubuntu)"`
	Copr             string            `arg:"copr" doc:"OWNER/NAME of a repository of Copr (Red Hat family)"`
	Aptkey           bool              `arg:"aptkey" default:"True" doc:"use apt-key for keys where it is there, and the entry names no keyring by signed-by (apt)"`
	AllowInsecureKey bool              `arg:"allow_insecure_key,kw" default:"True" doc:"allow a key_url with http"`
	_                value.Value       `arg:"architectures,kw,comma[str]" doc:"architectures of the entry (apt)"`
	_                value.Value       `arg:"baseurl,kw" doc:"address of the repository (yum, zypper)"`
	CleanFile        bool              `arg:"clean_file,kw" doc:"remove all else from file; default: False"`
	Comments         fun.Opt[[]string] `arg:"comments,kw" doc:"comments of the entry"`
	_                value.Value       `arg:"comps,kw,comma[str]" doc:"components, instead of those of the name (apt)"`
	_                bool              `arg:"consolidate,kw" doc:"join the entries of all one-line files in /etc/apt/sources.list if something is to be changed; default: False (apt)"`
	Disabled         value.Value       `arg:"disabled,kw" doc:"whether the repository is disabled; default: False"`
	_                string            `arg:"dist,kw" doc:"suite, instead of that of the name (apt)"`
	Enabled          value.Value       `arg:"enabled,kw" doc:"whether the repository is enabled; default: True"`
	File             string            `arg:"file,kw,path" doc:"file that a new entry is put in, .list or .sources; default: /etc/apt/sources.list (apt)"`
	_                value.Value       `arg:"gpgautoimport,kw" doc:"trust the key of a new repository (zypper)"`
	_                value.Value       `arg:"gpgcheck,kw" doc:"whether packages have to be signed (yum, zypper)"`
	_                value.Value       `arg:"gpgkey,kw" doc:"addresses of keys (yum, zypper)"`
	_                value.Value       `arg:"humanname,kw" doc:"name of the repository for people (yum, zypper)"`
	KeyText          value.Value       `arg:"key_text,kw,str" doc:"a key to import, as text (apt)"`
	KeyURL           fun.Opt[string]   `arg:"key_url,kw,any" doc:"path or URL of a key to import (apt)"`
	Keyid            value.Value       `arg:"keyid,kw" doc:"IDs of keys to import from keyserver (apt)"`
	Keyserver        value.Value       `arg:"keyserver,kw,str" doc:"server that has the keys (apt)"`
	_                value.Value       `arg:"mirrorlist,kw" doc:"address of a list of mirrors (yum, zypper)"`
	ppaAuthArg
	_    value.Value `arg:"priority,kw" doc:"priority of the repository (yum, zypper)"`
	_    value.Value `arg:"refresh,kw" doc:"refresh the lists of packages after a change; default: True"`
	_    value.Value `arg:"refresh_db,kw" doc:"the same as refresh, which it overrides"`
	_    string      `arg:"signedby,kw" doc:"path of a keyring, where the name has no signed-by (apt)"`
	Rest fun.Kwargs
}

// managed configures a repository. Salt: salt/states/pkgrepo.py managed.
func managed(ctx context.Context, c *fun.Call, a *managedArgs) fun.Ret {
	if msg := contradiction(a); msg != "" {
		return fun.Fail("%s", msg)
	}
	j := newJob(c, a)
	if j.f.debian {
		warnUnknown(c, a.Rest)
	}
	var err error
	if j.pre, err = j.get(ctx); err != nil {
		return fun.FailedBy(err, "Failed to examine repo '"+c.Name+"': ")
	}
	j.want, j.file = j.kw.Copy(), j.pre.Str("file")
	if j.f.debian {
		if err := j.expand(ctx); err != nil {
			return j.failed(err)
		}
	}
	if j.pre.Len() > 0 {
		// The same repository may be in another file than the one that is named.
		j.pre.Delete("file")
		j.want.Delete("file")
		if !j.due() {
			return fun.Ret{Result: fun.OK, Comment: "Package repo '" + c.Name + "' already configured"}
		}
	}
	if c.Test {
		ret := fun.Ret{Result: fun.WouldChange, Comment: "Package repo '" + c.Name + "' would be configured. " + later, Changes: value.MapOf("repo", c.Name)}
		if j.pre.Len() > 0 {
			ret.Changes = j.changes(j.want)
		}
		return ret
	}
	if err := j.configure(ctx); err != nil {
		return j.failed(err)
	}
	post, err := j.get(ctx)
	if err != nil {
		return fun.Fail("Failed to confirm config of repo '%s': %s", c.Name, err)
	}
	ret := fun.Ret{Result: fun.OK, Comment: "Configured package repo '" + c.Name + "'", Changes: value.MapOf("repo", j.repo)}
	if j.pre.Len() > 0 {
		ret.Changes = j.changes(post)
	}
	return ret
}

// warnUnknown warns of arguments that mean nothing to apt. To other package
// managers they are keys of the file.
func warnUnknown(c *fun.Call, kw fun.Kwargs) {
	for k := range kw.All() {
		switch name := value.Str(k); {
		case name == "saltenv", name == "uri", strings.HasPrefix(name, "__"):
		default:
			c.Env.Warnf(kw.Pos(name), "pkgrepo.managed has no argument %q with apt", name)
		}
	}
}

// changes are the keys of want in which now differs from what was.
func (j *job) changes(now *value.Map) *value.Map {
	changes := value.NewMap(0)
	for k := range j.want.All() {
		was, is := j.pre.At(k), now.At(k)
		if (k == "comps" || k == "architectures") && sameWords(was, is) || value.Equal(was, is) {
			continue
		}
		changes.Set(k, value.MapOf("new", is, "old", was))
	}
	return changes
}

// configure has the provider change the repository.
func (j *job) configure(ctx context.Context) error {
	kw := j.kw.Copy()
	if j.f.debian {
		kw.Set("aptkey", j.a.Aptkey)
		if !kw.Has("saltenv") {
			kw.Set("saltenv", j.c.Env.SaltEnv)
		}
		_, err := j.c.Env.Exec(ctx, "pkg.mod_repo", kw, j.repo)
		return err
	}
	restore, err := j.clean()
	if err != nil {
		return err
	}
	if _, err = j.c.Env.Exec(ctx, "pkg.mod_repo", kw, j.repo); err != nil {
		restore()
	}
	return err
}

// clean empties the file of the repository where clean_file asks for that. apt's
// provider does so itself. restore undoes it.
func (j *job) clean() (restore func(), err error) {
	if !j.a.CleanFile {
		return func() {}, nil
	}
	h, file := j.c.Env.Host, j.a.File
	was, err := h.ReadFile(file)
	if err != nil {
		return func() {}, nil // a file that is not there has nothing to remove
	}
	if err := machine.Write(h, file, ""); err != nil {
		return nil, err
	}
	return func() { _ = machine.Write(h, file, string(was)) }, nil
}
