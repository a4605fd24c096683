// Package shadow is Salt's execution module "shadow" for Linux: password
// hashes and how long they hold.
//
// It changes them by chpasswd, passwd and chage, so that a hash stands in no
// list of processes and the machine's locks and databases are kept.
package shadow

import (
	"context"
	"errors"
	"io/fs"
	"sort"
	"strconv"
	"strings"

	"brine/internal/fun"
	"brine/internal/host"
	"brine/internal/shacrypt"
	"brine/internal/value"
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
	Host host.Host
	Root string // a directory to work in, "" is the machine itself
}

func of(c *fun.Call) *Admin { return &Admin{c.Env.Host, c.Str("root")} }

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

// run runs a tool of shadow, in the directory a.Root where there is one.
func (a *Admin) run(ctx context.Context, stdin string, argv ...string) error {
	if a.Root != "" {
		argv = append([]string{argv[0], "-R", a.Root}, argv[1:]...)
	}
	c := host.Cmd{Argv: argv}
	if stdin != "" {
		c.Stdin = strings.NewReader(stdin)
	}
	if _, err := a.Host.Run(ctx, c); err != nil {
		return fun.Errorf("Unable to run command '%s': %v", argv[0], err)
	}
	return ctx.Err()
}

// SetPassword sets the hash of a user's password.
func (a *Admin) SetPassword(ctx context.Context, name, hash string) (bool, error) {
	if strings.ContainsAny(hash, "\n:") || strings.ContainsAny(name, "\n:") {
		return false, fun.Errorf("a password hash has neither a colon nor a line end")
	}
	if err := a.run(ctx, name+":"+hash+"\n", "chpasswd", "-e"); err != nil {
		return false, err
	}
	e, err := a.Info(name)
	return e != nil && e.Passwd == hash, err
}

// Delete takes the password away.
func (a *Admin) Delete(ctx context.Context, name string) error {
	return a.run(ctx, "", "passwd", "-d", name)
}

// Lock makes the password one that nothing matches; Unlock undoes that.
func (a *Admin) Lock(ctx context.Context, name string) error {
	return a.run(ctx, "", "passwd", "-l", name)
}

// Unlock makes a locked password hold again.
func (a *Admin) Unlock(ctx context.Context, name string) error {
	return a.run(ctx, "", "passwd", "-u", name)
}

// ages are the flags of chage(1) and the fields that they set.
var ages = []struct{ arg, flag, key string }{
	{"date", "-d", "lstchg"},
	{"mindays", "-m", "min"},
	{"maxdays", "-M", "max"},
	{"inactdays", "-I", "inact"},
	{"warndays", "-W", "warn"},
	{"expire", "-E", "expire"},
}

// SetAge sets a limit by the name that Salt's arguments give it: date,
// mindays, maxdays, inactdays, warndays or expire. It reports whether it holds;
// a date that is written as one always does.
func (a *Admin) SetAge(ctx context.Context, name, arg string, v value.Value) (bool, error) {
	for _, f := range ages {
		if f.arg != arg {
			continue
		}
		before, err := a.Info(name)
		if err != nil {
			return false, err
		}
		if before != nil && value.Equal(before.Map().At(f.key), v) {
			return true, nil
		}
		if err := a.run(ctx, "", "chage", f.flag, value.Str(v), name); err != nil {
			return false, err
		}
		after, err := a.Info(name)
		if err != nil || after == nil || before == nil {
			return false, err
		}
		got := after.Map().At(f.key)
		return value.Equal(got, v) || !value.Equal(got, before.Map().At(f.key)), nil
	}
	return false, nil
}

func info(_ context.Context, c *fun.Call) (fun.Result, error) {
	e, err := of(c).Info(c.Str("name"))
	if err != nil {
		return fun.Result{}, err
	}
	if e == nil {
		return fun.Value(value.MapOf("name", "", "passwd", "", "lstchg", "", "min", "", "max", "", "warn", "", "inact", "", "expire", ""))
	}
	return fun.Value(e.Map())
}

func listUsers(_ context.Context, c *fun.Call) (fun.Result, error) {
	es, err := of(c).entries()
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

func setPassword(ctx context.Context, c *fun.Call) (fun.Result, error) {
	ok, err := of(c).SetPassword(ctx, c.Str("name"), c.Str("password"))
	return fun.Result{Value: ok}, err
}

// setAge sets the limit of a user's password that is the argument of that name.
func setAge(ctx context.Context, c *fun.Call, arg string) (fun.Result, error) {
	ok, err := of(c).SetAge(ctx, c.Str("name"), arg, c.Value(arg))
	return fun.Result{Value: ok}, err
}

func setDate(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return setAge(ctx, c, "date")
}

func setExpire(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return setAge(ctx, c, "expire")
}

func setInactDays(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return setAge(ctx, c, "inactdays")
}

func setMaxDays(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return setAge(ctx, c, "maxdays")
}

func setMinDays(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return setAge(ctx, c, "mindays")
}

func setWarnDays(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return setAge(ctx, c, "warndays")
}

// change does something to a password and returns whether it holds.
func change(ctx context.Context, c *fun.Call, do func(*Admin, context.Context, string) error, holds func(*Entry) bool) (fun.Result, error) {
	a := of(c)
	before, err := a.Info(c.Str("name"))
	if err != nil {
		return fun.Result{}, err
	}
	if before == nil {
		return fun.Value(false)
	}
	if err := do(a, ctx, before.Name); err != nil {
		return fun.Result{}, err
	}
	after, err := a.Info(before.Name)
	return fun.Result{Value: after != nil && holds(after)}, err
}

func delPassword(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return change(ctx, c, (*Admin).Delete, func(e *Entry) bool { return e.Passwd == "" })
}

func lockPassword(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return change(ctx, c, (*Admin).Lock, func(e *Entry) bool { return strings.HasPrefix(e.Passwd, "!") })
}

func unlockPassword(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return change(ctx, c, (*Admin).Unlock, func(e *Entry) bool { return !strings.HasPrefix(e.Passwd, "!") })
}

func defaultHash(context.Context, *fun.Call) (fun.Result, error) { return fun.Value(NoPassword) }

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
		return "", fun.Errorf("Algorithm '%s' is not supported: sha256 and sha512 are", algorithm)
	}
	return h, nil
}

func genPassword(_ context.Context, c *fun.Call) (fun.Result, error) {
	h, err := GenPassword(c.Str("password"), c.Value("crypt_salt"), c.Str("algorithm"))
	return fun.Result{Value: h}, err
}
