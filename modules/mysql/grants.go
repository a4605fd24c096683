package mysql

import (
	"context"
	"errors"
	"slices"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// privileges are what may be granted, sorted.
var privileges = [...]string{
	"ALL PRIVILEGES", "ALTER", "ALTER ROUTINE", "BACKUP_ADMIN", "BINLOG ADMIN", "BINLOG MONITOR", "BINLOG REPLAY", "BINLOG_ADMIN",
	"CONNECTION ADMIN", "CONNECTION_ADMIN", "CREATE", "CREATE ROLE", "CREATE ROUTINE", "CREATE TABLESPACE", "CREATE TEMPORARY TABLES",
	"CREATE USER", "CREATE VIEW", "DELETE", "DELETE HISTORY", "DROP", "DROP ROLE", "ENCRYPTION_KEY_ADMIN", "EVENT", "EXECUTE",
	"FEDERATED ADMIN", "FILE", "GRANT OPTION", "GROUP_REPLICATION_ADMIN", "INDEX", "INSERT", "LOCK TABLES", "PERSIST_RO_VARIABLES_ADMIN",
	"PROCESS", "READ_ONLY ADMIN", "REFERENCES", "RELOAD", "REPLICA MONITOR", "REPLICATION CLIENT", "REPLICATION MASTER ADMIN",
	"REPLICATION REPLICA", "REPLICATION SLAVE", "REPLICATION SLAVE ADMIN", "REPLICATION_SLAVE_ADMIN", "RESOURCE_GROUP_ADMIN",
	"RESOURCE_GROUP_USER", "ROLE_ADMIN", "SELECT", "SET USER", "SET_USER_ID", "SHOW DATABASES", "SHOW VIEW", "SHUTDOWN", "SLAVE MONITOR",
	"SUPER", "SYSTEM_VARIABLES_ADMIN", "TRIGGER", "UPDATE", "USAGE", "XA_RECOVER_ADMIN",
}

// allOfMySQL8 are what MySQL 8 makes of ALL PRIVILEGES on *.*.
var allOfMySQL8 = [...]string{
	"ALTER", "ALTER ROUTINE", "BACKUP_ADMIN", "BINLOG_ADMIN", "CONNECTION_ADMIN", "CREATE", "CREATE ROLE", "CREATE ROUTINE", "CREATE TABLESPACE",
	"CREATE TEMPORARY TABLES", "CREATE USER", "CREATE VIEW", "DELETE", "DROP", "DROP ROLE", "ENCRYPTION_KEY_ADMIN", "EVENT", "EXECUTE", "FILE",
	"GROUP_REPLICATION_ADMIN", "INDEX", "INSERT", "LOCK TABLES", "PERSIST_RO_VARIABLES_ADMIN", "PROCESS", "REFERENCES", "RELOAD",
	"REPLICATION CLIENT", "REPLICATION SLAVE", "REPLICATION_SLAVE_ADMIN", "RESOURCE_GROUP_ADMIN", "RESOURCE_GROUP_USER", "ROLE_ADMIN", "SELECT",
	"SET_USER_ID", "SHOW DATABASES", "SHOW VIEW", "SHUTDOWN", "SUPER", "SYSTEM_VARIABLES_ADMIN", "TRIGGER", "UPDATE", "XA_RECOVER_ADMIN",
}

// A Grant is what a user may do with a part of the server.
type Grant struct {
	Privileges string // "SELECT, INSERT (a, b)"
	Database   string // "db.*", "db.table", "*.*"
	User       User
	Option     bool // may pass it on
	Raw        bool // Database is SQL already
	SSL        value.Value
}

// A Tokens is a GRANT statement taken apart.
type Tokens struct {
	User, Host, Database string
	Grants               []string
}

// Value is what mysql.tokenize_grant returns.
func (t Tokens) Value() *value.Map {
	return value.MapOf("user", t.User, "host", t.Host, "grant", value.Strings(t.Grants...), "database", t.Database)
}

var errGrant = errors.New("not a GRANT statement")

// words splits SQL into words, quoted names and single characters. A backtick
// within a name, which is doubled, ends one word and begins the next.
func words(s string) ([]string, error) {
	var out []string
	word := func(c byte) bool {
		return c == '_' || c == '"' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
	}
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case strings.IndexByte(" \t\r\n", c) >= 0:
			i++
		case c == '\'' || c == '`':
			end := strings.IndexByte(s[i+1:], c)
			if end < 0 {
				return nil, errGrant
			}
			out = append(out, s[i:i+end+2])
			i += end + 2
		case word(c):
			j := i + 1
			for j < len(s) && (word(s[j]) || s[j] == '\'' || s[j] == '`') {
				j++
			}
			out = append(out, s[i:j])
			i = j
		default:
			out = append(out, s[i:i+1])
			i++
		}
	}
	return out, nil
}

// Tokenize takes a GRANT statement apart.
func Tokenize(grant string) (Tokens, error) {
	var t Tokens
	all, err := words(grant)
	if err != nil || len(all) < 2 {
		return t, errGrant
	}
	on := slices.Index(all[1:], "ON") + 1
	if on == 0 {
		on = len(all)
	}
	t.Grants = privilegesOf(all[1:on])
	if on == len(all) {
		return t, nil
	}
	rest := all[on+1:]
	to := slices.Index(rest, "TO")
	if to < 0 {
		to = len(rest)
	}
	t.Database = strings.Join(rest[:to], "")
	if to == len(rest) {
		return t, nil
	}
	rest = rest[to+1:]
	at := slices.Index(rest, "@")
	if at < 0 || at+1 >= len(rest) {
		return t, errGrant
	}
	t.User, t.Host = strings.Trim(strings.Join(rest[:at], ""), "'"), strings.Trim(rest[at+1], "'")
	return t, nil
}

// privilegesOf joins the words of privileges: LOCK TABLES, SELECT.column.
func privilegesOf(all []string) []string {
	var out, many []string
	column, current := false, ""
	for i, w := range all {
		switch w {
		case ",":
			continue
		case "(":
			column = true
			continue
		case ")":
			column = false
			continue
		}
		if i+1 < len(all) && !slices.Contains([]string{",", "(", ")"}, all[i+1]) {
			many = append(many, w)
			continue
		}
		switch {
		case len(many) > 0:
			w = strings.Join(append(many, w), " ")
			many = nil
			if !column {
				current = w
			}
		case column:
			w = current + "." + w
		default:
			current = w
		}
		out = append(out, w)
	}
	return out
}

// split returns the privileges of a list, and what is in parentheses behind each.
func split(grant string) (names, columns []string, err error) {
	rest := grant
	for strings.TrimSpace(rest) != "" {
		end := strings.IndexAny(rest, ",(")
		name, cols := rest, ""
		if end >= 0 {
			name = rest[:end]
		}
		switch {
		case end < 0:
			rest = ""
		case rest[end] == ',':
			rest = rest[end+1:]
		default:
			stop := strings.IndexByte(rest, ')')
			if stop < end {
				return nil, nil, RefusedError("Invalid grant : '" + grant + "'")
			}
			cols, rest = rest[end:stop+1], strings.TrimSpace(rest[stop+1:])
			if rest != "" && rest[0] != ',' {
				return nil, nil, RefusedError("Invalid grant : '" + grant + "'")
			}
			rest = strings.TrimPrefix(rest, ",")
			if strings.ContainsAny(cols[1:len(cols)-1], "();'\"\\") {
				return nil, nil, RefusedError("Invalid grant : '" + grant + "'")
			}
		}
		name = strings.Join(strings.Fields(name), " ")
		if _, ok := slices.BinarySearch(privileges[:], strings.ToUpper(name)); !ok {
			return nil, nil, RefusedError("Invalid grant : '" + name + "'")
		}
		names, columns = append(names, strings.ToUpper(name)), append(columns, cols)
	}
	if len(names) == 0 {
		return nil, nil, RefusedError("Invalid grant : '" + grant + "'")
	}
	return names, columns, nil
}

// normalize returns privileges as SQL.
func normalize(grant string) (string, error) {
	if strings.EqualFold(strings.TrimSpace(grant), "ALL") {
		grant = "ALL PRIVILEGES"
	}
	names, columns, err := split(grant)
	if err != nil {
		return "", err
	}
	for i, c := range columns {
		if c != "" {
			names[i] += " " + strings.ToUpper(c)
		}
	}
	return strings.Join(names, ", "), nil
}

// on returns the part of the server that a grant is for, as SQL.
func (g Grant) on() string {
	i := strings.LastIndexByte(g.Database, '.')
	db, table := "", g.Database
	if i >= 0 {
		db, table = g.Database[:i], g.Database[i+1:]
	}
	if g.Raw {
		return db + "." + table
	}
	if db != "*" {
		if table == "*" {
			db = pattern(db)
		} else {
			db = Identifier(db)
		}
	}
	if table != "*" {
		table = Identifier(table)
	}
	return db + "." + table
}

// require returns the REQUIRE clause of the argument ssl_option.
func (g Grant) require(c *Conn) (string, error) {
	l, ok := g.SSL.(*value.List)
	if !ok || len(l.Items) == 0 {
		return "", nil
	}
	var out []string
	for _, item := range l.Items {
		m, ok := item.(value.Mapping)
		if !ok || m.Len() == 0 {
			return "", RefusedError("Invalid SSL option : '" + value.Str(item) + "'")
		}
		key := m.Keys()[0]
		v, _ := m.Get(key)
		switch k := strings.ToUpper(strings.TrimSpace(value.Str(key))); k {
		case "CIPHER", "ISSUER", "SUBJECT":
			out = append(out, k+" "+c.Literal(strings.ReplaceAll(value.Str(v), "'", "")))
		case "SSL", "X509":
			if value.Truth(v) {
				out = append(out, k)
			}
		default:
			return "", RefusedError("Invalid SSL option : '" + value.Str(key) + "'")
		}
	}
	if len(out) == 0 {
		return "", nil
	}
	return " REQUIRE " + strings.Join(out, " AND "), nil
}

// UserGrants returns the GRANT statements of a user, without passwords; known is
// false where there is no such user.
func (c *Conn) UserGrants(ctx context.Context, u User) (grants []string, known bool, err error) {
	if have, err := c.UserExists(ctx, u.who()); !have || err != nil {
		return nil, false, err
	}
	r, err := c.Query(ctx, "SHOW GRANTS FOR ?@?", u.Name, u.Host)
	if err != nil {
		return nil, false, err
	}
	for _, row := range r.Rows {
		text := value.Str(row[0])
		s, _, _ := strings.Cut(text, " IDENTIFIED BY")
		if strings.Contains(text, "WITH GRANT OPTION") && !strings.Contains(s, "WITH GRANT OPTION") {
			s += " WITH GRANT OPTION"
		}
		grants = append(grants, s)
	}
	return grants, true, nil
}

var plainNames = strings.NewReplacer(`"`, "", `\`, "", "`", "")

// resolve returns the privileges under the names by which MariaDB shows them.
func (c *Conn) resolve(grants []string) []string {
	if !c.MariaDB {
		return grants
	}
	out := slices.Clone(grants)
	for i, g := range out {
		switch {
		case g == "REPLICATION REPLICA" && c.since("10.5.1"):
			out[i] = "REPLICATION SLAVE"
		case g == "REPLICATION CLIENT" && c.since("10.5.2"):
			out[i] = "BINLOG MONITOR"
		case g == "REPLICA MONITOR" && c.since("10.5.9"):
			out[i] = "SLAVE MONITOR"
		}
	}
	return out
}

// GrantExists reports whether a user has all privileges of a grant. A grant that
// is not valid is a refusal.
func (c *Conn) GrantExists(ctx context.Context, g Grant) (bool, error) {
	names, columns, err := split(g.Privileges)
	if strings.EqualFold(strings.TrimSpace(g.Privileges), "ALL") || slices.Contains(names, "ALL PRIVILEGES") {
		names, columns, err = []string{"ALL PRIVILEGES"}, []string{""}, nil
		if g.Database == "*.*" && !c.MariaDB && c.since("8.0") {
			names = allOfMySQL8[:]
			columns = make([]string, len(names))
		}
	}
	if err != nil {
		return false, err
	}
	var want []string
	for i, n := range names {
		want = append(want, privilegesOf(strings.Fields(strings.NewReplacer("(", " ( ", ")", " ) ", ",", " , ").Replace(n+" "+strings.ToUpper(columns[i]))))...)
	}
	grants, known, err := c.UserGrants(ctx, g.User)
	if err != nil || !known {
		return false, err
	}
	target := plainNames.Replace(g.on())
	var have []string
	for _, text := range grants {
		t, err := Tokenize(text)
		if err != nil {
			continue
		}
		if plainNames.Replace(t.Database) == target && plainNames.Replace(t.User) == plainNames.Replace(g.User.Name) && plainNames.Replace(t.Host) == plainNames.Replace(g.User.Host) {
			have = append(have, t.Grants...)
		}
	}
	have = c.resolve(have)
	fold := func(s string) string { return plainNames.Replace(strings.ToUpper(s)) }
	for _, w := range c.resolve(want) {
		if !slices.ContainsFunc(have, func(h string) bool { return fold(h) == fold(w) }) {
			return false, nil
		}
	}
	return true, nil
}

// AddGrant grants, and reports whether the user has the grant then.
func (c *Conn) AddGrant(ctx context.Context, g Grant) (bool, error) {
	what, err := normalize(g.Privileges)
	if err != nil {
		return false, err
	}
	require, err := g.require(c)
	if err != nil {
		return false, err
	}
	text := "GRANT " + what + " ON " + g.on() + " TO " + c.Literal(g.User.Name) + "@" + c.Literal(g.User.Host) + require
	if g.Option {
		text += " WITH GRANT OPTION"
	}
	if _, err := c.Raw(ctx, text); err != nil {
		if f, ok := errors.AsType[*ServerError](err); ok {
			f.soft = true
		}
		return false, err
	}
	return c.GrantExists(ctx, g)
}

// RevokeGrant revokes, and reports whether the user lacks the grant then.
func (c *Conn) RevokeGrant(ctx context.Context, g Grant) (bool, error) {
	what, err := normalize(g.Privileges)
	if err != nil {
		return false, err
	}
	if g.Option {
		what += ", GRANT OPTION"
	}
	if _, err := c.Raw(ctx, "REVOKE "+what+" ON "+g.on()+" FROM "+c.Literal(g.User.Name)+"@"+c.Literal(g.User.Host)); err != nil {
		return false, err
	}
	have, err := c.GrantExists(ctx, g)
	return !have && err == nil, err
}

// RevokeAll revokes what a user has of the part of the server that g is for.
func (c *Conn) RevokeAll(ctx context.Context, g Grant) error {
	grants, _, err := c.UserGrants(ctx, g.User)
	if err != nil {
		return err
	}
	for _, text := range grants {
		t, err := Tokenize(text)
		if err != nil || plainNames.Replace(t.Database) != plainNames.Replace(g.on()) {
			continue
		}
		what, _, _ := strings.Cut(strings.TrimPrefix(text, "GRANT "), " ON ")
		if what == "USAGE" {
			continue
		}
		if g.Option && strings.HasSuffix(text, "WITH GRANT OPTION") {
			what += ", GRANT OPTION"
		}
		if _, err := c.Raw(ctx, "REVOKE "+what+" ON "+g.on()+" FROM "+c.Literal(g.User.Name)+"@"+c.Literal(g.User.Host)); err != nil {
			return err
		}
	}
	return nil
}

type grantAddArgs struct {
	grantArg
	Database string `arg:"database,required" doc:"database.* or database.table"`
	userArg
	hostArg
	grantOptionArg
	escapeArg
	SSLOption value.Value `arg:"ssl_option,bool|list" default:"False" doc:"requirements of the connection: a list of SSL, X509, SUBJECT, ISSUER and CIPHER mappings"`
	ConnArgs
	_ fun.Kwargs
}

func grantAdd(ctx context.Context, c *fun.Call, a *grantAddArgs) (fun.Result, error) {
	return call(ctx, c, &a.ConnArgs, false, func(ctx context.Context, conn *Conn) (value.Value, error) {
		ok, err := conn.AddGrant(ctx, Grant{
			Privileges: a.Grant, Database: a.Database, User: User{Name: a.User, Host: a.Host}, Option: a.GrantOption, Raw: !a.Escape, SSL: a.SSLOption,
		})
		return refused(c, ok, err)
	})
}

// grantExistsArgs are the arguments of grantExists and grantRevoke.
type grantExistsArgs struct {
	grantArg
	Database string `arg:"database,required" doc:"database.* or database.table"`
	userArg
	hostArg
	grantOptionArg
	escapeArg
	ConnArgs
	_ fun.Kwargs
}

func (a *grantExistsArgs) grant() Grant {
	return Grant{Privileges: a.Grant, Database: a.Database, User: User{Name: a.User, Host: a.Host}, Option: a.GrantOption, Raw: !a.Escape}
}

func grantExists(ctx context.Context, c *fun.Call, a *grantExistsArgs) (fun.Result, error) {
	return call(ctx, c, &a.ConnArgs, false, func(ctx context.Context, conn *Conn) (value.Value, error) {
		ok, err := conn.GrantExists(ctx, a.grant())
		return refused(c, ok, err)
	})
}

func grantRevoke(ctx context.Context, c *fun.Call, a *grantExistsArgs) (fun.Result, error) {
	return call(ctx, c, &a.ConnArgs, false, func(ctx context.Context, conn *Conn) (value.Value, error) {
		return conn.RevokeGrant(ctx, a.grant())
	})
}

// userGrantsArgs are the arguments of userGrants, userRemove and userInfo.
type userGrantsArgs struct {
	userArg
	hostArg
	ConnArgs
	_ fun.Kwargs
}

func userGrants(ctx context.Context, c *fun.Call, a *userGrantsArgs) (fun.Result, error) {
	return call(ctx, c, &a.ConnArgs, false, func(ctx context.Context, conn *Conn) (value.Value, error) {
		grants, known, err := conn.UserGrants(ctx, User{Name: a.User, Host: a.Host})
		if !known {
			return false, err
		}
		return value.Strings(grants...), nil
	})
}

type tokenizeGrantArgs struct {
	_     fun.Arguments
	Grant string `arg:"grant,required" doc:"the statement"`
}

func tokenizeGrant(_ context.Context, c *fun.Call, a *tokenizeGrantArgs) (fun.Result, error) {
	t, err := Tokenize(a.Grant)
	if err != nil {
		return fun.Result{}, fun.Errorf("%v: %s", err, a.Grant)
	}
	return fun.Value(t.Value())
}

type quoteIdentifierArgs struct {
	_          fun.Arguments
	Identifier string `arg:"identifier,required" doc:"the name"`
	ForGrants  bool   `arg:"for_grants" default:"False" doc:"escape _, which is a wildcard in the names of databases in GRANT"`
}

func quoteIdentifier(_ context.Context, c *fun.Call, a *quoteIdentifierArgs) (fun.Result, error) {
	return fun.Value(QuoteIdentifier(a.Identifier, a.ForGrants))
}
