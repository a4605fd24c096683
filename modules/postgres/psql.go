package postgres

import (
	"context"
	"encoding/csv"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/modules/machine"
	"brine/modules/tool"
)

// psql is run rather than the protocol spoken: peer authentication asks who the
// process is, so a process of the account postgres is needed anyway, and psql
// knows the configuration of that account (pgpass, service files, pg_wrapper).

// An Options is how a server is reached; what is "" comes from the configuration.
type Options struct {
	User, Host, Port, DB, Password string
	RunAs                          string // account that runs psql
}

// In returns o for another database.
func (o Options) In(db string) Options {
	o.DB = db
	return o
}

// A Server is a PostgreSQL server as psql reaches it.
type Server struct {
	env    *fun.Env
	opts   Options
	status int // of the last psql
}

// New returns the server that options and configuration describe.
func New(env *fun.Env, o Options) *Server { return &Server{env: env, opts: o} }

func of(c *fun.Call, o Options) *Server { return New(c.Env, o) }

// option is what config.option returns for a setting, as text.
func option(ctx context.Context, env *fun.Env, name string) string {
	if v := machine.Option(ctx, env, name); v != nil {
		return value.Str(v)
	}
	return ""
}

// program returns the path of a program of PostgreSQL; "" where there is none.
func program(ctx context.Context, env *fun.Env, name string) string {
	if p, err := env.Host.LookPath(name, ""); err == nil {
		return p
	}
	if dir := option(ctx, env, "postgres.bins_dir"); dir != "" {
		if p, err := env.Host.LookPath(name, dir); err == nil {
			return p
		}
	}
	return ""
}

// account returns the account that programs run as: nil where it is one's own.
func account(env *fun.Env, name string) (*host.Account, error) {
	if name == "" {
		return nil, nil
	}
	a, err := env.Host.LookupUser(name)
	if err != nil {
		return nil, fun.Errorf("User '%s' is not available", name)
	}
	if a.UID == env.Host.Geteuid() {
		return nil, nil
	}
	return &a, nil
}

// superuser is the account of the server on this machine.
func superuser(env *fun.Env) string {
	if strings.Contains(machine.Grain(env, "os_family"), "OpenBSD") {
		return "_postgresql"
	}
	return "postgres"
}

// environment is the one of a fresh login of an account.
func environment(h host.Host, a *host.Account) []string {
	path := "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
	for _, kv := range h.Environ() {
		if strings.HasPrefix(kv, "PATH=") {
			path = kv
		}
	}
	env := []string{path, "LC_ALL=C.UTF-8", "PGCLIENTENCODING=UTF8"}
	if a == nil {
		for _, kv := range h.Environ() {
			if k, _, _ := strings.Cut(kv, "="); k == "HOME" || k == "USER" || k == "LOGNAME" {
				env = append(env, kv)
			}
		}
		return env
	}
	return append(env, "HOME="+a.Home, "USER="+a.Name, "LOGNAME="+a.Name, "SHELL="+a.Shell)
}

// timeout is how long a program may take; 0 is for ever.
func timeout(ctx context.Context, env *fun.Env) time.Duration {
	s, _ := strconv.ParseFloat(option(ctx, env, "postgres.timeout"), 64)
	if s <= 0 || s > 1e6 {
		return 0
	}
	return time.Duration(s * float64(time.Second))
}

// psql runs psql. A status other than 0 is not an error.
func (s *Server) psql(ctx context.Context, stdin string, args ...string) (tool.Out, error) {
	bin := program(ctx, s.env, "psql")
	if bin == "" {
		return tool.Out{}, fun.Errorf("psql was not found")
	}
	o := s.opts
	for _, kv := range []struct {
		val  *string
		name string
	}{{&o.User, "user"}, {&o.Host, "host"}, {&o.Port, "port"}, {&o.DB, "maintenance_db"}, {&o.Password, "pass"}} {
		if *kv.val == "" {
			*kv.val = option(ctx, s.env, "postgres."+kv.name)
		}
	}
	if o.DB == "" {
		o.DB = "postgres"
	}
	if o.RunAs == "" && (o.Host == "" || strings.HasPrefix(o.Host, "/")) {
		o.RunAs = superuser(s.env)
	}
	as, err := account(s.env, o.RunAs)
	if err != nil {
		return tool.Out{}, err
	}
	argv := []string{bin, "--no-align", "--no-readline", "--no-psqlrc", "--no-password", "--quiet"}
	for _, kv := range [][2]string{{"username", o.User}, {"host", o.Host}, {"port", o.Port}} {
		if kv[1] != "" {
			argv = append(argv, "--"+kv[0]+"="+kv[1])
		}
	}
	argv = append(append(argv, "--dbname="+dbname(o.DB)), args...)
	env := environment(s.env.Host, as)
	if o.Password != "" {
		env = append(env, "PGPASSWORD="+o.Password)
	}
	how := tool.Options{Env: env, Dir: "/", User: as, Timeout: timeout(ctx, s.env), Name: bin}
	if stdin != "" {
		how.Stdin = strings.NewReader(stdin)
	}
	ret, err := tool.RunWith(ctx, s.env.Host, how, argv...)
	if err != nil {
		return ret, err
	}
	s.status = ret.Status
	if !ret.OK() {
		s.env.Log().Error("postgres: psql failed", "stderr", strings.TrimSpace(ret.Stderr))
	}
	return ret, nil
}

// dbname returns the name of a database as psql takes it: a name that would be
// read as a connection string becomes one that says it is a name.
func dbname(name string) string {
	if !strings.Contains(name, "=") && !strings.HasPrefix(name, "postgres://") && !strings.HasPrefix(name, "postgresql://") {
		return name
	}
	return "dbname='" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(name) + "'"
}

// A PsqlError is what psql says when it fails.
type PsqlError struct{ Out tool.Out }

func (f *PsqlError) Error() string { return f.Out.Fault() }

// Exec runs SQL and reports whether that succeeded; the log has why it did not.
func (s *Server) Exec(ctx context.Context, sql string) (bool, error) {
	out, err := s.psql(ctx, "", "--command="+sql)
	return out.OK() && err == nil, err
}

// ExecSecret is Exec for SQL that has a password, which is not to be seen among
// the arguments of a process.
func (s *Server) ExecSecret(ctx context.Context, sql string) (bool, error) {
	out, err := s.Script(ctx, sql)
	return out.OK() && err == nil, err
}

// Script runs statements in one transaction, up to the first that fails.
func (s *Server) Script(ctx context.Context, sql string) (tool.Out, error) {
	return s.psql(ctx, sql+"\n", "--set=ON_ERROR_STOP=1", "--single-transaction")
}

// Query runs a SELECT and returns its rows. Where psql fails the error is a
// *PsqlError.
func (s *Server) Query(ctx context.Context, sql string) ([]*value.Map, error) {
	return s.query(ctx, sql, false)
}

func (s *Server) query(ctx context.Context, sql string, write bool) ([]*value.Map, error) {
	text := "COPY (" + strings.TrimRight(strings.TrimSpace(sql), ";") + ") TO STDOUT WITH CSV HEADER"
	if write {
		text = "START TRANSACTION READ WRITE; " + text + "; COMMIT TRANSACTION;"
	}
	out, err := s.psql(ctx, "", "--set=datestyle=ISO,MDY", "--command="+text)
	if err != nil {
		return nil, err
	}
	if !out.OK() {
		return nil, &PsqlError{out}
	}
	return rows(out.Stdout)
}

// rows reads CSV with a header.
func rows(text string) ([]*value.Map, error) {
	r := csv.NewReader(strings.NewReader(text))
	r.FieldsPerRecord, r.LazyQuotes = -1, true
	var header []string
	var all []*value.Map
	for {
		rec, err := r.Read()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, fun.Errorf("the output of psql is not CSV: %v", err)
		}
		if header == nil {
			header = rec
			continue
		}
		m := value.NewMap(len(header))
		for i, h := range header {
			if i < len(rec) {
				m.Set(h, rec[i])
			}
		}
		all = append(all, m)
	}
}

// Ident returns a name as SQL writes it.
func Ident(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// Literal returns text as SQL writes it.
func Literal(s string) string {
	s = strings.ReplaceAll(s, "'", "''")
	if strings.Contains(s, `\`) {
		return ` E'` + strings.ReplaceAll(s, `\`, `\\`) + `'`
	}
	return "'" + s + "'"
}

var plainName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_$]*$`) })

// loose returns a name that Salt writes as it is, so that case does not matter:
// quoted where it is not a plain word.
func loose(name string) string {
	if plainName().MatchString(name) {
		return name
	}
	return Ident(name)
}

// array reads an array as the server prints it: {a,"b c"}.
func array(text string) []string {
	text = strings.TrimSpace(text)
	if len(text) < 2 || text[0] != '{' || text[len(text)-1] != '}' {
		return nil
	}
	var out []string
	var b strings.Builder
	quoted, some := false, false
	for i := 1; i < len(text)-1; i++ {
		switch c := text[i]; {
		case c == '\\' && quoted && i+1 < len(text)-1:
			i++
			b.WriteByte(text[i])
		case c == '"':
			quoted = !quoted
		case c == ',' && !quoted:
			out = append(out, b.String())
			b.Reset()
		default:
			b.WriteByte(c)
		}
		some = true
	}
	if !some {
		return nil
	}
	return append(out, b.String())
}
