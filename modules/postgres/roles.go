package postgres

import (
	"context"
	"crypto/hmac"
	"crypto/md5" // the server's md5 method is made of it
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"golang.org/x/text/unicode/norm"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// Methods by which the server keeps passwords.
const (
	MD5   = "md5"
	SCRAM = "scram-sha-256"
	Plain = "plain"
)

// Method returns the method that the argument encrypted names.
func Method(v value.Value) (string, error) {
	switch v {
	case nil, true, "md5":
		return MD5, nil
	case false:
		return Plain, nil
	case "scram-sha-256":
		return SCRAM, nil
	}
	return "", fun.Errorf("Unknown password algorithm: %s", value.Str(v))
}

func md5Password(role, password string) string {
	sum := md5.Sum([]byte(password + role)) // so the server has it
	return "md5" + hex.EncodeToString(sum[:])
}

// prepared is a password as SASLprep makes it (RFC 4013): a password that it does
// not allow stays as it is, as with PostgreSQL.
func prepared(password string) string {
	mapped := strings.Map(func(r rune) rune {
		switch {
		case r == 0xad, r == 0x34f, r == 0x1806, r >= 0x180b && r <= 0x180d, r >= 0x200b && r <= 0x200d, r == 0x2060, r >= 0xfe00 && r <= 0xfe0f, r == 0xfeff:
			return -1
		case r == 0xa0, r == 0x1680, r >= 0x2000 && r <= 0x200a, r == 0x202f, r == 0x205f, r == 0x3000:
			return ' '
		}
		return r
	}, password)
	out := norm.NFKC.String(mapped)
	for _, r := range out {
		if r < 0x20 || r >= 0x7f && r < 0xa0 || r == 0xfffd {
			return password
		}
	}
	return out
}

// scramPassword returns the verifier of a password.
func scramPassword(password string, salt []byte, iterations int) (string, error) {
	salted, err := pbkdf2.Key(sha256.New, prepared(password), salt, iterations, sha256.Size)
	if err != nil {
		return "", err
	}
	mac := func(text string) []byte {
		h := hmac.New(sha256.New, salted)
		h.Write([]byte(text))
		return h.Sum(nil)
	}
	stored := sha256.Sum256(mac("Client Key"))
	b64 := base64.StdEncoding.EncodeToString
	return fmt.Sprintf("SCRAM-SHA-256$%d:%s$%s:%s", iterations, b64(salt), b64(stored[:]), b64(mac("Server Key"))), nil
}

// Encrypt returns a password as the server is to keep it. One that is encrypted
// already stays.
func Encrypt(role, password, method string) (string, error) {
	switch {
	case method == SCRAM && !strings.HasPrefix(password, "SCRAM-SHA-256"):
		salt := make([]byte, 16)
		if _, err := rand.Read(salt); err != nil {
			return "", err
		}
		return scramPassword(password, salt, 4096)
	case method == MD5 && !strings.HasPrefix(password, "md5"):
		return md5Password(role, password), nil
	}
	return password, nil
}

// maxIterations bounds the work that a verifier of a server may ask for.
const maxIterations = 10_000_000

// Matches reports whether the server keeps a password.
func Matches(role, password, verifier, method string) bool {
	switch {
	case method == MD5 && !strings.HasPrefix(password, "md5"):
		return verifier == md5Password(role, password)
	case method == SCRAM && !strings.HasPrefix(password, "SCRAM-SHA-256"):
		rest, ok := strings.CutPrefix(verifier, "SCRAM-SHA-256$")
		head, _, _ := strings.Cut(rest, "$")
		count, salt, ok2 := strings.Cut(head, ":")
		n, err := strconv.Atoi(count)
		raw, err2 := base64.StdEncoding.DecodeString(salt)
		if !ok || !ok2 || err != nil || err2 != nil || n < 1 || n > maxIterations {
			return false
		}
		want, err := scramPassword(password, raw, n)
		return err == nil && want == verifier
	}
	return verifier == password
}

var roleFlags = [...]string{"superuser", "inherits privileges", "can create roles", "can create databases", "can update system catalogs", "can login", "replication", "connections"}

// Roles returns the roles of the server by name.
func (s *Server) Roles(ctx context.Context, password bool) (*value.Map, error) {
	rows, err := s.Query(ctx, rolesSQL("NULL", "pg_roles.rolreplication", password))
	if old, ok := errors.AsType[*PsqlError](err); ok && strings.Contains(old.Out.Stderr, "rolreplication") {
		rows, err = s.Query(ctx, rolesSQL("pg_roles.rolcatupdate", "NULL", password))
	}
	if err != nil {
		return nil, err
	}
	out := value.NewMap(len(rows))
	for _, row := range rows {
		m := value.NewMap(len(roleFlags) + 4)
		for _, k := range roleFlags {
			m.Set(k, map[value.Value]value.Value{"t": true, "f": false}[row.At(k)])
		}
		m.Set("expiry time", nil)
		if t, err := time.Parse(time.DateTime, row.Str("expiry time")); err == nil {
			m.Set("expiry time", t)
		}
		m.Set("defaults variables", row.At("defaults variables"))
		if password {
			m.Set("password", row.At("password"))
		}
		m.Set("groups", value.Strings(array(row.Str("groups"))...))
		out.Set(row.Str("name"), m)
	}
	return out, nil
}

func rolesSQL(catupdate, replication string, password bool) string {
	pass, join := "", ""
	if password {
		pass = `, COALESCE(pg_shadow.passwd, pg_authid.rolpassword) AS "password"`
		join = " LEFT JOIN pg_authid ON pg_roles.oid = pg_authid.oid LEFT JOIN pg_shadow ON pg_roles.oid = pg_shadow.usesysid"
	}
	return `SELECT pg_roles.rolname AS "name", pg_roles.rolsuper AS "superuser", pg_roles.rolinherit AS "inherits privileges",` +
		` pg_roles.rolcreaterole AS "can create roles", pg_roles.rolcreatedb AS "can create databases", ` + catupdate + ` AS "can update system catalogs",` +
		` pg_roles.rolcanlogin AS "can login", ` + replication + ` AS "replication", pg_roles.rolconnlimit AS "connections",` +
		` (SELECT array_agg(r.rolname) FROM pg_catalog.pg_auth_members m JOIN pg_catalog.pg_roles r ON (m.roleid = r.oid) WHERE m.member = pg_roles.oid) AS "groups",` +
		` pg_roles.rolvaliduntil::timestamp(0) AS "expiry time", pg_roles.rolconfig AS "defaults variables"` + pass + ` FROM pg_roles` + join
}

// Role returns one role; nil where there is none.
func (s *Server) Role(ctx context.Context, name string, password bool) (*value.Map, error) {
	all, err := s.Roles(ctx, password)
	if err != nil {
		return nil, err
	}
	return all.Map(name), nil
}

// A Role is what a role is to be. What is nil stays as it is, or as the server
// makes it.
type Role struct {
	Name                                                         string
	Inherit, CreateDB, CreateRole, Superuser, Replication, Login *bool
	ConnLimit                                                    *int64
	Method                                                       string
	Password                                                     *string // "" is none
	NoPassword                                                   bool
	ValidUntil                                                   string
	Groups                                                       []string
}

// RoleArgs are the arguments about a role; what is not given is up to the server.
type RoleArgs struct {
	Name                                                          string
	Inherit, CreateDB, CreateRoles, Superuser, Replication, Login fun.Opt[bool]
	ConnLimit                                                     fun.Opt[int64]
	Encrypted, Password                                           value.Value
	ValidUntil                                                    string
	Groups                                                        []string
}

// Role returns the role of a wish.
func (w *RoleArgs) Role() (*Role, error) {
	method, err := Method(w.Encrypted)
	if err != nil {
		return nil, err
	}
	r := &Role{
		Name: w.Name, Inherit: given(w.Inherit), CreateDB: given(w.CreateDB), CreateRole: given(w.CreateRoles), Superuser: given(w.Superuser),
		Replication: given(w.Replication), Login: given(w.Login), ConnLimit: given(w.ConnLimit), Method: method, ValidUntil: w.ValidUntil, Groups: w.Groups,
	}
	switch v := w.Password.(type) {
	case nil:
	case bool:
		r.NoPassword = !v
	default:
		if s := value.Str(v); s != "" {
			r.Password = &s
		}
	}
	return r, nil
}

// given returns an argument, or nil where it is not given.
func given[T any](o fun.Opt[T]) *T {
	if !o.Given {
		return nil
	}
	return &o.V
}

// clauses returns the options of CREATE ROLE and ALTER ROLE, and the statements
// that follow. have is the role as it is, nil for a new one.
func (r *Role) clauses(have *value.Map) (string, error) {
	var out []string
	flag := func(name string, v *bool) {
		switch {
		case v == nil:
		case *v:
			out = append(out, name)
		default:
			out = append(out, "NO"+name)
		}
	}
	flag("INHERIT", r.Inherit)
	flag("CREATEDB", r.CreateDB)
	flag("CREATEROLE", r.CreateRole)
	if have == nil || r.Superuser != nil && have.At("superuser") != *r.Superuser {
		flag("SUPERUSER", r.Superuser)
	}
	flag("REPLICATION", r.Replication)
	flag("LOGIN", r.Login)
	if r.ConnLimit != nil {
		out = append(out, "CONNECTION LIMIT "+strconv.FormatInt(*r.ConnLimit, 10))
	}
	switch {
	case r.Password != nil:
		p, err := Encrypt(r.Name, *r.Password, r.Method)
		if err != nil {
			return "", err
		}
		word := "ENCRYPTED PASSWORD "
		if r.Method == Plain {
			word = "UNENCRYPTED PASSWORD "
		}
		out = append(out, word+Literal(p))
	case r.NoPassword:
		out = append(out, "PASSWORD NULL")
	}
	if r.ValidUntil != "" {
		out = append(out, "VALID UNTIL "+Literal(r.ValidUntil))
	}
	text := ""
	if len(out) > 0 {
		text = " WITH " + strings.Join(out, " ")
	}
	for _, g := range r.Groups {
		text += "; GRANT " + Ident(g) + " TO " + Ident(r.Name)
	}
	return text, nil
}

// CreateRole creates a role. It reports false where there is one already, or
// where it cannot be created.
func (s *Server) CreateRole(ctx context.Context, r *Role, kind string) (bool, error) {
	have, err := s.Role(ctx, r.Name, false)
	if have != nil || err != nil {
		return false, err
	}
	yes, login := true, kind == "user"
	if r.Inherit == nil {
		r.Inherit = &yes
	}
	if r.Login == nil {
		r.Login = &login
	}
	text, err := r.clauses(nil)
	if err != nil {
		return false, err
	}
	return s.ExecSecret(ctx, "CREATE ROLE "+Ident(r.Name)+text+";")
}

// UpdateRole changes a role. It reports false where there is none, or where it
// cannot be changed.
func (s *Server) UpdateRole(ctx context.Context, r *Role) (bool, error) {
	have, err := s.Role(ctx, r.Name, false)
	if have == nil || err != nil {
		return false, err
	}
	text, err := r.clauses(have)
	if err != nil {
		return false, err
	}
	return s.ExecSecret(ctx, "ALTER ROLE "+Ident(r.Name)+text+";")
}

// RemoveRole removes a role. It reports false where there is none, or where it
// cannot be removed.
func (s *Server) RemoveRole(ctx context.Context, name string) (bool, error) {
	have, err := s.Role(ctx, name, false)
	if have == nil || err != nil {
		return false, err
	}
	return s.Exec(ctx, "DROP ROLE "+Ident(name))
}

// answer makes none of what psql says when it fails: the log has that. The status
// of the return is that of the last psql.
func (s *Server) answer(v, none value.Value, err error) (fun.Result, error) {
	if _, failed := errors.AsType[*PsqlError](err); failed {
		v, err = none, nil
	}
	return fun.Result{Value: v, Retcode: s.status}, err
}

type groupCreateArgs struct {
	groupnameArg
	serverArgs
	createdbArg
	createrolesArg
	encryptedArg
	loginArg
	inheritArg
	superuserArg
	replicationArg
	rolepasswordArg
	groupsArg
	runasArg
}

func groupCreate(ctx context.Context, c *fun.Call, a *groupCreateArgs) (fun.Result, error) {
	return create(ctx, of(c, a.as(a.RunAs)), "group", &RoleArgs{
		Name: a.Groupname, Inherit: a.Inherit, CreateDB: a.CreateDB, CreateRoles: a.CreateRoles, Superuser: a.Superuser, Replication: a.Replication,
		Login: a.Login, Encrypted: a.Encrypted, Password: a.RolePassword, Groups: a.Groups,
	})
}

type userCreateArgs struct {
	usernameArg
	serverArgs
	createdbArg
	createrolesArg
	inheritArg
	loginArg
	ConnLimit fun.Opt[int64] `arg:"connlimit" doc:"how many connections it may have; -1 removes the limit"`
	encryptedArg
	superuserArg
	replicationArg
	rolepasswordArg
	ValidUntil string `arg:"valid_until" doc:"time until which the password is valid"`
	groupsArg
	runasArg
}

func userCreate(ctx context.Context, c *fun.Call, a *userCreateArgs) (fun.Result, error) {
	return create(ctx, of(c, a.as(a.RunAs)), "user", &RoleArgs{
		Name: a.Username, Inherit: a.Inherit, CreateDB: a.CreateDB, CreateRoles: a.CreateRoles, Superuser: a.Superuser, Replication: a.Replication,
		Login: a.Login, ConnLimit: a.ConnLimit, Encrypted: a.Encrypted, Password: a.RolePassword, ValidUntil: a.ValidUntil, Groups: a.Groups,
	})
}

type groupUpdateArgs struct {
	groupnameArg
	serverArgs
	createdbArg
	createrolesArg
	encryptedArg
	inheritArg
	loginArg
	superuserArg
	replicationArg
	rolepasswordArg
	groupsArg
	runasArg
}

func groupUpdate(ctx context.Context, c *fun.Call, a *groupUpdateArgs) (fun.Result, error) {
	return update(ctx, of(c, a.as(a.RunAs)), &RoleArgs{
		Name: a.Groupname, Inherit: a.Inherit, CreateDB: a.CreateDB, CreateRoles: a.CreateRoles, Superuser: a.Superuser, Replication: a.Replication,
		Login: a.Login, Encrypted: a.Encrypted, Password: a.RolePassword, Groups: a.Groups,
	})
}

type userUpdateArgs struct {
	usernameArg
	serverArgs
	createdbArg
	createrolesArg
	encryptedArg
	superuserArg
	inheritArg
	loginArg
	ConnLimit fun.Opt[int64] `arg:"connlimit" doc:"how many connections it may have; -1 removes the limit"`
	replicationArg
	rolepasswordArg
	ValidUntil string `arg:"valid_until" doc:"time until which the password is valid"`
	groupsArg
	runasArg
}

func userUpdate(ctx context.Context, c *fun.Call, a *userUpdateArgs) (fun.Result, error) {
	return update(ctx, of(c, a.as(a.RunAs)), &RoleArgs{
		Name: a.Username, Inherit: a.Inherit, CreateDB: a.CreateDB, CreateRoles: a.CreateRoles, Superuser: a.Superuser, Replication: a.Replication,
		Login: a.Login, ConnLimit: a.ConnLimit, Encrypted: a.Encrypted, Password: a.RolePassword, ValidUntil: a.ValidUntil, Groups: a.Groups,
	})
}

func create(ctx context.Context, s *Server, kind string, w *RoleArgs) (fun.Result, error) {
	r, err := w.Role()
	if err != nil {
		return fun.Result{}, err
	}
	ok, err := s.CreateRole(ctx, r, kind)
	return s.answer(ok, false, err)
}

func update(ctx context.Context, s *Server, w *RoleArgs) (fun.Result, error) {
	r, err := w.Role()
	if err != nil {
		return fun.Result{}, err
	}
	ok, err := s.UpdateRole(ctx, r)
	return s.answer(ok, false, err)
}

type groupRemoveArgs struct {
	groupnameArg
	connArgs
}

func groupRemove(ctx context.Context, c *fun.Call, a *groupRemoveArgs) (fun.Result, error) {
	s := of(c, a.options())
	ok, err := s.RemoveRole(ctx, a.Groupname)
	return s.answer(ok, false, err)
}

type userRemoveArgs struct {
	usernameArg
	connArgs
}

func userRemove(ctx context.Context, c *fun.Call, a *userRemoveArgs) (fun.Result, error) {
	s := of(c, a.options())
	ok, err := s.RemoveRole(ctx, a.Username)
	return s.answer(ok, false, err)
}

type userListArgs struct {
	connArgs
	ReturnPassword bool `arg:"return_password" default:"False" doc:"return the passwords as the server keeps them"`
}

func userList(ctx context.Context, c *fun.Call, a *userListArgs) (fun.Result, error) {
	s := of(c, a.options())
	m, err := s.Roles(ctx, a.ReturnPassword)
	return s.answer(m, false, err)
}

type roleGetArgs struct {
	roleArg
	connArgs
	ReturnPassword bool `arg:"return_password" default:"False" doc:"return the passwords as the server keeps them"`
}

func roleGet(ctx context.Context, c *fun.Call, a *roleGetArgs) (fun.Result, error) {
	s := of(c, a.options())
	m, err := s.Role(ctx, a.Name, a.ReturnPassword)
	if m == nil {
		return s.answer(nil, nil, err)
	}
	return s.answer(m, nil, err)
}

type userExistsArgs struct {
	roleArg
	connArgs
}

func userExists(ctx context.Context, c *fun.Call, a *userExistsArgs) (fun.Result, error) {
	s := of(c, a.options())
	m, err := s.Role(ctx, a.Name, false)
	return s.answer(m != nil, false, err)
}
