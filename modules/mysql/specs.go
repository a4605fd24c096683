package mysql

import "brine/internal/fun"

// ConnArgs are the arguments about the connection that all functions and states have.
var ConnArgs = []fun.Arg{
	{Name: "connection_host", Type: fun.Str, KwOnly: true, Doc: "server; default: mysql.host of the configuration, else this machine"},
	{Name: "connection_port", Type: fun.Int, KwOnly: true, Doc: "TCP port of the server; default: mysql.port, else 3306"},
	{Name: "connection_user", Type: fun.Str, KwOnly: true, Doc: "user to connect as; default: mysql.user, else the user that runs brine"},
	{Name: "connection_pass", Type: fun.Str, KwOnly: true, Secret: true, Doc: "password; default: mysql.pass"},
	{Name: "connection_db", Type: fun.Str, KwOnly: true, Doc: "database; default: mysql.db"},
	{Name: "connection_unix_socket", Type: fun.Path, KwOnly: true, Doc: "socket of a server on this machine; default: mysql.unix_socket, else the usual places"},
	{Name: "connection_default_file", Type: fun.Path, KwOnly: true, Doc: "option file such as /etc/mysql/debian.cnf, instead of the configuration; default: mysql.default_file"},
	{Name: "connection_default_group", Type: fun.Str, KwOnly: true, Doc: "group of the option file; default: mysql.default_group, else client"},
	{Name: "connection_charset", Type: fun.Str, KwOnly: true, Doc: "accepted; text is always exchanged as UTF-8"},
	{Name: "connection_ssl", Type: fun.Dict, KwOnly: true, Doc: "files for TLS: ca, cert and key"},
	{Name: "client_flags", Type: fun.Strs, KwOnly: true, Doc: "flags of the connection, such as found_rows and multi_statements"},
}

// Arguments that several functions have.
var (
	nameArg        = fun.Arg{Name: "name", Type: fun.Str, Required: true, Doc: "name of the database"}
	charsetArg     = fun.Arg{Name: "character_set", Type: fun.Str, Doc: "default character set"}
	collateArg     = fun.Arg{Name: "collate", Type: fun.Str, Doc: "default collation"}
	grantArg       = fun.Arg{Name: "grant", Type: fun.Str, Required: true, Doc: "privileges, separated by commas"}
	grantOptionArg = fun.Arg{Name: "grant_option", Type: fun.Bool, Default: false, Doc: "with the right to pass the privileges on"}
	escapeArg      = fun.Arg{Name: "escape", Type: fun.Bool, Default: true, Doc: "quote the names of database and table"}
	userArg        = fun.Arg{Name: "user", Type: fun.Str, Required: true, Doc: "name of the user"}
	hostArg        = fun.Arg{Name: "host", Type: fun.Str, Default: "localhost", Doc: "host that the user connects from"}
	passwordArg    = fun.Arg{Name: "password", Type: fun.Str, Doc: "the password", Secret: true}
	hashArg        = fun.Arg{Name: "password_hash", Type: fun.Str, Doc: "the password as the server keeps it, instead of password", Secret: true}
	allowArg       = fun.Arg{Name: "allow_passwordless", Type: fun.Bool, Default: false, Doc: "allow a login without a password"}
	socketArg      = fun.Arg{Name: "unix_socket", Type: fun.Bool, Default: false, Doc: "log in as the operating system user of that name"}
	columnArg      = fun.Arg{Name: "password_column", Type: fun.Str, Doc: "column of mysql.user with the password; default: that of the server"}
	pluginArg      = fun.Arg{Name: "name", Type: fun.Str, Required: true, Doc: "name of the plugin"}
)

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "alter_db", Doc: "Set the default character set and collation of a database.", Src: "modules/mysql.py alter_db", Fn: alterDB,
		Args: []fun.Arg{
			nameArg,
			charsetArg,
			collateArg,
		},
		VarKw: true, NearMiss: true, Shared: [][]fun.Arg{ConnArgs},
	},
	{
		Name: "db_check", Doc: "Check all tables of a database, or one.", Src: "modules/mysql.py db_check", Fn: dbCheck,
		Args: []fun.Arg{
			nameArg,
			{Name: "table", Type: fun.Str, Doc: "only this table"},
		},
		VarKw: true, NearMiss: true, Shared: [][]fun.Arg{ConnArgs},
	},
	{
		Name: "db_create", Doc: "Create a database; False if it exists.", Src: "modules/mysql.py db_create", Fn: dbCreate,
		Args: []fun.Arg{
			nameArg,
			charsetArg,
			collateArg,
		},
		VarKw: true, NearMiss: true, Shared: [][]fun.Arg{ConnArgs},
	},
	{
		Name: "db_exists", Doc: "Report whether a database exists.", Src: "modules/mysql.py db_exists", Fn: dbExists,
		Args: []fun.Arg{
			nameArg,
		},
		VarKw: true, NearMiss: true, Shared: [][]fun.Arg{ConnArgs},
	},
	{
		Name: "db_get", Doc: "Return the default character set and collation of a database.", Src: "modules/mysql.py db_get", Fn: dbGet,
		Args: []fun.Arg{
			nameArg,
		},
		VarKw: true, NearMiss: true, Shared: [][]fun.Arg{ConnArgs},
	},
	{
		Name: "db_list", Doc: "List the databases.", Src: "modules/mysql.py db_list", Fn: dbList,
		VarKw: true, NearMiss: true, Shared: [][]fun.Arg{ConnArgs},
	},
	{
		Name: "db_optimize", Doc: "Optimize all tables of a database, or one.", Src: "modules/mysql.py db_optimize", Fn: dbOptimize,
		Args: []fun.Arg{
			nameArg,
			{Name: "table", Type: fun.Str, Doc: "only this table"},
		},
		VarKw: true, NearMiss: true, Shared: [][]fun.Arg{ConnArgs},
	},
	{
		Name: "db_remove", Doc: "Remove a database; False if there is none.", Src: "modules/mysql.py db_remove", Fn: dbRemove,
		Args: []fun.Arg{
			nameArg,
		},
		VarKw: true, NearMiss: true, Shared: [][]fun.Arg{ConnArgs},
	},
	{
		Name: "db_repair", Doc: "Repair all tables of a database, or one.", Src: "modules/mysql.py db_repair", Fn: dbRepair,
		Args: []fun.Arg{
			nameArg,
			{Name: "table", Type: fun.Str, Doc: "only this table"},
		},
		VarKw: true, NearMiss: true, Shared: [][]fun.Arg{ConnArgs},
	},
	{
		Name: "db_tables", Doc: "List the tables of a database; False if there is none.", Src: "modules/mysql.py db_tables", Fn: dbTables,
		Args: []fun.Arg{
			nameArg,
		},
		VarKw: true, NearMiss: true, Shared: [][]fun.Arg{ConnArgs},
	},
	{
		Name: "file_query", Doc: "Run the SQL statements of a file.\nReturn how many rows they changed and what they returned; False if one fails.", Src: "modules/mysql.py file_query", Fn: fileQuery,
		Args: []fun.Arg{
			{Name: "database", Type: fun.Str, Required: true, Doc: "database that the statements are about"},
			{Name: "file_name", Type: fun.Path, Required: true, Doc: "path on this machine, or a salt://, http:// or https:// URL"},
		},
		VarKw: true, NearMiss: true, Shared: [][]fun.Arg{ConnArgs},
	},
	{
		Name: "free_slave", Doc: "Stop the replication of another server and forget about it.", Src: "modules/mysql.py free_slave", Fn: freeSlave,
		VarKw: true, NearMiss: true, Shared: [][]fun.Arg{ConnArgs},
	},
	{
		Name: "get_master_status", Doc: "Return the status of the binary log.", Src: "modules/mysql.py get_master_status", Fn: masterStatus,
		VarKw: true, NearMiss: true, Shared: [][]fun.Arg{ConnArgs},
	},
	{
		Name: "get_slave_status", Doc: "Return the status of the replication of another server.", Src: "modules/mysql.py get_slave_status", Fn: slaveStatus,
		VarKw: true, NearMiss: true, Shared: [][]fun.Arg{ConnArgs},
	},
	{
		Name: "grant_add", Doc: "Grant privileges to a user; return whether the user has them then.", Src: "modules/mysql.py grant_add", Fn: grantAdd,
		Args: []fun.Arg{
			grantArg,
			{Name: "database", Type: fun.Str, Required: true, Doc: "database.* or database.table"},
			userArg,
			hostArg,
			grantOptionArg,
			escapeArg,
			{Name: "ssl_option", Type: fun.List | fun.Bool, Default: false, Doc: "requirements of the connection: a list of SSL, X509, SUBJECT, ISSUER and CIPHER mappings"},
		},
		VarKw: true, NearMiss: true, Shared: [][]fun.Arg{ConnArgs},
	},
	{
		Name: "grant_exists", Doc: "Report whether a user has privileges.", Src: "modules/mysql.py grant_exists", Fn: grantExists,
		Args: []fun.Arg{
			grantArg,
			{Name: "database", Type: fun.Str, Required: true, Doc: "database.* or database.table"},
			userArg,
			hostArg,
			grantOptionArg,
			escapeArg,
		},
		VarKw: true, NearMiss: true, Shared: [][]fun.Arg{ConnArgs},
	},
	{
		Name: "grant_revoke", Doc: "Revoke privileges of a user; return whether the user lacks them then.", Src: "modules/mysql.py grant_revoke", Fn: grantRevoke,
		Args: []fun.Arg{
			grantArg,
			{Name: "database", Type: fun.Str, Required: true, Doc: "database.* or database.table"},
			userArg,
			hostArg,
			grantOptionArg,
			escapeArg,
		},
		VarKw: true, NearMiss: true, Shared: [][]fun.Arg{ConnArgs},
	},
	{
		Name: "plugin_add", Doc: "Install a plugin of the server.", Src: "modules/mysql.py plugin_add", Fn: pluginAdd,
		Args: []fun.Arg{
			pluginArg,
			{Name: "soname", Type: fun.Str, Doc: "its library; default: the name and .so"},
		},
		VarKw: true, NearMiss: true, Shared: [][]fun.Arg{ConnArgs},
	},
	{
		Name: "plugin_remove", Doc: "Uninstall a plugin of the server.", Src: "modules/mysql.py plugin_remove", Fn: pluginRemove,
		Args: []fun.Arg{
			pluginArg,
		},
		VarKw: true, NearMiss: true, Shared: [][]fun.Arg{ConnArgs},
	},
	{
		Name: "plugin_status", Doc: "Return the status of a plugin of the server; empty if there is none.", Src: "modules/mysql.py plugin_status", Fn: pluginStatus,
		Args: []fun.Arg{
			pluginArg,
		},
		VarKw: true, NearMiss: true, Shared: [][]fun.Arg{ConnArgs},
	},
	{
		Name: "plugins_list", Doc: "List the plugins of the server and their status.", Src: "modules/mysql.py plugins_list", Fn: pluginsList,
		VarKw: true, NearMiss: true, Shared: [][]fun.Arg{ConnArgs},
	},
	{
		Name: "processlist", Doc: "List the connections of the server and what they do.", Src: "modules/mysql.py processlist", Fn: processlist,
		VarKw: true, NearMiss: true, Shared: [][]fun.Arg{ConnArgs},
	},
	{
		Name: "query", Doc: "Run an SQL statement.\nReturn the columns and rows of SELECT, SHOW and DESCRIBE, and how many rows other statements changed. Values are text. False if the statement fails.", Src: "modules/mysql.py query", Fn: query,
		Args: []fun.Arg{
			{Name: "database", Type: fun.Str, Required: true, Doc: "database that the statements are about"},
			{Name: "query", Type: fun.Str, Required: true, Doc: "the statement"},
		},
		VarKw: true, NearMiss: true, Shared: [][]fun.Arg{ConnArgs},
	},
	{
		Name: "quote_identifier", Doc: "Quote the name of a database, a table or a column.", Src: "modules/mysql.py quote_identifier", Fn: quoteIdentifier,
		Args: []fun.Arg{
			{Name: "identifier", Type: fun.Str, Required: true, Doc: "the name"},
			{Name: "for_grants", Type: fun.Bool, Default: false, Doc: "escape _, which is a wildcard in the names of databases in GRANT"},
		},
	},
	{
		Name: "showglobal", Doc: "List the global variables of the server.", Src: "modules/mysql.py showglobal", Fn: showGlobal,
		VarKw: true, NearMiss: true, Shared: [][]fun.Arg{ConnArgs},
	},
	{
		Name: "showvariables", Doc: "List the variables of the session.", Src: "modules/mysql.py showvariables", Fn: showVariables,
		VarKw: true, NearMiss: true, Shared: [][]fun.Arg{ConnArgs},
	},
	{
		Name: "slave_lag", Doc: "Return how many seconds a replica is behind; -1 if the server is none, -2 if it does not receive, -3 on an error.", Src: "modules/mysql.py slave_lag", Fn: slaveLag,
		VarKw: true, NearMiss: true, Shared: [][]fun.Arg{ConnArgs},
	},
	{
		Name: "status", Doc: "Return the status variables of the server.", Src: "modules/mysql.py status", Fn: status,
		VarKw: true, NearMiss: true, Shared: [][]fun.Arg{ConnArgs},
	},
	{
		Name: "tokenize_grant", Doc: "Take a GRANT statement apart.", Src: "modules/mysql.py tokenize_grant", Fn: tokenizeGrant,
		Args: []fun.Arg{
			{Name: "grant", Type: fun.Str, Required: true, Doc: "the statement"},
		},
	},
	{
		Name: "user_chpass", Doc: "Set the password of a user.", Src: "modules/mysql.py user_chpass", Fn: userChpass,
		Args: []fun.Arg{
			userArg,
			hostArg,
			passwordArg,
			hashArg,
			allowArg,
			{Name: "unix_socket", Type: fun.Bool, Doc: "with allow_passwordless, log in as the operating system user of that name"},
			columnArg,
		},
		VarKw: true, NearMiss: true, Shared: [][]fun.Arg{ConnArgs},
	},
	{
		Name: "user_create", Doc: "Create a user; False if there is one already.", Src: "modules/mysql.py user_create", Fn: userCreate,
		Args: []fun.Arg{
			userArg,
			hostArg,
			passwordArg,
			hashArg,
			allowArg,
			socketArg,
			columnArg,
			{Name: "auth_plugin", Type: fun.Str, Default: "mysql_native_password", Doc: "authentication plugin on MySQL 8"},
		},
		VarKw: true, NearMiss: true, Shared: [][]fun.Arg{ConnArgs},
	},
	{
		Name: "user_exists", Doc: "Report whether there is a user, and whether it logs in as described.", Src: "modules/mysql.py user_exists", Fn: userExists,
		Args: []fun.Arg{
			userArg,
			hostArg,
			passwordArg,
			hashArg,
			{Name: "passwordless", Type: fun.Bool, Default: false, Doc: "check for a login without a password"},
			socketArg,
			columnArg,
		},
		VarKw: true, NearMiss: true, Shared: [][]fun.Arg{ConnArgs},
	},
	{
		Name: "user_grants", Doc: "List the GRANT statements of a user; False if there is no such user.", Src: "modules/mysql.py user_grants", Fn: userGrants,
		Args: []fun.Arg{
			userArg,
			hostArg,
		},
		VarKw: true, NearMiss: true, Shared: [][]fun.Arg{ConnArgs},
	},
	{
		Name: "user_info", Doc: "Return the row of a user in mysql.user.", Src: "modules/mysql.py user_info", Fn: userInfo,
		Args: []fun.Arg{
			userArg,
			hostArg,
		},
		VarKw: true, NearMiss: true, Shared: [][]fun.Arg{ConnArgs},
	},
	{
		Name: "user_list", Doc: "List the users.", Src: "modules/mysql.py user_list", Fn: userList,
		VarKw: true, NearMiss: true, Shared: [][]fun.Arg{ConnArgs},
	},
	{
		Name: "user_remove", Doc: "Remove a user; False if there is none.", Src: "modules/mysql.py user_remove", Fn: userRemove,
		Args: []fun.Arg{
			userArg,
			hostArg,
		},
		VarKw: true, NearMiss: true, Shared: [][]fun.Arg{ConnArgs},
	},
	{
		Name: "verify_login", Doc: "Report whether a user can log in with a password.", Src: "modules/mysql.py verify_login", Fn: verifyLogin,
		Args: []fun.Arg{
			userArg,
			passwordArg,
		},
		VarKw: true, NearMiss: true, Shared: [][]fun.Arg{ConnArgs},
	},
	{
		Name: "version", Doc: "Return the version of the server.", Src: "modules/mysql.py version", Fn: version,
		VarKw: true, NearMiss: true, Shared: [][]fun.Arg{ConnArgs},
	},
}
