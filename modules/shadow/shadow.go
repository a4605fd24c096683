// Package shadow is Salt's execution module "shadow" for Linux: password
// hashes and how long they hold.
//
// It changes them by chpasswd, passwd and chage, so that a hash stands in no
// list of processes and the machine's locks and databases are kept.
package shadow

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/shacrypt"
	"brine/internal/py/value"
	"brine/modules/tool"
)

// Module returns the execution module "shadow".
func Module() fun.Module {
	return fun.Module{Name: "shadow", Kind: fun.Exec, Doc: "Read and manage passwords.", Specs: specs}
}

// NoPassword is the hash of a user who never got a password.
const NoPassword = "!"

// An Entry is a line of shadow(5). Days that are not given are -1.
type Entry struct {
	Name, Passwd                          string
	Changed, Min, Max, Warn, Inact, Until int64
}

// Map returns the entry as shadow.info does.
func (e *Entry) Map() *value.Map {
	return value.MapOf("name", e.Name, "passwd", e.Passwd, "lstchg", e.Changed, "min", e.Min, "max", e.Max, "warn", e.Warn, "inact", e.Inact, "expire", e.Until)
}

// An Admin reads and changes passwords.
type Admin struct {
	tool.Accounts
}

// NewAdmin returns the Admin of a call, for the machine itself.
func NewAdmin(c *fun.Call) *Admin { return of(c, "") }

func of(c *fun.Call, root string) *Admin {
	return &Admin{tool.OnAccounts(c, root)}
}

// entries reads shadow(5).
func (a *Admin) entries() ([]Entry, error) {
	text, err := a.Host.ReadFile(strings.TrimRight(a.Root, "/") + "/etc/shadow")
	if err != nil {
		return nil, err
	}
	var es []Entry
	for line := range strings.Lines(string(text)) {
		f := strings.Split(strings.TrimSpace(line), ":")
		if len(f) < 8 {
			continue
		}
		n := func(i int) int64 {
			v, err := strconv.ParseInt(f[i], 10, 64)
			if err != nil {
				return -1
			}
			return v
		}
		es = append(es, Entry{f[0], f[1], n(2), n(3), n(4), n(5), n(6), n(7)})
	}
	return es, nil
}

// Info returns the entry of a user, nil where there is none or where the
// password file is not to be read.
func (a *Admin) Info(name string) (*Entry, error) {
	es, err := a.entries()
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for i := range es {
		if es[i].Name == name {
			return &es[i], nil
		}
	}
	return nil, nil
}

// run runs a tool for a user. The name follows the other arguments; with stdin
// it is in there.
func (a *Admin) run(ctx context.Context, name, stdin string, argv ...string) error {
	if name == "" || strings.HasPrefix(name, "-") || strings.ContainsAny(name, "\n:") {
		return fun.Errorf("Invalid user name '%s'", name)
	}
	var in io.Reader
	if stdin != "" {
		in = strings.NewReader(stdin)
	} else {
		argv = append(argv, name)
	}
	_, err := a.Run(ctx, in, "-R", argv...)
	return err
}

// SetPassword sets the hash of a user's password.
func (a *Admin) SetPassword(ctx context.Context, name, hash string) (bool, error) {
	if strings.ContainsAny(hash, "\n:") {
		return false, fun.Errorf("a password hash has neither a colon nor a line end")
	}
	if err := a.run(ctx, name, name+":"+hash+"\n", "chpasswd", "-e"); err != nil {
		return false, err
	}
	e, err := a.Info(name)
	return e != nil && e.Passwd == hash, err
}

// Delete removes the password: an empty one is accepted.
func (a *Admin) Delete(ctx context.Context, name string) error {
	return a.run(ctx, name, "", "passwd", "-d")
}

// Lock makes the password one that nothing matches; Unlock undoes that.
func (a *Admin) Lock(ctx context.Context, name string) error {
	return a.run(ctx, name, "", "passwd", "-l")
}

// Unlock makes a locked password valid again.
func (a *Admin) Unlock(ctx context.Context, name string) error {
	return a.run(ctx, name, "", "passwd", "-u")
}

// SetLock locks or unlocks the password of a user, if it is not so already.
func (a *Admin) SetLock(ctx context.Context, name string, lock bool) error {
	e, err := a.Info(name)
	if err != nil || e == nil || locked(e) == lock {
		return err
	}
	if lock {
		return a.Lock(ctx, name)
	}
	return a.Unlock(ctx, name)
}

// LooksHashed reports whether a password field of shadow(5) is one that crypt(5)
// made or that nothing matches, rather than a password in plain text.
func LooksHashed(s string) bool {
	const alphabet = "./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	hash := strings.TrimLeft(s, "!*")
	switch {
	case hash != s, hash == "", hash == "x", strings.HasPrefix(hash, "$"):
		return true
	case strings.HasPrefix(hash, "_"):
		return len(hash) == 20 && strings.Trim(hash[1:], alphabet) == ""
	}
	return len(hash) == 13 && strings.Trim(hash, alphabet) == ""
}

// An age is a limit of a password: Salt's argument, the flag of chage(1) and
// the field that it sets.
type age struct{ arg, flag, key string }

var ages = []age{
	{"date", "-d", "lstchg"},
	{"mindays", "-m", "min"},
	{"maxdays", "-M", "max"},
	{"inactdays", "-I", "inact"},
	{"warndays", "-W", "warn"},
	{"expire", "-E", "expire"},
}

// Days returns the days since 1970-01-01 that v is: a number, or a date in the
// form YYYY-MM-DD.
func Days(v value.Value) (int64, bool) {
	if n, ok := value.AsInt(v); ok {
		return n, true
	}
	text := strings.TrimSpace(value.Str(v))
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n, true
	}
	t, err := time.Parse(time.DateOnly, text)
	return t.Unix() / 86400, err == nil
}

// SetAge sets a limit by the name that Salt's arguments give it: date,
// mindays, maxdays, inactdays, warndays or expire, and reports whether the user
// has it. v is a number of days, or for date and expire also what else chage(1)
// understands; such text counts as set when chage accepts it.
func (a *Admin) SetAge(ctx context.Context, name, arg string, v value.Value) (bool, error) {
	i := slices.IndexFunc(ages, func(f age) bool { return f.arg == arg })
	if i < 0 {
		return false, nil
	}
	f := ages[i]
	days, isDays := Days(v)
	e, err := a.Info(name)
	if err != nil || e == nil {
		return false, err
	}
	if isDays && e.Map().At(f.key) == days {
		return true, nil
	}
	text := value.Str(v)
	if isDays {
		text = strconv.FormatInt(days, 10)
	}
	if err := a.run(ctx, name, "", "chage", f.flag, text); err != nil {
		return false, err
	}
	if !isDays {
		return a.Status == 0, nil
	}
	e, err = a.Info(name)
	return e != nil && e.Map().At(f.key) == days, err
}

// infoArgs are the arguments of info, delPassword, lockPassword and unlockPassword.
type infoArgs struct {
	nameArg
	rootArg
}

func info(_ context.Context, c *fun.Call, a *infoArgs) (fun.Result, error) {
	e, err := of(c, a.Root).Info(a.Name)
	if err != nil {
		return fun.Result{}, err
	}
	if e == nil {
		return fun.Value(value.MapOf("name", "", "passwd", "", "lstchg", "", "min", "", "max", "", "warn", "", "inact", "", "expire", ""))
	}
	return fun.Value(e.Map())
}

func listUsers(_ context.Context, c *fun.Call, a *rootArg) (fun.Result, error) {
	es, err := of(c, a.Root).entries()
	if err != nil {
		return fun.Result{}, err
	}
	names := make([]string, len(es))
	for i, e := range es {
		names[i] = e.Name
	}
	sort.Strings(names)
	return fun.Value(value.Strings(names...))
}

type setPasswordArgs struct {
	nameArg
	Password string `arg:"password,required,secret" doc:"the hash"`
	_        bool   `arg:"use_usermod" default:"False" doc:"accepted; the hash is set by chpasswd, which no list of processes shows"`
	rootArg
}

func setPassword(ctx context.Context, c *fun.Call, args *setPasswordArgs) (fun.Result, error) {
	a := of(c, args.Root)
	name := args.Name
	if _, err := a.Host.LookupUser(name); a.Root == "" && errors.Is(err, host.ErrNoAccount) {
		return fun.Value(false)
	}
	return a.Changed(a.SetPassword(ctx, name, args.Password))
}

// setAge sets a limit of a user's password: limit is the name of its argument.
func setAge(ctx context.Context, c *fun.Call, root, name, limit string, v value.Value) (fun.Result, error) {
	a := of(c, root)
	return a.Changed(a.SetAge(ctx, name, limit, v))
}

type setDateArgs struct {
	nameArg
	Date value.Value `arg:"date,required,str|int" unit:"days since 1970-01-01, or a date" doc:"the date"`
	rootArg
}

func setDate(ctx context.Context, c *fun.Call, a *setDateArgs) (fun.Result, error) {
	return setAge(ctx, c, a.Root, a.Name, "date", a.Date)
}

type setExpireArgs struct {
	nameArg
	Expire value.Value `arg:"expire,required,str|int" unit:"days since 1970-01-01, or a date" doc:"the date"`
	rootArg
}

func setExpire(ctx context.Context, c *fun.Call, a *setExpireArgs) (fun.Result, error) {
	return setAge(ctx, c, a.Root, a.Name, "expire", a.Expire)
}

type setInactDaysArgs struct {
	nameArg
	Inactdays int64 `arg:"inactdays,required" unit:"days" doc:"how long"`
	rootArg
}

func setInactDays(ctx context.Context, c *fun.Call, a *setInactDaysArgs) (fun.Result, error) {
	return setAge(ctx, c, a.Root, a.Name, "inactdays", a.Inactdays)
}

type setMaxDaysArgs struct {
	nameArg
	Maxdays int64 `arg:"maxdays,required" unit:"days" doc:"the maximum age"`
	rootArg
}

func setMaxDays(ctx context.Context, c *fun.Call, a *setMaxDaysArgs) (fun.Result, error) {
	return setAge(ctx, c, a.Root, a.Name, "maxdays", a.Maxdays)
}

type setMinDaysArgs struct {
	nameArg
	Mindays int64 `arg:"mindays,required" unit:"days" doc:"the minimum time"`
	rootArg
}

func setMinDays(ctx context.Context, c *fun.Call, a *setMinDaysArgs) (fun.Result, error) {
	return setAge(ctx, c, a.Root, a.Name, "mindays", a.Mindays)
}

type setWarnDaysArgs struct {
	nameArg
	Warndays int64 `arg:"warndays,required" unit:"days" doc:"how long"`
	rootArg
}

func setWarnDays(ctx context.Context, c *fun.Call, a *setWarnDaysArgs) (fun.Result, error) {
	return setAge(ctx, c, a.Root, a.Name, "warndays", a.Warndays)
}

// change does something to a password and returns whether it took effect; nothing is done
// where the entry is so already.
func change(ctx context.Context, c *fun.Call, args *infoArgs, do func(*Admin, context.Context, string) error, is func(*Entry) bool) (fun.Result, error) {
	a := of(c, args.Root)
	e, err := a.Info(args.Name)
	if err != nil || e == nil {
		return fun.Result{Value: false}, err
	}
	if is(e) {
		return fun.Value(true)
	}
	if err := do(a, ctx, e.Name); err != nil {
		return fun.Result{}, err
	}
	e, err = a.Info(e.Name)
	return a.Changed(e != nil && is(e), err)
}

func empty(e *Entry) bool    { return e.Passwd == "" }
func locked(e *Entry) bool   { return strings.HasPrefix(e.Passwd, "!") }
func unlocked(e *Entry) bool { return !locked(e) }

func delPassword(ctx context.Context, c *fun.Call, a *infoArgs) (fun.Result, error) {
	res, err := change(ctx, c, a, (*Admin).Delete, empty)
	if res.Value == false && res.Retcode == 0 {
		res.Retcode = 1 // also of a user who does not exist, as Salt asks passwd(1)
	}
	return res, err
}

func lockPassword(ctx context.Context, c *fun.Call, a *infoArgs) (fun.Result, error) {
	return change(ctx, c, a, (*Admin).Lock, locked)
}

func unlockPassword(ctx context.Context, c *fun.Call, a *infoArgs) (fun.Result, error) {
	return change(ctx, c, a, (*Admin).Unlock, unlocked)
}

func defaultHash(context.Context, *fun.Call, *fun.NoArgs) (fun.Result, error) {
	return fun.Value(NoPassword)
}

// GenPassword returns the hash of a password; a salt that is None is random.
func GenPassword(password string, salt value.Value, algorithm string) (string, error) {
	s := ""
	if value.Truth(salt) {
		s = value.Str(salt)
	} else {
		s = shacrypt.Salt()
	}
	h, err := shacrypt.Hash(algorithm, password, s)
	if err != nil {
		return "", fun.Errorf("Algorithm '%s' is not supported; supported are sha512, sha256 and md5", algorithm)
	}
	return h, nil
}

type genPasswordArgs struct {
	_         fun.Arguments
	Password  string      `arg:"password,required,secret" doc:"the password"`
	CryptSalt value.Value `arg:"crypt_salt,str" doc:"at most sixteen characters; default: random"`
	Algorithm string      `arg:"algorithm" default:"sha512" doc:"sha512, sha256 or md5, which is insecure"`
}

func genPassword(_ context.Context, c *fun.Call, a *genPasswordArgs) (fun.Result, error) {
	h, err := GenPassword(a.Password, a.CryptSalt, a.Algorithm)
	return fun.Result{Value: h}, err
}
