package postgres

import (
	"brine/internal/core/fun"
	"brine/internal/py/value"
)

type userArg struct {
	_    fun.Arguments
	User string `arg:"user" doc:"role to connect as; default: postgres.user of the configuration"`
}

type hostArg struct {
	_    fun.Arguments
	Host string `arg:"host" doc:"server, or directory of its socket; default: postgres.host"`
}

type portArg struct {
	_    fun.Arguments
	Port string `arg:"port,int" doc:"port of the server; default: postgres.port"`
}

type maintenanceDBArg struct {
	_             fun.Arguments
	MaintenanceDB string `arg:"maintenance_db" doc:"database to connect to; default: postgres.maintenance_db, else postgres"`
}

type passwordArg struct {
	_        fun.Arguments
	Password string `arg:"password,secret" doc:"password to connect with; default: postgres.pass"`
}

type runasArg struct {
	_     fun.Arguments
	RunAs string `arg:"runas" doc:"account that runs psql; default: postgres for a server on this machine"`
}

// serverArgs say which server it is and who connects.
type serverArgs struct {
	userArg
	hostArg
	portArg
	maintenanceDBArg
	passwordArg
}

// as returns the options for psql that an account runs.
func (a *serverArgs) as(account string) Options {
	return Options{User: a.User, Host: a.Host, Port: a.Port, DB: a.MaintenanceDB, Password: a.Password, RunAs: account}
}

// connArgs are the arguments of most functions.
type connArgs struct {
	serverArgs
	runasArg
}

func (a *connArgs) options() Options { return a.as(a.RunAs) }

// accessArgs are those of functions that name the database elsewhere.
type accessArgs struct {
	userArg
	hostArg
	portArg
	passwordArg
	runasArg
}

func (a *accessArgs) options() Options {
	return Options{User: a.User, Host: a.Host, Port: a.Port, Password: a.Password, RunAs: a.RunAs}
}

// dbArgs are those of the functions of schemas, which have other names.
type dbArgs struct {
	accountArg
	dbUserArg
	dbPasswordArg
	dbHostArg
	dbPortArg
}

func (a *dbArgs) options() Options {
	return Options{User: a.DBUser, Host: a.DBHost, Port: a.DBPort, Password: a.DBPassword, RunAs: a.User}
}

type versionArg struct {
	_       fun.Arguments
	Version string `arg:"version,required" doc:"major version of PostgreSQL"`
}

type clusterArg struct {
	_    fun.Arguments
	Name string `arg:"name" default:"main" doc:"name of the cluster"`
}

type extensionArg struct {
	_    fun.Arguments
	Name string `arg:"name,required" doc:"name of the extension"`
}

type databaseArg struct {
	_    fun.Arguments
	Name string `arg:"name,required" doc:"name of the database"`
}

type ownerArg struct {
	_     fun.Arguments
	Owner string `arg:"owner" doc:"role that owns it"`
}

type groupnameArg struct {
	_         fun.Arguments
	Groupname string `arg:"groupname,required" doc:"name of the role"`
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

type loginArg struct {
	_     fun.Arguments
	Login fun.Opt[bool] `arg:"login" doc:"may log in"`
}

type inheritArg struct {
	_       fun.Arguments
	Inherit fun.Opt[bool] `arg:"inherit" doc:"has the privileges of its groups"`
}

type superuserArg struct {
	_         fun.Arguments
	Superuser fun.Opt[bool] `arg:"superuser" doc:"is a superuser"`
}

type replicationArg struct {
	_           fun.Arguments
	Replication fun.Opt[bool] `arg:"replication" doc:"may replicate"`
}

type rolepasswordArg struct {
	_            fun.Arguments
	RolePassword value.Value `arg:"rolepassword,secret,str|bool" doc:"password of the role, as text or as the server keeps it; False is none"`
}

type groupsArg struct {
	_      fun.Arguments
	Groups []string `arg:"groups,comma[str]" doc:"roles that it is a member of"`
}

type roleArg struct {
	_    fun.Arguments
	Name string `arg:"name,required" doc:"name of the role"`
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
	Privileges string `arg:"privileges" doc:"privileges, separated by commas, or ALL; none for a group"`
}

type prependArg struct {
	_       fun.Arguments
	Prepend string `arg:"prepend" default:"public" doc:"schema of a table, sequence or function"`
}

type languageArg struct {
	_    fun.Arguments
	Name string `arg:"name,required" doc:"name of the language"`
}

type inDBArg struct {
	_             fun.Arguments
	MaintenanceDB string `arg:"maintenance_db,required" doc:"the database"`
}

type dbnameArg struct {
	_      fun.Arguments
	Dbname string `arg:"dbname,required" doc:"name of the database"`
}

type schemaNameArg struct {
	_    fun.Arguments
	Name string `arg:"name,required" doc:"name of the schema"`
}

type accountArg struct {
	_    fun.Arguments
	User string `arg:"user" doc:"account that runs psql; default: postgres for a server on this machine"`
}

type dbUserArg struct {
	_      fun.Arguments
	DBUser string `arg:"db_user" doc:"role to connect as; default: postgres.user of the configuration"`
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

type tablespaceNameArg struct {
	_    fun.Arguments
	Name string `arg:"name,required" doc:"name of the tablespace"`
}

type usernameArg struct {
	_        fun.Arguments
	Username string `arg:"username,required" doc:"name of the role"`
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "available_extensions", Doc: "List the extensions that can be installed.", Src: "modules/postgres.py available_extensions", Do: availableExtensions,
	},
	{
		Name: "cluster_create", Doc: "Create a cluster with Debian's pg_createcluster.", Src: "modules/deb_postgres.py cluster_create", Do: clusterCreate,
	},
	{
		Name: "cluster_exists", Doc: "Report whether there is a cluster of Debian's tools.", Src: "modules/deb_postgres.py cluster_exists", Do: clusterExists,
	},
	{
		Name: "cluster_list", Doc: "List the clusters of Debian's tools.", Src: "modules/deb_postgres.py cluster_list", Do: clusterList,
	},
	{
		Name: "cluster_remove", Doc: "Remove a cluster of Debian's tools and its data.", Src: "modules/deb_postgres.py cluster_remove", Do: clusterRemove,
	},
	{
		Name: "create_extension", Doc: "Install an extension, or bring one to a version and a schema.", Src: "modules/postgres.py create_extension", Do: createExtension,
	},
	{
		Name: "create_metadata", Doc: "Say whether an extension is installed and is to be upgraded or moved.", Src: "modules/postgres.py create_metadata", Do: createMetadata,
	},
	{
		Name: "datadir_exists", Doc: "Report whether a directory is a data directory.", Src: "modules/postgres.py datadir_exists", Do: datadirExists,
	},
	{
		Name: "datadir_init", Doc: "Make a data directory with initdb; False if it exists.", Src: "modules/postgres.py datadir_init", Do: datadirInit,
	},
	{
		Name: "db_alter", Doc: "Set owner and tablespace of a database.", Src: "modules/postgres.py db_alter", Do: dbAlter,
	},
	{
		Name: "db_create", Doc: "Create a database.", Src: "modules/postgres.py db_create", Do: dbCreate,
	},
	{
		Name: "db_exists", Doc: "Report whether there is a database.", Src: "modules/postgres.py db_exists", Do: dbExists,
	},
	{
		Name: "db_list", Doc: "List the databases and what is known of them.", Src: "modules/postgres.py db_list", Do: dbList,
	},
	{
		Name: "db_remove", Doc: "Remove a database and end the connections to it.", Src: "modules/postgres.py db_remove", Do: dbRemove,
	},
	{
		Name: "drop_extension", Doc: "Remove an extension.", Src: "modules/postgres.py drop_extension", Do: dropExtension,
	},
	{
		Name: "get_available_extension", Doc: "Return what is known of an extension that can be installed.", Src: "modules/postgres.py get_available_extension", Do: getAvailableExtension,
	},
	{
		Name: "get_installed_extension", Doc: "Return what is known of an installed extension.", Src: "modules/postgres.py get_installed_extension", Do: getInstalledExtension,
	},
	{
		Name: "group_create", Doc: "Create a role that cannot log in; False if it exists.", Src: "modules/postgres.py group_create", Do: groupCreate,
	},
	{
		Name: "group_remove", Doc: "Remove a role; False if there is none.", Src: "modules/postgres.py group_remove", Do: groupRemove,
	},
	{
		Name: "group_update", Doc: "Change a role; False if there is none.", Src: "modules/postgres.py group_update", Do: groupUpdate,
	},
	{
		Name: "has_privileges", Doc: "Report whether a role has privileges on an object.", Src: "modules/postgres.py has_privileges", Do: hasPrivileges,
	},
	{
		Name: "installed_extensions", Doc: "List the installed extensions.", Src: "modules/postgres.py installed_extensions", Do: installedExtensions,
	},
	{
		Name: "is_available_extension", Doc: "Report whether an extension can be installed.", Src: "modules/postgres.py is_available_extension", Do: isAvailableExtension,
	},
	{
		Name: "is_installed_extension", Doc: "Report whether an extension is installed.", Src: "modules/postgres.py is_installed_extension", Do: isInstalledExtension,
	},
	{
		Name: "language_create", Doc: "Install a language in a database.", Src: "modules/postgres.py language_create", Do: languageCreate,
	},
	{
		Name: "language_exists", Doc: "Report whether a language is installed in a database.", Src: "modules/postgres.py language_exists", Do: languageExists,
	},
	{
		Name: "language_list", Doc: "List the languages of a database.", Src: "modules/postgres.py language_list", Do: languageList,
	},
	{
		Name: "language_remove", Doc: "Remove a language from a database.", Src: "modules/postgres.py language_remove", Do: languageRemove,
	},
	{
		Name: "owner_to", Doc: "Give a database and what is in it an owner.\nSystem schemas keep theirs.", Src: "modules/postgres.py owner_to", Do: ownerTo,
	},
	{
		Name: "privileges_grant", Doc: "Grant privileges on an object to a role; False if it has them.", Src: "modules/postgres.py privileges_grant", Do: privilegesGrant,
	},
	{
		Name: "privileges_list", Doc: "List who has which privileges on an object, and may pass them on.", Src: "modules/postgres.py privileges_list", Do: privilegesList,
	},
	{
		Name: "privileges_revoke", Doc: "Revoke privileges on an object from a role; False if it lacks them.", Src: "modules/postgres.py privileges_revoke", Do: privilegesRevoke,
	},
	{
		Name: "psql_query", Doc: "Run a SELECT and return its rows as mappings of text.", Src: "modules/postgres.py psql_query", Do: psqlQuery,
	},
	{
		Name: "role_get", Doc: "Return what is known of a role; None if there is none.", Src: "modules/postgres.py role_get", Do: roleGet,
	},
	{
		Name: "schema_create", Doc: "Create a schema; False if it exists.", Src: "modules/postgres.py schema_create", Do: schemaCreate,
	},
	{
		Name: "schema_exists", Doc: "Report whether there is a schema.", Src: "modules/postgres.py schema_exists", Do: schemaExists,
	},
	{
		Name: "schema_get", Doc: "Return owner and access list of a schema; None if there is none.", Src: "modules/postgres.py schema_get", Do: schemaGet,
	},
	{
		Name: "schema_list", Doc: "List the schemas of a database.", Src: "modules/postgres.py schema_list", Do: schemaList,
	},
	{
		Name: "schema_remove", Doc: "Remove a schema that is empty.", Src: "modules/postgres.py schema_remove", Do: schemaRemove,
	},
	{
		Name: "tablespace_alter", Doc: "Change name, owner or options of a tablespace.", Src: "modules/postgres.py tablespace_alter", Do: tablespaceAlter,
	},
	{
		Name: "tablespace_create", Doc: "Create a tablespace in a directory.", Src: "modules/postgres.py tablespace_create", Do: tablespaceCreate,
	},
	{
		Name: "tablespace_exists", Doc: "Report whether there is a tablespace.", Src: "modules/postgres.py tablespace_exists", Do: tablespaceExists,
	},
	{
		Name: "tablespace_list", Doc: "List the tablespaces.", Src: "modules/postgres.py tablespace_list", Do: tablespaceList,
	},
	{
		Name: "tablespace_remove", Doc: "Remove a tablespace.", Src: "modules/postgres.py tablespace_remove", Do: tablespaceRemove,
	},
	{
		Name: "user_create", Doc: "Create a role that can log in; False if it exists.", Src: "modules/postgres.py user_create", Do: userCreate,
	},
	{
		Name: "user_exists", Doc: "Report whether there is a role.", Src: "modules/postgres.py user_exists", Do: userExists,
	},
	{
		Name: "user_list", Doc: "List the roles and what is known of them.", Src: "modules/postgres.py user_list", Do: userList,
	},
	{
		Name: "user_remove", Doc: "Remove a role; False if there is none.", Src: "modules/postgres.py user_remove", Do: userRemove,
	},
	{
		Name: "user_update", Doc: "Change a role; False if there is none.", Src: "modules/postgres.py user_update", Do: userUpdate,
	},
	{
		Name: "version", Doc: "Return the version of the server.", Src: "modules/postgres.py version", Do: version,
	},
}
