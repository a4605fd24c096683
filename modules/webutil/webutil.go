// Package webutil is Salt's execution module "webutil": the password files of
// htpasswd(1). brine reads and writes them itself, so that no password is an argument
// of a program.
package webutil

import (
	"context"
	"crypto/sha1" // the method {SHA} is defined by it
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"golang.org/x/crypto/bcrypt"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/shacrypt"
	"brine/internal/py/value"
	"brine/modules/textfile"
)

// Module returns the execution module "webutil".
func Module() fun.Module {
	return fun.Module{Name: "webutil", Kind: fun.Exec, Doc: "Password files of web servers.", Specs: specs}
}

type fileArg struct {
	_      fun.Arguments
	Pwfile string `arg:"pwfile,required,path" doc:"the file"`
}

type userArg struct {
	_    fun.Arguments
	User string `arg:"user,required" doc:"name of the user"`
}

type passArg struct {
	_        fun.Arguments
	Password fun.Opt[string] `arg:"password,required,secret" doc:"the password"`
}

type optsArg struct {
	_    fun.Arguments
	Opts string `arg:"opts" default:"" doc:"letters of options of htpasswd(1): B is bcrypt, 2 and 5 are SHA-256 and SHA-512, s is SHA-1, m is MD5 (default), p is plain"`
}

type runasArg struct {
	_     fun.Arguments
	Runas string `arg:"runas" doc:"account that a new file belongs to"`
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{Name: "useradd", Doc: "Add a user, or change the password of one.", Src: "modules/webutil.py useradd", Do: useradd},
	{
		Name: "userdel", Doc: "Remove a user.", Src: "modules/webutil.py userdel", Do: userdel,
	},
	{Name: "verify", Doc: "Return whether a user has a password.", Src: "modules/webutil.py verify", Do: verify},
}

// A method is a way to keep a password.
type method byte

// hash returns the hash of a password by the method that letters ask for.
func hash(letters, password string) (string, error) {
	m := method('m')
	for _, r := range letters {
		switch r {
		case 'B', '2', '5', 's', 'm', 'p':
			m = method(r)
		case 'b', 'c', 'i':
		default:
			return "", fun.Errorf("option %q of htpasswd is not supported: there are B, 2, 5, s, m and p", string(r))
		}
	}
	switch m {
	case 'B':
		b, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.DefaultCost)
		if err != nil {
			return "", fun.Errorf("%v", err)
		}
		// The version that htpasswd(1) names; the method is the same.
		return strings.Replace(string(b), "$2a$", "$2y$", 1), nil
	case '2':
		return shacrypt.Hash("sha256", password, shacrypt.Salt())
	case '5':
		return shacrypt.Hash("sha512", password, shacrypt.Salt())
	case 's':
		return sha(password), nil
	case 'p':
		return password, nil
	}
	return shacrypt.Apache(password, shacrypt.Salt()[:8]), nil
}

func sha(password string) string {
	sum := sha1.Sum([]byte(password)) // see above
	return "{SHA}" + base64.StdEncoding.EncodeToString(sum[:])
}

// matches reports whether a password has a hash. Text that is not a hash is the password
// itself where plain says so.
func matches(password, kept string, plain bool) bool {
	again := ""
	switch f := strings.Split(kept, "$"); {
	case strings.HasPrefix(kept, "{SHA}"):
		again = sha(password)
	case strings.HasPrefix(kept, "$2"):
		return bcrypt.CompareHashAndPassword([]byte(kept), []byte(password)) == nil
	case strings.HasPrefix(kept, "$apr1$") && len(f) == 4:
		again = shacrypt.Apache(password, f[2])
	case len(f) >= 4 && (f[1] == "5" || f[1] == "6" || f[1] == "1"):
		name := map[string]string{"5": "sha256", "6": "sha512", "1": "md5"}[f[1]]
		again, _ = shacrypt.Hash(name, password, strings.Join(f[2:len(f)-1], "$"))
	case plain:
		again = password
	}
	return again != "" && subtle.ConstantTimeCompare([]byte(again), []byte(kept)) == 1
}

// checkUser refuses a name that cannot be in the file.
func checkUser(user string) error {
	if user == "" || strings.ContainsAny(user, ":\r\n\x00") || len(user) > 255 {
		return fun.Errorf("invalid user name %s", value.Repr(user))
	}
	return nil
}

// done is what cmd.run_all would return for htpasswd(1).
func done(c *fun.Call, retcode int64, said string) *value.Map {
	return value.MapOf("pid", int64(c.Env.Host.Getpid()), "retcode", retcode, "stdout", "", "stderr", said)
}

// find returns the number of the line of a user, -1 where there is none.
func find(lines []string, user string) int {
	for i, line := range lines {
		if strings.HasPrefix(line, user+":") {
			return i
		}
	}
	return -1
}

// useraddArgs are the arguments of useradd and verify.
type useraddArgs struct {
	fileArg
	userArg
	passArg
	optsArg
	runasArg
}

func useradd(_ context.Context, c *fun.Call, args *useraddArgs) (fun.Result, error) {
	h, file, user, password := c.Env.Host, args.Pwfile, args.User, args.Password.V
	if err := checkUser(user); err != nil {
		return fun.Result{}, err
	}
	if strings.ContainsAny(password, "\r\n\x00") {
		return fun.Result{}, fun.Errorf("the password of %s has a line end", user)
	}
	if !args.Password.Given {
		return fun.Result{}, fun.Errorf("a password is needed for user %s", user)
	}
	defer textfile.Lock(c.Env, file)()
	b, err := h.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fun.Result{}, fun.Errorf("%s: %s", file, host.Strerror(err))
	}
	isNew := err != nil
	text, err := hash(args.Opts, password)
	if err != nil {
		return fun.Result{}, err
	}
	lines, said := textfile.Lines(string(b)), "Adding password for user "+user
	if i := find(lines, user); i >= 0 {
		lines[i], said = user+":"+text, "Updating password for user "+user
	} else {
		lines = append(lines, user+":"+text)
	}
	opts := host.WriteOptions{FollowLinks: true}
	if name := args.Runas; name != "" && isNew {
		a, err := h.LookupUser(name)
		if err != nil {
			return fun.Result{}, fun.Errorf("User '%s' is not available", name)
		}
		opts.UID, opts.GID = &a.UID, &a.GID
	}
	if err := h.WriteFile(file, strings.NewReader(textfile.Join(lines)), opts); err != nil {
		return fun.Result{Value: done(c, 1, fmt.Sprintf("htpasswd: cannot create file %s: %s", file, host.Strerror(err))), Retcode: 1}, nil
	}
	return fun.Value(done(c, 0, said))
}

type userdelArgs struct {
	fileArg
	userArg
	_          string `arg:"runas" doc:"accepted; the file keeps its owner"`
	AllResults bool   `arg:"all_results" default:"False" doc:"return retcode, stdout and stderr, not the lines"`
}

func userdel(_ context.Context, c *fun.Call, a *userdelArgs) (fun.Result, error) {
	h, file, user := c.Env.Host, a.Pwfile, a.User
	if err := checkUser(user); err != nil {
		return fun.Result{}, err
	}
	defer textfile.Lock(c.Env, file)()
	b, err := h.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return fun.Value("Error: The specified htpasswd file does not exist")
	}
	if err != nil {
		return fun.Result{}, fun.Errorf("%s: %s", file, host.Strerror(err))
	}
	lines, said, retcode := textfile.Lines(string(b)), "Deleting password for user "+user, int64(0)
	if i := find(lines, user); i < 0 {
		said = "User " + user + " not found"
	} else if err := textfile.Write(h, file, textfile.Join(append(lines[:i:i], lines[i+1:]...))); err != nil {
		said, retcode = fmt.Sprintf("htpasswd: unable to update file %s: %s", file, host.Strerror(err)), 1
	}
	if a.AllResults {
		return fun.Result{Value: done(c, retcode, said), Retcode: int(retcode)}, nil
	}
	return fun.Result{Value: value.Strings(said), Retcode: int(retcode)}, nil
}

// maxCost and maxRounds bound the work of a hash that a file asks for: 2^16 rounds of
// bcrypt, or a few millions of SHA-512, take seconds.
const (
	maxCost   = 16
	maxRounds = 5_000_000
)

// tooDear reports whether a hash asks for more work than that.
func tooDear(kept string) bool {
	f := strings.Split(kept, "$")
	if len(f) < 3 {
		return false
	}
	if text, ok := strings.CutPrefix(f[2], "rounds="); ok {
		n, err := strconv.Atoi(text)
		return err != nil || n > maxRounds
	}
	n, err := strconv.Atoi(f[2])
	return strings.HasPrefix(f[1], "2") && (err != nil || n > maxCost)
}

func verify(_ context.Context, c *fun.Call, a *useraddArgs) (fun.Result, error) {
	b, err := c.Env.Host.ReadFile(a.Pwfile)
	if errors.Is(err, fs.ErrNotExist) {
		return fun.Value(false)
	}
	if err != nil {
		return fun.Result{}, fun.Errorf("%s: %s", a.Pwfile, host.Strerror(err))
	}
	lines := textfile.Lines(string(b))
	i := find(lines, a.User)
	if i < 0 {
		return fun.Value(false)
	}
	_, kept, _ := strings.Cut(lines[i], ":")
	kept, _, _ = strings.Cut(strings.TrimRight(kept, "\r"), ":")
	if tooDear(kept) {
		return fun.Value(false)
	}
	return fun.Value(matches(a.Password.V, kept, strings.Contains(a.Opts, "p")))
}
