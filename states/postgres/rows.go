package postgres

import "brine/internal/fun"

// Arguments that several functions have.
var (
	versionArg         = fun.Arg{Name: "version", Type: fun.Str, Required: true, Doc: "major version of PostgreSQL"}
	clusterNameArg     = fun.Arg{Name: "name", Type: fun.Str, Required: true, Doc: "name of the cluster"}
	encodingArg        = fun.Arg{Name: "encoding", Type: fun.Str, Doc: "character encoding"}
	localeArg          = fun.Arg{Name: "locale", Type: fun.Str, Doc: "locale"}
	databaseNameArg    = fun.Arg{Name: "name", Type: fun.Str, Required: true, Doc: "name of the database"}
	userArg            = fun.Arg{Name: "user", Type: fun.Str, Doc: "account that runs psql; default: postgres for a server on this machine"}
	maintenanceDBArg   = fun.Arg{Name: "maintenance_db", Type: fun.Str, Doc: "database to connect to; default: postgres.maintenance_db, else postgres"}
	dbPasswordArg      = fun.Arg{Name: "db_password", Type: fun.Str, Doc: "password to connect with; default: postgres.pass", Secret: true}
	dbHostArg          = fun.Arg{Name: "db_host", Type: fun.Str, Doc: "server, or directory of its socket; default: postgres.host"}
	dbPortArg          = fun.Arg{Name: "db_port", Type: fun.Int, Doc: "port of the server; default: postgres.port"}
	dbUserArg          = fun.Arg{Name: "db_user", Type: fun.Str, Doc: "role to connect as; default: postgres.user of the configuration"}
	ownerArg           = fun.Arg{Name: "owner", Type: fun.Str, Doc: "role that owns it"}
	extensionNameArg   = fun.Arg{Name: "name", Type: fun.Str, Required: true, Doc: "name of the extension"}
	roleNameArg        = fun.Arg{Name: "name", Type: fun.Str, Required: true, Doc: "name of the role"}
	createdbArg        = fun.Arg{Name: "createdb", Type: fun.Bool, Doc: "may create databases"}
	createrolesArg     = fun.Arg{Name: "createroles", Type: fun.Bool, Doc: "may create roles"}
	encryptedArg       = fun.Arg{Name: "encrypted", Type: fun.Bool | fun.Str, Doc: "how the password is kept: md5 or True, scram-sha-256, False for as it is; default: md5"}
	superuserArg       = fun.Arg{Name: "superuser", Type: fun.Bool, Doc: "is a superuser"}
	inheritArg         = fun.Arg{Name: "inherit", Type: fun.Bool, Doc: "has the privileges of its groups"}
	loginArg           = fun.Arg{Name: "login", Type: fun.Bool, Doc: "may log in"}
	replicationArg     = fun.Arg{Name: "replication", Type: fun.Bool, Doc: "may replicate"}
	passwordArg        = fun.Arg{Name: "password", Type: fun.Str, Doc: "password of the role, as text or as the server keeps it", Secret: true}
	refreshPasswordArg = fun.Arg{Name: "refresh_password", Type: fun.Bool, Doc: "set the password on every run, without comparing it"}
	groupsArg          = fun.Arg{Name: "groups", Type: fun.Commas, Doc: "roles that it is a member of"}
	languageNameArg    = fun.Arg{Name: "name", Type: fun.Str, Required: true, Doc: "name of the language"}
	inDBArg            = fun.Arg{Name: "maintenance_db", Type: fun.Str, Required: true, Doc: "the database"}
	objectNameArg      = fun.Arg{Name: "object_name", Type: fun.Str, Required: true, Doc: "name of the object; all for all tables or sequences of the schema"}
	objectTypeArg      = fun.Arg{Name: "object_type", Type: fun.Str, Required: true, Doc: "table, sequence, schema, tablespace, language, database, group or function"}
	privilegesArg      = fun.Arg{Name: "privileges", Type: fun.Commas, Doc: "privileges, or ALL; none for a group"}
	prependArg         = fun.Arg{Name: "prepend", Type: fun.Str, Default: "public", Doc: "schema of a table, sequence or function"}
	dbnameArg          = fun.Arg{Name: "dbname", Type: fun.Str, Required: true, Doc: "name of the database"}
	schemaNameArg      = fun.Arg{Name: "name", Type: fun.Str, Required: true, Doc: "name of the schema"}
	tablespaceNameArg  = fun.Arg{Name: "name", Type: fun.Str, Required: true, Doc: "name of the tablespace"}
)

// The functions of each module, alphabetically.
var (
	clusterSpecs = []fun.Spec{
		{
			Name: "absent", Doc: "Stop a cluster of Debian's tools and remove it with its data.", Src: "states/postgres_cluster.py absent", State: clusterAbsent,
			Args: []fun.Arg{
				versionArg, clusterNameArg,
			},
		},
		{
			Name: "present", Doc: "Create a cluster with Debian's pg_createcluster.\nIf it exists, its port and data directory have to be the given ones.", Src: "states/postgres_cluster.py present", State: clusterPresent,
			Args: []fun.Arg{
				versionArg, clusterNameArg,
				{Name: "port", Type: fun.Int, Doc: "port"},
				encodingArg, localeArg,
				{Name: "datadir", Type: fun.Path, Doc: "data directory"},
				{Name: "allow_group_access", Type: fun.Bool, Doc: "let the group read the data directory"},
				{Name: "data_checksums", Type: fun.Bool, Doc: "with checksums of data pages"},
				{Name: "wal_segsize", Type: fun.Str, Doc: "size of the segments of the write-ahead log in megabytes"},
			},
		},
	}
	databaseSpecs = []fun.Spec{
		{
			Name: "absent", Doc: "Remove a database and end the connections to it.", Src: "states/postgres_database.py absent", State: databaseAbsent,
			Args: []fun.Arg{
				databaseNameArg, userArg, maintenanceDBArg, dbPasswordArg, dbHostArg, dbPortArg, dbUserArg,
			},
		},
		{
			Name: "present", Doc: "Create a database, or set owner and tablespace of an existing one.", Src: "states/postgres_database.py present", State: databasePresent,
			Args: []fun.Arg{
				databaseNameArg,
				{Name: "tablespace", Type: fun.Str, Doc: "tablespace of the database"},
				encodingArg,
				{Name: "lc_collate", Type: fun.Str, Doc: "collation order"},
				{Name: "lc_ctype", Type: fun.Str, Doc: "character classification"},
				ownerArg,
				{Name: "owner_recurse", Type: fun.Bool, Default: false, Doc: "own what is in the database, too"},
				{Name: "template", Type: fun.Str, Doc: "database to copy"},
				userArg, maintenanceDBArg, dbPasswordArg, dbHostArg, dbPortArg, dbUserArg,
			},
		},
	}
	extensionSpecs = []fun.Spec{
		{
			Name: "absent", Doc: "Remove an extension.", Src: "states/postgres_extension.py absent", State: extensionAbsent,
			Args: []fun.Arg{
				extensionNameArg,
				{Name: "if_exists", Type: fun.Bool, Doc: "no error if it does not exist"},
				{Name: "restrict", Type: fun.Bool, Doc: "refuse if other objects depend on it"},
				{Name: "cascade", Type: fun.Bool, Doc: "drop what depends on it, too; default: True"},
				userArg, maintenanceDBArg, dbUserArg, dbPasswordArg, dbHostArg, dbPortArg,
			},
		},
		{
			Name: "present", Doc: "Install an extension, or bring an existing one to a version and a schema.", Src: "states/postgres_extension.py present", State: extensionPresent,
			Args: []fun.Arg{
				extensionNameArg,
				{Name: "if_not_exists", Type: fun.Bool, Doc: "no error if it exists; default: True"},
				{Name: "schema", Type: fun.Str, Doc: "schema for its objects"},
				{Name: "ext_version", Type: fun.Str, Doc: "version of the extension"},
				{Name: "from_version", Type: fun.Str, Doc: "version that is installed outside of extensions"},
				userArg, maintenanceDBArg, dbUserArg, dbPasswordArg, dbHostArg, dbPortArg,
			},
		},
	}
	groupSpecs = []fun.Spec{
		{
			Name: "absent", Doc: "Remove a role.", Src: "states/postgres_group.py absent", State: groupAbsent,
			Args: []fun.Arg{
				roleNameArg, userArg, maintenanceDBArg, dbPasswordArg, dbHostArg, dbPortArg, dbUserArg,
			},
		},
		{
			Name: "present", Doc: "Create a role that cannot log in, or change an existing one.", Src: "states/postgres_group.py present", State: groupPresent,
			Args: []fun.Arg{
				roleNameArg, createdbArg, createrolesArg, encryptedArg, superuserArg, inheritArg, loginArg, replicationArg, passwordArg, refreshPasswordArg, groupsArg, userArg, maintenanceDBArg, dbPasswordArg, dbHostArg, dbPortArg, dbUserArg,
			},
		},
	}
	initdbSpecs = []fun.Spec{
		{
			Name: "present", Doc: "Make a data directory with initdb.", Src: "states/postgres_initdb.py present", State: initdbPresent,
			Args: []fun.Arg{
				{Name: "name", Type: fun.Path, Required: true, Doc: "the data directory"},
				{Name: "user", Type: fun.Str, Doc: "superuser of the cluster; default: the account"},
				{Name: "password", Type: fun.Str, Doc: "password of the superuser", Secret: true},
				{Name: "auth", Type: fun.Str, Default: "password", Doc: "authentication method of local connections"},
				{Name: "encoding", Type: fun.Str, Default: "UTF8", Doc: "character encoding"},
				localeArg,
				{Name: "runas", Type: fun.Str, Doc: "account that runs initdb; default: postgres"},
				{Name: "waldir", Type: fun.Path, Doc: "directory of the write-ahead log"},
				{Name: "checksums", Type: fun.Bool, Default: false, Doc: "with checksums of data pages"},
			},
		},
	}
	languageSpecs = []fun.Spec{
		{
			Name: "absent", Doc: "Remove a language from a database.", Src: "states/postgres_language.py absent", State: languageAbsent,
			Args: []fun.Arg{
				languageNameArg, inDBArg, userArg, dbPasswordArg, dbHostArg, dbPortArg, dbUserArg,
			},
		},
		{
			Name: "present", Doc: "Install a language in a database.", Src: "states/postgres_language.py present", State: languagePresent,
			Args: []fun.Arg{
				languageNameArg, inDBArg, userArg, dbPasswordArg, dbHostArg, dbPortArg, dbUserArg,
			},
		},
	}
	privilegeSpecs = []fun.Spec{
		{
			Name: "absent", Doc: "Revoke privileges on an object from a role.", Src: "states/postgres_privileges.py absent", State: privilegesAbsent,
			Args: []fun.Arg{
				roleNameArg, objectNameArg, objectTypeArg, privilegesArg, prependArg, maintenanceDBArg, userArg, dbPasswordArg, dbHostArg, dbPortArg, dbUserArg,
			},
		},
		{
			Name: "present", Doc: "Grant privileges on an object to a role.\nFor the type group the role becomes a member of the object.", Src: "states/postgres_privileges.py present", State: privilegesPresent,
			Args: []fun.Arg{
				roleNameArg, objectNameArg, objectTypeArg, privilegesArg,
				{Name: "grant_option", Type: fun.Bool, Doc: "with the right to pass them on"},
				prependArg, maintenanceDBArg, userArg, dbPasswordArg, dbHostArg, dbPortArg, dbUserArg,
			},
		},
	}
	schemaSpecs = []fun.Spec{
		{
			Name: "absent", Doc: "Remove a schema that is empty.", Src: "states/postgres_schema.py absent", State: schemaAbsent,
			Args: []fun.Arg{
				dbnameArg, schemaNameArg, userArg, dbUserArg, dbPasswordArg, dbHostArg, dbPortArg,
			},
		},
		{
			Name: "present", Doc: "Create a schema, or set the owner of an existing one.", Src: "states/postgres_schema.py present", State: schemaPresent,
			Args: []fun.Arg{
				dbnameArg, schemaNameArg, ownerArg, userArg, dbUserArg, dbPasswordArg, dbHostArg, dbPortArg,
			},
		},
	}
	tablespaceSpecs = []fun.Spec{
		{
			Name: "absent", Doc: "Remove a tablespace.", Src: "states/postgres_tablespace.py absent", State: tablespaceAbsent,
			Args: []fun.Arg{
				tablespaceNameArg, userArg, maintenanceDBArg, dbUserArg, dbPasswordArg, dbHostArg, dbPortArg,
			},
		},
		{
			Name: "present", Doc: "Create a tablespace, or set owner and options of an existing one.", Src: "states/postgres_tablespace.py present", State: tablespacePresent,
			Args: []fun.Arg{
				tablespaceNameArg,
				{Name: "directory", Type: fun.Path, Required: true, Doc: "directory; it has to exist and belong to the server"},
				{Name: "options", Type: fun.Dict, Doc: "options such as seq_page_cost"},
				ownerArg, userArg, maintenanceDBArg, dbPasswordArg, dbHostArg, dbPortArg, dbUserArg,
			},
		},
	}
	userSpecs = []fun.Spec{
		{
			Name: "absent", Doc: "Remove a role.", Src: "states/postgres_user.py absent", State: userAbsent,
			Args: []fun.Arg{
				roleNameArg, userArg, maintenanceDBArg, dbPasswordArg, dbHostArg, dbPortArg, dbUserArg,
			},
		},
		{
			Name: "present", Doc: "Create a role that can log in, or change an existing one.", Src: "states/postgres_user.py present", State: userPresent,
			Args: []fun.Arg{
				roleNameArg, createdbArg, createrolesArg, encryptedArg, superuserArg, replicationArg, inheritArg, loginArg, passwordArg,
				{Name: "default_password", Type: fun.Str, Doc: "password for a new role, where password is not given", Secret: true},
				refreshPasswordArg,
				{Name: "valid_until", Type: fun.Str, Doc: "time until which the password is valid"},
				groupsArg, userArg, maintenanceDBArg, dbPasswordArg, dbHostArg, dbPortArg, dbUserArg,
			},
		},
	}
)
