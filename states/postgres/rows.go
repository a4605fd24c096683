package postgres

import (
	"brine/internal/core/fun"
	"brine/internal/py/value"
)

type versionArg struct {
	_       fun.Arguments
	Version string `arg:"version,required" doc:"major version of PostgreSQL"`
}

type clusterNameArg struct {
	_    fun.Arguments
	Name string `arg:"name,required" doc:"name of the cluster"`
}

type encodingArg struct {
	_        fun.Arguments
	Encoding string `arg:"encoding" doc:"character encoding"`
}

type localeArg struct {
	_      fun.Arguments
	Locale string `arg:"locale" doc:"locale"`
}

type databaseNameArg struct {
	_    fun.Arguments
	Name string `arg:"name,required" doc:"name of the database"`
}

type userArg struct {
	_    fun.Arguments
	User string `arg:"user" doc:"account that runs psql; default: postgres for a server on this machine"`
}

type maintenanceDBArg struct {
	_             fun.Arguments
	MaintenanceDB string `arg:"maintenance_db" doc:"database to connect to; default: postgres.maintenance_db, else postgres"`
}

type dbPasswordArg struct {
	_          fun.Arguments
	DBPassword string `arg:"db_password,secret" doc:"password to connect with; default: postgres.pass"`
}

type dbHostArg struct {
	_      fun.Arguments
	DBHost string `arg:"db_host" doc:"server, or directory of its socket; default: postgres.host"`
}

type dbPortArg struct {
	_      fun.Arguments
	DBPort string `arg:"db_port,int" doc:"port of the server; default: postgres.port"`
}

// dbAddress is the server and the password for it.
type dbAddress struct {
	dbPasswordArg
	dbHostArg
	dbPortArg
}

type dbUserArg struct {
	_      fun.Arguments
	DBUser string `arg:"db_user" doc:"role to connect as; default: postgres.user of the configuration"`
}

type ownerArg struct {
	_     fun.Arguments
	Owner string `arg:"owner" doc:"role that owns it"`
}

type extensionNameArg struct {
	_ fun.Arguments
	_ string `arg:"name,required" doc:"name of the extension"`
}

type roleNameArg struct {
	_    fun.Arguments
	Name string `arg:"name,required" doc:"name of the role"`
}

type createdbArg struct {
	_        fun.Arguments
	CreateDB fun.Opt[bool] `arg:"createdb" doc:"may create databases"`
}

type createrolesArg struct {
	_           fun.Arguments
	CreateRoles fun.Opt[bool] `arg:"createroles" doc:"may create roles"`
}

type encryptedArg struct {
	_         fun.Arguments
	Encrypted value.Value `arg:"encrypted,str|bool" doc:"how the password is kept: md5 or True, scram-sha-256, False for as it is; default: md5"`
}

type superuserArg struct {
	_         fun.Arguments
	Superuser fun.Opt[bool] `arg:"superuser" doc:"is a superuser"`
}

type inheritArg struct {
	_       fun.Arguments
	Inherit fun.Opt[bool] `arg:"inherit" doc:"has the privileges of its groups"`
}

type loginArg struct {
	_     fun.Arguments
	Login fun.Opt[bool] `arg:"login" doc:"may log in"`
}

type replicationArg struct {
	_           fun.Arguments
	Replication fun.Opt[bool] `arg:"replication" doc:"may replicate"`
}

type passwordArg struct {
	_        fun.Arguments
	Password fun.Opt[string] `arg:"password,secret" doc:"password of the role, as text or as the server keeps it"`
}

type refreshPasswordArg struct {
	_               fun.Arguments
	RefreshPassword bool `arg:"refresh_password" doc:"set the password on every run, without comparing it"`
}

type groupsArg struct {
	_      fun.Arguments
	Groups []string `arg:"groups,comma[str]" doc:"roles that it is a member of"`
}

type languageNameArg struct {
	_ fun.Arguments
	_ string `arg:"name,required" doc:"name of the language"`
}

type inDBArg struct {
	_             fun.Arguments
	MaintenanceDB string `arg:"maintenance_db,required" doc:"the database"`
}

type objectNameArg struct {
	_          fun.Arguments
	ObjectName string `arg:"object_name,required" doc:"name of the object; all for all tables or sequences of the schema"`
}

type objectTypeArg struct {
	_          fun.Arguments
	ObjectType string `arg:"object_type,required" doc:"table, sequence, schema, tablespace, language, database, group or function"`
}

type privilegesArg struct {
	_          fun.Arguments
	Privileges []string `arg:"privileges,comma[str]" doc:"privileges, or ALL; none for a group"`
}

type prependArg struct {
	_       fun.Arguments
	Prepend string `arg:"prepend" default:"public" doc:"schema of a table, sequence or function"`
}

type dbnameArg struct {
	_      fun.Arguments
	Dbname string `arg:"dbname,required" doc:"name of the database"`
}

type schemaNameArg struct {
	_ fun.Arguments
	_ string `arg:"name,required" doc:"name of the schema"`
}

type tablespaceNameArg struct {
	_ fun.Arguments
	_ string `arg:"name,required" doc:"name of the tablespace"`
}

// The functions of each module, alphabetically.
var (
	clusterSpecs = []fun.Spec{
		{
			Name: "absent", Doc: "Stop a cluster of Debian's tools and remove it with its data.", Src: "states/postgres_cluster.py absent", Do: clusterAbsent,
		},
		{
			Name: "present", Doc: "Create a cluster with Debian's pg_createcluster.\nIf it exists, its port and data directory have to be the given ones.", Src: "states/postgres_cluster.py present", Do: clusterPresent,
		},
	}
	databaseSpecs = []fun.Spec{
		{
			Name: "absent", Doc: "Remove a database and end the connections to it.", Src: "states/postgres_database.py absent", Do: databaseAbsent,
		},
		{
			Name: "present", Doc: "Create a database, or set owner and tablespace of an existing one.", Src: "states/postgres_database.py present", Do: databasePresent,
		},
	}
	extensionSpecs = []fun.Spec{
		{
			Name: "absent", Doc: "Remove an extension.", Src: "states/postgres_extension.py absent", Do: extensionAbsent,
		},
		{
			Name: "present", Doc: "Install an extension, or bring an existing one to a version and a schema.", Src: "states/postgres_extension.py present", Do: extensionPresent,
		},
	}
	groupSpecs = []fun.Spec{
		{
			Name: "absent", Doc: "Remove a role.", Src: "states/postgres_group.py absent", Do: groupAbsent,
		},
		{
			Name: "present", Doc: "Create a role that cannot log in, or change an existing one.", Src: "states/postgres_group.py present", Do: groupPresent,
		},
	}
	initdbSpecs = []fun.Spec{
		{
			Name: "present", Doc: "Make a data directory with initdb.", Src: "states/postgres_initdb.py present", Do: initdbPresent,
		},
	}
	languageSpecs = []fun.Spec{
		{
			Name: "absent", Doc: "Remove a language from a database.", Src: "states/postgres_language.py absent", Do: languageAbsent,
		},
		{
			Name: "present", Doc: "Install a language in a database.", Src: "states/postgres_language.py present", Do: languagePresent,
		},
	}
	privilegeSpecs = []fun.Spec{
		{
			Name: "absent", Doc: "Revoke privileges on an object from a role.", Src: "states/postgres_privileges.py absent", Do: privilegesAbsent,
		},
		{
			Name: "present", Doc: "Grant privileges on an object to a role.\nFor the type group the role becomes a member of the object.", Src: "states/postgres_privileges.py present", Do: privilegesPresent,
		},
	}
	schemaSpecs = []fun.Spec{
		{
			Name: "absent", Doc: "Remove a schema that is empty.", Src: "states/postgres_schema.py absent", Do: schemaAbsent,
		},
		{
			Name: "present", Doc: "Create a schema, or set the owner of an existing one.", Src: "states/postgres_schema.py present", Do: schemaPresent,
		},
	}
	tablespaceSpecs = []fun.Spec{
		{
			Name: "absent", Doc: "Remove a tablespace.", Src: "states/postgres_tablespace.py absent", Do: tablespaceAbsent,
		},
		{
			Name: "present", Doc: "Create a tablespace, or set owner and options of an existing one.", Src: "states/postgres_tablespace.py present", Do: tablespacePresent,
		},
	}
	userSpecs = []fun.Spec{
		{
			Name: "absent", Doc: "Remove a role.", Src: "states/postgres_user.py absent", Do: userAbsent,
		},
		{
			Name: "present", Doc: "Create a role that can log in, or change an existing one.", Src: "states/postgres_user.py present", Do: userPresent,
		},
	}
)
