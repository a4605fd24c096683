package mysql

import (
	"context"
	"crypto/sha1" // mysql_native_password is made of it
	"encoding/hex"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

const nativePlugin = "mysql_native_password"

// A User is an account of a server and how it logs in.
type User struct {
	Name, Host   string
	Password     string
	Hash         string
	HasPassword  bool
	HasHash      bool
	Passwordless bool
	Socket       bool   // logs in as the user of the operating system with its name
	Column       string // of mysql.user with the password; "" is that of the server
	Plugin       string // for a new user
}

// who is the user without what tells how it logs in.
func (u User) who() User { return User{Name: u.Name, Host: u.Host, Column: u.Column} }

func (u User) String() string { return "'" + u.Name + "'@'" + u.Host + "'" }

// socketPlugin is the plugin that asks the operating system who a user is.
func (c *Conn) socketPlugin() string {
	if c.MariaDB {
		return "unix_socket"
	}
	return "auth_socket"
}

// modern reports whether a MySQL server has no function PASSWORD() any more.
func (c *Conn) modern() bool { return !c.MariaDB && c.since("8.0.11") }

// passwordColumn returns the column with the password, quoted.
func (c *Conn) passwordColumn(ctx context.Context, name string) (string, error) {
	if name != "" {
		return Identifier(name), nil
	}
	if c.column == "" {
		r, err := c.Query(ctx, "SELECT column_name FROM information_schema.COLUMNS WHERE table_schema = 'mysql' AND table_name = 'user' AND column_name = 'Password'")
		if err != nil {
			return "", err
		}
		c.column = "`authentication_string`"
		if len(r.Rows) > 0 {
			c.column = "`Password`"
		}
	}
	return c.column, nil
}

// plugin returns the plugin by which a user logs in.
func (c *Conn) plugin(ctx context.Context, u User) string {
	r, err := c.Query(ctx, "SELECT plugin FROM mysql.user WHERE User = ? AND Host = ?", u.Name, u.Host)
	if err != nil || len(r.Rows) == 0 {
		return nativePlugin
	}
	return value.Str(r.Rows[0][0])
}

// nativeHash is what mysql_native_password keeps of a password.
func nativeHash(password string) string {
	once := sha1.Sum([]byte(password)) // so the protocol has it
	twice := sha1.Sum(once[:])         // so the protocol has it
	return "*" + strings.ToUpper(hex.EncodeToString(twice[:]))
}

// UserExists reports whether there is a user, and where u says how it logs in
// whether it does so. The password of a plugin other than mysql_native_password
// cannot be compared on MySQL 8: then it is taken for the right one.
func (c *Conn) UserExists(ctx context.Context, u User) (bool, error) {
	text, args := "SELECT User, Host FROM mysql.user WHERE User = ? AND Host = ?", []string{u.Name, u.Host}
	column, err := c.passwordColumn(ctx, u.Column)
	if err != nil {
		return false, err
	}
	switch {
	case u.Passwordless && u.Socket:
		text, args = text+" AND plugin = ?", append(args, c.socketPlugin())
	case u.Passwordless:
		text += " AND " + column + " = ''"
	case u.Password != "" && c.modern():
		if c.plugin(ctx, u) == nativePlugin {
			text, args = text+" AND "+column+" = ?", append(args, nativeHash(u.Password))
		} else {
			c.env.Log().Error("mysql: unable to verify password", "user", u.String())
		}
	case u.Password != "":
		text, args = text+" AND "+column+" = PASSWORD(?)", append(args, u.Password)
	case u.Hash != "":
		text, args = text+" AND "+column+" = ?", append(args, u.Hash)
	}
	r, err := c.Query(ctx, text, args...)
	return err == nil && len(r.Rows) == 1, err
}

// socketLogin checks that a user may log in by the operating system's word.
func (c *Conn) socketLogin(ctx context.Context, u User) error {
	status, err := c.pluginStatus(ctx, c.socketPlugin())
	switch {
	case err != nil:
		return err
	case status == "":
		return &ServerError{Msg: "The " + c.socketPlugin() + " plugin is not enabled."}
	case u.Host != "localhost":
		return &ServerError{Msg: "Auth via unix_socket can be set only for host=localhost"}
	}
	return nil
}

// identified returns the clause of CREATE USER that says how u logs in.
func (c *Conn) identified(ctx context.Context, u User) (string, []string, error) {
	secret, is := u.Password, "BY"
	if !u.HasPassword {
		secret, is = u.Hash, "AS"
	}
	switch {
	case u.Socket:
		with := " IDENTIFIED WITH "
		if c.MariaDB {
			with = " IDENTIFIED VIA "
		}
		return with + c.socketPlugin(), nil, c.socketLogin(ctx, u)
	case u.Passwordless:
		return "", nil, nil
	case !u.HasPassword && !u.HasHash:
		return "", nil, errNoPassword
	case c.modern():
		return " IDENTIFIED WITH ? " + is + " ?", []string{u.Plugin, secret}, nil
	case u.HasPassword:
		return " IDENTIFIED BY ?", []string{secret}, nil
	}
	return " IDENTIFIED BY PASSWORD ?", []string{secret}, nil
}

// A RefusedError is why brine does not even ask the server: functions log it and
// answer False.
type RefusedError string

func (r RefusedError) Error() string { return string(r) }

const errNoPassword = RefusedError("password or password_hash must be specified, unless allow_passwordless=True")

// CreateUser creates a user. It reports false where there is one already.
func (c *Conn) CreateUser(ctx context.Context, u User) (bool, error) {
	if have, err := c.UserExists(ctx, u.who()); have || err != nil {
		return false, err
	}
	clause, args, err := c.identified(ctx, u)
	if err != nil {
		return false, err
	}
	if _, err := c.Query(ctx, "CREATE USER ?@?"+clause, append([]string{u.Name, u.Host}, args...)...); err != nil {
		return false, err
	}
	u.Passwordless, u.Socket = false, false
	return c.UserExists(ctx, u)
}

// Chpass sets how a user logs in. It reports false where there is no such user,
// or on old servers where nothing changed.
func (c *Conn) Chpass(ctx context.Context, u User) (bool, error) {
	if have, err := c.UserExists(ctx, u.who()); !have || err != nil {
		return false, err
	}
	if !u.HasPassword && !u.HasHash && !u.Passwordless {
		return false, errNoPassword
	}
	column, err := c.passwordColumn(ctx, u.Column)
	if err != nil {
		return false, err
	}
	u.Plugin = c.plugin(ctx, u)
	if u.Passwordless && u.Socket {
		if u.Host == "localhost" {
			if err := c.socketLogin(ctx, u); err != nil {
				return false, err
			}
		} else {
			c.env.Log().Error("mysql: auth via unix_socket can be set only for host=localhost")
			u.Socket = false
		}
	}
	text, args := c.chpassSQL(u, column)
	r, err := c.Query(ctx, text, args...)
	if err != nil {
		return false, err
	}
	alters := strings.HasPrefix(text, "ALTER")
	if !alters && r.Affected == 0 {
		return false, nil
	}
	_, err = c.Raw(ctx, "FLUSH PRIVILEGES")
	return err == nil, err
}

// chpassSQL returns the statement that sets how a user logs in.
func (c *Conn) chpassSQL(u User, column string) (string, []string) {
	secret, as := "''", []string(nil)
	switch {
	case u.HasPassword && c.modern():
		secret, as = "?", []string{u.Password}
	case u.HasPassword:
		secret, as = "PASSWORD(?)", []string{u.Password}
	case u.HasHash:
		secret, as = "?", []string{u.Hash}
	}
	socket := u.Passwordless && u.Socket
	who := []string{u.Name, u.Host}
	switch {
	case c.modern() && socket:
		return "ALTER USER ?@? IDENTIFIED WITH ? AS ?", append(who, c.socketPlugin(), u.Name)
	case c.modern() && u.HasPassword:
		return "ALTER USER ?@? IDENTIFIED WITH ? BY ?", append(who, u.Plugin, u.Password)
	case c.modern() && u.HasHash:
		return "ALTER USER ?@? IDENTIFIED WITH ? AS ?", append(who, u.Plugin, u.Hash)
	case c.modern():
		return "ALTER USER ?@? IDENTIFIED WITH ?", append(who, u.Plugin)
	case c.MariaDB && c.since("10.4") && socket:
		return "ALTER USER ?@? IDENTIFIED VIA ?", append(who, c.socketPlugin())
	case c.MariaDB && c.since("10.4"):
		return "ALTER USER ?@? IDENTIFIED VIA ? USING " + secret, append(append(who, u.Plugin), as...)
	case socket:
		return "UPDATE mysql.user SET " + column + " = " + secret + ", plugin = ? WHERE User = ? AND Host = ?", append(append(as, c.socketPlugin()), who...)
	}
	return "UPDATE mysql.user SET " + column + " = " + secret + " WHERE User = ? AND Host = ?", append(as, who...)
}

// RemoveUser removes a user. It reports false where there is none.
func (c *Conn) RemoveUser(ctx context.Context, u User) (bool, error) {
	if have, err := c.UserExists(ctx, u.who()); !have || err != nil {
		return false, err
	}
	if _, err := c.Query(ctx, "DROP USER ?@?", u.Name, u.Host); err != nil {
		return false, err
	}
	have, err := c.UserExists(ctx, u.who())
	return !have && err == nil, err
}

// refused makes an answer of a refusal.
func refused(c *fun.Call, ok bool, err error) (value.Value, error) {
	if r, is := err.(RefusedError); is { //nolint:errorlint // a refusal is never wrapped
		c.Env.Log().Error("mysql: " + string(r))
		return false, nil
	}
	return ok, err
}

type userCreateArgs struct {
	userArg
	hostArg
	passwordArg
	hashArg
	allowArg
	socketArg
	columnArg
	AuthPlugin string `arg:"auth_plugin" default:"mysql_native_password" doc:"authentication plugin on MySQL 8"`
	ConnArgs
	_ fun.Kwargs
}

func userCreate(ctx context.Context, c *fun.Call, a *userCreateArgs) (fun.Result, error) {
	return callAs(ctx, c, &a.ConnArgs, a.Password.V, false, func(ctx context.Context, conn *Conn) (value.Value, error) {
		ok, err := conn.CreateUser(ctx, User{
			Name: a.User, Host: a.Host, Password: a.Password.V, HasPassword: a.Password.Given, Hash: a.PasswordHash.V, HasHash: a.PasswordHash.Given,
			Passwordless: a.AllowPasswordless, Socket: a.UnixSocket, Column: a.PasswordColumn, Plugin: a.AuthPlugin,
		})
		return refused(c, ok, err)
	})
}

type userChpassArgs struct {
	userArg
	hostArg
	passwordArg
	hashArg
	allowArg
	UnixSocket bool `arg:"unix_socket" doc:"with allow_passwordless, log in as the operating system user of that name"`
	columnArg
	ConnArgs
	_ fun.Kwargs
}

func userChpass(ctx context.Context, c *fun.Call, a *userChpassArgs) (fun.Result, error) {
	return callAs(ctx, c, &a.ConnArgs, a.Password.V, false, func(ctx context.Context, conn *Conn) (value.Value, error) {
		ok, err := conn.Chpass(ctx, User{
			Name: a.User, Host: a.Host, Password: a.Password.V, HasPassword: a.Password.Given, Hash: a.PasswordHash.V, HasHash: a.PasswordHash.Given,
			Passwordless: a.AllowPasswordless, Socket: a.UnixSocket, Column: a.PasswordColumn, Plugin: nativePlugin,
		})
		return refused(c, ok, err)
	})
}

type userExistsArgs struct {
	userArg
	hostArg
	passwordArg
	hashArg
	Passwordless bool `arg:"passwordless" default:"False" doc:"check for a login without a password"`
	socketArg
	columnArg
	ConnArgs
	_ fun.Kwargs
}

func userExists(ctx context.Context, c *fun.Call, a *userExistsArgs) (fun.Result, error) {
	return callAs(ctx, c, &a.ConnArgs, a.Password.V, false, func(ctx context.Context, conn *Conn) (value.Value, error) {
		return conn.UserExists(ctx, User{
			Name: a.User, Host: a.Host, Password: a.Password.V, HasPassword: a.Password.Given, Hash: a.PasswordHash.V, HasHash: a.PasswordHash.Given,
			Passwordless: a.Passwordless, Socket: a.UnixSocket, Column: a.PasswordColumn, Plugin: nativePlugin,
		})
	})
}

func userRemove(ctx context.Context, c *fun.Call, a *userGrantsArgs) (fun.Result, error) {
	return call(ctx, c, &a.ConnArgs, false, func(ctx context.Context, conn *Conn) (value.Value, error) {
		return conn.RemoveUser(ctx, User{Name: a.User, Host: a.Host})
	})
}

func userInfo(ctx context.Context, c *fun.Call, a *userGrantsArgs) (fun.Result, error) {
	return call(ctx, c, &a.ConnArgs, false, func(ctx context.Context, conn *Conn) (value.Value, error) {
		r, err := conn.Query(ctx, "SELECT * FROM mysql.user WHERE User = ? AND Host = ?", a.User, a.Host)
		if err != nil || len(r.Rows) == 0 {
			return nil, err
		}
		return r.dict(r.Rows[0]), nil
	})
}

func userList(ctx context.Context, c *fun.Call, a *dbListArgs) (fun.Result, error) {
	return call(ctx, c, &a.ConnArgs, value.NewList(), func(ctx context.Context, conn *Conn) (value.Value, error) {
		return dicts(conn.Query(ctx, "SELECT User, Host FROM mysql.user"))
	})
}

func dicts(r *Rows, err error) (value.Value, error) {
	if err != nil {
		return nil, err
	}
	return r.Dicts(), nil
}

type verifyLoginArgs struct {
	userArg
	passwordArg
	ConnArgs
	_ fun.Kwargs
}

func verifyLogin(ctx context.Context, c *fun.Call, a *verifyLoginArgs) (fun.Result, error) {
	o := OptionsOf(c, &a.ConnArgs).with("connection_user", a.User).with("connection_pass", a.Password.V)
	conn, err := Dial(ctx, c.Env, o)
	if err != nil {
		return fun.Value(false)
	}
	conn.Close()
	return fun.Value(true)
}
