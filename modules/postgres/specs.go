package postgres

import "brine/internal/fun"

// Arguments that several functions have.
var (
	userArg           = fun.Arg{Name: "user", Type: fun.Str, Doc: "role to connect as; default: postgres.user of the configuration"}
	hostArg           = fun.Arg{Name: "host", Type: fun.Str, Doc: "server, or directory of its socket; default: postgres.host"}
	portArg           = fun.Arg{Name: "port", Type: fun.Int, Doc: "port of the server; default: postgres.port"}
	maintenanceDBArg  = fun.Arg{Name: "maintenance_db", Type: fun.Str, Doc: "database to connect to; default: postgres.maintenance_db, else postgres"}
	passwordArg       = fun.Arg{Name: "password", Type: fun.Str, Doc: "password to connect with; default: postgres.pass", Secret: true}
	runasArg          = fun.Arg{Name: "runas", Type: fun.Str, Doc: "account that runs psql; default: postgres for a server on this machine"}
	versionArg        = fun.Arg{Name: "version", Type: fun.Str, Required: true, Doc: "major version of PostgreSQL"}
	clusterArg        = fun.Arg{Name: "name", Type: fun.Str, Default: "main", Doc: "name of the cluster"}
	extensionArg      = fun.Arg{Name: "name", Type: fun.Str, Required: true, Doc: "name of the extension"}
	databaseArg       = fun.Arg{Name: "name", Type: fun.Str, Required: true, Doc: "name of the database"}
	ownerArg          = fun.Arg{Name: "owner", Type: fun.Str, Doc: "role that owns it"}
	groupnameArg      = fun.Arg{Name: "groupname", Type: fun.Str, Required: true, Doc: "name of the role"}
	createdbArg       = fun.Arg{Name: "createdb", Type: fun.Bool, Doc: "may create databases"}
	createrolesArg    = fun.Arg{Name: "createroles", Type: fun.Bool, Doc: "may create roles"}
	encryptedArg      = fun.Arg{Name: "encrypted", Type: fun.Bool | fun.Str, Doc: "how the password is kept: md5 or True, scram-sha-256, False for as it is; default: md5"}
	loginArg          = fun.Arg{Name: "login", Type: fun.Bool, Doc: "may log in"}
	inheritArg        = fun.Arg{Name: "inherit", Type: fun.Bool, Doc: "has the privileges of its groups"}
	superuserArg      = fun.Arg{Name: "superuser", Type: fun.Bool, Doc: "is a superuser"}
	replicationArg    = fun.Arg{Name: "replication", Type: fun.Bool, Doc: "may replicate"}
	rolepasswordArg   = fun.Arg{Name: "rolepassword", Type: fun.Str | fun.Bool, Doc: "password of the role, as text or as the server keeps it; False is none", Secret: true}
	groupsArg         = fun.Arg{Name: "groups", Type: fun.Commas, Doc: "roles that it is a member of"}
	roleArg           = fun.Arg{Name: "name", Type: fun.Str, Required: true, Doc: "name of the role"}
	objectNameArg     = fun.Arg{Name: "object_name", Type: fun.Str, Required: true, Doc: "name of the object; all for all tables or sequences of the schema"}
	objectTypeArg     = fun.Arg{Name: "object_type", Type: fun.Str, Required: true, Doc: "table, sequence, schema, tablespace, language, database, group or function"}
	privilegesArg     = fun.Arg{Name: "privileges", Type: fun.Str, Doc: "privileges, separated by commas, or ALL; none for a group"}
	prependArg        = fun.Arg{Name: "prepend", Type: fun.Str, Default: "public", Doc: "schema of a table, sequence or function"}
	languageArg       = fun.Arg{Name: "name", Type: fun.Str, Required: true, Doc: "name of the language"}
	inDBArg           = fun.Arg{Name: "maintenance_db", Type: fun.Str, Required: true, Doc: "the database"}
	dbnameArg         = fun.Arg{Name: "dbname", Type: fun.Str, Required: true, Doc: "name of the database"}
	schemaNameArg     = fun.Arg{Name: "name", Type: fun.Str, Required: true, Doc: "name of the schema"}
	accountArg        = fun.Arg{Name: "user", Type: fun.Str, Doc: "account that runs psql; default: postgres for a server on this machine"}
	dbUserArg         = fun.Arg{Name: "db_user", Type: fun.Str, Doc: "role to connect as; default: postgres.user of the configuration"}
	dbPasswordArg     = fun.Arg{Name: "db_password", Type: fun.Str, Doc: "password to connect with; default: postgres.pass", Secret: true}
	dbHostArg         = fun.Arg{Name: "db_host", Type: fun.Str, Doc: "server, or directory of its socket; default: postgres.host"}
	dbPortArg         = fun.Arg{Name: "db_port", Type: fun.Int, Doc: "port of the server; default: postgres.port"}
	tablespaceNameArg = fun.Arg{Name: "name", Type: fun.Str, Required: true, Doc: "name of the tablespace"}
	usernameArg       = fun.Arg{Name: "username", Type: fun.Str, Required: true, Doc: "name of the role"}
)

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "available_extensions", Doc: "List the extensions that can be installed.", Src: "modules/postgres.py available_extensions", Fn: availableExtensions,
		Args: []fun.Arg{
			userArg, hostArg, portArg, maintenanceDBArg, passwordArg, runasArg,
		},
	},
	{
		Name: "cluster_create", Doc: "Create a cluster with Debian's pg_createcluster.", Src: "modules/deb_postgres.py cluster_create", Fn: clusterCreate,
		Args: []fun.Arg{
			versionArg, clusterArg,
			{Name: "port", Type: fun.Int, Doc: "port"},
			{Name: "locale", Type: fun.Str, Doc: "locale"},
			{Name: "encoding", Type: fun.Str, Doc: "character encoding"},
			{Name: "datadir", Type: fun.Path, Doc: "data directory"},
			{Name: "allow_group_access", Type: fun.Bool, Doc: "let the group read the data directory"},
			{Name: "data_checksums", Type: fun.Bool, Doc: "with checksums of data pages"},
			{Name: "wal_segsize", Type: fun.Str, Doc: "size of the segments of the write-ahead log in megabytes"},
		},
	},
	{
		Name: "cluster_exists", Doc: "Report whether there is a cluster of Debian's tools.", Src: "modules/deb_postgres.py cluster_exists", Fn: clusterExists,
		Args: []fun.Arg{
			versionArg, clusterArg,
		},
	},
	{
		Name: "cluster_list", Doc: "List the clusters of Debian's tools.", Src: "modules/deb_postgres.py cluster_list", Fn: clusterList,
		Args: []fun.Arg{
			{Name: "verbose", Type: fun.Bool, Default: false, Doc: "return what is known of each"},
		},
	},
	{
		Name: "cluster_remove", Doc: "Remove a cluster of Debian's tools and its data.", Src: "modules/deb_postgres.py cluster_remove", Fn: clusterRemove,
		Args: []fun.Arg{
			versionArg, clusterArg,
			{Name: "stop", Type: fun.Bool, Default: false, Doc: "stop the server first"},
		},
	},
	{
		Name: "create_extension", Doc: "Install an extension, or bring one to a version and a schema.", Src: "modules/postgres.py create_extension", Fn: createExtension,
		Args: []fun.Arg{
			extensionArg,
			{Name: "if_not_exists", Type: fun.Bool, Doc: "no error if it exists; default: True"},
			{Name: "schema", Type: fun.Str, Doc: "schema for its objects"},
			{Name: "ext_version", Type: fun.Str, Doc: "version of the extension"},
			{Name: "from_version", Type: fun.Str, Doc: "version that is installed outside of extensions"},
			userArg, hostArg, portArg, maintenanceDBArg, passwordArg, runasArg,
		},
	},
	{
		Name: "create_metadata", Doc: "Say whether an extension is installed and is to be upgraded or moved.", Src: "modules/postgres.py create_metadata", Fn: createMetadata,
		Args: []fun.Arg{
			extensionArg,
			{Name: "ext_version", Type: fun.Str, Doc: "version of the extension"},
			{Name: "schema", Type: fun.Str, Doc: "schema for its objects"},
			userArg, hostArg, portArg, maintenanceDBArg, passwordArg, runasArg,
		},
	},
	{
		Name: "datadir_exists", Doc: "Report whether a directory is a data directory.", Src: "modules/postgres.py datadir_exists", Fn: datadirExists,
		Args: []fun.Arg{
			{Name: "name", Type: fun.Path, Required: true, Doc: "the data directory"},
		},
	},
	{
		Name: "datadir_init", Doc: "Make a data directory with initdb; False if it exists.", Src: "modules/postgres.py datadir_init", Fn: datadirInit,
		Args: []fun.Arg{
			{Name: "name", Type: fun.Path, Required: true, Doc: "the data directory"},
			{Name: "auth", Type: fun.Str, Default: "password", Doc: "authentication method of local connections"},
			{Name: "user", Type: fun.Str, Doc: "superuser of the cluster; default: the account"},
			{Name: "password", Type: fun.Str, Doc: "password of the superuser", Secret: true},
			{Name: "encoding", Type: fun.Str, Default: "UTF8", Doc: "character encoding"},
			{Name: "locale", Type: fun.Str, Doc: "locale"},
			{Name: "waldir", Type: fun.Path, Doc: "directory of the write-ahead log"},
			{Name: "checksums", Type: fun.Bool, Default: false, Doc: "with checksums of data pages"},
			{Name: "runas", Type: fun.Str, Doc: "account that runs initdb; default: postgres"},
		},
	},
	{
		Name: "db_alter", Doc: "Set owner and tablespace of a database.", Src: "modules/postgres.py db_alter", Fn: dbAlter,
		Args: []fun.Arg{
			databaseArg, userArg, hostArg, portArg, maintenanceDBArg, passwordArg,
			{Name: "tablespace", Type: fun.Str, Doc: "tablespace of the database"},
			ownerArg,
			{Name: "owner_recurse", Type: fun.Bool, Default: false, Doc: "own what is in the database, too"},
			runasArg,
		},
	},
	{
		Name: "db_create", Doc: "Create a database.", Src: "modules/postgres.py db_create", Fn: dbCreate,
		Args: []fun.Arg{
			databaseArg, userArg, hostArg, portArg, maintenanceDBArg, passwordArg,
			{Name: "tablespace", Type: fun.Str, Doc: "tablespace of the database"},
			{Name: "encoding", Type: fun.Str, Doc: "character encoding"},
			{Name: "lc_collate", Type: fun.Str, Doc: "collation order"},
			{Name: "lc_ctype", Type: fun.Str, Doc: "character classification"},
			ownerArg,
			{Name: "template", Type: fun.Str, Doc: "database to copy"},
			runasArg,
		},
	},
	{
		Name: "db_exists", Doc: "Report whether there is a database.", Src: "modules/postgres.py db_exists", Fn: dbExists,
		Args: []fun.Arg{
			databaseArg, userArg, hostArg, portArg, maintenanceDBArg, passwordArg, runasArg,
		},
	},
	{
		Name: "db_list", Doc: "List the databases and what is known of them.", Src: "modules/postgres.py db_list", Fn: dbList,
		Args: []fun.Arg{
			userArg, hostArg, portArg, maintenanceDBArg, passwordArg, runasArg,
		},
	},
	{
		Name: "db_remove", Doc: "Remove a database and end the connections to it.", Src: "modules/postgres.py db_remove", Fn: dbRemove,
		Args: []fun.Arg{
			databaseArg, userArg, hostArg, portArg, maintenanceDBArg, passwordArg, runasArg,
		},
	},
	{
		Name: "drop_extension", Doc: "Remove an extension.", Src: "modules/postgres.py drop_extension", Fn: dropExtension,
		Args: []fun.Arg{
			extensionArg,
			{Name: "if_exists", Type: fun.Bool, Doc: "no error if it does not exist"},
			{Name: "restrict", Type: fun.Bool, Doc: "refuse if other objects depend on it"},
			{Name: "cascade", Type: fun.Bool, Doc: "drop what depends on it, too; default: True"},
			userArg, hostArg, portArg, maintenanceDBArg, passwordArg, runasArg,
		},
	},
	{
		Name: "get_available_extension", Doc: "Return what is known of an extension that can be installed.", Src: "modules/postgres.py get_available_extension", Fn: getAvailableExtension,
		Args: []fun.Arg{
			extensionArg, userArg, hostArg, portArg, maintenanceDBArg, passwordArg, runasArg,
		},
	},
	{
		Name: "get_installed_extension", Doc: "Return what is known of an installed extension.", Src: "modules/postgres.py get_installed_extension", Fn: getInstalledExtension,
		Args: []fun.Arg{
			extensionArg, userArg, hostArg, portArg, maintenanceDBArg, passwordArg, runasArg,
		},
	},
	{
		Name: "group_create", Doc: "Create a role that cannot log in; False if it exists.", Src: "modules/postgres.py group_create", Fn: groupCreate,
		Args: []fun.Arg{
			groupnameArg, userArg, hostArg, portArg, maintenanceDBArg, passwordArg, createdbArg, createrolesArg, encryptedArg, loginArg, inheritArg, superuserArg, replicationArg, rolepasswordArg, groupsArg, runasArg,
		},
	},
	{
		Name: "group_remove", Doc: "Remove a role; False if there is none.", Src: "modules/postgres.py group_remove", Fn: groupRemove,
		Args: []fun.Arg{
			groupnameArg, userArg, hostArg, portArg, maintenanceDBArg, passwordArg, runasArg,
		},
	},
	{
		Name: "group_update", Doc: "Change a role; False if there is none.", Src: "modules/postgres.py group_update", Fn: groupUpdate,
		Args: []fun.Arg{
			groupnameArg, userArg, hostArg, portArg, maintenanceDBArg, passwordArg, createdbArg, createrolesArg, encryptedArg, inheritArg, loginArg, superuserArg, replicationArg, rolepasswordArg, groupsArg, runasArg,
		},
	},
	{
		Name: "has_privileges", Doc: "Report whether a role has privileges on an object.", Src: "modules/postgres.py has_privileges", Fn: hasPrivileges,
		Args: []fun.Arg{
			roleArg, objectNameArg, objectTypeArg, privilegesArg,
			{Name: "grant_option", Type: fun.Bool, Doc: "with the right to pass them on"},
			prependArg, maintenanceDBArg, userArg, hostArg, portArg, passwordArg, runasArg,
		},
	},
	{
		Name: "installed_extensions", Doc: "List the installed extensions.", Src: "modules/postgres.py installed_extensions", Fn: installedExtensions,
		Args: []fun.Arg{
			userArg, hostArg, portArg, maintenanceDBArg, passwordArg, runasArg,
		},
	},
	{
		Name: "is_available_extension", Doc: "Report whether an extension can be installed.", Src: "modules/postgres.py is_available_extension", Fn: isAvailableExtension,
		Args: []fun.Arg{
			extensionArg, userArg, hostArg, portArg, maintenanceDBArg, passwordArg, runasArg,
		},
	},
	{
		Name: "is_installed_extension", Doc: "Report whether an extension is installed.", Src: "modules/postgres.py is_installed_extension", Fn: isInstalledExtension,
		Args: []fun.Arg{
			extensionArg, userArg, hostArg, portArg, maintenanceDBArg, passwordArg, runasArg,
		},
	},
	{
		Name: "language_create", Doc: "Install a language in a database.", Src: "modules/postgres.py language_create", Fn: languageCreate,
		Args: []fun.Arg{
			languageArg, inDBArg, userArg, hostArg, portArg, passwordArg, runasArg,
		},
	},
	{
		Name: "language_exists", Doc: "Report whether a language is installed in a database.", Src: "modules/postgres.py language_exists", Fn: languageExists,
		Args: []fun.Arg{
			languageArg, inDBArg, userArg, hostArg, portArg, passwordArg, runasArg,
		},
	},
	{
		Name: "language_list", Doc: "List the languages of a database.", Src: "modules/postgres.py language_list", Fn: languageList,
		Args: []fun.Arg{
			inDBArg, userArg, hostArg, portArg, passwordArg, runasArg,
		},
	},
	{
		Name: "language_remove", Doc: "Remove a language from a database.", Src: "modules/postgres.py language_remove", Fn: languageRemove,
		Args: []fun.Arg{
			languageArg, inDBArg, userArg, hostArg, portArg, passwordArg, runasArg,
		},
	},
	{
		Name: "owner_to", Doc: "Give a database and what is in it an owner.\nSystem schemas keep theirs.", Src: "modules/postgres.py owner_to", Fn: ownerTo,
		Args: []fun.Arg{
			dbnameArg,
			{Name: "ownername", Type: fun.Str, Required: true, Doc: "the new owner"},
			userArg, hostArg, portArg, passwordArg, runasArg,
		},
	},
	{
		Name: "privileges_grant", Doc: "Grant privileges on an object to a role; False if it has them.", Src: "modules/postgres.py privileges_grant", Fn: privilegesGrant,
		Args: []fun.Arg{
			roleArg, objectNameArg, objectTypeArg, privilegesArg,
			{Name: "grant_option", Type: fun.Bool, Doc: "with the right to pass them on"},
			prependArg, maintenanceDBArg, userArg, hostArg, portArg, passwordArg, runasArg,
		},
	},
	{
		Name: "privileges_list", Doc: "List who has which privileges on an object, and may pass them on.", Src: "modules/postgres.py privileges_list", Fn: privilegesList,
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Required: true, Doc: "name of the object"},
			objectTypeArg, prependArg, maintenanceDBArg, userArg, hostArg, portArg, passwordArg, runasArg,
		},
	},
	{
		Name: "privileges_revoke", Doc: "Revoke privileges on an object from a role; False if it lacks them.", Src: "modules/postgres.py privileges_revoke", Fn: privilegesRevoke,
		Args: []fun.Arg{
			roleArg, objectNameArg, objectTypeArg, privilegesArg, prependArg, maintenanceDBArg, userArg, hostArg, portArg, passwordArg, runasArg,
		},
	},
	{
		Name: "psql_query", Doc: "Run a SELECT and return its rows as mappings of text.", Src: "modules/postgres.py psql_query", Fn: psqlQuery,
		Args: []fun.Arg{
			{Name: "query", Type: fun.Str, Required: true, Doc: "the SELECT"},
			userArg, hostArg, portArg, maintenanceDBArg, passwordArg, runasArg,
			{Name: "write", Type: fun.Bool, Default: false, Doc: "allow the query to write: WITH x AS (UPDATE ... RETURNING ...) SELECT ..."},
		},
	},
	{
		Name: "role_get", Doc: "Return what is known of a role; None if there is none.", Src: "modules/postgres.py role_get", Fn: roleGet,
		Args: []fun.Arg{
			roleArg, userArg, hostArg, portArg, maintenanceDBArg, passwordArg, runasArg,
			{Name: "return_password", Type: fun.Bool, Default: false, Doc: "return the passwords as the server keeps them"},
		},
	},
	{
		Name: "schema_create", Doc: "Create a schema; False if it exists.", Src: "modules/postgres.py schema_create", Fn: schemaCreate,
		Args: []fun.Arg{
			dbnameArg, schemaNameArg, ownerArg, accountArg, dbUserArg, dbPasswordArg, dbHostArg, dbPortArg,
		},
	},
	{
		Name: "schema_exists", Doc: "Report whether there is a schema.", Src: "modules/postgres.py schema_exists", Fn: schemaExists,
		Args: []fun.Arg{
			dbnameArg, schemaNameArg, accountArg, dbUserArg, dbPasswordArg, dbHostArg, dbPortArg,
		},
	},
	{
		Name: "schema_get", Doc: "Return owner and access list of a schema; None if there is none.", Src: "modules/postgres.py schema_get", Fn: schemaGet,
		Args: []fun.Arg{
			dbnameArg, schemaNameArg, accountArg, dbUserArg, dbPasswordArg, dbHostArg, dbPortArg,
		},
	},
	{
		Name: "schema_list", Doc: "List the schemas of a database.", Src: "modules/postgres.py schema_list", Fn: schemaList,
		Args: []fun.Arg{
			dbnameArg, accountArg, dbUserArg, dbPasswordArg, dbHostArg, dbPortArg,
		},
	},
	{
		Name: "schema_remove", Doc: "Remove a schema that is empty.", Src: "modules/postgres.py schema_remove", Fn: schemaRemove,
		Args: []fun.Arg{
			dbnameArg, schemaNameArg, accountArg, dbUserArg, dbPasswordArg, dbHostArg, dbPortArg,
		},
	},
	{
		Name: "tablespace_alter", Doc: "Change name, owner or options of a tablespace.", Src: "modules/postgres.py tablespace_alter", Fn: tablespaceAlter,
		Args: []fun.Arg{
			tablespaceNameArg, userArg, hostArg, portArg, maintenanceDBArg, passwordArg,
			{Name: "new_name", Type: fun.Str, Doc: "new name"},
			{Name: "new_owner", Type: fun.Str, Doc: "new owner"},
			{Name: "set_option", Type: fun.Dict, Doc: "options to set"},
			{Name: "reset_option", Type: fun.Str, Doc: "option to reset"},
			runasArg,
		},
	},
	{
		Name: "tablespace_create", Doc: "Create a tablespace in a directory.", Src: "modules/postgres.py tablespace_create", Fn: tablespaceCreate,
		Args: []fun.Arg{
			tablespaceNameArg,
			{Name: "location", Type: fun.Path, Required: true, Doc: "directory"},
			{Name: "options", Type: fun.Dict, Doc: "options such as seq_page_cost"},
			ownerArg, userArg, hostArg, portArg, maintenanceDBArg, passwordArg, runasArg,
		},
	},
	{
		Name: "tablespace_exists", Doc: "Report whether there is a tablespace.", Src: "modules/postgres.py tablespace_exists", Fn: tablespaceExists,
		Args: []fun.Arg{
			tablespaceNameArg, userArg, hostArg, portArg, maintenanceDBArg, passwordArg, runasArg,
		},
	},
	{
		Name: "tablespace_list", Doc: "List the tablespaces.", Src: "modules/postgres.py tablespace_list", Fn: tablespaceList,
		Args: []fun.Arg{
			userArg, hostArg, portArg, maintenanceDBArg, passwordArg, runasArg,
		},
	},
	{
		Name: "tablespace_remove", Doc: "Remove a tablespace.", Src: "modules/postgres.py tablespace_remove", Fn: tablespaceRemove,
		Args: []fun.Arg{
			tablespaceNameArg, userArg, hostArg, portArg, maintenanceDBArg, passwordArg, runasArg,
		},
	},
	{
		Name: "user_create", Doc: "Create a role that can log in; False if it exists.", Src: "modules/postgres.py user_create", Fn: userCreate,
		Args: []fun.Arg{
			usernameArg, userArg, hostArg, portArg, maintenanceDBArg, passwordArg, createdbArg, createrolesArg, inheritArg, loginArg,
			{Name: "connlimit", Type: fun.Int, Doc: "how many connections it may have; -1 removes the limit"},
			encryptedArg, superuserArg, replicationArg, rolepasswordArg,
			{Name: "valid_until", Type: fun.Str, Doc: "time until which the password is valid"},
			groupsArg, runasArg,
		},
	},
	{
		Name: "user_exists", Doc: "Report whether there is a role.", Src: "modules/postgres.py user_exists", Fn: userExists,
		Args: []fun.Arg{
			roleArg, userArg, hostArg, portArg, maintenanceDBArg, passwordArg, runasArg,
		},
	},
	{
		Name: "user_list", Doc: "List the roles and what is known of them.", Src: "modules/postgres.py user_list", Fn: userList,
		Args: []fun.Arg{
			userArg, hostArg, portArg, maintenanceDBArg, passwordArg, runasArg,
			{Name: "return_password", Type: fun.Bool, Default: false, Doc: "return the passwords as the server keeps them"},
		},
	},
	{
		Name: "user_remove", Doc: "Remove a role; False if there is none.", Src: "modules/postgres.py user_remove", Fn: userRemove,
		Args: []fun.Arg{
			usernameArg, userArg, hostArg, portArg, maintenanceDBArg, passwordArg, runasArg,
		},
	},
	{
		Name: "user_update", Doc: "Change a role; False if there is none.", Src: "modules/postgres.py user_update", Fn: userUpdate,
		Args: []fun.Arg{
			usernameArg, userArg, hostArg, portArg, maintenanceDBArg, passwordArg, createdbArg, createrolesArg, encryptedArg, superuserArg, inheritArg, loginArg,
			{Name: "connlimit", Type: fun.Int, Doc: "how many connections it may have; -1 removes the limit"},
			replicationArg, rolepasswordArg,
			{Name: "valid_until", Type: fun.Str, Doc: "time until which the password is valid"},
			groupsArg, runasArg,
		},
	},
	{
		Name: "version", Doc: "Return the version of the server.", Src: "modules/postgres.py version", Fn: version,
		Args: []fun.Arg{
			userArg, hostArg, portArg, maintenanceDBArg, passwordArg, runasArg,
		},
	},
}
