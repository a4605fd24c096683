package postgres

import (
	"context"
	"slices"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/tool"
)

// An objectType is a kind of object that privileges are for.
type objectType struct {
	name  string
	perms []string // what ALL is
	// acl and owner return one row with the column name: the access list and
	// the owner. %n is the name, %p the schema.
	acl, owner string
}

const classSQL = " FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace"

var objectTypes = [...]objectType{
	{
		"database",
		[]string{"CREATE", "TEMPORARY", "CONNECT"},
		"SELECT datacl AS name FROM pg_catalog.pg_database WHERE datname = %n",
		"SELECT rolname AS name FROM pg_database d JOIN pg_roles r ON d.datdba = r.oid WHERE datname = %n",
	},
	{
		"function",
		[]string{"EXECUTE"},
		"SELECT proacl AS name FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace WHERE nspname = %p AND p.oid::regprocedure::text = %n ORDER BY proname, proargtypes",
		"SELECT rolname AS name FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace JOIN pg_catalog.pg_roles r ON p.proowner = r.oid WHERE nspname = %p AND p.oid::regprocedure::text = %n ORDER BY proname, proargtypes",
	},
	{"group", nil, "SELECT rolname, admin_option FROM pg_catalog.pg_auth_members m JOIN pg_catalog.pg_roles r ON m.member = r.oid WHERE m.roleid IN (SELECT oid FROM pg_catalog.pg_roles WHERE rolname = %n) ORDER BY rolname", ""},
	{
		"language",
		[]string{"USAGE"},
		"SELECT lanacl AS name FROM pg_catalog.pg_language WHERE lanname = %n",
		"SELECT rolname AS name FROM pg_language l JOIN pg_roles r ON l.lanowner = r.oid WHERE lanname = %n",
	},
	{
		"schema",
		[]string{"USAGE", "CREATE"},
		"SELECT nspacl AS name FROM pg_catalog.pg_namespace WHERE nspname = %n",
		"SELECT rolname AS name FROM pg_namespace n JOIN pg_roles r ON n.nspowner = r.oid WHERE nspname = %n",
	},
	{
		"sequence",
		[]string{"SELECT", "UPDATE", "USAGE"},
		"SELECT relacl AS name" + classSQL + " WHERE nspname = %p AND relname = %n AND relkind = 'S'",
		"SELECT rolname AS name" + classSQL + " JOIN pg_roles r ON c.relowner = r.oid WHERE relkind = 'S' AND nspname = %p AND relname = %n",
	},
	{
		"table",
		[]string{"INSERT", "SELECT", "UPDATE", "DELETE", "TRUNCATE", "REFERENCES", "TRIGGER"},
		"SELECT relacl AS name" + classSQL + " WHERE nspname = %p AND relname = %n AND relkind IN ('r', 'v', 'm', 'p', 'f')",
		"SELECT rolname AS name" + classSQL + " JOIN pg_roles r ON c.relowner = r.oid WHERE relkind IN ('r', 'v', 'm', 'p', 'f') AND nspname = %p AND relname = %n",
	},
	{
		"tablespace",
		[]string{"CREATE"},
		"SELECT spcacl AS name FROM pg_catalog.pg_tablespace WHERE spcname = %n",
		"SELECT rolname AS name FROM pg_tablespace t JOIN pg_roles r ON t.spcowner = r.oid WHERE spcname = %n",
	},
}

// letters are the privileges as access lists have them.
func letter(c byte) string {
	switch c {
	case 'a':
		return "INSERT"
	case 'C':
		return "CREATE"
	case 'D':
		return "TRUNCATE"
	case 'c':
		return "CONNECT"
	case 't':
		return "TRIGGER"
	case 'r':
		return "SELECT"
	case 'U':
		return "USAGE"
	case 'T':
		return "TEMPORARY"
	case 'w':
		return "UPDATE"
	case 'X':
		return "EXECUTE"
	case 'x':
		return "REFERENCES"
	case 'd':
		return "DELETE"
	case 'm':
		return "MAINTAIN"
	}
	return ""
}

// A Privilege is what a role may do with an object.
type Privilege struct {
	Role, Object, Type, Schema string
	Privileges                 []string // in capitals; none for the type group
	Option                     bool     // may pass it on
	typ                        *objectType
}

// NewPrivilege checks and completes a privilege. list has the privileges,
// separated by commas.
func NewPrivilege(role, object, typ, schema, list string, option bool) (*Privilege, error) {
	p := &Privilege{Role: role, Object: object, Type: strings.ToLower(typ), Schema: schema, Option: option}
	for i := range objectTypes {
		if objectTypes[i].name == p.Type {
			p.typ = &objectTypes[i]
		}
	}
	if p.typ == nil {
		return nil, fun.Errorf("Invalid object_type: %s provided", p.Type)
	}
	if p.Type == "group" {
		if list != "" {
			return nil, fun.Errorf("The privileges option should not be set for object_type group")
		}
		return p, nil
	}
	for part := range strings.SplitSeq(strings.ToUpper(list), ",") {
		part = strings.TrimSpace(part)
		if part == "TEMP" {
			part = "TEMPORARY"
		}
		if part != "ALL" && !slices.Contains(p.typ.perms, part) {
			return nil, fun.Errorf("Invalid privilege(s): %s provided for object %s", list, p.Type)
		}
		p.Privileges = append(p.Privileges, part)
	}
	return p, nil
}

func (p *Privilege) sql(query string) string {
	return strings.NewReplacer("%n", Literal(p.Object), "%p", Literal(p.Schema)).Replace(query)
}

// acl reads an access list: the privileges of each role, and whether it may pass
// them on.
func acl(text string) *value.Map {
	out := value.NewMap(4)
	for _, item := range array(text) {
		role, rest := aclRole(item)
		perms, _, _ := strings.Cut(rest, "/")
		if role == "" {
			role = "public"
		}
		m, last := value.NewMap(len(perms)), ""
		for i := range len(perms) {
			if perms[i] == '*' && last != "" {
				m.Set(last, true)
				continue
			}
			if last = letter(perms[i]); last != "" {
				m.Set(last, false)
			}
		}
		out.Set(role, m)
	}
	return out
}

// aclRole splits an item of an access list behind the name of the role, which may
// be quoted.
func aclRole(item string) (role, rest string) {
	if !strings.HasPrefix(item, `"`) {
		role, rest, _ = strings.Cut(item, "=")
		return role, rest
	}
	var b strings.Builder
	for i := 1; i < len(item); i++ {
		if item[i] != '"' {
			b.WriteByte(item[i])
			continue
		}
		if i+1 < len(item) && item[i+1] == '"' {
			i++
			b.WriteByte('"')
			continue
		}
		return b.String(), strings.TrimPrefix(item[i+1:], "=")
	}
	return b.String(), ""
}

// Privileges returns who may do what with the object of p: for a group its
// members, and whether they may add others.
func (s *Server) Privileges(ctx context.Context, p *Privilege) (*value.Map, error) {
	rows, err := s.Query(ctx, p.sql(p.typ.acl))
	if err != nil {
		return nil, err
	}
	out := value.NewMap(4)
	for _, r := range rows {
		if p.Type == "group" {
			out.Set(r.At("rolname"), r.At("admin_option") == "t")
			continue
		}
		out.Update(acl(r.Str("name")))
	}
	return out, nil
}

// Has reports whether a role has a privilege. The owner of an object has all.
func (s *Server) Has(ctx context.Context, p *Privilege) (bool, error) {
	if p.typ.owner != "" {
		rows, err := s.Query(ctx, p.sql(p.typ.owner))
		if err != nil {
			return false, err
		}
		if len(rows) > 0 && rows[0].Str("name") == p.Role {
			return true, nil
		}
	}
	all, err := s.Privileges(ctx, p)
	if err != nil {
		return false, err
	}
	have, ok := all.Get(p.Role)
	if p.Type == "group" {
		return ok && (!p.Option || have == true), nil
	}
	m, _ := have.(*value.Map)
	for _, want := range p.wanted() {
		pass, ok := m.Get(want)
		if !ok || p.Option && pass != true {
			return false, nil
		}
	}
	return ok, nil
}

func (p *Privilege) wanted() []string {
	if slices.Contains(p.Privileges, "ALL") {
		return p.typ.perms
	}
	return p.Privileges
}

// on returns the object as GRANT and REVOKE name it.
func (p *Privilege) on() (string, error) {
	kind := strings.ToUpper(p.Type)
	switch p.Type {
	case "table", "sequence":
		if strings.EqualFold(p.Object, "all") {
			return "ALL " + kind + "S IN SCHEMA " + loose(p.Schema), nil
		}
		return kind + " " + loose(p.Schema) + "." + Ident(p.Object), nil
	case "function":
		// A signature such as now() or f(integer, text), which is SQL.
		if strings.ContainsAny(p.Object, ";'\\") || strings.Contains(p.Object, "--") || strings.Contains(p.Object, "/*") {
			return "", fun.Errorf("Invalid name of a function: %s", p.Object)
		}
		return kind + " " + p.Object, nil
	}
	return kind + " " + Ident(p.Object), nil
}

// Grant grants a privilege.
func (s *Server) Grant(ctx context.Context, p *Privilege) (bool, error) {
	sql, with := "GRANT "+loose(p.Object)+" TO "+Ident(p.Role), " WITH ADMIN OPTION"
	if p.Type != "group" {
		on, err := p.on()
		if err != nil {
			return false, err
		}
		sql, with = "GRANT "+strings.Join(p.Privileges, ",")+" ON "+on+" TO "+Ident(p.Role), " WITH GRANT OPTION"
	}
	if p.Option {
		sql += with
	}
	return s.Exec(ctx, sql)
}

// Revoke revokes a privilege.
func (s *Server) Revoke(ctx context.Context, p *Privilege) (bool, error) {
	if p.Type == "group" {
		return s.Exec(ctx, "REVOKE "+loose(p.Object)+" FROM "+Ident(p.Role))
	}
	on, err := p.on()
	if err != nil {
		return false, err
	}
	return s.Exec(ctx, "REVOKE "+strings.Join(p.Privileges, ",")+" ON "+on+" FROM "+Ident(p.Role))
}

// hasPrivilegesArgs are the arguments of hasPrivileges and privilegesGrant.
type hasPrivilegesArgs struct {
	roleArg
	objectNameArg
	objectTypeArg
	privilegesArg
	GrantOption bool `arg:"grant_option" doc:"with the right to pass them on"`
	prependArg
	maintenanceDBArg
	accessArgs
}

func hasPrivileges(ctx context.Context, c *fun.Call, a *hasPrivilegesArgs) (fun.Result, error) {
	p, err := NewPrivilege(a.Name, a.ObjectName, a.ObjectType, a.Prepend, a.Privileges, a.GrantOption)
	if err != nil {
		return fun.Result{}, err
	}
	s := of(c, a.options().In(a.MaintenanceDB))
	ok, err := s.Has(ctx, p)
	return s.answer(ok, false, err)
}

func privilegesGrant(ctx context.Context, c *fun.Call, a *hasPrivilegesArgs) (fun.Result, error) {
	p, err := NewPrivilege(a.Name, a.ObjectName, a.ObjectType, a.Prepend, a.Privileges, a.GrantOption)
	if err != nil {
		return fun.Result{}, err
	}
	s := of(c, a.options().In(a.MaintenanceDB))
	if have, err := s.Has(ctx, p); have || err != nil {
		return s.answer(false, false, err)
	}
	ok, err := s.Grant(ctx, p)
	return s.answer(ok, false, err)
}

type privilegesRevokeArgs struct {
	roleArg
	objectNameArg
	objectTypeArg
	privilegesArg
	prependArg
	maintenanceDBArg
	accessArgs
}

func privilegesRevoke(ctx context.Context, c *fun.Call, a *privilegesRevokeArgs) (fun.Result, error) {
	p, err := NewPrivilege(a.Name, a.ObjectName, a.ObjectType, a.Prepend, a.Privileges, false)
	if err != nil {
		return fun.Result{}, err
	}
	s := of(c, a.options().In(a.MaintenanceDB))
	if have, err := s.Has(ctx, p); !have || err != nil {
		return s.answer(false, false, err)
	}
	ok, err := s.Revoke(ctx, p)
	return s.answer(ok, false, err)
}

type privilegesListArgs struct {
	Name string `arg:"name,required" doc:"name of the object"`
	objectTypeArg
	prependArg
	maintenanceDBArg
	accessArgs
}

func privilegesList(ctx context.Context, c *fun.Call, a *privilegesListArgs) (fun.Result, error) {
	p, err := NewPrivilege("", a.Name, a.ObjectType, a.Prepend, listed(a.ObjectType), false)
	if err != nil {
		return fun.Result{}, err
	}
	s := of(c, a.options().In(a.MaintenanceDB))
	m, err := s.Privileges(ctx, p)
	return s.answer(m, value.NewMap(0), err)
}

// listed are privileges that fit a type, where only the object matters.
func listed(typ string) string {
	if strings.EqualFold(typ, "group") {
		return ""
	}
	return "ALL"
}

// owned lists the objects that OwnerTo gives an owner: how to, and which.
var owned = [...][2]string{
	{"SCHEMA", "SELECT quote_ident(nspname) AS n FROM pg_catalog.pg_namespace WHERE nspname NOT LIKE 'pg\\_%' AND nspname <> 'information_schema'"},
	{"TABLE", "SELECT quote_ident(table_schema) || '.' || quote_ident(table_name) AS n FROM information_schema.tables WHERE table_schema NOT IN ('pg_catalog', 'information_schema')"},
	{"FUNCTION", "SELECT p.oid::regprocedure::text AS n FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace ns ON p.pronamespace = ns.oid WHERE ns.nspname NOT IN ('pg_catalog', 'information_schema') AND p.oid NOT IN (SELECT aggfnoid FROM pg_catalog.pg_aggregate)"},
	{"AGGREGATE", "SELECT p.oid::regprocedure::text AS n FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace ns ON p.pronamespace = ns.oid WHERE ns.nspname NOT IN ('pg_catalog', 'information_schema') AND p.oid IN (SELECT aggfnoid FROM pg_catalog.pg_aggregate)"},
	{"SEQUENCE", "SELECT quote_ident(sequence_schema) || '.' || quote_ident(sequence_name) AS n FROM information_schema.sequences"},
}

// OwnerTo gives a database and what is in it an owner; s is the server with that
// database.
func (s *Server) OwnerTo(ctx context.Context, db, owner string) (tool.Out, error) {
	var script strings.Builder
	script.WriteString("ALTER DATABASE " + Ident(db) + " OWNER TO " + Ident(owner) + ";\n")
	for _, o := range owned {
		rows, err := s.Query(ctx, o[1])
		if err != nil {
			return tool.Out{}, err
		}
		for _, r := range rows {
			script.WriteString("ALTER " + o[0] + " " + r.Str("n") + " OWNER TO " + Ident(owner) + ";\n")
		}
	}
	return s.Script(ctx, script.String())
}

type ownerToArgs struct {
	dbnameArg
	Ownername string `arg:"ownername,required" doc:"the new owner"`
	accessArgs
}

func ownerTo(ctx context.Context, c *fun.Call, a *ownerToArgs) (fun.Result, error) {
	out, err := of(c, a.options().In(a.Dbname)).OwnerTo(ctx, a.Dbname, a.Ownername)
	if err != nil {
		if why := failed(err); why != "" {
			return fun.Result{}, fun.Errorf("%s", why)
		}
		return fun.Result{}, err
	}
	return fun.Result{Value: out.All(), Retcode: out.Status}, nil
}
