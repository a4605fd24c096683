package mysql

import (
	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// ConnArgs are the arguments about the connection that all functions and states have.
type ConnArgs struct {
	_                      fun.Arguments
	ConnectionHost         value.Value       `arg:"connection_host,kw,str" doc:"server; default: mysql.host of the configuration, else this machine"`
	ConnectionPort         value.Value       `arg:"connection_port,kw,int" doc:"TCP port of the server; default: mysql.port, else 3306"`
	ConnectionUser         value.Value       `arg:"connection_user,kw,str" doc:"user to connect as; default: mysql.user, else the user that runs brine"`
	ConnectionPass         value.Value       `arg:"connection_pass,kw,secret,str" doc:"password; default: mysql.pass"`
	ConnectionDB           value.Value       `arg:"connection_db,kw,str" doc:"database; default: mysql.db"`
	ConnectionUnixSocket   value.Value       `arg:"connection_unix_socket,kw,path" doc:"socket of a server on this machine; default: mysql.unix_socket, else the usual places"`
	ConnectionDefaultFile  value.Value       `arg:"connection_default_file,kw,path" doc:"option file such as /etc/mysql/debian.cnf, instead of the configuration; default: mysql.default_file"`
	ConnectionDefaultGroup value.Value       `arg:"connection_default_group,kw,str" doc:"group of the option file; default: mysql.default_group, else client"`
	ConnectionCharset      value.Value       `arg:"connection_charset,kw,str" doc:"accepted; text is always exchanged as UTF-8"`
	ConnectionSSL          value.Value       `arg:"connection_ssl,kw,dict" doc:"files for TLS: ca, cert and key"`
	ClientFlags            fun.Opt[[]string] `arg:"client_flags,kw,list[str]" doc:"flags of the connection, such as found_rows and multi_statements"`
}

type nameArg struct {
	_    fun.Arguments
	Name string `arg:"name,required" doc:"name of the database"`
}

type charsetArg struct {
	_            fun.Arguments
	CharacterSet string `arg:"character_set" doc:"default character set"`
}

type collateArg struct {
	_       fun.Arguments
	Collate string `arg:"collate" doc:"default collation"`
}

type grantArg struct {
	_     fun.Arguments
	Grant string `arg:"grant,required" doc:"privileges, separated by commas"`
}

type grantOptionArg struct {
	_           fun.Arguments
	GrantOption bool `arg:"grant_option" default:"False" doc:"with the right to pass the privileges on"`
}

type escapeArg struct {
	_      fun.Arguments
	Escape bool `arg:"escape" default:"True" doc:"quote the names of database and table"`
}

type userArg struct {
	_    fun.Arguments
	User string `arg:"user,required" doc:"name of the user"`
}

type hostArg struct {
	_    fun.Arguments
	Host string `arg:"host" default:"localhost" doc:"host that the user connects from"`
}

type passwordArg struct {
	_        fun.Arguments
	Password fun.Opt[string] `arg:"password,secret" doc:"the password"`
}

type hashArg struct {
	_            fun.Arguments
	PasswordHash fun.Opt[string] `arg:"password_hash,secret" doc:"the password as the server keeps it, instead of password"`
}

type allowArg struct {
	_                 fun.Arguments
	AllowPasswordless bool `arg:"allow_passwordless" default:"False" doc:"allow a login without a password"`
}

type socketArg struct {
	_          fun.Arguments
	UnixSocket bool `arg:"unix_socket" default:"False" doc:"log in as the operating system user of that name"`
}

type columnArg struct {
	_              fun.Arguments
	PasswordColumn string `arg:"password_column" doc:"column of mysql.user with the password; default: that of the server"`
}

type pluginArg struct {
	_    fun.Arguments
	Name string `arg:"name,required" doc:"name of the plugin"`
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "alter_db", Doc: "Set the default character set and collation of a database.", Src: "modules/mysql.py alter_db", Do: alterDB,
		NearMiss: true,
	},
	{
		Name: "db_check", Doc: "Check all tables of a database, or one.", Src: "modules/mysql.py db_check", Do: dbCheck,
		NearMiss: true,
	},
	{
		Name: "db_create", Doc: "Create a database; False if it exists.", Src: "modules/mysql.py db_create", Do: dbCreate,
		NearMiss: true,
	},
	{
		Name: "db_exists", Doc: "Report whether a database exists.", Src: "modules/mysql.py db_exists", Do: dbExists,
		NearMiss: true,
	},
	{
		Name: "db_get", Doc: "Return the default character set and collation of a database.", Src: "modules/mysql.py db_get", Do: dbGet,
		NearMiss: true,
	},
	{
		Name: "db_list", Doc: "List the databases.", Src: "modules/mysql.py db_list", Do: dbList,
		NearMiss: true,
	},
	{
		Name: "db_optimize", Doc: "Optimize all tables of a database, or one.", Src: "modules/mysql.py db_optimize", Do: dbOptimize,
		NearMiss: true,
	},
	{
		Name: "db_remove", Doc: "Remove a database; False if there is none.", Src: "modules/mysql.py db_remove", Do: dbRemove,
		NearMiss: true,
	},
	{
		Name: "db_repair", Doc: "Repair all tables of a database, or one.", Src: "modules/mysql.py db_repair", Do: dbRepair,
		NearMiss: true,
	},
	{
		Name: "db_tables", Doc: "List the tables of a database; False if there is none.", Src: "modules/mysql.py db_tables", Do: dbTables,
		NearMiss: true,
	},
	{
		Name: "file_query", Doc: "Run the SQL statements of a file.\nReturn how many rows they changed and what they returned; False if one fails.", Src: "modules/mysql.py file_query", Do: fileQuery,
		NearMiss: true,
	},
	{
		Name: "free_slave", Doc: "Stop the replication of another server and forget about it.", Src: "modules/mysql.py free_slave", Do: freeSlave,
		NearMiss: true,
	},
	{
		Name: "get_master_status", Doc: "Return the status of the binary log.", Src: "modules/mysql.py get_master_status", Do: masterStatus,
		NearMiss: true,
	},
	{
		Name: "get_slave_status", Doc: "Return the status of the replication of another server.", Src: "modules/mysql.py get_slave_status", Do: slaveStatus,
		NearMiss: true,
	},
	{
		Name: "grant_add", Doc: "Grant privileges to a user; return whether the user has them then.", Src: "modules/mysql.py grant_add", Do: grantAdd,
		NearMiss: true,
	},
	{
		Name: "grant_exists", Doc: "Report whether a user has privileges.", Src: "modules/mysql.py grant_exists", Do: grantExists,
		NearMiss: true,
	},
	{
		Name: "grant_revoke", Doc: "Revoke privileges of a user; return whether the user lacks them then.", Src: "modules/mysql.py grant_revoke", Do: grantRevoke,
		NearMiss: true,
	},
	{
		Name: "plugin_add", Doc: "Install a plugin of the server.", Src: "modules/mysql.py plugin_add", Do: pluginAdd,
		NearMiss: true,
	},
	{
		Name: "plugin_remove", Doc: "Uninstall a plugin of the server.", Src: "modules/mysql.py plugin_remove", Do: pluginRemove,
		NearMiss: true,
	},
	{
		Name: "plugin_status", Doc: "Return the status of a plugin of the server; empty if there is none.", Src: "modules/mysql.py plugin_status", Do: pluginStatus,
		NearMiss: true,
	},
	{
		Name: "plugins_list", Doc: "List the plugins of the server and their status.", Src: "modules/mysql.py plugins_list", Do: pluginsList,
		NearMiss: true,
	},
	{
		Name: "processlist", Doc: "List the connections of the server and what they do.", Src: "modules/mysql.py processlist", Do: processlist,
		NearMiss: true,
	},
	{
		Name: "query", Doc: "Run an SQL statement.\nReturn the columns and rows of SELECT, SHOW and DESCRIBE, and how many rows other statements changed. Values are text. False if the statement fails.", Src: "modules/mysql.py query", Do: query,
		NearMiss: true,
	},
	{
		Name: "quote_identifier", Doc: "Quote the name of a database, a table or a column.", Src: "modules/mysql.py quote_identifier", Do: quoteIdentifier,
	},
	{
		Name: "showglobal", Doc: "List the global variables of the server.", Src: "modules/mysql.py showglobal", Do: showGlobal,
		NearMiss: true,
	},
	{
		Name: "showvariables", Doc: "List the variables of the session.", Src: "modules/mysql.py showvariables", Do: showVariables,
		NearMiss: true,
	},
	{
		Name: "slave_lag", Doc: "Return how many seconds a replica is behind; -1 if the server is none, -2 if it does not receive, -3 on an error.", Src: "modules/mysql.py slave_lag", Do: slaveLag,
		NearMiss: true,
	},
	{
		Name: "status", Doc: "Return the status variables of the server.", Src: "modules/mysql.py status", Do: status,
		NearMiss: true,
	},
	{
		Name: "tokenize_grant", Doc: "Take a GRANT statement apart.", Src: "modules/mysql.py tokenize_grant", Do: tokenizeGrant,
	},
	{
		Name: "user_chpass", Doc: "Set the password of a user.", Src: "modules/mysql.py user_chpass", Do: userChpass,
		NearMiss: true,
	},
	{
		Name: "user_create", Doc: "Create a user; False if there is one already.", Src: "modules/mysql.py user_create", Do: userCreate,
		NearMiss: true,
	},
	{
		Name: "user_exists", Doc: "Report whether there is a user, and whether it logs in as described.", Src: "modules/mysql.py user_exists", Do: userExists,
		NearMiss: true,
	},
	{
		Name: "user_grants", Doc: "List the GRANT statements of a user; False if there is no such user.", Src: "modules/mysql.py user_grants", Do: userGrants,
		NearMiss: true,
	},
	{
		Name: "user_info", Doc: "Return the row of a user in mysql.user.", Src: "modules/mysql.py user_info", Do: userInfo,
		NearMiss: true,
	},
	{
		Name: "user_list", Doc: "List the users.", Src: "modules/mysql.py user_list", Do: userList,
		NearMiss: true,
	},
	{
		Name: "user_remove", Doc: "Remove a user; False if there is none.", Src: "modules/mysql.py user_remove", Do: userRemove,
		NearMiss: true,
	},
	{
		Name: "verify_login", Doc: "Report whether a user can log in with a password.", Src: "modules/mysql.py verify_login", Do: verifyLogin,
		NearMiss: true,
	},
	{
		Name: "version", Doc: "Return the version of the server.", Src: "modules/mysql.py version", Do: version,
		NearMiss: true,
	},
}
