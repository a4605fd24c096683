package aptpkg

import (
	"context"
	"encoding/base64"
	"math/big"
	"path"
	"slices"
	"strconv"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/modules/pkg/dpkg"
	"brine/modules/tool"
)

const keyringDir = "/etc/apt/keyrings"

// keys are the arguments of mod_repo about keys.
type keys struct {
	ids               []string
	server, url, text string
	saltenv           string
	aptKey            bool // use apt-key
	ruled             bool // the caller ruled apt-key out
}

// given reports whether there is a key to import.
func (k *keys) given() bool { return len(k.ids) > 0 || k.url != "" || k.text != "" }

// newKeys returns the keys of some IDs. aptKey says whether apt-key may be used.
func newKeys(c *fun.Call, aptKey bool, ids ...value.Value) *keys {
	k := &keys{aptKey: aptKey && tool.Has(c.Env.Host, "apt-key"), ruled: !aptKey}
	for _, id := range ids {
		k.ids = append(k.ids, keyID(id))
	}
	return k
}

// keyID returns the ID of a key as text. YAML makes a number of 0x1234ABCD, and of
// one that happens to have digits only.
func keyID(v value.Value) string {
	text := strings.ReplaceAll(value.Str(v), " ", "")
	if _, is := v.(string); is || len(text) == 8 || len(text) == 16 || len(text) == 40 {
		return text
	}
	if n, ok := new(big.Int).SetString(text, 10); ok {
		return "0x" + n.Text(16)
	}
	return text
}

func isKeyID(id string) bool {
	id = strings.TrimPrefix(id, "0x")
	return id != "" && len(id) <= 64 && strings.Trim(id, "0123456789abcdefABCDEF") == ""
}

// importKeys imports the keys of a repository: into the keyring that signs it, or
// by apt-key.
func (a *apt) importKeys(ctx context.Context, k *keys, signedBy string) error {
	if !k.aptKey && signedBy == "" && (k.given() || k.ruled) {
		return fun.Errorf("missing 'signedby' option when apt-key is missing")
	}
	if len(k.ids) > 0 && k.server == "" || len(k.ids) == 0 && k.server != "" {
		return fun.Errorf("both keyserver and keyid options required.")
	}
	if k.given() && signedBy != "" && !path.IsAbs(signedBy) {
		return fun.Errorf("signed-by must be the path of a keyring for a key to be written there, not %s", signedBy)
	}
	for _, id := range k.ids {
		if !isKeyID(id) {
			return fun.Errorf("%s is not the ID of a key", value.Repr(id))
		}
	}
	switch {
	case len(k.ids) > 0 && signedBy != "":
		return a.receiveInto(ctx, signedBy, k.server, k.ids)
	case len(k.ids) > 0:
		for _, id := range k.ids {
			if err := a.receive(ctx, k.server, id); err != nil {
				return err
			}
		}
	case k.url != "":
		return a.importURL(ctx, k, signedBy)
	case k.text != "" && signedBy != "":
		return a.writeKeyring(signedBy, []byte(k.text), "key_text")
	case k.text != "":
		out, err := a.locked(ctx, k.text, "apt-key", "add", "-")
		if err != nil {
			return err
		}
		if !strings.HasPrefix(strings.ToUpper(out.Stdout), "OK") {
			return fun.Errorf("Error: failed to add key:\n%s", k.text)
		}
	}
	return nil
}

func (a *apt) importURL(ctx context.Context, k *keys, signedBy string) error {
	v, err := a.env.Exec(ctx, "cp.cache_file", value.MapOf("path", k.url, "saltenv", k.saltenv))
	if err != nil {
		return err
	}
	file, _ := v.(string)
	if file == "" {
		return fun.Errorf("Error: file not found: %s", k.url)
	}
	if signedBy != "" {
		data, err := a.env.Host.ReadFile(file)
		if err != nil {
			return fun.Errorf("%v", err)
		}
		return a.writeKeyring(signedBy, data, k.url)
	}
	out, err := a.locked(ctx, "", "apt-key", "add", file)
	if err != nil {
		return err
	}
	if !strings.HasPrefix(strings.ToUpper(out.Stdout), "OK") {
		return fun.Errorf("Error: failed to add key from %s", k.url)
	}
	return nil
}

// receive imports a key by apt-key, unless it has it.
func (a *apt) receive(ctx context.Context, server, id string) error {
	had, err := dpkg.Look(ctx, a.env.Host, nil, "apt-key", "export", id)
	if err != nil || strings.HasPrefix(had.Stdout, "-----BEGIN PGP") {
		return err
	}
	argv := []string{"apt-key", "adv", "--batch"}
	if proxy := a.keyProxy(server); proxy != "" {
		argv = append(argv, "--keyserver-options", "http-proxy="+proxy)
	}
	out, err := a.locked(ctx, "", append(argv, "--keyserver", server, "--logger-fd", "1", "--recv-keys", id)...)
	if err == nil && out.Status != 0 {
		err = fun.Errorf("Error: key retrieval failed: %s", out.Stdout)
	}
	return err
}

// keyProxy is the proxy for a keyserver, "" for none.
func (a *apt) keyProxy(server string) string {
	if a.env.Opts != nil {
		if list := a.env.Opts.List("no_proxy"); list != nil && slices.ContainsFunc(list.Items, func(v value.Value) bool { return value.Str(v) == server }) {
			return ""
		}
	}
	return proxyURL(a.env)
}

// receiveInto writes keys of a keyserver to a keyring, unless that has them.
func (a *apt) receiveInto(ctx context.Context, keyring, server string, ids []string) error {
	if err := a.checkKeyDir(path.Dir(keyring)); err != nil {
		return err
	}
	if had, err := a.showKeys(ctx, keyring); err == nil && !slices.ContainsFunc(ids, func(id string) bool { return findKey(had, id) == "" }) {
		return nil
	}
	home, err := a.env.Host.MkdirTemp("", "brine-gpg-")
	if err != nil {
		return fun.Errorf("%v", err)
	}
	defer func() {
		// The servers that gpg started in that directory end with it; gpgconf only makes that sooner.
		_, _ = dpkg.Run(context.WithoutCancel(ctx), a.env.Host, nil, "", "gpgconf", "--homedir", home, "--kill", "all")
		_ = a.env.Host.RemoveAll(home)
	}()
	argv := []string{"gpg", "--homedir", home, "--batch", "--no-tty"}
	if proxy := a.keyProxy(server); proxy != "" {
		argv = append(argv, "--keyserver-options", "http-proxy="+proxy)
	}
	out, err := dpkg.Run(ctx, a.env.Host, a.more, "", slices.Concat(argv, []string{"--keyserver", server, "--recv-keys", "--"}, ids)...)
	if err != nil {
		return err
	}
	if out.Status != 0 {
		return fun.Errorf("Error: key retrieval failed: %s", out.Stderr)
	}
	file := path.Join(home, "key")
	out, err = dpkg.Run(ctx, a.env.Host, a.more, "", slices.Concat([]string{"gpg", "--homedir", home, "--batch", "--no-tty", "--output", file, "--export", "--"}, ids)...)
	if err != nil {
		return err
	}
	if out.Status != 0 {
		return fun.Errorf("Error: key retrieval failed: %s", out.Stderr)
	}
	data, err := a.env.Host.ReadFile(file)
	if err != nil {
		return fun.Errorf("Error: key retrieval failed: %s has none of the keys", server)
	}
	return a.writeKeyring(keyring, data, server)
}

func (a *apt) checkKeyDir(dir string) error {
	if st, err := a.env.Host.Stat(dir); err != nil || !st.Mode.IsDir() {
		return fun.Errorf("The directory %s does not exist. Please create this directory only writable by root", dir)
	}
	return nil
}

const (
	armorBegin = "-----BEGIN PGP PUBLIC KEY BLOCK-----"
	armorEnd   = "-----END PGP PUBLIC KEY BLOCK-----"
)

// writeKeyring writes a key to a keyring: in ASCII armor if its name ends in .asc,
// else binary, since apt goes by the name. source is for errors.
func (a *apt) writeKeyring(keyring string, data []byte, source string) error {
	if err := a.checkKeyDir(path.Dir(keyring)); err != nil {
		return err
	}
	bin, ok := Dearmor(data)
	if !ok {
		return fun.Errorf("Error: failed to add key from %s: it is not an OpenPGP key", source)
	}
	text := string(bin)
	if strings.HasSuffix(keyring, ".asc") {
		if text = string(data); !strings.Contains(text, armorBegin) {
			text = armor(bin)
		}
	}
	if now, err := a.env.Host.ReadFile(keyring); err == nil && string(now) == text {
		return nil
	}
	mode := host.FileMode(0o644)
	if err := a.env.Host.WriteFile(keyring, strings.NewReader(text), host.WriteOptions{Mode: &mode, FollowLinks: true}); err != nil {
		return fun.Errorf("%v", err)
	}
	return nil
}

// Dearmor returns keys without ASCII armor. ok is false for what cannot be keys.
func Dearmor(data []byte) (bin []byte, ok bool) {
	text := string(data)
	for {
		_, block, found := strings.Cut(text, armorBegin)
		if !found {
			break
		}
		block, text, found = strings.Cut(block, armorEnd)
		if !found {
			return nil, false
		}
		var body strings.Builder
		in := false // after the headers
		for i, l := range strings.Split(block, "\n") {
			l = strings.TrimSpace(l)
			switch {
			case i == 0:
			case !in:
				in = l == ""
			case strings.HasPrefix(l, "="): // the checksum
			default:
				body.WriteString(l)
			}
		}
		part, err := base64.StdEncoding.DecodeString(body.String())
		if err != nil {
			return nil, false
		}
		bin = append(bin, part...)
	}
	if bin == nil {
		bin = data
	}
	// A packet begins with a byte whose first bit is set; a public key is of type 6.
	ok = len(bin) > 0 && (bin[0]&0xc0 == 0x80 && bin[0]>>2&0xf == 6 || bin[0]&0xc0 == 0xc0 && bin[0]&0x3f == 6)
	return bin, ok
}

func armor(bin []byte) string {
	var b strings.Builder
	b.WriteString(armorBegin + "\n\n")
	text := base64.StdEncoding.EncodeToString(bin)
	for len(text) > 64 {
		b.WriteString(text[:64] + "\n")
		text = text[64:]
	}
	b.WriteString(text + "\n" + armorEnd + "\n")
	return b.String()
}

// showKeys returns the keys of files by their IDs, as get_repo_keys does.
func (a *apt) showKeys(ctx context.Context, files ...string) (*value.Map, error) {
	if len(files) == 0 {
		return value.NewMap(0), nil
	}
	out, err := dpkg.Look(ctx, a.env.Host, nil, slices.Concat([]string{"gpg", "--batch", "--show-keys", "--with-colons", "--"}, files)...)
	if err != nil {
		return nil, err
	}
	return ParseKeys(out.Stdout), nil
}

// ParseKeys reads keys as gpg --with-colons lists them, by their IDs.
// Salt: salt/modules/aptpkg.py _parse_repo_keys_output.
func ParseKeys(text string) *value.Map {
	ret := value.NewMap(0)
	var key *value.Map
	for line := range strings.SplitSeq(text, "\n") {
		cols := strings.Split(line, ":")
		col := func(i int) value.Value {
			if i >= len(cols) {
				return nil
			}
			s := strings.TrimSpace(cols[i])
			if n, err := strconv.ParseInt(s, 10, 64); err == nil {
				return n
			}
			if s == "" {
				return nil
			}
			return s
		}
		switch strings.TrimSpace(cols[0]) {
		case "pub", "sub":
			if len(cols) < 5 {
				continue
			}
			id := strings.TrimSpace(cols[4])
			props := value.MapOf("algorithm", col(3), "bits", col(2), "capability", col(11), "date_creation", col(5),
				"date_expiration", col(6), "keyid", id, "validity", col(1))
			if strings.TrimSpace(cols[0]) == "pub" {
				key = props
				ret.Set(id, key)
			} else if key != nil {
				key.Set("subkey", props)
			}
		case "fpr":
			if sub := key.Map("subkey"); sub != nil {
				sub.Set("fingerprint", col(9))
			} else if key != nil {
				key.Set("fingerprint", col(9))
			}
		case "uid":
			if key != nil {
				key.Set("uid", col(9))
				key.Set("uid_hash", col(7))
			}
		}
	}
	return ret
}

// findKey returns the ID of the key that an ID, short or long, or a fingerprint
// means; "" where there is none.
func findKey(all *value.Map, id string) string {
	id = strings.ToUpper(strings.TrimPrefix(id, "0x"))
	for k, v := range all.All() {
		long := value.Str(k)
		m, _ := v.(*value.Map)
		if strings.HasSuffix(long, id) || len(id) > 16 && m.Str("fingerprint") == id {
			return long
		}
	}
	return ""
}

// keyFiles returns the files of a directory of keyrings.
func (a *apt) keyFiles(dir string) ([]string, error) {
	names, err := a.env.Host.ReadDir(dir)
	if err != nil {
		return nil, fun.Errorf("%v", err)
	}
	var files []string
	for _, n := range names {
		p := path.Join(dir, n)
		if st, err := a.env.Host.Stat(p); err == nil && st.Mode.IsRegular() {
			files = append(files, p)
		}
	}
	return files, nil
}

// keyDir returns the directory that an argument names. ok is false where it is
// needed and not there.
func (a *apt) keyDir(args *keyDirArg, aptKey bool) (dir string, ok bool) {
	if dir = args.Keydir; dir == "" {
		dir = keyringDir
	}
	if aptKey {
		return dir, true
	}
	if err := a.checkKeyDir(dir); err != nil {
		a.env.Log().Error(err.Error())
		return dir, false
	}
	return dir, true
}

type getRepoKeysArgs struct {
	aptKeyArg
	keyDirArg
	_ fun.Kwargs
}

func getRepoKeys(ctx context.Context, c *fun.Call, args *getRepoKeysArgs) (fun.Result, error) {
	a := newApt(c)
	k := newKeys(c, args.AptKey)
	dir, ok := a.keyDir(&args.keyDirArg, k.aptKey)
	if !ok {
		return fun.Value(false)
	}
	all, err := a.repoKeys(ctx, k.aptKey, dir)
	if err != nil {
		return fun.Result{}, err
	}
	return a.result(all)
}

func (a *apt) repoKeys(ctx context.Context, aptKey bool, dir string) (*value.Map, error) {
	if !aptKey {
		files, err := a.keyFiles(dir)
		if err != nil {
			return nil, err
		}
		return a.showKeys(ctx, files...)
	}
	// Twice --with-fingerprint has gpg print the fingerprints of subkeys.
	out, err := a.query(ctx, "apt-key", "adv", "--batch", "--list-public-keys", "--with-fingerprint", "--with-fingerprint", "--with-colons", "--fixed-list-mode")
	if err != nil {
		return nil, err
	}
	if out.Status != 0 {
		return nil, &fun.CommandError{Msg: out.Stderr}
	}
	return ParseKeys(out.Stdout), nil
}

type addRepoKeyArgs struct {
	Path      string        `arg:"path" doc:"path or URL of a file with the key"`
	Text      string        `arg:"text" doc:"the key as text"`
	Keyserver string        `arg:"keyserver" doc:"server that has the key"`
	Keyid     []value.Value `arg:"keyid,any" doc:"ID or fingerprint of the key"`
	Saltenv   string        `arg:"saltenv" default:"base" doc:"environment of a salt:// URL"`
	aptKeyArg
	keyDirArg
	Keyfile string `arg:"keyfile,path" doc:"name of the keyring; needed for a key of a keyserver"`
	_       fun.Kwargs
}

// addRepoKey imports a key. Salt: salt/modules/aptpkg.py add_repo_key.
func addRepoKey(ctx context.Context, c *fun.Call, args *addRepoKeyArgs) (fun.Result, error) {
	a := newApt(c)
	k := newKeys(c, args.AptKey, args.Keyid...)
	k.server, k.saltenv = args.Keyserver, args.Saltenv
	dir, ok := a.keyDir(&args.keyDirArg, k.aptKey)
	if !ok {
		return fun.Value(false)
	}
	file := args.Keyfile
	if file != "" && !path.IsAbs(file) {
		file = path.Join(dir, path.Base(file))
	}
	source, text := args.Path, args.Text
	k.url, k.text = source, text
	switch {
	case source == "" && text == "" && k.server == "" && len(k.ids) == 0:
		return fun.Result{}, &fun.InvocationError{Msg: "add_repo_key() takes at least 1 argument (0 given)"}
	case source == "" && text == "" && k.server == "":
		return fun.Result{}, &fun.InvocationError{Msg: "No keyserver specified for keyid: " + k.ids[0], Arg: "keyserver"}
	case source == "" && text == "" && len(k.ids) == 0:
		return fun.Result{}, &fun.InvocationError{Msg: "No keyid or keyid too short for keyserver: " + k.server, Arg: "keyid"}
	}
	if len(k.ids) > 0 {
		all, err := a.repoKeys(ctx, k.aptKey, dir)
		if err != nil {
			return fun.Result{}, err
		}
		if findKey(all, k.ids[0]) != "" {
			return fun.Value(true)
		}
	}
	if source != "" || text != "" {
		k.ids, k.server = nil, ""
	}
	if !k.aptKey && file == "" {
		if source == "" {
			a.env.Log().Error("You must define the name of the key file to save the key. See keyfile argument")
			return fun.Value(false)
		}
		file = path.Join(dir, path.Base(source))
	}
	if k.aptKey {
		file = ""
	}
	if err := a.importKeys(ctx, k, file); err != nil {
		a.env.Log().Error("Unable to add repo key", "err", err)
		return a.result(false)
	}
	return a.result(true)
}

type delRepoKeyArgs struct {
	Name string `arg:"name" doc:"ppa:OWNER/NAME, for keyid_ppa"`
	aptKeyArg
	keyDirArg
	Keyid    value.Value `arg:"keyid,kw" doc:"ID of the key: at least its last 8 digits"`
	KeyidPPA bool        `arg:"keyid_ppa,kw" default:"False" doc:"ask Launchpad which key the archive has"`
	_        fun.Kwargs
}

// delRepoKey removes a key. Salt: salt/modules/aptpkg.py del_repo_key.
func delRepoKey(ctx context.Context, c *fun.Call, args *delRepoKeyArgs) (fun.Result, error) {
	a := newApt(c)
	k := newKeys(c, args.AptKey, fun.ItemsOf(args.Keyid)...)
	dir, ok := a.keyDir(&args.keyDirArg, k.aptKey)
	if !ok {
		return fun.Value(false)
	}
	asked := args.Keyid
	id := strings.TrimPrefix(value.Str(asked), "0x")
	switch {
	case args.KeyidPPA:
		p, err := parsePPA(c.Env, args.Name, "")
		if err != nil {
			return fun.Result{}, err
		}
		if p == nil {
			return fun.Result{}, &fun.InvocationError{Msg: "keyid_ppa requires that a PPA be passed"}
		}
		if id, err = p.fingerprint(ctx, c.Env); err != nil {
			return fun.Result{}, err
		}
		id = id[max(0, len(id)-8):]
		asked = id
	case asked == nil:
		return fun.Result{}, &fun.InvocationError{Msg: "keyid or keyid_ppa and PPA name must be passed"}
	}
	if !isKeyID(id) {
		return fun.Result{}, &fun.InvocationError{Msg: value.Repr(asked) + " is not the ID of a key", Arg: "keyid"}
	}
	if k.aptKey {
		out, err := a.locked(ctx, "", "apt-key", "del", id)
		if err != nil {
			return fun.Result{}, err
		}
		if out.Status != 0 {
			return fun.Result{}, fun.Errorf("Failed to remove keyid %s: %s", id, out.Stderr)
		}
		return a.result(asked)
	}
	if len(id) < 8 {
		a.env.Log().Error("The keyid needs to be either 8 or 16 characters")
		return fun.Value(false)
	}
	files, err := a.keyFiles(dir)
	if err != nil {
		return fun.Result{}, err
	}
	for _, f := range files {
		all, err := a.showKeys(ctx, f)
		if err != nil {
			return fun.Result{}, err
		}
		if findKey(all, id) != "" {
			if err := a.env.Host.Remove(f); err != nil {
				return fun.Result{}, fun.Errorf("%v", err)
			}
			return a.result(asked)
		}
	}
	a.env.Log().Error("Could not find the key file for keyid", "keyid", id)
	return fun.Value(false)
}
