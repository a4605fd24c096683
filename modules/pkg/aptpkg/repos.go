package aptpkg

import (
	"context"
	"net/url"
	"path"
	"slices"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/pkg/aptsources"
	"brine/modules/textfile"
)

// A definition is a repository as a caller names it: an entry in one line, or
// ppa:OWNER/NAME.
type definition struct {
	text  string // in one line
	entry aptsources.Entry
	ok    bool // whether it is an entry
	ppa   *ppa
}

// define reads a definition.
func define(env *fun.Env, repo, auth string) (*definition, error) {
	d := &definition{text: repo}
	p, err := parsePPA(env, repo, auth)
	if err != nil {
		return nil, err
	}
	if p != nil {
		d.ppa, d.text = p, p.line()
	}
	if strings.ContainsAny(d.text, "\n\r\x00") {
		return d, nil
	}
	d.entry, d.ok = aptsources.Parse(d.text)
	d.entry.Disabled = false
	if d.ppa == nil && auth != "" {
		d.entry.URI = withAuth(d.entry.URI, auth)
	}
	return d, nil
}

// need is define for functions that cannot do without an entry.
func need(env *fun.Env, repo, auth string) (*definition, error) {
	d, err := define(env, repo, auth)
	switch {
	case err != nil:
		return nil, err
	case !d.ok && strings.HasPrefix(repo, "ppa:"):
		return nil, fun.Errorf("cannot parse \"ppa:\" style repo definitions: %s", repo)
	case !d.ok:
		return nil, fun.Errorf("Error: repo '%s' not a well formatted definition", repo)
	}
	return d, nil
}

func withAuth(uri, auth string) string {
	scheme, rest, ok := strings.Cut(uri, "://")
	if !ok || !strings.HasPrefix(scheme, "http") || strings.HasPrefix(rest, auth) {
		return uri
	}
	return scheme + "://" + auth + "@" + rest
}

// find returns the entry that is meant: of those that share a component, one in
// file, one that shares a component of the definition, one whose address is spelled
// like that, one that is enabled, the first. same compares addresses.
func (d *definition) find(list []*aptsources.Entry, comps []string, file string, same func(a, b string) bool) *aptsources.Entry {
	var best *aptsources.Entry
	score := -1
	for _, e := range list {
		is := same(e.URI, d.entry.URI) || d.ppa != nil && d.ppa.is(e.URI)
		if !is || e.Type != d.entry.Type || e.Dist != d.entry.Dist {
			continue
		}
		if len(comps) > 0 && !e.Shares(comps) {
			continue
		}
		n := 0
		if file != "" && e.File == file {
			n += 8
		}
		if len(d.entry.Comps) > 0 && e.Shares(d.entry.Comps) {
			n += 4
		}
		if e.URI == d.entry.URI {
			n += 2
		}
		if !e.Disabled {
			n++
		}
		if n > score {
			best, score = e, n
		}
	}
	return best
}

func exactly(a, b string) bool { return a == b }

// repoMap returns an entry as list_repos and get_repo do.
func repoMap(e *aptsources.Entry) *value.Map {
	return value.MapOf("file", e.File, "comps", value.Strings(e.Comps...), "disabled", e.Disabled, "enabled", !e.Disabled,
		"dist", e.Dist, "type", e.Type, "uri", e.URI, "line", strings.TrimSpace(e.Line), "architectures", value.Strings(e.Archs...), "signedby", e.SignedBy)
}

// listRepos lists repositories by their address.
// Salt: salt/modules/aptpkg.py list_repos. Difference: with those of deb822 files.
func listRepos(_ context.Context, c *fun.Call, _ *servicesNeedRestartArgs) (fun.Result, error) {
	s, err := aptsources.Read(c.Env.Host, "")
	if err != nil {
		return fun.Result{}, err
	}
	ret := value.NewMap(0)
	for _, e := range s.Entries {
		if list := ret.List(e.URI); list != nil {
			list.Append(repoMap(e))
		} else {
			ret.Set(e.URI, value.NewList(repoMap(e)))
		}
	}
	return fun.Value(ret)
}

type getRepoArgs struct {
	definitionArg
	ppaAuthArg
	Dist string `arg:"dist,kw" doc:"suite, instead of that of the definition"`
	File string `arg:"file,kw,path" doc:"prefer the entry of this file where there are several"`
	_    fun.Kwargs
}

func getRepo(_ context.Context, c *fun.Call, a *getRepoArgs) (fun.Result, error) {
	d, err := define(c.Env, a.Repo, a.PPAAuth)
	if err != nil {
		return fun.Result{}, err
	}
	if d.ok {
		if dist := a.Dist; dist != "" {
			d.entry.Dist = dist
		}
		s, err := aptsources.Read(c.Env.Host, a.File)
		if err != nil {
			return fun.Result{}, err
		}
		if e := d.find(s.Entries, d.entry.Comps, a.File, exactly); e != nil {
			return fun.Value(repoMap(e))
		}
	}
	return fun.Value(value.NewMap(0))
}

type delRepoArgs struct {
	definitionArg
	ppaAuthArg
	_ fun.Kwargs
}

// delRepo removes components of a repository, and the entry with the last of them.
// Salt: salt/modules/aptpkg.py del_repo. Difference: an entry without components is
// removed, too, and a definition without them is the whole entry; a refresh that
// fails is a warning, since the repository is removed.
func delRepo(ctx context.Context, c *fun.Call, args *delRepoArgs) (fun.Result, error) {
	d, err := need(c.Env, args.Repo, args.PPAAuth)
	if err != nil {
		return fun.Result{}, err
	}
	defer textfile.Lock(c.Env, aptsources.Main)()
	s, err := aptsources.Read(c.Env.Host, "")
	if err != nil {
		return fun.Result{}, err
	}
	var from []string
	for _, e := range slices.Clone(s.Entries) {
		if !d.deletes(e) {
			continue
		}
		if !slices.Contains(from, e.File) {
			from = append(from, e.File)
		}
		if len(d.entry.Comps) > 0 {
			e.Comps = slices.DeleteFunc(e.Comps, func(comp string) bool { return slices.Contains(d.entry.Comps, comp) })
		}
		if len(d.entry.Comps) == 0 || len(e.Comps) == 0 {
			s.Remove(e)
		}
	}
	if from == nil {
		return fun.Result{}, fun.Errorf("Repo %s doesn't exist in the sources.list(s)", d.text)
	}
	done, err := s.Save(c.Env.Host)
	if err != nil {
		return fun.Result{}, err
	}
	var b strings.Builder
	for _, f := range from {
		if slices.Contains(done.Removed, f) {
			b.WriteString("File " + f + " containing repo '" + d.text + "' has been removed.")
		} else {
			b.WriteString("Repo '" + d.text + "' has been removed from " + f + ".\n")
		}
	}
	a := newApt(c)
	if _, err := a.refresh(ctx, 0, false); err != nil {
		if ctx.Err() != nil {
			return fun.Result{}, err
		}
		c.Env.Warn(fun.Warning{Text: "the repository is removed, but the lists of packages cannot be refreshed: " + err.Error()})
	}
	return fun.Value(b.String())
}

// deletes reports whether a removal concerns an entry.
func (d *definition) deletes(e *aptsources.Entry) bool {
	if d.ppa != nil {
		if !d.ppa.is(e.URI) || e.Dist != d.entry.Dist {
			return false
		}
	} else if e.Type != d.entry.Type || e.Dist != d.entry.Dist || e.URI != d.entry.URI || !slices.Equal(e.Archs, d.entry.Archs) {
		return false
	}
	return len(d.entry.Comps) == 0 || e.Shares(d.entry.Comps)
}

type expandRepoDefArgs struct {
	Repo fun.Opt[string] `arg:"repo,kw" doc:"the repository: an entry in one line, or ppa:OWNER/NAME on Ubuntu"`
	ppaAuthArg
	entryArgs
	_ fun.Kwargs
}

// expandRepoDef returns the entry that a definition and the arguments of mod_repo
// describe.
func expandRepoDef(_ context.Context, c *fun.Call, a *expandRepoDefArgs) (fun.Result, error) {
	if !a.Repo.Given {
		return fun.Result{}, &fun.InvocationError{Msg: "missing 'repo' argument", Arg: "repo"}
	}
	d, err := need(c.Env, a.Repo.V, a.PPAAuth)
	if err != nil {
		return fun.Result{}, err
	}
	e := d.entry
	e.File, e.Comment = aptsources.Main, ""
	applyArgs(&a.entryArgs, &e)
	m := repoMap(&e)
	m.Delete("enabled")
	m.Set("line", e.String())
	return fun.Value(m)
}

// applyArgs sets what the arguments of mod_repo say of an entry.
func applyArgs(a *entryArgs, e *aptsources.Entry) {
	if a.Comps.Given {
		e.Comps = stripped(a.Comps.V)
	}
	if a.Architectures.Given {
		e.Archs = stripped(a.Architectures.V)
	}
	if dist := a.Dist; dist != "" {
		e.Dist = dist
	}
	if uri := a.URI; uri != "" {
		e.URI = uri
	}
	if e.SignedBy == "" {
		e.SignedBy = a.Signedby
	}
	switch {
	case a.Disabled.Given:
		e.Disabled = a.Disabled.V
	case a.Enabled.Given:
		e.Disabled = !a.Enabled.V
	}
}

func stripped(words []string) []string {
	var list []string
	for _, w := range words {
		if w = strings.TrimSpace(w); w != "" {
			list = append(list, w)
		}
	}
	return list
}

type modRepoArgs struct {
	definitionArg
	Saltenv string `arg:"saltenv" default:"base" doc:"environment of a salt:// URL"`
	aptKeyArg
	ppaAuthArg
	File        string            `arg:"file,kw,path" doc:"file that the entry is to be in; default: where it is, else /etc/apt/sources.list"`
	CleanFile   bool              `arg:"clean_file,kw" default:"False" doc:"remove all else from the file"`
	Consolidate bool              `arg:"consolidate,kw" default:"False" doc:"join the entries of all one-line files in /etc/apt/sources.list"`
	Comments    fun.Opt[[]string] `arg:"comments,kw" doc:"comments at the end of the entry"`
	Keyid       []value.Value     `arg:"keyid,kw,any" doc:"IDs of keys to import from keyserver"`
	Keyserver   string            `arg:"keyserver,kw" doc:"server that has the keys"`
	KeyURL      string            `arg:"key_url,kw" doc:"path or URL of a key to import"`
	KeyText     string            `arg:"key_text,kw" doc:"a key to import, as text"`
	Refresh     bool              `arg:"refresh,kw" default:"True" doc:"refresh the lists of packages"`
	RefreshDB   fun.Opt[bool]     `arg:"refresh_db,kw" doc:"the same as refresh, which it overrides"`
	entryArgs
	_ fun.Kwargs
}

// modRepo adds a repository or changes it.
// Salt: salt/modules/aptpkg.py mod_repo. Differences: other entries and unknown
// options stay as they are; if the lists cannot be refreshed, all is as before.
func modRepo(ctx context.Context, c *fun.Call, args *modRepoArgs) (fun.Result, error) {
	a := newApt(c)
	repo := args.Repo
	d, err := need(c.Env, repo, args.PPAAuth)
	if err != nil {
		return fun.Result{}, err
	}
	if err := checkRepoArgs(c, args); err != nil {
		return fun.Result{}, err
	}
	keys, file := newKeys(c, args.AptKey, args.Keyid...), args.File
	keys.server, keys.url, keys.text, keys.saltenv = args.Keyserver, args.KeyURL, args.KeyText, args.Saltenv
	if d.ppa != nil {
		if res, done, err := a.addPPA(ctx, args, d); done || err != nil {
			return res, err
		}
		if err := d.ppa.describe(ctx, c, keys); err != nil {
			return fun.Result{}, err
		}
		if file == "" {
			file = d.ppa.file()
		}
		if !keys.aptKey && d.entry.SignedBy == "" {
			d.entry.SignedBy = d.ppa.keyring()
		}
	}
	if d.entry.SignedBy == "" {
		d.entry.SignedBy = args.Signedby
	}
	if err := a.importKeys(ctx, keys, d.entry.SignedBy); err != nil {
		return fun.Result{}, err
	}
	e, err := a.edit(ctx, args, d, file)
	if err != nil {
		return fun.Result{}, err
	}
	return a.result(value.MapOf(d.name(repo), value.MapOf("architectures", value.Strings(e.Archs...), "comps", value.Strings(e.Comps...), "disabled", e.Disabled,
		"file", e.File, "type", e.Type, "uri", e.URI, "line", e.Line, "signedby", e.SignedBy)))
}

// name is the key of what mod_repo returns.
func (d *definition) name(repo string) string {
	if d.ppa != nil {
		return d.text
	}
	return repo
}

// checkRepoArgs refuses text that would end the line of an entry, or become
// another part of it.
func checkRepoArgs(c *fun.Call, a *modRepoArgs) error {
	for _, arg := range []struct {
		name  string
		texts []string
	}{
		{"dist", []string{a.Dist}}, {"uri", []string{a.URI}}, {"signedby", []string{a.Signedby}}, {"comps", a.Comps.V}, {"architectures", a.Architectures.V},
	} {
		for _, s := range arg.texts {
			if strings.ContainsAny(s, " \t\r\n\x00#[]") && strings.TrimSpace(s) != "" {
				return &fun.InvocationError{Msg: arg.name + " cannot have " + value.Repr(s), Arg: arg.name}
			}
		}
	}
	file := a.File
	switch {
	case file == "":
		if a.CleanFile {
			return &fun.InvocationError{Msg: "clean_file needs the argument file", Arg: "clean_file"}
		}
	case !path.IsAbs(file) || strings.ContainsAny(file, "\x00\n"):
		return &fun.InvocationError{Msg: "file must be an absolute path, not " + value.Repr(file), Arg: "file"}
	case !aptsources.Known(file):
		c.Env.Warn(fun.Warning{Text: "apt does not read " + file + " by default: its files are " + aptsources.Main + ", and .list and .sources in " + aptsources.Dir})
	}
	return nil
}

// comment joins the argument comments. Salt: salt/utils/pkg/deb.py combine_comments.
func comment(a *modRepoArgs) string {
	words := a.Comments.V
	return strings.TrimSpace(strings.NewReplacer("\n", " ", "\r", " ").Replace(strings.Join(words, " ")))
}

// edit changes the lists as mod_repo is asked to, and refreshes them. It returns
// the entry, whose Line is the one before the change.
func (a *apt) edit(ctx context.Context, args *modRepoArgs, d *definition, file string) (*aptsources.Entry, error) {
	defer textfile.Lock(a.env, aptsources.Main)()
	s, err := aptsources.Read(a.env.Host, file)
	if err != nil {
		return nil, err
	}
	if args.CleanFile {
		s.Clear(file)
	}
	if args.Consolidate {
		s.Consolidate()
	}
	want := d.entry
	applyArgs(&args.entryArgs, &want)
	e := d.target(s.Entries, &want, file)
	if e == nil {
		e = &want
		e.File, e.Comment, e.Line = file, "", d.text+"\n"
		if file == "" {
			e.File = aptsources.Main
		}
		inherit(s.Entries, e)
		s.Add(e)
	} else {
		change(args, e, &want, d.ppa != nil)
	}
	if want.SignedBy != "" && !e.Disabled {
		agree(s.Entries, e)
	}
	if args.Comments.Given {
		e.Comment = comment(args)
	}
	done, err := s.Save(a.env.Host)
	if err != nil {
		return nil, err
	}
	refresh := args.Refresh
	if args.RefreshDB.Given {
		refresh = args.RefreshDB.V
	}
	if refresh {
		if err := a.refreshEntry(ctx, e); err != nil {
			done.Undo(a.env.Host)
			return nil, err
		}
	}
	return e, nil
}

// target returns the entry to change; nil: there is to be a new one. One in another
// file than the named one is left alone, unless it is to be disabled.
func (d *definition) target(list []*aptsources.Entry, want *aptsources.Entry, file string) *aptsources.Entry {
	comps := slices.Concat(d.entry.Comps, want.Comps)
	e := d.find(list, comps, file, aptsources.SameURI)
	if e == nil && want.Dist != d.entry.Dist {
		moved := *d
		moved.entry.Dist = want.Dist
		e = moved.find(list, comps, file, aptsources.SameURI)
	}
	if e != nil && file != "" && e.File != file && !want.Disabled {
		return nil
	}
	return e
}

// change makes an entry what is wanted. What is not named stays.
func change(a *modRepoArgs, e, want *aptsources.Entry, isPPA bool) {
	if !isPPA || a.URI != "" {
		e.URI = want.URI
	}
	e.Dist, e.Archs = want.Dist, want.Archs
	if len(want.Comps) > 0 {
		e.Comps = want.Comps
	}
	if want.SignedBy != "" {
		e.SignedBy = want.SignedBy
	}
	if a.Disabled.Given || a.Enabled.Given {
		e.Disabled = want.Disabled
	}
	for _, o := range want.Options {
		e.SetOption(o)
	}
}

// inherit gives a new entry the keyring of the other entries with its address and
// suite: apt refuses lists in which they differ.
func inherit(list []*aptsources.Entry, e *aptsources.Entry) {
	for _, o := range list {
		if e.SignedBy == "" && !o.Disabled && o.Dist == e.Dist && aptsources.SameURI(o.URI, e.URI) && !strings.ContainsAny(o.SignedBy, " \n") {
			e.SignedBy = o.SignedBy
		}
	}
}

// agree gives the keyring of an entry to the others with its address and suite,
// such as the one of the sources.
func agree(list []*aptsources.Entry, e *aptsources.Entry) {
	for _, o := range list {
		if !o.Disabled && o.Dist == e.Dist && aptsources.SameURI(o.URI, e.URI) {
			o.SignedBy = e.SignedBy
		}
	}
}

// refreshEntry refreshes the lists of apt. It fails as well where apt could not
// fetch those of the entry.
func (a *apt) refreshEntry(ctx context.Context, e *aptsources.Entry) error {
	out, _, failed, err := a.update(ctx)
	if err != nil || e.Disabled {
		return err
	}
	uri := strings.TrimRight(e.URI, "/")
	if u, err := url.Parse(uri); err == nil && u.User != nil { // which apt does not print
		u.User = nil
		uri = u.String()
	}
	for _, repo := range failed {
		at, rest, _ := strings.Cut(repo, " ")
		if strings.TrimRight(at, "/") != uri || !strings.HasPrefix(rest, e.Dist) {
			continue
		}
		if strings.Contains(out.Stderr, "GPG error: "+at) { // apt goes on with the lists that it has
			a.env.Warn(fun.Warning{Text: out.Stderr})
			return nil
		}
		msg := "apt cannot fetch " + repo
		if out.Stderr != "" {
			msg += ":\n" + out.Stderr
		}
		return &fun.CommandError{Msg: msg}
	}
	return nil
}
