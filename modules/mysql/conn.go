package mysql

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"

	driver "github.com/go-sql-driver/mysql"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/core/pkgversion"
	"brine/internal/py/value"
	"brine/modules/machine"
)

// connectTimeout bounds how long a server may take to let brine in.
const connectTimeout = 10 * time.Second

// sockets are where servers of this machine listen, the most common first.
var sockets = [...]string{"/run/mysqld/mysqld.sock", "/var/run/mysqld/mysqld.sock", "/var/lib/mysql/mysql.sock", "/tmp/mysql.sock"}

// A ServerError is an error that the server answered, or why it cannot be reached.
type ServerError struct {
	Number int
	Msg    string
	soft   bool // functions answer False whatever the number
}

func (f *ServerError) Error() string {
	if f.Number == 0 {
		return f.Msg
	}
	return fmt.Sprintf("MySQL Error %d: %s", f.Number, f.Msg)
}

// operational reports whether the server could not do what it was asked, rather
// than not understand it. Salt's functions answer False to the former only.
func (f *ServerError) operational() bool {
	if f.soft {
		return true
	}
	switch f.Number {
	case 1064, 1102, 1103, 1110, 1111, 1113, 1146, 1149, // not SQL, or of what is not there
		1007, 1048, 1062, 1216, 1217, 1451, 1452, // of what exists
		1264, 1265, 1406, // of values
		1235: // not supported
		return false
	}
	return true
}

// Options are the connection arguments of a call: those of Salt's
// **connection_args that were given.
type Options struct {
	kw    *value.Map
	flags []string
}

// OptionsOf returns the connection arguments of a call. Those that are not declared
// count as well.
func OptionsOf(c *fun.Call, a *ConnArgs) Options {
	o := Options{kw: c.Kw.Copy(), flags: a.ClientFlags.V}
	for k, v := range value.MapOf(
		"connection_host", a.ConnectionHost,
		"connection_port", a.ConnectionPort,
		"connection_user", a.ConnectionUser,
		"connection_pass", a.ConnectionPass,
		"connection_db", a.ConnectionDB,
		"connection_unix_socket", a.ConnectionUnixSocket,
		"connection_default_file", a.ConnectionDefaultFile,
		"connection_default_group", a.ConnectionDefaultGroup,
		"connection_charset", a.ConnectionCharset,
		"connection_ssl", a.ConnectionSSL,
	).All() {
		if v != nil {
			o.kw.Set(k, v)
		}
	}
	if a.ClientFlags.Given {
		o.kw.Set("client_flags", value.Strings(o.flags...))
	}
	return o
}

// with returns o with another connection argument.
func (o Options) with(name string, v value.Value) Options {
	o.kw = o.kw.Copy()
	o.kw.Set(name, v)
	return o
}

// settings are the connection arguments after configuration and option files.
type settings struct {
	env  *fun.Env
	kw   *value.Map
	opts bool              // whether configuration counts
	file map[string]string // of an option file
}

// get returns an argument: as given, of configuration, or of the option file.
func (s *settings) get(ctx context.Context, name, inFile string) value.Value {
	if v, ok := s.kw.Get("connection_" + name); ok && value.Truth(v) {
		return v
	}
	if s.opts || name == "charset" {
		if v := machine.Option(ctx, s.env, "mysql."+name); value.Truth(v) {
			return v
		}
	}
	if v := s.file[inFile]; inFile != "" && v != "" {
		return v
	}
	return nil
}

func (s *settings) str(ctx context.Context, name, inFile string) string {
	if v := s.get(ctx, name, inFile); v != nil {
		return value.Str(v)
	}
	return ""
}

// silent keeps the driver from writing to stderr: its errors are returned, too.
type silent struct{}

func (silent) Print(...any) {}

// config returns the driver's configuration, and the host as messages name it.
func config(ctx context.Context, env *fun.Env, o Options) (*driver.Config, string, error) {
	s := &settings{env: env, kw: o.kw, opts: !o.kw.Has("connection_default_file")}
	if file := s.str(ctx, "default_file", ""); file != "" {
		group := s.str(ctx, "default_group", "")
		if group == "" {
			group = "client"
		}
		vals, err := readCnf(env.Host, file, group)
		if err != nil {
			return nil, "", &ServerError{Msg: fmt.Sprintf("MySQL Error: cannot read the option file %s: %s", file, host.Strerror(err))}
		}
		s.file = vals
	}
	c := driver.NewConfig()
	c.Logger = silent{}
	c.DialFunc = env.Host.Dial
	c.User, c.Passwd, c.DBName = s.str(ctx, "user", "user"), s.str(ctx, "pass", "password"), s.str(ctx, "db", "database")
	if c.User == "" {
		if u, err := env.Host.LookupUID(env.Host.Geteuid()); err == nil {
			c.User = u.Name
		}
	}
	flags(env, c, o.flags)
	name, err := address(ctx, env, s, c)
	if err != nil {
		return nil, "", err
	}
	c.TLS, err = s.tls(ctx, name)
	return c, name, err
}

// flags sets what the client flags of Salt mean to the driver. The others say
// what it does anyway.
func flags(env *fun.Env, c *driver.Config, names []string) {
	for _, n := range names {
		switch strings.ToLower(n) {
		case "found_rows":
			c.ClientFoundRows = true
		case "multi_statements":
			c.MultiStatements = true
		case "compress":
			_ = c.Apply(driver.EnableCompression(true))
		case "long_password", "long_flag", "connect_with_db", "no_schema", "odbc", "local_files", "ignore_space", "protocol_41", "interactive", "ssl",
			"ignore_sigpipe", "transactions", "secure_connection", "multi_results", "ps_multi_results", "plugin_auth", "connect_attrs", "plugin_auth_lenenc_client_data":
		default:
			env.Log().Error("mysql: client flag is not valid, ignoring it", "flag", n)
		}
	}
}

// address sets where the server is. A host that is not given or localhost means
// the socket of this machine's server, where there is one and no port is given.
func address(ctx context.Context, env *fun.Env, s *settings, c *driver.Config) (string, error) {
	name, socket := s.str(ctx, "host", "host"), s.str(ctx, "unix_socket", "socket")
	port := s.str(ctx, "port", "port")
	local := name == "" || name == "localhost"
	if socket == "" && local && port == "" {
		for _, p := range sockets {
			if st, err := env.Host.Stat(p); err == nil && !st.Mode.IsRegular() {
				socket = p
				break
			}
		}
	}
	if socket != "" && local {
		c.Net, c.Addr = "unix", socket
		return "localhost", nil
	}
	if local {
		name = "localhost"
	}
	if port == "" {
		port = "3306"
	}
	if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
		return "", &ServerError{Msg: fmt.Sprintf("MySQL Error: invalid port %q", port)}
	}
	c.Net, c.Addr = "tcp", net.JoinHostPort(name, port)
	return name, nil
}

// tls returns the TLS that ssl-ca, ssl-cert and ssl-key of an option file, or the
// mapping connection_ssl, ask for; nil for none.
func (s *settings) tls(ctx context.Context, server string) (*tls.Config, error) {
	files := map[string]string{}
	given, _ := s.get(ctx, "ssl", "").(value.Mapping)
	for _, k := range []string{"ca", "cert", "key"} {
		files[k] = s.file["ssl-"+k]
		if given == nil {
			continue
		}
		if v, ok := given.Get(k); ok && value.Truth(v) {
			files[k] = value.Str(v)
		}
	}
	if files["ca"] == "" && files["cert"] == "" && files["key"] == "" {
		return nil, nil
	}
	c := &tls.Config{ServerName: server, MinVersion: tls.VersionTLS12, InsecureSkipVerify: files["ca"] == ""}
	if files["ca"] != "" {
		pem, err := s.env.Host.ReadFile(files["ca"])
		if err != nil {
			return nil, &ServerError{Msg: fmt.Sprintf("MySQL Error: ssl-ca: %s", host.OSError(err))}
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, &ServerError{Msg: fmt.Sprintf("MySQL Error: no certificate in %s", files["ca"])}
		}
	}
	if files["cert"] == "" {
		return c, nil
	}
	cert, err := s.env.Host.ReadFile(files["cert"])
	if err != nil {
		return nil, &ServerError{Msg: fmt.Sprintf("MySQL Error: ssl-cert: %s", host.OSError(err))}
	}
	key, err := s.env.Host.ReadFile(files["key"])
	if err != nil {
		return nil, &ServerError{Msg: fmt.Sprintf("MySQL Error: ssl-key: %s", host.OSError(err))}
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, &ServerError{Msg: "MySQL Error: ssl-cert, ssl-key: " + err.Error()}
	}
	c.Certificates = []tls.Certificate{pair}
	return c, nil
}

// A Conn is a connection to a server.
type Conn struct {
	Version string // such as "10.11.6-MariaDB"
	MariaDB bool

	env    *fun.Env
	db     *sql.DB
	c      *sql.Conn
	plain  bool   // a backslash in a string is nothing special
	column string // of mysql.user, with the password
}

// Dial connects to the server that the connection arguments name.
func Dial(ctx context.Context, env *fun.Env, o Options) (*Conn, error) {
	cfg, server, err := config(ctx, env, o)
	if err != nil {
		return nil, err
	}
	connector, err := driver.NewConnector(cfg)
	if err != nil {
		return nil, &ServerError{Msg: "MySQL Error: " + err.Error()}
	}
	db := sql.OpenDB(connector)
	conn := &Conn{env: env, db: db}
	short, stop := context.WithTimeout(ctx, connectTimeout)
	defer stop()
	if conn.c, err = db.Conn(short); err == nil {
		err = conn.greet(short)
	}
	if err == nil {
		return conn, nil
	}
	conn.Close()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return nil, unreached(server, err)
}

// DialAs is Dial, and where that fails and password is not empty Dial with that
// password: an earlier run may have set it for the user who connects.
func DialAs(ctx context.Context, env *fun.Env, o Options, password string) (*Conn, error) {
	conn, err := Dial(ctx, env, o)
	if err == nil || password == "" {
		return conn, err
	}
	return Dial(ctx, env, o.with("connection_pass", password))
}

// Close ends the connection.
func (c *Conn) Close() {
	if c.c != nil {
		_ = c.c.Close()
	}
	_ = c.db.Close()
}

// greet asks what the rest depends on.
func (c *Conn) greet(ctx context.Context) error {
	r, err := c.Query(ctx, "SELECT VERSION(), @@sql_mode")
	if err != nil || len(r.Rows) == 0 {
		return err
	}
	c.Version = value.Str(r.Rows[0][0])
	c.MariaDB = strings.Contains(c.Version, "MariaDB")
	c.plain = strings.Contains(value.Str(r.Rows[0][1]), "NO_BACKSLASH_ESCAPES")
	return nil
}

// since reports whether the server has at least a version.
func (c *Conn) since(version string) bool {
	have, _, _ := strings.Cut(c.Version, "-")
	return pkgversion.Loose(have, version) >= 0
}

// unreached says why there is no connection.
func unreached(server string, err error) error {
	if f, ok := errors.AsType[*ServerError](err); ok {
		return f
	}
	if m, ok := errors.AsType[*driver.MySQLError](err); ok {
		return &ServerError{Number: int(m.Number), Msg: m.Message}
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return &ServerError{Number: 2003, Msg: fmt.Sprintf("Can't connect to MySQL server on '%s' (timed out)", server)}
	}
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "dial" {
		return &ServerError{Number: 2003, Msg: fmt.Sprintf("Can't connect to MySQL server on '%s' (%s)", server, host.OSError(op.Err))}
	}
	return fault(err)
}

// fault is an error of a statement.
func fault(err error) error {
	if m, ok := errors.AsType[*driver.MySQLError](err); ok {
		return &ServerError{Number: int(m.Number), Msg: m.Message}
	}
	if errors.Is(err, driver.ErrInvalidConn) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return &ServerError{Number: 2013, Msg: "Lost connection to MySQL server during query"}
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return &ServerError{Msg: "MySQL Error: " + err.Error()}
}
