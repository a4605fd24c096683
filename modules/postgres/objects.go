package postgres

import (
	"context"
	"errors"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/pkgversion"
	"brine/internal/py/value"
)

// versionArgs are the arguments of version, dbList, tablespaceList, availableExtensions and installedExtensions.
type versionArgs struct {
	connArgs
}

// version returns the version of the server; "" where psql fails.
func version(ctx context.Context, c *fun.Call, a *versionArgs) (fun.Result, error) {
	out, err := of(c, a.options()).psql(ctx, "", "--command=SELECT setting FROM pg_catalog.pg_settings WHERE name = 'server_version'", "--tuples-only")
	line, _, _ := strings.Cut(out.Stdout, "\n")
	return fun.Result{Value: line}, err
}

type psqlQueryArgs struct {
	Query string `arg:"query,required" doc:"the SELECT"`
	connArgs
	Write bool `arg:"write" default:"False" doc:"allow the query to write: WITH x AS (UPDATE ... RETURNING ...) SELECT ..."`
}

func psqlQuery(ctx context.Context, c *fun.Call, a *psqlQueryArgs) (fun.Result, error) {
	s := of(c, a.options())
	rows, err := s.query(ctx, a.Query, a.Write)
	l := value.NewList()
	for _, r := range rows {
		l.Append(r)
	}
	return s.answer(l, value.NewList(), err)
}

// byName makes a mapping of rows: by the value of a column, which is taken out
// where drop says so.
func byName(rows []*value.Map, key string, drop bool) *value.Map {
	out := value.NewMap(len(rows))
	for _, r := range rows {
		name, ok := r.Get(key)
		if !ok {
			continue
		}
		if drop {
			r.Delete(key)
		}
		out.Set(name, r)
	}
	return out
}

// named runs a SELECT whose rows are known by their column Name.
func (s *Server) named(ctx context.Context, sql string) (*value.Map, error) {
	rows, err := s.Query(ctx, sql)
	if err != nil {
		return nil, err
	}
	return byName(rows, "Name", true), nil
}

// Databases returns the databases by name.
func (s *Server) Databases(ctx context.Context) (*value.Map, error) {
	return s.named(ctx, `SELECT datname AS "Name", pga.rolname AS "Owner", pg_encoding_to_char(encoding) AS "Encoding", datcollate AS "Collate", datctype AS "Ctype",`+
		` datacl AS "Access privileges", spcname AS "Tablespace" FROM pg_database pgd, pg_roles pga, pg_tablespace pgts`+
		` WHERE pga.oid = pgd.datdba AND pgts.oid = pgd.dattablespace`)
}

// A Database is what a database is to be; what is "" is up to the server.
type Database struct {
	Name, Tablespace, Encoding, Collate, Ctype, Owner, Template string
	Recurse                                                     bool // the owner's objects, too
}

// CreateDatabase creates a database.
func (s *Server) CreateDatabase(ctx context.Context, d Database) (bool, error) {
	var with []string
	add := func(key, val string, quote func(string) string) {
		if val != "" {
			with = append(with, key+" = "+quote(val))
		}
	}
	add("TABLESPACE", d.Tablespace, Ident)
	add("OWNER", d.Owner, Ident)
	add("TEMPLATE", d.Template, loose)
	add("ENCODING", d.Encoding, Literal)
	add("LC_COLLATE", d.Collate, Literal)
	add("LC_CTYPE", d.Ctype, Literal)
	sql := "CREATE DATABASE " + Ident(d.Name)
	if len(with) > 0 {
		sql += " WITH " + strings.Join(with, " ")
	}
	return s.Exec(ctx, sql)
}

// AlterDatabase sets owner and tablespace of a database.
func (s *Server) AlterDatabase(ctx context.Context, d Database) (bool, error) {
	if d.Owner != "" && d.Recurse {
		if out, err := New(s.env, s.opts.In(d.Name)).OwnerTo(ctx, d.Name, d.Owner); err != nil || out.Status != 0 {
			return false, err
		}
	} else if d.Owner != "" {
		if ok, err := s.Exec(ctx, "ALTER DATABASE "+Ident(d.Name)+" OWNER TO "+Ident(d.Owner)); !ok || err != nil {
			return false, err
		}
	}
	if d.Tablespace == "" {
		return true, nil
	}
	return s.Exec(ctx, "ALTER DATABASE "+Ident(d.Name)+" SET TABLESPACE "+Ident(d.Tablespace))
}

// DropDatabase removes a database and ends the connections to it. The error is a
// *PsqlError where the server refuses.
func (s *Server) DropDatabase(ctx context.Context, name string) error {
	for _, sql := range []string{
		"REVOKE CONNECT ON DATABASE " + Ident(name) + " FROM public;",
		"SELECT pid, pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = " + Literal(name) + " AND pid <> pg_backend_pid();",
		"DROP DATABASE " + Ident(name) + ";",
	} {
		out, err := s.psql(ctx, "", "--command="+sql)
		if err != nil {
			return err
		}
		if !out.OK() {
			return &PsqlError{out}
		}
	}
	return nil
}

type dbAlterArgs struct {
	databaseArg
	serverArgs
	Tablespace string `arg:"tablespace" doc:"tablespace of the database"`
	ownerArg
	OwnerRecurse bool `arg:"owner_recurse" default:"False" doc:"own what is in the database, too"`
	runasArg
}

func dbAlter(ctx context.Context, c *fun.Call, a *dbAlterArgs) (fun.Result, error) {
	s := of(c, a.as(a.RunAs))
	ok, err := s.AlterDatabase(ctx, Database{Name: a.Name, Tablespace: a.Tablespace, Owner: a.Owner, Recurse: a.OwnerRecurse})
	return s.answer(ok, false, err)
}

type dbCreateArgs struct {
	databaseArg
	serverArgs
	Tablespace string `arg:"tablespace" doc:"tablespace of the database"`
	Encoding   string `arg:"encoding" doc:"character encoding"`
	LcCollate  string `arg:"lc_collate" doc:"collation order"`
	LcCtype    string `arg:"lc_ctype" doc:"character classification"`
	ownerArg
	Template string `arg:"template" doc:"database to copy"`
	runasArg
}

func dbCreate(ctx context.Context, c *fun.Call, a *dbCreateArgs) (fun.Result, error) {
	s := of(c, a.as(a.RunAs))
	ok, err := s.CreateDatabase(ctx, Database{
		Name: a.Name, Tablespace: a.Tablespace, Encoding: a.Encoding, Collate: a.LcCollate, Ctype: a.LcCtype, Owner: a.Owner, Template: a.Template,
	})
	return s.answer(ok, false, err)
}

// dbExistsArgs are the arguments of dbExists and dbRemove.
type dbExistsArgs struct {
	databaseArg
	connArgs
}

func dbExists(ctx context.Context, c *fun.Call, a *dbExistsArgs) (fun.Result, error) {
	s := of(c, a.options())
	all, err := s.Databases(ctx)
	return s.answer(all.Has(a.Name), false, err)
}

func dbList(ctx context.Context, c *fun.Call, a *versionArgs) (fun.Result, error) {
	s := of(c, a.options())
	all, err := s.Databases(ctx)
	return s.answer(all, value.NewMap(0), err)
}

func dbRemove(ctx context.Context, c *fun.Call, a *dbExistsArgs) (fun.Result, error) {
	if err := of(c, a.options()).DropDatabase(ctx, a.Name); err != nil {
		return fun.Result{}, fun.Errorf("%v", err)
	}
	return fun.Value(true)
}

// Tablespaces returns the tablespaces by name.
func (s *Server) Tablespaces(ctx context.Context) (*value.Map, error) {
	return s.named(ctx, `SELECT spcname AS "Name", pga.rolname AS "Owner", spcacl AS "ACL", spcoptions AS "Opts", pg_tablespace_location(pgts.oid) AS "Location"`+
		` FROM pg_tablespace pgts, pg_roles pga WHERE pga.oid = pgts.spcowner`)
}

// settings returns options as SQL: "a = 1, b = 2".
func settings(options value.Mapping) string {
	var out []string
	for _, k := range options.Keys() {
		v, _ := options.Get(k)
		out = append(out, loose(value.Str(k))+" = "+Literal(value.Str(v)))
	}
	return strings.Join(out, ", ")
}

// CreateTablespace creates a tablespace in a directory.
func (s *Server) CreateTablespace(ctx context.Context, name, location, owner string, options *value.Map) (bool, error) {
	sql := "CREATE TABLESPACE " + Ident(name)
	if owner != "" {
		sql += " OWNER " + Ident(owner)
	}
	sql += " LOCATION " + Literal(location)
	if options.Len() > 0 {
		sql += " WITH ( " + settings(options) + " )"
	}
	return s.Exec(ctx, sql)
}

// A TablespaceChange is what AlterTablespace changes.
type TablespaceChange struct {
	Name, Owner string
	Set         *value.Map
	Reset       string
}

// AlterTablespace changes a tablespace.
func (s *Server) AlterTablespace(ctx context.Context, name string, ch TablespaceChange) (bool, error) {
	var todo []string
	if ch.Owner != "" {
		todo = append(todo, "OWNER TO "+Ident(ch.Owner))
	}
	if ch.Set.Len() > 0 {
		todo = append(todo, "SET ("+settings(ch.Set)+")")
	}
	if ch.Reset != "" {
		todo = append(todo, "RESET ("+loose(ch.Reset)+")")
	}
	if ch.Name != "" {
		todo = append(todo, "RENAME TO "+Ident(ch.Name))
	}
	for _, sql := range todo {
		if ok, err := s.Exec(ctx, "ALTER TABLESPACE "+Ident(name)+" "+sql); !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}

// DropTablespace removes a tablespace.
func (s *Server) DropTablespace(ctx context.Context, name string) (bool, error) {
	return s.Exec(ctx, "DROP TABLESPACE "+Ident(name))
}

type tablespaceAlterArgs struct {
	tablespaceNameArg
	serverArgs
	NewName     string     `arg:"new_name" doc:"new name"`
	NewOwner    string     `arg:"new_owner" doc:"new owner"`
	SetOption   *value.Map `arg:"set_option" doc:"options to set"`
	ResetOption string     `arg:"reset_option" doc:"option to reset"`
	runasArg
}

func tablespaceAlter(ctx context.Context, c *fun.Call, a *tablespaceAlterArgs) (fun.Result, error) {
	s := of(c, a.as(a.RunAs))
	ok, err := s.AlterTablespace(ctx, a.Name, TablespaceChange{a.NewName, a.NewOwner, a.SetOption, a.ResetOption})
	return s.answer(ok, false, err)
}

type tablespaceCreateArgs struct {
	tablespaceNameArg
	Location string     `arg:"location,required,path" doc:"directory"`
	Options  *value.Map `arg:"options" doc:"options such as seq_page_cost"`
	ownerArg
	connArgs
}

func tablespaceCreate(ctx context.Context, c *fun.Call, a *tablespaceCreateArgs) (fun.Result, error) {
	s := of(c, a.options())
	ok, err := s.CreateTablespace(ctx, a.Name, a.Location, a.Owner, a.Options)
	return s.answer(ok, false, err)
}

// tablespaceExistsArgs are the arguments of tablespaceExists and tablespaceRemove.
type tablespaceExistsArgs struct {
	tablespaceNameArg
	connArgs
}

func tablespaceExists(ctx context.Context, c *fun.Call, a *tablespaceExistsArgs) (fun.Result, error) {
	s := of(c, a.options())
	all, err := s.Tablespaces(ctx)
	return s.answer(all.Has(a.Name), false, err)
}

func tablespaceList(ctx context.Context, c *fun.Call, a *versionArgs) (fun.Result, error) {
	s := of(c, a.options())
	all, err := s.Tablespaces(ctx)
	return s.answer(all, value.NewMap(0), err)
}

func tablespaceRemove(ctx context.Context, c *fun.Call, a *tablespaceExistsArgs) (fun.Result, error) {
	s := of(c, a.options())
	ok, err := s.DropTablespace(ctx, a.Name)
	return s.answer(ok, false, err)
}

// Schemas returns the schemas of the database by name.
func (s *Server) Schemas(ctx context.Context) (*value.Map, error) {
	rows, err := s.Query(ctx, `SELECT pg_namespace.nspname AS "name", pg_roles.rolname AS "owner", pg_namespace.nspacl AS "acl" FROM pg_namespace LEFT JOIN pg_roles ON pg_roles.oid = pg_namespace.nspowner`)
	if err != nil {
		return nil, err
	}
	return byName(rows, "name", true), nil
}

// CreateSchema creates a schema.
func (s *Server) CreateSchema(ctx context.Context, name, owner string) (bool, error) {
	sql := "CREATE SCHEMA " + Ident(name)
	if owner != "" {
		sql += " AUTHORIZATION " + Ident(owner)
	}
	return s.Exec(ctx, sql)
}

// OwnSchema gives a schema an owner.
func (s *Server) OwnSchema(ctx context.Context, name, owner string) (bool, error) {
	return s.Exec(ctx, "ALTER SCHEMA "+Ident(name)+" OWNER TO "+Ident(owner))
}

// DropSchema removes a schema that is empty.
func (s *Server) DropSchema(ctx context.Context, name string) (bool, error) {
	return s.Exec(ctx, "DROP SCHEMA "+Ident(name))
}

type schemaCreateArgs struct {
	dbnameArg
	schemaNameArg
	ownerArg
	dbArgs
}

func schemaCreate(ctx context.Context, c *fun.Call, a *schemaCreateArgs) (fun.Result, error) {
	s := of(c, a.options().In(a.Dbname))
	all, err := s.Schemas(ctx)
	if err != nil || all.Has(a.Name) {
		return s.answer(false, false, err)
	}
	ok, err := s.CreateSchema(ctx, a.Name, a.Owner)
	return s.answer(ok, false, err)
}

// schemaExistsArgs are the arguments of schemaExists, schemaGet and schemaRemove.
type schemaExistsArgs struct {
	dbnameArg
	schemaNameArg
	dbArgs
}

func schemaExists(ctx context.Context, c *fun.Call, a *schemaExistsArgs) (fun.Result, error) {
	s := of(c, a.options().In(a.Dbname))
	all, err := s.Schemas(ctx)
	return s.answer(all.Has(a.Name), false, err)
}

func schemaGet(ctx context.Context, c *fun.Call, a *schemaExistsArgs) (fun.Result, error) {
	s := of(c, a.options().In(a.Dbname))
	all, err := s.Schemas(ctx)
	if m := all.Map(a.Name); m != nil {
		return fun.Value(m)
	}
	return s.answer(nil, nil, err)
}

type schemaListArgs struct {
	dbnameArg
	dbArgs
}

func schemaList(ctx context.Context, c *fun.Call, a *schemaListArgs) (fun.Result, error) {
	s := of(c, a.options().In(a.Dbname))
	all, err := s.Schemas(ctx)
	return s.answer(all, value.NewMap(0), err)
}

func schemaRemove(ctx context.Context, c *fun.Call, a *schemaExistsArgs) (fun.Result, error) {
	s := of(c, a.options().In(a.Dbname))
	all, err := s.Schemas(ctx)
	if err != nil || !all.Has(a.Name) {
		return s.answer(false, false, err)
	}
	ok, err := s.DropSchema(ctx, a.Name)
	return s.answer(ok, false, err)
}

// Languages returns the languages of the database: names by name.
func (s *Server) Languages(ctx context.Context) (*value.Map, error) {
	rows, err := s.Query(ctx, `SELECT lanname AS "Name" FROM pg_language`)
	if err != nil {
		return nil, err
	}
	out := value.NewMap(len(rows))
	for _, r := range rows {
		out.Set(r.At("Name"), r.At("Name"))
	}
	return out, nil
}

// CreateLanguage installs a language.
func (s *Server) CreateLanguage(ctx context.Context, name string) (bool, error) {
	return s.Exec(ctx, "CREATE LANGUAGE "+loose(name))
}

// DropLanguage removes a language.
func (s *Server) DropLanguage(ctx context.Context, name string) (bool, error) {
	return s.Exec(ctx, "DROP LANGUAGE "+loose(name))
}

// languageCreateArgs are the arguments of languageCreate, languageExists and languageRemove.
type languageCreateArgs struct {
	languageArg
	inDBArg
	accessArgs
}

func languageCreate(ctx context.Context, c *fun.Call, a *languageCreateArgs) (fun.Result, error) {
	s := of(c, a.options().In(a.MaintenanceDB))
	all, err := s.Languages(ctx)
	if err != nil || all.Has(a.Name) {
		return s.answer(false, false, err)
	}
	ok, err := s.CreateLanguage(ctx, a.Name)
	return s.answer(ok, false, err)
}

func languageExists(ctx context.Context, c *fun.Call, a *languageCreateArgs) (fun.Result, error) {
	s := of(c, a.options().In(a.MaintenanceDB))
	all, err := s.Languages(ctx)
	return s.answer(all.Has(a.Name), false, err)
}

type languageListArgs struct {
	inDBArg
	accessArgs
}

func languageList(ctx context.Context, c *fun.Call, a *languageListArgs) (fun.Result, error) {
	s := of(c, a.options().In(a.MaintenanceDB))
	all, err := s.Languages(ctx)
	return s.answer(all, value.NewMap(0), err)
}

func languageRemove(ctx context.Context, c *fun.Call, a *languageCreateArgs) (fun.Result, error) {
	s := of(c, a.options().In(a.MaintenanceDB))
	all, err := s.Languages(ctx)
	if err != nil || !all.Has(a.Name) {
		return s.answer(false, false, err)
	}
	ok, err := s.DropLanguage(ctx, a.Name)
	return s.answer(ok, false, err)
}

// What create_metadata says of an extension.
const (
	NotInstalled = "EXTENSION NOT INSTALLED"
	Installed    = "EXTENSION INSTALLED"
	ToUpgrade    = "EXTENSION TO UPGRADE"
	ToMove       = "EXTENSION TO MOVE"
)

// An Extension is what an extension is to be; what is "" is up to the server.
type Extension struct{ Name, Schema, Version, From string }

func (s *Server) available(ctx context.Context) (*value.Map, error) {
	rows, err := s.Query(ctx, "SELECT * FROM pg_available_extensions()")
	if err != nil {
		return nil, err
	}
	return byName(rows, "name", false), nil
}

// Extensions returns the installed extensions by name.
func (s *Server) Extensions(ctx context.Context) (*value.Map, error) {
	rows, err := s.Query(ctx, "SELECT a.*, b.nspname AS schema_name FROM pg_extension a, pg_namespace b WHERE a.extnamespace = b.oid")
	if err != nil {
		return nil, err
	}
	return byName(rows, "extname", false), nil
}

// Metadata says how an extension is and what is to be done.
func (s *Server) Metadata(ctx context.Context, e Extension) ([]string, error) {
	all, err := s.Extensions(ctx)
	if err != nil {
		return []string{NotInstalled}, err
	}
	have := all.Map(e.Name)
	if have == nil {
		return []string{NotInstalled}, nil
	}
	out := []string{Installed}
	if e.Version != "" && pkgversion.Loose(have.Str("extversion"), strings.Trim(e.Version, `'"`)) < 0 {
		out = append(out, ToUpgrade)
	}
	if e.Schema != "" && have.Str("extrelocatable") == "t" && have.Str("schema_name") != e.Schema {
		out = append(out, ToMove)
	}
	return out, nil
}

// versionSQL returns a version as SQL.
func versionSQL(v string) string { return Literal(strings.Trim(v, `'"`)) }

// CreateExtension installs an extension, or brings one to its version and schema.
// It reports whether the extension is then as wished.
func (s *Server) CreateExtension(ctx context.Context, e Extension, ifNotExists bool) (bool, error) {
	data, err := s.Metadata(ctx, e)
	if err != nil {
		return false, err
	}
	avail, err := s.available(ctx)
	if err != nil {
		return false, err
	}
	known := false
	for k := range avail.All() {
		known = known || strings.EqualFold(value.Str(k), e.Name)
	}
	var sql []string
	switch {
	case !known:
	case data[0] == NotInstalled:
		sql = []string{e.createSQL(ifNotExists)}
	default:
		for _, d := range data {
			switch d {
			case ToMove:
				sql = append(sql, "ALTER EXTENSION "+Ident(e.Name)+" SET SCHEMA "+Ident(e.Schema))
			case ToUpgrade:
				sql = append(sql, "ALTER EXTENSION "+Ident(e.Name)+" UPDATE TO "+versionSQL(e.Version))
			}
		}
	}
	for _, one := range sql {
		if ok, err := s.Exec(ctx, one); !ok || err != nil {
			return false, err
		}
	}
	data, err = s.Metadata(ctx, e)
	return err == nil && len(data) == 1 && data[0] == Installed, err
}

func (e Extension) createSQL(ifNotExists bool) string {
	sql := "CREATE EXTENSION "
	if ifNotExists {
		sql += "IF NOT EXISTS "
	}
	sql += Ident(e.Name)
	if e.Schema != "" {
		sql += " SCHEMA " + Ident(e.Schema)
	}
	if e.Version != "" {
		sql += " VERSION " + versionSQL(e.Version)
	}
	if e.From != "" {
		sql += " FROM " + versionSQL(e.From)
	}
	return sql
}

// DropExtension removes an extension. It reports whether it is gone.
func (s *Server) DropExtension(ctx context.Context, name string, ifExists, restrict, cascade bool) (bool, error) {
	all, err := s.Extensions(ctx)
	if err != nil || !all.Has(name) {
		return err == nil, err
	}
	sql := "DROP EXTENSION "
	if ifExists {
		sql += "IF EXISTS "
	}
	sql += Ident(name)
	switch {
	case restrict:
		sql += " RESTRICT"
	case cascade:
		sql += " CASCADE"
	}
	return s.Exec(ctx, sql)
}

func availableExtensions(ctx context.Context, c *fun.Call, a *versionArgs) (fun.Result, error) {
	s := of(c, a.options())
	all, err := s.available(ctx)
	return s.answer(all, value.NewMap(0), err)
}

func installedExtensions(ctx context.Context, c *fun.Call, a *versionArgs) (fun.Result, error) {
	s := of(c, a.options())
	all, err := s.Extensions(ctx)
	return s.answer(all, value.NewMap(0), err)
}

func (s *Server) one(all *value.Map, name string, err error) (fun.Result, error) {
	if m := all.Map(name); m != nil {
		return fun.Value(m)
	}
	return s.answer(nil, nil, err)
}

// getAvailableExtensionArgs are the arguments of getAvailableExtension, getInstalledExtension, isAvailableExtension and isInstalledExtension.
type getAvailableExtensionArgs struct {
	extensionArg
	connArgs
}

func getAvailableExtension(ctx context.Context, c *fun.Call, a *getAvailableExtensionArgs) (fun.Result, error) {
	s := of(c, a.options())
	all, err := s.available(ctx)
	return s.one(all, a.Name, err)
}

func getInstalledExtension(ctx context.Context, c *fun.Call, a *getAvailableExtensionArgs) (fun.Result, error) {
	s := of(c, a.options())
	all, err := s.Extensions(ctx)
	return s.one(all, a.Name, err)
}

func isAvailableExtension(ctx context.Context, c *fun.Call, a *getAvailableExtensionArgs) (fun.Result, error) {
	s := of(c, a.options())
	all, err := s.available(ctx)
	for k := range all.All() {
		if strings.EqualFold(value.Str(k), a.Name) {
			return fun.Value(true)
		}
	}
	return s.answer(false, false, err)
}

func isInstalledExtension(ctx context.Context, c *fun.Call, a *getAvailableExtensionArgs) (fun.Result, error) {
	s := of(c, a.options())
	all, err := s.Extensions(ctx)
	return s.answer(all.Has(a.Name), false, err)
}

type createMetadataArgs struct {
	extensionArg
	ExtVersion string `arg:"ext_version" doc:"version of the extension"`
	Schema     string `arg:"schema" doc:"schema for its objects"`
	connArgs
}

func createMetadata(ctx context.Context, c *fun.Call, a *createMetadataArgs) (fun.Result, error) {
	s := of(c, a.options())
	data, err := s.Metadata(ctx, Extension{Name: a.Name, Schema: a.Schema, Version: a.ExtVersion})
	return s.answer(value.Strings(data...), value.Strings(NotInstalled), err)
}

type createExtensionArgs struct {
	extensionArg
	IfNotExists fun.Opt[bool] `arg:"if_not_exists" doc:"no error if it exists; default: True"`
	Schema      string        `arg:"schema" doc:"schema for its objects"`
	ExtVersion  string        `arg:"ext_version" doc:"version of the extension"`
	FromVersion string        `arg:"from_version" doc:"version that is installed outside of extensions"`
	connArgs
}

func createExtension(ctx context.Context, c *fun.Call, a *createExtensionArgs) (fun.Result, error) {
	s := of(c, a.options())
	ok, err := s.CreateExtension(ctx, Extension{Name: a.Name, Schema: a.Schema, Version: a.ExtVersion, From: a.FromVersion}, a.IfNotExists.Or(true))
	return s.answer(ok, false, err)
}

type dropExtensionArgs struct {
	extensionArg
	IfExists bool          `arg:"if_exists" doc:"no error if it does not exist"`
	Restrict bool          `arg:"restrict" doc:"refuse if other objects depend on it"`
	Cascade  fun.Opt[bool] `arg:"cascade" doc:"drop what depends on it, too; default: True"`
	connArgs
}

func dropExtension(ctx context.Context, c *fun.Call, a *dropExtensionArgs) (fun.Result, error) {
	s := of(c, a.options())
	ok, err := s.DropExtension(ctx, a.Name, a.IfExists, a.Restrict, a.Cascade.Or(true))
	return s.answer(ok, false, err)
}

// failed is the message of psql, where err has one.
func failed(err error) string {
	if f, ok := errors.AsType[*PsqlError](err); ok {
		return f.Error()
	}
	return ""
}
