package postgres_test

import (
	"context"
	"strings"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/testkit/calltest"
	"brine/internal/testkit/servertest"
	mod "brine/modules/postgres"
	"brine/states/postgres"
)

func rig(h *host.Fake) *calltest.Rig {
	h.PutExe("/usr/bin/psql")
	return calltest.New(
		h,
		fun.Entry{Kind: fun.Exec, Name: "postgres", Load: mod.Module},
		fun.Entry{Kind: fun.State, Name: "postgres_cluster", Load: postgres.Clusters},
		fun.Entry{Kind: fun.State, Name: "postgres_database", Load: postgres.Databases},
		fun.Entry{Kind: fun.State, Name: "postgres_extension", Load: postgres.Extensions},
		fun.Entry{Kind: fun.State, Name: "postgres_group", Load: postgres.Groups},
		fun.Entry{Kind: fun.State, Name: "postgres_initdb", Load: postgres.DataDirs},
		fun.Entry{Kind: fun.State, Name: "postgres_language", Load: postgres.Languages},
		fun.Entry{Kind: fun.State, Name: "postgres_privileges", Load: postgres.Privileges},
		fun.Entry{Kind: fun.State, Name: "postgres_schema", Load: postgres.Schemas},
		fun.Entry{Kind: fun.State, Name: "postgres_tablespace", Load: postgres.Tablespaces},
		fun.Entry{Kind: fun.State, Name: "postgres_user", Load: postgres.Users},
	)
}

// TestServer runs the functions and the states on a PostgreSQL of this machine.
func TestServer(t *testing.T) {
	t.Parallel()
	srv := servertest.Postgres(t, "CREATE TABLE t (a int); CREATE SEQUENCE q;")
	h := host.NewFake()
	r := rig(h)
	h.HandleCommand("/usr/bin/psql *", func(ctx context.Context, c host.Cmd) (host.Output, error) {
		for _, a := range c.Argv {
			if strings.Contains(a, "hush") {
				t.Errorf("a password is an argument: %q", c.Argv)
			}
		}
		c.User = nil
		return host.NewLocal().Run(ctx, c)
	})
	for k, v := range map[string]any{"host": "127.0.0.1", "port": int64(srv.Port), "user": "salt", "maintenance_db": "salt"} {
		r.Env.Opts.Set("postgres."+k, v)
	}
	r.Steps(t, []calltest.Step{
		{"test postgres_user.present {name: u, password: hush, encrypted: scram-sha-256, valid_until: '2030-01-01'}", "None: User u is set to be created {}"},
		{"state postgres_user.present {name: u, password: hush, encrypted: scram-sha-256, valid_until: '2030-01-01'}", "True: The user u has been created {'u': 'Present'}"},
		{"state postgres_user.present {name: u, password: hush, encrypted: scram-sha-256, valid_until: '2030-01-01'}", "True: User u is already present {}"},
		{"state postgres_user.present {name: u, valid_until: infinity}", "True: The user u has been updated {'u': {'valid_until': 'infinity'}}"},
		{"state postgres_user.present {name: u, valid_until: infinity}", "True: User u is already present {}"},
		{"state postgres_user.present {name: u, password: hush2}", "True: The user u has been updated {'u': {'password': True}}"},
		{"state postgres_user.present {name: u, password: hush2, encrypted: true}", "True: User u is already present {}"},
		{"state postgres_user.present {name: u, encrypted: rot13}", "False: Unknown password algorithm: rot13 {}"},
		{"state postgres_group.present {name: 'g-1', createdb: true}", "True: The group g-1 has been created {'g-1': 'Present'}"},
		{"test postgres_user.present {name: u, groups: 'g-1', createroles: true}", "None: User u is set to be updated {'u': {'createroles': True, 'groups': ['g-1']}}"},
		{"state postgres_user.present {name: u, groups: 'g-1', createroles: true}", "True: The user u has been updated {'u': {'createroles': True, 'groups': ['g-1']}}"},
		{"state postgres_user.present {name: u, groups: [nosuch]}", "False: Failed to update user u {}"},
		{"call postgres.role_get [u]", "{'superuser': False, 'inherits privileges': True, 'can create roles': True, 'can create databases': False, 'can update system catalogs': None, 'can login': True, 'replication': False, 'connections': None, 'expiry time': None, 'defaults variables': '', 'groups': ['g-1']}"},
		{"call postgres.user_update {username: u, rolepassword: false, connlimit: 3}", "True"},
		{"call postgres.user_create [u]", "False"},
		{"state postgres_database.present {name: d, owner: u, encoding: UTF8, template: template0}", "True: The database d has been created {'d': 'Present'}"},
		{"state postgres_database.present {name: d, owner: u, encoding: utf8}", "True: Database d is already present {}"},
		{"test postgres_database.present {name: d, owner: salt}", "None: Database d exists, but parameters need to be changed {}"},
		{"state postgres_database.present {name: d, owner: salt, owner_recurse: true}", "True: Parameters for database d have been changed {'d': 'Parameters changed'}"},
		{"state postgres_database.present {name: d, encoding: LATIN1}", "False: Database d has wrong parameters which couldn't be changed on fly. {}"},
		{"state postgres_database.present {name: d2, owner: nosuch}", "False: Failed to create database d2 {}"},
		{"state postgres_schema.present {name: s, dbname: d}", "True: Schema s has been created in database d {'s': 'Present'}"},
		{"state postgres_schema.present {name: s, dbname: d, owner: u}", "True: The owner of schema s in database d has been changed {'s': {'owner': 'u'}}"},
		{"state postgres_schema.present {name: s, dbname: d, owner: u}", "True: Schema s already exists in database d {}"},
		{"call postgres.schema_get [d, s]", "{'owner': 'u', 'acl': ''}"},
		{"state postgres_schema.absent {name: s, dbname: d}", "True: Schema s has been removed from database d {'s': 'Absent'}"},
		{"state postgres_schema.absent {name: s, dbname: d}", "True: Schema s is not present in database d, so it cannot be removed {}"},
		{"state postgres_schema.absent {name: s, dbname: none}", "True: Schema s is not present in database none, so it cannot be removed {}"},
		{"test postgres_schema.present {name: s, dbname: none}", "None: Schema s is set to be created in database none. {}"},
		{"state postgres_schema.present {name: s, dbname: none}", "False: Failed to create schema s in database none {}"},
		{"test postgres_extension.present {name: plpgsql, maintenance_db: none}", "None: Extension plpgsql is set to be installed {}"},
		{"state postgres_language.present {name: plpgsql, maintenance_db: d}", "True: Language plpgsql is already installed {}"},
		{"state postgres_language.absent {name: plpgsql, maintenance_db: d}", "False: Failed to remove language plpgsql {}"},
		{"state postgres_extension.present {name: nosuch}", "False: Failed to install extension nosuch {}"},
		{"state postgres_extension.present {name: plpgsql, maintenance_db: d}", "True: Extension plpgsql is already present {}"},
		{"test postgres_extension.absent {name: plpgsql, maintenance_db: d}", "None: Extension plpgsql is set to be removed {}"},
		{"state postgres_extension.absent {name: plpgsql, maintenance_db: d}", "True: Extension plpgsql has been removed {'plpgsql': 'Absent'}"},
		{"state postgres_extension.present {name: plpgsql, maintenance_db: d, ext_version: '1.0', schema: pg_catalog}", "True: The extension plpgsql has been installed {'plpgsql': 'Installed'}"},
		{"test postgres_privileges.present {name: u, object_name: t, object_type: table, privileges: [SELECT, insert]}", "None: The privilege(s): SELECT,insert are set to be granted to u {}"},
		{"state postgres_privileges.present {name: u, object_name: t, object_type: table, privileges: [SELECT, insert]}", "True: The privilege(s): SELECT,insert have been granted to u {'u': 'Present'}"},
		{"state postgres_privileges.present {name: u, object_name: t, object_type: table, privileges: [SELECT]}", "True: The requested privilege(s) are already set {}"},
		{"state postgres_privileges.present {name: u, object_name: t, object_type: table, privileges: [SELECT], grant_option: true}", "True: The privilege(s): SELECT have been granted to u {'u': 'Present'}"},
		{"state postgres_privileges.present {name: u, object_name: t, object_type: table, privileges: [SELECT], grant_option: true}", "True: The requested privilege(s) are already set {}"},
		{"state postgres_privileges.absent {name: u, object_name: t, object_type: table, privileges: [ALL]}", "True: The requested privilege(s) are not set so cannot be revoked {}"},
		{"state postgres_privileges.absent {name: u, object_name: t, object_type: table, privileges: [SELECT]}", "True: The privilege(s): SELECT have been revoked from u {'u': 'Absent'}"},
		{"state postgres_privileges.present {name: salt, object_name: q, object_type: sequence, privileges: [ALL]}", "True: The requested privilege(s) are already set {}"},
		{"state postgres_privileges.present {name: u, object_name: t, object_type: table, privileges: [FLY]}", "False: Invalid privilege(s): FLY provided for object table {}"},
		{"state postgres_privileges.present {name: u, object_name: g-1, object_type: group, grant_option: true}", "True: The privilege(s): g-1 have been granted to u {'u': 'Present'}"},
		{"call postgres.privileges_list [g-1, group]", "{'u': True}"},
		{"call postgres.privileges_list [t, table]", "{'salt': {'INSERT': False, 'SELECT': False, 'UPDATE': False, 'DELETE': False, 'TRUNCATE': False, 'REFERENCES': False, 'TRIGGER': False}, 'u': {'INSERT': False}}"},
		{"call postgres.psql_query ['select 1 as one, null as n, $$a,b$$ as t']", "[{'one': '1', 'n': '', 't': 'a,b'}]"},
		{"call postgres.psql_query {query: 'WITH x AS (INSERT INTO t VALUES (1) RETURNING a) SELECT * FROM x', write: true}", "[{'a': '1'}]"},
		{"call postgres.psql_query [nonsense]", "[]"},
		{"state postgres_tablespace.present {name: ts, directory: /nowhere}", "False: Failed to create tablespace ts {}"},
		{"state postgres_tablespace.present {name: pg_default, directory: ''}", "True: Tablespace pg_default is already present {}"},
		{"state postgres_tablespace.present {name: pg_default, directory: '', options: {seq_page_cost: 1.1}}", "True: Tablespace pg_default opts changed {'pg_default': {'options': {'seq_page_cost': 1.1}}}"},
		{"state postgres_tablespace.present {name: pg_default, directory: '', options: {seq_page_cost: 1.1}}", "True: Tablespace pg_default is already present {}"},
		{"state postgres_database.absent {name: d}", "True: Database d has been removed {'d': 'Absent'}"},
		{"state postgres_database.absent {name: d}", "True: Database d is not present, so it cannot be removed {}"},
		{"call postgres.db_remove [d]", "error: ERROR:  database \"d\" does not exist"},
		{"state postgres_user.absent {name: u}", "False: User u failed to be removed {}"},
		{"state postgres_group.absent {name: g-1}", "True: Group g-1 has been removed {'g-1': 'Absent'}"},
		{"state postgres_group.absent {name: g-1}", "True: Group g-1 is not present, so it cannot be removed {}"},
	})
	if got := r.Fn(t, "postgres.owner_to", "[salt, u]"); !strings.Contains(got, "'retcode': 0") {
		t.Errorf("owner_to: %s", got)
	}
}

func TestPrograms(t *testing.T) {
	t.Parallel()
	h := host.NewFake()
	h.PutUser(host.Account{Name: "postgres", UID: 105, GID: 105, Home: "/var/lib/postgresql", Shell: "/bin/sh"})
	r := rig(h)
	for _, p := range []string{"pg_createcluster", "pg_lsclusters", "pg_dropcluster", "initdb"} {
		h.PutExe("/usr/bin/" + p)
	}
	clusters := "15 main 5432 online postgres /var/lib/postgresql/15/main /var/log/postgresql/postgresql-15-main.log\nodd\n"
	h.HandleCommand("pg_lsclusters --no-header", func(context.Context, host.Cmd) (host.Output, error) {
		return host.Output{Stdout: []byte(clusters)}, nil
	})
	h.OnCommand("pg_createcluster *", host.Output{Status: 1, Stderr: []byte("no\n")})
	h.OnCommand("pg_dropcluster *", host.Output{})
	h.HandleCommand("pg_createcluster --port 5433 15 two -- --data-checksums", func(context.Context, host.Cmd) (host.Output, error) {
		clusters += "15 two 5433 down postgres /var/lib/postgresql/15/two log\n"
		return host.Output{}, nil
	})
	h.OnCommand("pg_dropcluster --stop 15 two", host.Output{Status: 1, Stderr: []byte("it is busy\n")})
	h.HandleCommand("/usr/bin/initdb *", func(_ context.Context, c host.Cmd) (host.Output, error) {
		_, file, ok := strings.Cut(strings.Join(c.Argv, " "), "--pwfile=")
		if !ok || h.Text(file) != "hush\n" || c.User == nil || c.User.UID != 105 {
			t.Errorf("initdb: %q as %v", c.Argv, c.User)
		}
		if st, err := h.Stat(file); err != nil || st.UID != 105 || st.Mode.Perm() != 0o600 {
			t.Errorf("the file with the password: %v, %v", st, err)
		}
		h.PutFile("/srv/data/PG_VERSION", "15\n", 0o600)
		h.PutFile("/srv/data/postgresql.conf", "", 0o600)
		return host.Output{}, nil
	})
	h.OnCommand("/usr/bin/psql *", host.Output{Status: 2, Stderr: []byte("psql: error: no server\n")})
	r.Steps(t, []calltest.Step{
		{"state postgres_cluster.present {name: main, version: 15, port: 5432}", "True: Cluster 15/main is already present {}"},
		{"state postgres_cluster.present {name: main, version: 15, port: 5431}", "False: Cluster 15/main has wrong parameters which couldn't be changed on fly. {}"},
		{"test postgres_cluster.present {name: two, version: '15'}", "None: Cluster 15/two is set to be created {}"},
		{"state postgres_cluster.present {name: two, version: '15', port: 5433, data_checksums: true}", "True: The cluster 15/two has been created {'15/two': 'Present'}"},
		{"state postgres_cluster.present {name: bad, version: 14}", "False: Failed to create cluster 14/bad {}"},
		{"state postgres_cluster.present {name: '-x', version: 14}", "False: Failed to create cluster 14/-x: Invalid cluster: 14/-x {}"},
		{"state postgres_cluster.absent {name: two, version: 15}", "False: Failed to remove cluster 15/two: it is busy {}"},
		{"state postgres_cluster.absent {name: main, version: 15}", "True: Cluster 15/main has been removed {'main': 'Absent'}"},
		{"call postgres.cluster_list []", "['15/main', '15/two']"},
		{"test postgres_initdb.present {name: /srv/data}", "None: Postgres data directory /srv/data is set to be initialized {}"},
		{"state postgres_initdb.present {name: /srv/data, password: hush}", "True: Postgres data directory /srv/data has been initialized {'/srv/data': 'Present'}"},
		{"state postgres_initdb.present {name: /srv/data}", "True: Postgres data directory /srv/data is already present {}"},
		{"test postgres_user.present {name: u}", "None: User u is set to be created {}"},
		{"state postgres_user.present {name: u}", "False: Failed to create user u {}"},
		{"state postgres_database.absent {name: u}", "False: Failed to look for database u: psql: error: no server {}"},
		{"call postgres.user_list []", "False"},
		{"call postgres.user_list {runas: nobody2}", "error: User 'nobody2' is not available"},
	})
	for _, c := range h.Calls() {
		if line := strings.Join(c.Argv, " "); strings.Contains(line, "hush") {
			t.Errorf("a password is an argument: %s", line)
		}
		if c.Argv[0] == "/usr/bin/psql" && (c.User == nil || c.User.Name != "postgres") {
			t.Errorf("psql runs as %v", c.User)
		}
	}
}
