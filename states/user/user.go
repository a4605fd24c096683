// Package user is Salt's state module "user": accounts of people and services.
package user

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/redact"
	"brine/internal/py/value"
	"brine/modules/group"
	"brine/modules/shadow"
	users "brine/modules/user"
)

// States returns the rows of the state module "user".
func States() fun.Module {
	return fun.Module{Name: "user", Kind: fun.State, Doc: "Manage users.", Specs: specs}
}

// want holds the desired state of a user, from the arguments of present.
type want struct {
	a      *presentArgs
	c      *fun.Call
	admin  *users.Admin
	shadow *shadow.Admin
	groups *group.Admin

	name               string
	uid, gid           value.Value
	list               []string // groups; nil leaves them
	given              bool     // groups were given
	optional           []string // the optional groups that exist
	password           string   // the hash
	lock               value.Value
	allowUID, allowGID bool
	warnings           []string
	raced              bool // somebody else made the user meanwhile
}

type presentArgs struct {
	_               fun.Arguments
	_               string            `arg:"name,required" doc:"name of the user"`
	UID             value.Value       `arg:"uid,int" doc:"user ID"`
	GID             value.Value       `arg:"gid,str|int" doc:"primary group, by name or ID"`
	Usergroup       value.Value       `arg:"usergroup,bool" doc:"whether to create a group with the name of the user; default: that of the system"`
	Groups          fun.Opt[[]string] `arg:"groups" doc:"supplementary groups, which must exist; [] is none, None leaves them unchanged"`
	OptionalGroups  []string          `arg:"optional_groups" doc:"supplementary groups that are skipped if they do not exist"`
	RemoveGroups    bool              `arg:"remove_groups" default:"True" doc:"remove the user from all other groups"`
	Home            fun.Opt[string]   `arg:"home,path" doc:"home directory"`
	Createhome      bool              `arg:"createhome" default:"True" doc:"create the home directory if it is missing"`
	Password        string            `arg:"password,secret" doc:"hash of the password; with hash_password the password"`
	HashPassword    bool              `arg:"hash_password" default:"False" doc:"password is plain text, which is hashed"`
	EnforcePassword bool              `arg:"enforce_password" default:"True" doc:"replace a different password"`
	EmptyPassword   bool              `arg:"empty_password" default:"False" doc:"allow an empty password"`
	Shell           string            `arg:"shell,path" doc:"login shell"`
	Unique          bool              `arg:"unique" default:"True" doc:"refuse a user ID that is already in use"`
	System          bool              `arg:"system" default:"False" doc:"create a system account"`
	Fullname        fun.Opt[string]   `arg:"fullname" doc:"full name"`
	Roomnumber      fun.Opt[string]   `arg:"roomnumber" doc:"room number"`
	Workphone       fun.Opt[string]   `arg:"workphone" doc:"work phone number"`
	Homephone       fun.Opt[string]   `arg:"homephone" doc:"home phone number"`
	Other           fun.Opt[string]   `arg:"other" doc:"other personal data"`
	Loginclass      string            `arg:"loginclass" doc:"login class, on OpenBSD only"`
	Date            value.Value       `arg:"date,str|int" unit:"days since 1970-01-01" doc:"date of the last password change, also as YYYY-MM-DD"`
	Mindays         value.Value       `arg:"mindays,int" unit:"days" doc:"minimum age of a password before it may be changed"`
	Maxdays         value.Value       `arg:"maxdays,int" unit:"days" doc:"maximum age of a password"`
	Inactdays       value.Value       `arg:"inactdays,int" unit:"days" doc:"time between expiry of the password and locking of the account"`
	Warndays        value.Value       `arg:"warndays,int" unit:"days" doc:"time before expiry of the password when the user is warned"`
	Expire          value.Value       `arg:"expire,str|int" unit:"days since 1970-01-01" doc:"expiry date of the account, also as YYYY-MM-DD; -1 removes it"`
	_               string            `arg:"win_homedrive" doc:"Windows only"`
	_               string            `arg:"win_profile" doc:"Windows only"`
	_               string            `arg:"win_logonscript" doc:"Windows only"`
	_               string            `arg:"win_description" doc:"Windows only"`
	Nologinit       bool              `arg:"nologinit" default:"False" doc:"do not add the user to lastlog and faillog"`
	AllowUIDChange  bool              `arg:"allow_uid_change" default:"False" doc:"allow the user ID of an existing user to change"`
	AllowGIDChange  bool              `arg:"allow_gid_change" default:"False" doc:"allow the primary group of an existing user to change"`
	PasswordLock    value.Value       `arg:"password_lock,bool" doc:"lock or unlock the password; default: unchanged"`
}

// A detail is one of the personal data of a user.
type detail struct {
	key   string
	value fun.Opt[string]
}

// gecos are the personal data that Salt compares, in its order.
func (a *presentArgs) gecos() []detail {
	return []detail{{"fullname", a.Fullname}, {"roomnumber", a.Roomnumber}, {"workphone", a.Workphone}, {"homephone", a.Homephone}, {"other", a.Other}}
}

// A limit is a limit of a password: Salt's names of argument and field.
type limit struct {
	arg, key string
	value    value.Value
}

// days are the limits of the password.
func (a *presentArgs) days() []limit {
	return []limit{
		{"date", "lstchg", a.Date},
		{"mindays", "min", a.Mindays},
		{"maxdays", "max", a.Maxdays},
		{"inactdays", "inact", a.Inactdays},
		{"warndays", "warn", a.Warndays},
		{"expire", "expire", a.Expire},
	}
}

// present creates a user, or changes one that exists.
//
// It fails where a group is missing, where uid or gid differ and may not be
// changed, and where a change had no effect. Salt: salt/states/user.py present.
// Differences: a password in plain text is refused, password and password_lock
// can be used together, dates are dates, a comma in homephone is refused, and
// warnings say what Salt accepts silently.
func present(ctx context.Context, c *fun.Call, a *presentArgs) fun.Ret {
	w := newWant(c, a)
	ret := w.present(ctx)
	if w.raced { // by another target of the run that is this machine, or by anybody
		w = newWant(c, a)
		ret = w.present(ctx)
	}
	if len(w.warnings) > 0 {
		ret.Extra = value.MapOf("warnings", value.Strings(w.warnings...))
	}
	return ret
}

func newWant(c *fun.Call, a *presentArgs) *want {
	return &want{
		c: c, a: a, admin: users.NewAdmin(c), shadow: shadow.NewAdmin(c), groups: group.NewAdmin(c), name: c.Name,
		password: a.Password, lock: a.PasswordLock,
		uid: a.UID, gid: a.GID, allowUID: a.AllowUIDChange, allowGID: a.AllowGIDChange,
	}
}

func (w *want) present(ctx context.Context) fun.Ret {
	c := w.c
	if fault := w.check(); fault != "" {
		return fun.Fail("%s", fault)
	}
	if err := w.hash(); err != nil {
		return fun.Raise(err)
	}
	missing, err := w.missing(w.list)
	if err != nil {
		return fun.Raise(err)
	}
	if len(missing) > 0 {
		return fun.Fail("The following group(s) are not present: %s", strings.Join(missing, ","))
	}
	absent, err := w.missing(w.a.OptionalGroups)
	if err != nil {
		return fun.Raise(err)
	}
	for _, g := range w.a.OptionalGroups {
		if slices.Contains(w.list, g) {
			w.warn("Group %s is in both groups and optional_groups; it is required", g)
		} else if !slices.Contains(absent, g) {
			w.optional = append(w.optional, g)
		}
	}
	if sh := w.a.Shell; sh != "" {
		if _, err := c.Env.Host.Stat(sh); err != nil {
			w.warn("Shell %s does not exist", sh)
		}
	}
	if id, ok := users.GroupID(w.gid); ok {
		w.gid = id
	}
	if w.gid == nil && value.Truth(w.a.Usergroup) {
		if g, err := w.groups.Lookup(w.name); err == nil && g != nil {
			w.gid = w.name
		}
	}
	ret := fun.Ret{Result: fun.OK, Comment: "User " + w.name + " is present and up to date"}
	due, there, fault, err := w.changes(w.allowUID, w.allowGID)
	switch {
	case err != nil:
		return fun.Raise(err)
	case fault != "":
		ret.Result, ret.Comment = fun.Failed, fault
		return ret
	case !there && c.Test:
		ret.Result, ret.Comment = fun.WouldChange, "User "+w.name+" set to be added"
		return ret
	case !there:
		return w.create(ctx, ret)
	case due.Len() == 0:
		return ret
	}
	w.warnOldHome(due)
	if c.Test {
		ret.Result, ret.Comment = fun.WouldChange, "The following user attributes are set to be changed:\n"+lines(due)
		return ret
	}
	return w.update(ctx, ret, due)
}

// lines lists changes, without passwords.
func lines(due *value.Map) string {
	var text strings.Builder
	for k, v := range due.All() {
		if k == "passwd" {
			v = redact.Hidden
		}
		text.WriteString(value.Str(k) + ": " + value.Str(v) + "\n")
	}
	return text.String()
}

func (w *want) warn(format string, args ...any) {
	w.warnings = append(w.warnings, fmt.Sprintf(format, args...))
}

// warnOldHome says that a new home directory starts empty.
func (w *want) warnOldHome(due *value.Map) {
	if !due.Has("home") || !due.Has("homeDoesNotExist") {
		return
	}
	u, ok, err := w.admin.Account(w.name)
	if err != nil || !ok || u.Home == "/" {
		return
	}
	if st, err := w.c.Env.Host.Stat(u.Home); err == nil && st.Mode.IsDir() {
		w.warn("Files in the old home directory %s are not moved to %s", u.Home, value.Str(due.At("home")))
	}
}

// check returns what is wrong with the arguments, "" if nothing is, and reads
// the groups.
func (w *want) check() string {
	for _, f := range w.a.gecos()[:4] {
		if s := f.value.V; strings.Contains(s, ",") {
			return "Unsupported char ',' in " + s
		}
	}
	for _, d := range w.a.days() {
		if d.value == nil {
			continue
		}
		if _, ok := shadow.Days(d.value); !ok {
			return fmt.Sprintf("Invalid %s %s: it must be the number of days since 1970-01-01 or a date such as 2030-01-31", d.arg, value.Repr(d.value))
		}
	}
	if w.password != "" && !w.a.HashPassword && !w.a.EmptyPassword && !shadow.LooksHashed(w.password) {
		return "The password is not a hash of crypt(5). Use its hash, or set hash_password to True if it is in plain text."
	}
	if w.a.Groups.Given {
		w.list, w.given = append([]string{}, w.a.Groups.V...), true
	}
	return ""
}

// hash turns a password into its hash where that is asked for: with the salt
// of the present one, so that the same password is the same hash.
func (w *want) hash() error {
	if w.password == "" || !w.a.HashPassword {
		return nil
	}
	var salt value.Value
	algorithm := "sha512"
	have, err := w.shadow.Info(w.name)
	if err != nil {
		return err
	}
	if have != nil {
		if method, s, ok := saltOf(have.Passwd); ok {
			algorithm, salt = method, s
		}
	}
	w.password, err = shadow.GenPassword(w.password, salt, algorithm)
	return err
}

// saltOf returns method and salt of a hash, the salt with its rounds.
func saltOf(hash string) (method, salt string, ok bool) {
	part := strings.Split(strings.TrimLeft(hash, "!"), "$")
	if len(part) < 4 || part[0] != "" {
		return "", "", false
	}
	switch part[1] {
	case "1":
		method = "md5"
	case "5":
		method = "sha256"
	case "6":
		method = "sha512"
	default:
		return "", "", false
	}
	return method, strings.Join(part[2:len(part)-1], "$"), true
}

// missing returns the groups that are not there.
func (w *want) missing(names []string) (none []string, err error) {
	for _, n := range names {
		g, err := w.groups.Lookup(n)
		if err != nil {
			return nil, err
		}
		if g == nil {
			none = append(none, n)
		}
	}
	return none, nil
}

// changes returns what there is to change, in Salt's names and order, and
// whether the user is there at all; fault is Salt's text where a change is not
// allowed. Salt: salt/states/user.py _changes.
func (w *want) changes(allowUID, allowGID bool) (due *value.Map, there bool, fault string, err error) {
	c := w.c
	have, err := w.admin.Info(w.name)
	if err != nil || have == nil {
		return nil, false, "", err
	}
	due = value.NewMap(8)
	if w.uid != nil && !value.Equal(have.At("uid"), w.uid) {
		due.Set("uid", w.uid)
	}
	gid, _ := value.AsInt(have.At("gid"))
	oldGroup := w.groupName(gid)
	newGroup := oldGroup
	if w.gid != nil {
		wanted, name := w.primary()
		newGroup = name
		if !value.Equal(have.At("gid"), w.gid) && !value.Equal(have.At("gid"), wanted) {
			due.Set("gid", w.gid)
		}
	}
	if groups := w.groupChanges(have, oldGroup, newGroup); groups != nil {
		due.Set("groups", groups)
	}
	home := w.a.Home.V
	if home != "" && have.At("home") != home {
		due.Set("home", home)
	}
	if w.a.Createhome {
		dir := home
		if dir == "" {
			dir = value.Str(have.At("home"))
		}
		if st, err := c.Env.Host.Stat(dir); err != nil || !st.Mode.IsDir() {
			due.Set("homeDoesNotExist", dir)
		}
	}
	if sh := w.a.Shell; sh != "" && have.At("shell") != sh {
		due.Set("shell", sh)
	}
	if err := w.shadowChanges(due); err != nil {
		return nil, true, "", err
	}
	for _, f := range w.a.gecos() {
		if f.value.Given && have.Str(f.key) != f.value.V {
			due.Set(f.key, f.value.V)
		}
	}
	var faults []string
	refuse := func(key string, to value.Value) {
		faults = append(faults, "- Changing "+key+" ("+value.Str(have.At(key))+" -> "+value.Str(to)+") not permitted, set allow_"+key+
			"_change to True to force this change. Note that this will not change file ownership.")
	}
	if due.Has("uid") && !allowUID {
		refuse("uid", w.uid)
	}
	if due.Has("gid") && !allowGID {
		refuse("gid", w.gid)
	}
	if len(faults) > 0 {
		fault = "Encountered error checking for needed changes. Additional info follows:\n\n" + strings.Join(faults, "\n")
	}
	return due, true, fault, nil
}

// primary returns number and name of the primary group that is wanted; what
// is not known is "" or the number itself, as in Salt.
func (w *want) primary() (gid value.Value, name value.Value) {
	if n, ok := value.AsInt(w.gid); ok {
		return w.gid, w.groupName(n)
	}
	if g, err := w.groups.Lookup(value.Str(w.gid)); err == nil && g != nil {
		return int64(g.GID), g.Name
	}
	return "", w.gid
}

func (w *want) groupName(gid int64) value.Value {
	if g, err := w.c.Env.Host.LookupGID(int(gid)); err == nil {
		return g.Name
	}
	return gid
}

// groupChanges returns the supplementary groups that are to be set, nil where
// the user has them. The primary groups and the user's own count as given.
func (w *want) groupChanges(have *value.Map, oldGroup, newGroup value.Value) *value.List {
	has := have.List("groups").Strs()
	remove := w.a.RemoveGroups
	wanted := slices.Concat(w.list, w.optional)
	if !remove || !w.given && len(w.optional) == 0 {
		wanted = append(wanted, has...)
	}
	sort.Strings(wanted)
	wanted = slices.Compact(wanted)
	drop := func(list []string, name value.Value) []string {
		return slices.DeleteFunc(list, func(g string) bool { return g == name })
	}
	has = drop(drop(has, newGroup), oldGroup)
	if !slices.Contains(wanted, w.name) {
		has = drop(has, w.name)
	}
	wanted = drop(wanted, newGroup)
	lacks := slices.ContainsFunc(wanted, func(g string) bool { return !slices.Contains(has, g) })
	if !lacks && (!remove || len(has) == len(wanted)) {
		return nil
	}
	return value.Strings(wanted...)
}

// shadowChanges adds what has to change about the password. Where
// password_lock is given, the mark of a locked password is not part of it.
func (w *want) shadowChanges(due *value.Map) error {
	e, err := w.shadow.Info(w.name)
	if err != nil {
		return err
	}
	if e == nil {
		e = &shadow.Entry{}
	}
	have := e.Map()
	empty := w.a.EmptyPassword
	same := e.Passwd == w.password
	if w.lock != nil {
		same = strings.TrimPrefix(e.Passwd, "!") == strings.TrimPrefix(w.password, "!")
	}
	if w.password != "" && !empty && !same && (e.Passwd == shadow.NoPassword || w.a.EnforcePassword) {
		due.Set("passwd", w.password)
	}
	if empty && e.Passwd != "" {
		due.Set("empty_password", true)
	}
	for _, d := range w.a.days() {
		if n, ok := shadow.Days(d.value); ok && (d.arg != "expire" || n != 0) && have.At(d.key) != n {
			due.Set(d.arg, d.value)
		}
	}
	if w.lock != nil && w.lock != strings.HasPrefix(e.Passwd, "!") {
		due.Set("password_lock", w.lock)
	}
	return nil
}

// field is what the password field of shadow(5) is to be: a password that is to
// be locked is never valid in between.
func (w *want) field() string {
	if w.lock == true && !strings.HasPrefix(w.password, "!") {
		return "!" + w.password
	}
	return w.password
}

type absentArgs struct {
	_     string `arg:"name,required" doc:"name of the user"`
	Purge bool   `arg:"purge" default:"False" doc:"remove the home directory and mail spool too"`
	Force bool   `arg:"force" default:"False" doc:"remove a user who is logged in"`
	fun.SystemPath
}

// absent removes a user. Salt: salt/states/user.py absent.
func absent(ctx context.Context, c *fun.Call, args *absentArgs) fun.Ret {
	a := users.NewAdmin(c)
	info, err := a.Info(c.Name)
	if err != nil {
		return fun.Raise(err)
	}
	if info == nil {
		return fun.Ret{Result: fun.OK, Comment: "User " + c.Name + " is not present"}
	}
	if err := a.CheckHome(c.Name); err != nil && args.Purge {
		return fun.Fail("%s", err)
	}
	if c.Test {
		return fun.Ret{Result: fun.WouldChange, Comment: "User " + c.Name + " set for removal"}
	}
	ok, err := a.Delete(ctx, c.Name, args.Purge, args.Force)
	if err != nil {
		return fun.Raise(err)
	}
	if !ok {
		return fun.Fail("Failed to remove user %s", c.Name)
	}
	changes := value.NewMap(2)
	for _, g := range info.List("groups").Strs() {
		if left, err := group.NewAdmin(c).Lookup(g); err == nil && left == nil {
			changes.Set(g+" group", "removed")
		}
	}
	changes.Set(c.Name, "removed")
	return fun.Ret{Result: fun.OK, Changes: changes, Comment: "Removed user " + c.Name}
}
