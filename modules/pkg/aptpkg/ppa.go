package aptpkg

import (
	"context"
	"net/url"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/machine"
	"brine/modules/pkg/aptsources"
	"brine/modules/tool"
)

// A ppa is a Personal Package Archive on Launchpad.
type ppa struct{ owner, name, dist, auth string }

// parsePPA reads ppa:OWNER/NAME; nil where repo is not of this form, or the machine
// is not one for which there are such archives.
func parsePPA(env *fun.Env, repo, auth string) (*ppa, error) {
	text, ok := strings.CutPrefix(repo, "ppa:")
	if !ok {
		return nil, nil // stated above
	}
	switch machine.Grain(env, "os") {
	case "Ubuntu", "Mint", "neon":
	default:
		return nil, nil // stated above
	}
	owner, name, ok := strings.Cut(text, "/")
	owner = strings.TrimPrefix(owner, "~")
	if i := strings.LastIndexByte(name, '/'); i >= 0 { // OWNER/ubuntu/NAME
		name = name[i+1:]
	}
	if !ok || !ppaWord(owner) || !ppaWord(name) {
		return nil, fun.Errorf("Unable to get PPA info from argument. Expected format \"<PPA_OWNER>/<PPA_NAME>\" (e.g. saltstack/salt) not found.  Received '%s' instead.", text)
	}
	return &ppa{owner, name, machine.Grain(env, "oscodename"), auth}, nil
}

func ppaWord(s string) bool {
	return s != "" && s[0] != '.' && strings.Trim(strings.ToLower(s), "abcdefghijklmnopqrstuvwxyz0123456789+.-") == ""
}

// line returns the entry of the archive.
func (p *ppa) line() string {
	if p.auth != "" {
		return "deb https://" + p.auth + "@private-ppa.launchpad.net/" + p.owner + "/" + p.name + "/ubuntu " + p.dist + " main"
	}
	return "deb http://ppa.launchpad.net/" + p.owner + "/" + p.name + "/ubuntu " + p.dist + " main"
}

// is reports whether an address is that of the archive, under any of the names
// that the server has and had.
func (p *ppa) is(uri string) bool {
	u, err := url.Parse(uri)
	if err != nil || strings.Trim(u.Path, "/") != p.owner+"/"+p.name+"/ubuntu" {
		return false
	}
	switch u.Hostname() {
	case "ppa.launchpad.net", "ppa.launchpadcontent.net":
		return p.auth == ""
	case "private-ppa.launchpad.net", "private-ppa.launchpadcontent.net":
		return p.auth != ""
	}
	return false
}

func (p *ppa) file() string {
	return aptsources.Dir + "/" + p.owner + "-" + p.name + "-" + p.dist + ".list"
}

func (p *ppa) keyring() string { return keyringDir + "/" + p.owner + "-" + p.name + ".gpg" }

// addPPA adds a public archive by apt-add-repository. done is false where that is
// missing or cannot be used.
func (a *apt) addPPA(ctx context.Context, args *modRepoArgs, d *definition) (res fun.Result, done bool, err error) {
	repo := "ppa:" + d.ppa.owner + "/" + d.ppa.name
	if d.ppa.auth != "" || !tool.Has(a.env.Host, "apt-add-repository") {
		return fun.Result{}, false, nil
	}
	s, err := aptsources.Read(a.env.Host, "")
	if err != nil {
		return fun.Result{}, true, err
	}
	if e := d.find(s.Entries, d.entry.Comps, "", exactly); e != nil && !args.Disabled.Given && !args.Enabled.Given {
		return fun.Result{Value: value.MapOf(repo, repoMap(e))}, true, nil
	} else if e != nil {
		return fun.Result{}, false, nil
	}
	if proxy := proxyURL(a.env); proxy != "" {
		a.more = value.MapOf("http_proxy", proxy, "https_proxy", proxy)
	}
	out, err := a.locked(ctx, "", "apt-add-repository", "-y", repo)
	if err != nil {
		return fun.Result{}, true, err
	}
	if out.Status != 0 {
		return fun.Result{}, true, fun.Errorf("Unable to add PPA '%s'. '%s' exited with status %d: '%s' ",
			repo[4:], value.Repr(value.Strings("apt-add-repository", "-y", repo)), out.Status, out.Stderr)
	}
	if args.Refresh && (!args.RefreshDB.Given || args.RefreshDB.V) {
		if _, err := a.refresh(ctx, 0, false); err != nil {
			return fun.Result{}, true, err
		}
	}
	res, err = a.result(value.MapOf(repo, out.Map()))
	return res, true, err
}

// describe asks Launchpad for the key of the archive.
func (p *ppa) describe(ctx context.Context, c *fun.Call, k *keys) error {
	if p.auth != "" && len(k.ids) == 0 {
		return fun.Errorf("Private PPAs require a keyid to be specified: %s/%s", p.owner, p.name)
	}
	if k.given() {
		if k.server == "" {
			k.server = ubuntuKeys
		}
		return nil
	}
	id, err := p.fingerprint(ctx, c.Env)
	if err != nil {
		return err
	}
	k.ids, k.server = []string{id}, ubuntuKeys
	return nil
}

const ubuntuKeys = "keyserver.ubuntu.com"

// fingerprint asks Launchpad for the fingerprint of the archive's key.
func (p *ppa) fingerprint(ctx context.Context, env *fun.Env) (string, error) {
	v, err := env.Exec(ctx, "http.query", value.MapOf(
		"url", "https://launchpad.net/api/1.0/~"+p.owner+"/+archive/"+p.name,
		"header_dict", value.MapOf("Accept", "application/json"), "decode", true, "decode_type", "json", "timeout", int64(60)))
	if err != nil {
		return "", fun.Errorf("Launchpad cannot be asked about %s/%s: %v", p.owner, p.name, err)
	}
	m, _ := v.(*value.Map)
	if m.Has("error") {
		return "", fun.Errorf("Launchpad does not know about %s/%s: %s", p.owner, p.name, m.Str("error"))
	}
	id := m.Map("dict").Str("signing_key_fingerprint")
	if !isKeyID(id) {
		return "", fun.Errorf("Launchpad knows about %s/%s but did not return a fingerprint. Please set keyid manually", p.owner, p.name)
	}
	return id, nil
}

// proxyURL is the proxy of the options, "" for none.
func proxyURL(env *fun.Env) string {
	opts := env.Opts
	if opts == nil || !value.Truth(opts.At("proxy_host")) || !value.Truth(opts.At("proxy_port")) {
		return ""
	}
	u := url.URL{Scheme: "http", Host: opts.Str("proxy_host") + ":" + value.Str(opts.At("proxy_port"))}
	if value.Truth(opts.At("proxy_username")) && value.Truth(opts.At("proxy_password")) {
		u.User = url.UserPassword(opts.Str("proxy_username"), opts.Str("proxy_password"))
	}
	return u.String()
}
