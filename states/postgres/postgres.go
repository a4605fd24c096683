// Package postgres has Salt's state modules for PostgreSQL servers: postgres_user,
// postgres_group, postgres_database, postgres_privileges, postgres_extension,
// postgres_schema, postgres_tablespace, postgres_language, postgres_cluster and
// postgres_initdb. Each function that returns a module is one of them.
package postgres

import (
	"context"
	"errors"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/postgres"
	"brine/states/dryrun"
)

// noServer is why the modules cannot serve where the module postgres cannot.
const noServer = "Unable to load postgres module.  Make sure `postgres.bins_dir` is set."

// Clusters returns the rows of the state module "postgres_cluster".
func Clusters() fun.Module {
	return fun.Module{Name: "postgres_cluster", Kind: fun.State, Doc: "Manage clusters of Debian's PostgreSQL tools.", Specs: clusterSpecs, Avail: fun.Needs("postgres", noServer)}
}

// Databases returns the rows of the state module "postgres_database".
func Databases() fun.Module {
	return fun.Module{Name: "postgres_database", Kind: fun.State, Doc: "Manage databases of PostgreSQL servers.", Specs: databaseSpecs, Avail: fun.Needs("postgres", noServer)}
}

// Extensions returns the rows of the state module "postgres_extension".
func Extensions() fun.Module {
	return fun.Module{Name: "postgres_extension", Kind: fun.State, Doc: "Manage extensions of PostgreSQL databases.", Specs: extensionSpecs, Avail: fun.Needs("postgres", noServer)}
}

// Groups returns the rows of the state module "postgres_group".
func Groups() fun.Module {
	return fun.Module{Name: "postgres_group", Kind: fun.State, Doc: "Manage roles of PostgreSQL servers that cannot log in.", Specs: groupSpecs, Avail: fun.Needs("postgres", noServer)}
}

// DataDirs returns the rows of the state module "postgres_initdb".
func DataDirs() fun.Module {
	return fun.Module{Name: "postgres_initdb", Kind: fun.State, Doc: "Make data directories of PostgreSQL servers.", Specs: initdbSpecs, Avail: fun.Needs("postgres", noServer)}
}

// Languages returns the rows of the state module "postgres_language".
func Languages() fun.Module {
	return fun.Module{Name: "postgres_language", Kind: fun.State, Doc: "Manage languages of PostgreSQL databases.", Specs: languageSpecs, Avail: fun.Needs("postgres", noServer)}
}

// Privileges returns the rows of the state module "postgres_privileges".
func Privileges() fun.Module {
	return fun.Module{Name: "postgres_privileges", Kind: fun.State, Doc: "Manage privileges of roles of PostgreSQL servers.", Specs: privilegeSpecs, Avail: fun.Needs("postgres", noServer)}
}

// Schemas returns the rows of the state module "postgres_schema".
func Schemas() fun.Module {
	return fun.Module{Name: "postgres_schema", Kind: fun.State, Doc: "Manage schemas of PostgreSQL databases.", Specs: schemaSpecs, Avail: fun.Needs("postgres", noServer)}
}

// Tablespaces returns the rows of the state module "postgres_tablespace".
func Tablespaces() fun.Module {
	return fun.Module{Name: "postgres_tablespace", Kind: fun.State, Doc: "Manage tablespaces of PostgreSQL servers.", Specs: tablespaceSpecs, Avail: fun.Needs("postgres", noServer)}
}

// Users returns the rows of the state module "postgres_user".
func Users() fun.Module {
	return fun.Module{Name: "postgres_user", Kind: fun.State, Doc: "Manage roles of PostgreSQL servers that can log in.", Specs: userSpecs, Avail: fun.Needs("postgres", noServer)}
}

// server is a database of the server at an address: role connects to it, by psql that
// account runs.
func server(c *fun.Call, at *dbAddress, role, db, account string) *postgres.Server {
	return postgres.New(c.Env, postgres.Options{User: role, Host: at.DBHost, Port: at.DBPort, DB: db, Password: at.DBPassword, RunAs: account})
}

func is(format string) fun.Ret { return fun.Ret{Result: fun.OK, Comment: format} }

func would(comment string) fun.Ret { return fun.Ret{Result: fun.WouldChange, Comment: comment} }

func done(comment string, changes ...value.Value) fun.Ret {
	return fun.Ret{Result: fun.OK, Comment: comment, Changes: value.MapOf(changes...)}
}

// unasked is the return of a state that cannot find out how things are: in test
// mode, and where psql cannot run at all, with the reason. Otherwise it is what
// Salt says, which tries and fails; the log has the reason then.
//
// Where a state before this one may start the server or create the database, test
// mode says what is due.
func unasked(c *fun.Call, err error, failed, due string) fun.Ret {
	_, asked := errors.AsType[*postgres.PsqlError](err)
	switch {
	case asked && c.Test && c.Env.Run != nil && !dryrun.Certain(c):
		return would(due)
	case asked && !c.Test:
		return fun.Fail("%s", failed)
	}
	return fun.Fail("%s: %v", failed, err)
}

// noDatabase reports whether the server says that a database does not exist: then
// nothing is in it.
func noDatabase(err error, name string) bool {
	_, asked := errors.AsType[*postgres.PsqlError](err)
	return asked && strings.Contains(err.Error(), `database "`+name+`" does not exist`)
}

// acted is the return of a state that did something: ok and err say how it went.
func acted(ok bool, err error, failed string, ret fun.Ret) fun.Ret {
	if f, is := errors.AsType[*postgres.PsqlError](err); is {
		return fun.Fail("%s: %v", failed, f)
	}
	switch {
	case err != nil:
		return fun.Fail("%s: %v", failed, err)
	case !ok:
		return fun.Fail("%s", failed)
	}
	return ret
}

type databasePresentArgs struct {
	databaseNameArg
	Tablespace string `arg:"tablespace" doc:"tablespace of the database"`
	encodingArg
	LcCollate string `arg:"lc_collate" doc:"collation order"`
	LcCtype   string `arg:"lc_ctype" doc:"character classification"`
	ownerArg
	OwnerRecurse bool   `arg:"owner_recurse" default:"False" doc:"own what is in the database, too"`
	Template     string `arg:"template" doc:"database to copy"`
	userArg
	maintenanceDBArg
	dbAddress
	dbUserArg
}

// databasePresent creates a database, or sets its owner and tablespace.
// Salt: salt/states/postgres_database.py present.
func databasePresent(ctx context.Context, c *fun.Call, a *databasePresentArgs) fun.Ret {
	d := postgres.Database{
		Name: a.Name, Tablespace: a.Tablespace, Encoding: a.Encoding, Collate: a.LcCollate, Ctype: a.LcCtype, Owner: a.Owner, Template: a.Template,
		Recurse: a.OwnerRecurse,
	}
	s := server(c, &a.dbAddress, a.DBUser, a.MaintenanceDB, a.User)
	all, err := s.Databases(ctx)
	if err != nil {
		return unasked(c, err, "Failed to create database "+d.Name, "Database "+d.Name+" is set to be created")
	}
	have := all.Map(d.Name)
	if have == nil {
		if c.Test {
			return would("Database " + d.Name + " is set to be created")
		}
		ok, err := s.CreateDatabase(ctx, d)
		return acted(ok, err, "Failed to create database "+d.Name, done("The database "+d.Name+" has been created", d.Name, "Present"))
	}
	differs := func(want, key string) bool { return want != "" && have.Str(key) != want }
	switch {
	case d.Encoding != "" && !sameFold(d.Encoding, have.Str("Encoding")), differs(d.Collate, "Collate"), differs(d.Ctype, "Ctype"):
		return fun.Fail("Database %s has wrong parameters which couldn't be changed on fly.", d.Name)
	case !differs(d.Tablespace, "Tablespace") && !differs(d.Owner, "Owner"):
		return is("Database " + d.Name + " is already present")
	case c.Test:
		return would("Database " + d.Name + " exists, but parameters need to be changed")
	}
	ok, err := s.AlterDatabase(ctx, d)
	return acted(ok, err, "Failed to change parameters for database "+d.Name, done("Parameters for database "+d.Name+" have been changed", d.Name, "Parameters changed"))
}

type databaseAbsentArgs struct {
	databaseNameArg
	userArg
	maintenanceDBArg
	dbAddress
	dbUserArg
}

// databaseAbsent removes a database. Salt: salt/states/postgres_database.py absent.
func databaseAbsent(ctx context.Context, c *fun.Call, a *databaseAbsentArgs) fun.Ret {
	s := server(c, &a.dbAddress, a.DBUser, a.MaintenanceDB, a.User)
	all, err := s.Databases(ctx)
	switch {
	case err != nil:
		return fun.Fail("Failed to look for database %s: %v", c.Name, err)
	case !all.Has(c.Name):
		return is("Database " + c.Name + " is not present, so it cannot be removed")
	case c.Test:
		return would("Database " + c.Name + " is set to be removed")
	}
	err = s.DropDatabase(ctx, c.Name)
	return acted(true, err, "Failed to remove database "+c.Name, done("Database "+c.Name+" has been removed", c.Name, "Absent"))
}

type extensionPresentArgs struct {
	extensionNameArg
	IfNotExists fun.Opt[bool] `arg:"if_not_exists" doc:"no error if it exists; default: True"`
	Schema      string        `arg:"schema" doc:"schema for its objects"`
	ExtVersion  string        `arg:"ext_version" doc:"version of the extension"`
	FromVersion string        `arg:"from_version" doc:"version that is installed outside of extensions"`
	userArg
	maintenanceDBArg
	dbUserArg
	dbAddress
}

// extensionPresent installs an extension, or brings one to its version and schema.
// Salt: salt/states/postgres_extension.py present.
func extensionPresent(ctx context.Context, c *fun.Call, a *extensionPresentArgs) fun.Ret {
	s := server(c, &a.dbAddress, a.DBUser, a.MaintenanceDB, a.User)
	e := postgres.Extension{Name: c.Name, Schema: a.Schema, Version: a.ExtVersion, From: a.FromVersion}
	data, err := s.Metadata(ctx, e)
	if err != nil {
		return unasked(c, err, "Failed to install extension "+e.Name, "Extension "+e.Name+" is set to be installed")
	}
	mode, past, title := "install", "installed", "Installed"
	switch {
	case data[0] == postgres.Installed && len(data) == 1:
		return is("Extension " + e.Name + " is already present")
	case data[0] == postgres.Installed:
		mode, past, title = "upgrade", "upgraded", "Upgraded"
	}
	if c.Test {
		return would("Extension " + e.Name + " is set to be " + past)
	}
	ok, err := s.CreateExtension(ctx, e, a.IfNotExists.Or(true))
	return acted(ok, err, "Failed to "+mode+" extension "+e.Name, done("The extension "+e.Name+" has been "+past, e.Name, title))
}

type extensionAbsentArgs struct {
	extensionNameArg
	IfExists bool          `arg:"if_exists" doc:"no error if it does not exist"`
	Restrict bool          `arg:"restrict" doc:"refuse if other objects depend on it"`
	Cascade  fun.Opt[bool] `arg:"cascade" doc:"drop what depends on it, too; default: True"`
	userArg
	maintenanceDBArg
	dbUserArg
	dbAddress
}

// extensionAbsent removes an extension. Salt: salt/states/postgres_extension.py absent.
func extensionAbsent(ctx context.Context, c *fun.Call, a *extensionAbsentArgs) fun.Ret {
	s := server(c, &a.dbAddress, a.DBUser, a.MaintenanceDB, a.User)
	all, err := s.Extensions(ctx)
	switch {
	case err != nil:
		return fun.Fail("Failed to look for extension %s: %v", c.Name, err)
	case !all.Has(c.Name):
		return is("Extension " + c.Name + " is not present, so it cannot be removed")
	case c.Test:
		return would("Extension " + c.Name + " is set to be removed")
	}
	ok, err := s.DropExtension(ctx, c.Name, a.IfExists, a.Restrict, a.Cascade.Or(true))
	return acted(ok, err, "Extension "+c.Name+" failed to be removed", done("Extension "+c.Name+" has been removed", c.Name, "Absent"))
}

// languagePresentArgs are the arguments of languagePresent and languageAbsent.
type languagePresentArgs struct {
	languageNameArg
	inDBArg
	userArg
	dbAddress
	dbUserArg
}

// languagePresent installs a language. Salt: salt/states/postgres_language.py present.
func languagePresent(ctx context.Context, c *fun.Call, a *languagePresentArgs) fun.Ret {
	s := server(c, &a.dbAddress, a.DBUser, a.MaintenanceDB, a.User)
	all, err := s.Languages(ctx)
	switch {
	case err != nil:
		return unasked(c, err, "Failed to install language "+c.Name, "Language "+c.Name+" is set to be installed")
	case all.Has(c.Name):
		return is("Language " + c.Name + " is already installed")
	case c.Test:
		return would("Language " + c.Name + " is set to be installed")
	}
	ok, err := s.CreateLanguage(ctx, c.Name)
	return acted(ok, err, "Failed to install language "+c.Name, done("Language "+c.Name+" has been installed", c.Name, "Present"))
}

// languageAbsent removes a language. Salt: salt/states/postgres_language.py absent.
func languageAbsent(ctx context.Context, c *fun.Call, a *languagePresentArgs) fun.Ret {
	s := server(c, &a.dbAddress, a.DBUser, a.MaintenanceDB, a.User)
	all, err := s.Languages(ctx)
	switch {
	case err != nil:
		return fun.Fail("Failed to look for language %s: %v", c.Name, err)
	case !all.Has(c.Name):
		return is("Language " + c.Name + " is not present so it cannot be removed")
	case c.Test:
		return would("Language " + c.Name + " is set to be removed")
	}
	ok, err := s.DropLanguage(ctx, c.Name)
	return acted(ok, err, "Failed to remove language "+c.Name, done("Language "+c.Name+" has been removed", c.Name, "Absent"))
}
