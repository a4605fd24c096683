package postgres

import (
	"context"
	"strconv"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/postgres"
)

// of adds the name of the database to a return about a schema.
func of(a *dbnameArg, ret fun.Ret) fun.Ret {
	ret.Extra = value.MapOf("dbname", a.Dbname)
	return ret
}

type schemaPresentArgs struct {
	dbnameArg
	schemaNameArg
	ownerArg
	userArg
	dbUserArg
	dbAddress
}

// schemaPresent creates a schema, or gives it its owner.
// Salt: salt/states/postgres_schema.py present.
func schemaPresent(ctx context.Context, c *fun.Call, a *schemaPresentArgs) fun.Ret {
	s, db, owner := server(c, &a.dbAddress, a.DBUser, a.Dbname, a.User), a.Dbname, a.Owner
	failed := "Failed to create schema " + c.Name + " in database " + db
	due := "Schema " + c.Name + " is set to be created in database " + db + "."
	all, err := s.Schemas(ctx)
	if err != nil {
		return of(&a.dbnameArg, unasked(c, err, failed, due))
	}
	have := all.Map(c.Name)
	switch {
	case have == nil && c.Test:
		return of(&a.dbnameArg, would(due))
	case have == nil:
		ok, err := s.CreateSchema(ctx, c.Name, owner)
		return of(&a.dbnameArg, acted(ok, err, failed, done("Schema "+c.Name+" has been created in database "+db, c.Name, "Present")))
	case owner == "" || have.Str("owner") == owner:
		return of(&a.dbnameArg, is("Schema "+c.Name+" already exists in database "+db))
	case c.Test:
		return of(&a.dbnameArg, would("Schema "+c.Name+" in database "+db+" is set to be owned by "+owner))
	}
	ok, err := s.OwnSchema(ctx, c.Name, owner)
	return of(&a.dbnameArg, acted(ok, err, "Failed to change the owner of schema "+c.Name+" in database "+db,
		done("The owner of schema "+c.Name+" in database "+db+" has been changed", c.Name, value.MapOf("owner", owner))))
}

type schemaAbsentArgs struct {
	dbnameArg
	schemaNameArg
	userArg
	dbUserArg
	dbAddress
}

// schemaAbsent removes a schema. Salt: salt/states/postgres_schema.py absent.
func schemaAbsent(ctx context.Context, c *fun.Call, a *schemaAbsentArgs) fun.Ret {
	s, db := server(c, &a.dbAddress, a.DBUser, a.Dbname, a.User), a.Dbname
	all, err := s.Schemas(ctx)
	switch {
	case err != nil && !noDatabase(err, db):
		return of(&a.dbnameArg, fun.Fail("Failed to look for schema %s: %v", c.Name, err))
	case !all.Has(c.Name):
		return of(&a.dbnameArg, is("Schema "+c.Name+" is not present in database "+db+", so it cannot be removed"))
	case c.Test:
		return of(&a.dbnameArg, would("Schema "+c.Name+" is set to be removed from database "+db))
	}
	ok, err := s.DropSchema(ctx, c.Name)
	return of(&a.dbnameArg, acted(ok, err, "Schema "+c.Name+" failed to be removed", done("Schema "+c.Name+" has been removed from database "+db, c.Name, "Absent")))
}

type tablespacePresentArgs struct {
	tablespaceNameArg
	Directory string     `arg:"directory,required,path" doc:"directory; it has to exist and belong to the server"`
	Options   *value.Map `arg:"options" doc:"options such as seq_page_cost"`
	ownerArg
	userArg
	maintenanceDBArg
	dbAddress
	dbUserArg
}

// tablespacePresent creates a tablespace, or sets its owner and options.
// Salt: salt/states/postgres_tablespace.py present.
func tablespacePresent(ctx context.Context, c *fun.Call, a *tablespacePresentArgs) fun.Ret {
	s, owner, options := server(c, &a.dbAddress, a.DBUser, a.MaintenanceDB, a.User), a.Owner, a.Options
	all, err := s.Tablespaces(ctx)
	if err != nil {
		return unasked(c, err, "Failed to create tablespace "+c.Name, "Tablespace "+c.Name+" is set to be created")
	}
	have := all.Map(c.Name)
	switch {
	case have == nil && c.Test:
		return would("Tablespace " + c.Name + " is set to be created")
	case have == nil:
		ok, err := s.CreateTablespace(ctx, c.Name, a.Directory, owner, options)
		return acted(ok, err, "Failed to create tablespace "+c.Name, done("The tablespace "+c.Name+" has been created", c.Name, "Present"))
	case have.Str("Location") != a.Directory:
		return fun.Fail("Tablespace %s is not at the right location. This is\n            unfixable without dropping and recreating the tablespace.", c.Name)
	}
	if owner == have.Str("Owner") {
		owner = ""
	}
	set := optionsDue(options, have.Str("Opts"))
	var comment string
	switch {
	case owner == "" && set.Len() == 0:
		return is("Tablespace " + c.Name + " is already present")
	case c.Test && set.Len() > 0:
		return would("Tablespace " + c.Name + " options to be\n                        altered")
	case c.Test:
		return would("Tablespace " + c.Name + " owner to be altered")
	case set.Len() > 0:
		comment = "Tablespace " + c.Name + " opts changed"
	default:
		comment = "Tablespace " + c.Name + " owner changed"
	}
	changes := value.NewMap(2)
	if owner != "" {
		changes.Set("owner", owner)
	}
	if set.Len() > 0 {
		changes.Set("options", set)
	}
	ok, err := s.AlterTablespace(ctx, c.Name, postgres.TablespaceChange{Owner: owner, Set: set})
	return acted(ok, err, "Failed to alter tablespace "+c.Name, done(comment, c.Name, changes))
}

// optionsDue returns the options that a tablespace does not have; have is as the
// server prints them: {seq_page_cost=1.1,...}.
func optionsDue(want *value.Map, have string) *value.Map {
	out := value.NewMap(want.Len())
	has := map[string]bool{}
	for kv := range strings.SplitSeq(strings.Trim(have, "{}"), ",") {
		has[kv] = true
	}
	for k, v := range want.All() {
		if !has[value.Str(k)+"="+value.Str(v)] {
			out.Set(k, v)
		}
	}
	return out
}

type tablespaceAbsentArgs struct {
	tablespaceNameArg
	userArg
	maintenanceDBArg
	dbUserArg
	dbAddress
}

// tablespaceAbsent removes a tablespace.
// Salt: salt/states/postgres_tablespace.py absent.
func tablespaceAbsent(ctx context.Context, c *fun.Call, a *tablespaceAbsentArgs) fun.Ret {
	s := server(c, &a.dbAddress, a.DBUser, a.MaintenanceDB, a.User)
	all, err := s.Tablespaces(ctx)
	switch {
	case err != nil:
		return fun.Fail("Failed to look for tablespace %s: %v", c.Name, err)
	case !all.Has(c.Name):
		return is("Tablespace " + c.Name + " is not present, so it cannot be removed")
	case c.Test:
		return would("Tablespace " + c.Name + " is set to be removed")
	}
	ok, err := s.DropTablespace(ctx, c.Name)
	return acted(ok, err, "Failed to remove tablespace "+c.Name, done("Tablespace "+c.Name+" has been removed", c.Name, "Absent"))
}

type clusterPresentArgs struct {
	versionArg
	clusterNameArg
	Port string `arg:"port,int" doc:"port"`
	encodingArg
	localeArg
	DataDir          string `arg:"datadir,path" doc:"data directory"`
	AllowGroupAccess bool   `arg:"allow_group_access" doc:"let the group read the data directory"`
	DataChecksums    bool   `arg:"data_checksums" doc:"with checksums of data pages"`
	WALSegSize       string `arg:"wal_segsize" doc:"size of the segments of the write-ahead log in megabytes"`
}

// clusterPresent creates a cluster with Debian's tools.
// Salt: salt/states/postgres_cluster.py present.
func clusterPresent(ctx context.Context, c *fun.Call, a *clusterPresentArgs) fun.Ret {
	cl := postgres.Cluster{
		Version: a.Version, Name: a.Name, Port: a.Port, Locale: a.Locale, Encoding: a.Encoding, DataDir: a.DataDir, WALSegSize: a.WALSegSize,
		GroupAccess: a.AllowGroupAccess, Checksums: a.DataChecksums,
	}
	id := cl.Version + "/" + cl.Name
	all, err := postgres.Clusters(ctx, c.Env)
	if err != nil {
		return fun.Fail("Failed to create cluster %s: %v", id, err)
	}
	if have := all.Map(id); have != nil {
		port, _ := strconv.ParseInt(cl.Port, 10, 64)
		if cl.Port != "" && have.At("port") != port || cl.DataDir != "" && have.Str("datadir") != cl.DataDir {
			return fun.Fail("Cluster %s has wrong parameters which couldn't be changed on fly.", id)
		}
		return is("Cluster " + id + " is already present")
	}
	if c.Test {
		return would("Cluster " + id + " is set to be created")
	}
	out, err := postgres.CreateCluster(ctx, c.Env, cl)
	return acted(out.OK(), err, "Failed to create cluster "+id, done("The cluster "+id+" has been created", id, "Present"))
}

type clusterAbsentArgs struct {
	versionArg
	clusterNameArg
}

// clusterAbsent removes a cluster of Debian's tools and its data.
// Salt: salt/states/postgres_cluster.py absent.
func clusterAbsent(ctx context.Context, c *fun.Call, a *clusterAbsentArgs) fun.Ret {
	version := a.Version
	id := version + "/" + c.Name
	all, err := postgres.Clusters(ctx, c.Env)
	switch {
	case err != nil:
		return fun.Fail("Failed to look for cluster %s: %v", id, err)
	case !all.Has(id):
		return is("Cluster " + id + " is not present, so it cannot be removed")
	case c.Test:
		return would("Cluster " + id + " is set to be removed")
	}
	out, err := postgres.RemoveCluster(ctx, c.Env, version, c.Name, true)
	if err == nil && !out.OK() {
		return fun.Fail("Failed to remove cluster %s: %s", id, out.Fault())
	}
	return acted(true, err, "Failed to remove cluster "+id, done("Cluster "+id+" has been removed", c.Name, "Absent"))
}

type initdbPresentArgs struct {
	Name     string          `arg:"name,required,path" doc:"the data directory"`
	User     string          `arg:"user" doc:"superuser of the cluster; default: the account"`
	Password fun.Opt[string] `arg:"password,secret" doc:"password of the superuser"`
	Auth     string          `arg:"auth" default:"password" doc:"authentication method of local connections"`
	Encoding string          `arg:"encoding" default:"UTF8" doc:"character encoding"`
	localeArg
	RunAs     string `arg:"runas" doc:"account that runs initdb; default: postgres"`
	WALDir    string `arg:"waldir,path" doc:"directory of the write-ahead log"`
	Checksums bool   `arg:"checksums" default:"False" doc:"with checksums of data pages"`
}

// initdbPresent makes a data directory.
// Salt: salt/states/postgres_initdb.py present.
func initdbPresent(ctx context.Context, c *fun.Call, a *initdbPresentArgs) fun.Ret {
	what := "Postgres data directory " + c.Name
	switch {
	case postgres.DataDirExists(c.Env.Host, c.Name):
		return is(what + " is already present")
	case c.Test:
		return would(what + " is set to be initialized")
	}
	ok, err := postgres.InitDataDir(ctx, c.Env, postgres.DataDir{
		Path: a.Name, Auth: a.Auth, User: a.User, Password: a.Password.V, Encoding: a.Encoding, Locale: a.Locale, WALDir: a.WALDir, RunAs: a.RunAs,
		HasPassword: a.Password.Given, Checksums: a.Checksums,
	})
	return acted(ok, err, what+" initialization failed", done(what+" has been initialized", c.Name, "Present"))
}
