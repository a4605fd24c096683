package mysql_test

import (
	"context"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/testkit/calltest"
	"brine/internal/testkit/servertest"
	"brine/modules/mysql"
	"brine/states/mysqldatabase"
	"brine/states/mysqlgrants"
	"brine/states/mysqlquery"
	"brine/states/mysqluser"
)

func rig(h *host.Fake) *calltest.Rig {
	return calltest.New(
		h,
		fun.Entry{Kind: fun.Exec, Name: "mysql", Load: mysql.Module},
		fun.Entry{Kind: fun.State, Name: "mysql_database", Load: mysqldatabase.States},
		fun.Entry{Kind: fun.State, Name: "mysql_grants", Load: mysqlgrants.States},
		fun.Entry{Kind: fun.State, Name: "mysql_query", Load: mysqlquery.States},
		fun.Entry{Kind: fun.State, Name: "mysql_user", Load: mysqluser.States},
	)
}

// TestServer runs the functions and the states on a MariaDB of this machine.
func TestServer(t *testing.T) {
	t.Parallel()
	srv := servertest.MariaDB(t, "")
	h := host.NewFake()
	h.OnDial = func(ctx context.Context, network, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, network, filepath.Join(srv.Dir, "s.sock"))
	}
	h.PutFile("/etc/my.cnf", "[client]\nuser=root\nsocket=/run/db.sock\n", 0o600)
	h.PutFile("/srv/salt/q.sql", "INSERT INTO t VALUES (2, 'two');\nSELECT *\nFROM t; -- all\n", 0o644)
	r := rig(h)
	r.Env.Opts.Set("mysql.default_file", "/etc/my.cnf")
	r.Steps(t, []calltest.Step{
		{"test mysql_database.present {name: d_1, character_set: utf8mb4}", "None: Database d_1 is not present and needs to be created {}"},
		{"state mysql_database.present {name: d_1, character_set: latin1}", "True: The database d_1 has been created {'d_1': 'Present'}"},
		{"test mysql_database.present {name: d_1, character_set: utf8}", "None: Database character set utf8 != latin1 needs to be updated\nDatabase d_1 is going to be updated {}"},
		{"state mysql_database.present {name: d_1, character_set: utf8, collate: utf8_general_ci}", "True: Database character set utf8 != latin1 needs to be updated\nDatabase collate utf8_general_ci != latin1_swedish_ci needs to be updated {'collate': {'before': 'latin1_swedish_ci', 'now': 'utf8mb3_general_ci'}, 'character_set': {'before': 'latin1', 'now': 'utf8mb3'}}"},
		{"state mysql_database.present {name: d_1, character_set: utf8, collate: utf8_general_ci}", "True: Database d_1 is already present {}"},
		{"state mysql_database.present {name: bad, character_set: \"x'y\"}", "False: Failed to create database bad (MySQL Error 1115: Unknown character set: 'x'y') {}"},
		{"state mysql_user.present {name: u, password: \"it's \\\\ ? 50%\"}", "True: The user u@localhost has been added {'u': 'Present'}"},
		{"state mysql_user.present {name: u, password: \"it's \\\\ ? 50%\"}", "True: User u@localhost is already present with the desired password {}"},
		{"call mysql.verify_login [u, \"it's \\\\ ? 50%\"]", "True"},
		{"call mysql.verify_login [u, other]", "False"},
		{"test mysql_user.present {name: u, password: other}", "None: Password for user u@localhost is set to be changed {}"},
		{"state mysql_user.present {name: u, password: other}", "True: Password for user u@localhost has been changed {'u': 'Updated'}"},
		{"state mysql_user.present {name: u, allow_passwordless: true}", "True: Password for user u@localhost has been cleared {'u': 'Updated'}"},
		{"state mysql_user.present {name: u, allow_passwordless: true}", "True: User u@localhost is already present with passwordless login {}"},
		{"state mysql_user.present {name: s, host: '%', allow_passwordless: true, unix_socket: true}", "False: Failed to create user s@% (Auth via unix_socket can be set only for host=localhost) {}"},
		{"state mysql_user.present {name: s, allow_passwordless: true, unix_socket: true}", "True: The user s@localhost has been added with passwordless login using unix_socket {'s': 'Present'}"},
		{"state mysql_user.present {name: s, allow_passwordless: true, unix_socket: true}", "True: User s@localhost is already present with passwordless login {}"},
		{"state mysql_user.present {name: x}", "False: Either password or password_hash must be specified, unless allow_passwordless is True {}"},
		{"call mysql.user_list {connection_usr: root}", "error: user_list() got an unexpected keyword argument 'connection_usr'"},
		{"state mysql_grants.present {name: g, grant: 'select, update', database: d_1.*, user: u}", "True: Grant select, update on d_1.* to u@localhost has been added {'g': 'Present'}"},
		{"state mysql_grants.present {name: g, grant: select, database: d_1.*, user: u}", "True: Grant select on d_1.* to u@localhost is already present {}"},
		{"call mysql.user_grants [u]", "['GRANT USAGE ON *.* TO `u`@`localhost`', 'GRANT SELECT, UPDATE ON `d\\\\_1`.* TO `u`@`localhost`']"},
		{"state mysql_grants.present {name: g, grant: insert, database: d_1.*, user: u, revoke_first: true}", "True: Grant insert on d_1.* to u@localhost has been added {'g': 'Present'}"},
		{"call mysql.grant_exists [select, d_1.*, u]", "False"},
		{"call mysql.grant_exists ['nonsense', d_1.*, u]", "False"},
		{"call mysql.grant_revoke ['nonsense', d_1.*, u]", "error: Invalid grant : 'nonsense'"},
		{"state mysql_grants.absent {name: g, grant: insert, database: d_1.*, user: u}", "True: Grant insert on d_1.* for u@localhost has been revoked {'g': 'Absent'}"},
		{"call mysql.query [d_1, 'create table t (a int, b text)', {}]", "error: query() takes 2 positional arguments but 3 were given"},
	})
	for _, q := range []string{"create table t (a int, b text)", "insert into t values (1, null)"} {
		if got := r.Fn(t, "mysql.query", "{database: d_1, query: \""+q+"\"}"); !strings.Contains(got, "'rows affected': ") {
			t.Errorf("%s: %s", q, got)
		}
	}
	got := r.State(t, "mysql_query.run_file", "{name: f, database: d_1, query_file: salt://q.sql, output: /tmp/out}", false)
	if !strings.HasPrefix(got, "True: {'rows returned': 2, 'columns': [('a', 'b')], 'results': [{'a': '1', 'b': None}, {'a': '2', 'b': 'two'}], 'rows affected': 1") {
		t.Error(got)
	}
	if text := h.Text("/tmp/out"); text != "a:1\nb:None\na:2\nb:two\n" {
		t.Errorf("output: %q", text)
	}
	r.Steps(t, []calltest.Step{
		{"state mysql_query.run {name: q, database: d_1, query: nonsense}", "False: MySQL Error 1064: You have an error in your SQL syntax; check the manual that corresponds to your MariaDB server version for the right syntax to use near 'nonsense' at line 1 {}"},
		{"state mysql_query.run {name: q, database: d_1, query: SELECT 1, output: /tmp/out, overwrite: false}", "True: No execution needed. File /tmp/out already set {}"},
		{"test mysql_query.run {name: q, database: d_1, query: SELECT 1, output: grain, grain: g, key: k}", "None: Query would execute, storing result in grain: g:k {}"},
		{"state mysql_query.run {name: q, database: none, query: SELECT 1}", "None: Database q is not present {}"},
		{"call mysql.db_tables [d_1]", "['t']"},
		{"call mysql.db_check [d_1]", "[[{'Table': 'd_1.t', 'Op': 'check', 'Msg_type': 'status', 'Msg_text': 'OK'}]]"},
		{"call mysql.slave_lag []", "-1"},
		{"call mysql.get_slave_status []", "[]"},
		{"call mysql.plugin_status [none]", "''"},
		{"state mysql_user.absent {name: u}", "True: User u@localhost has been removed {'u': 'Absent'}"},
		{"state mysql_user.absent {name: u}", "True: User u@localhost is not present, so it cannot be removed {}"},
		{"state mysql_database.absent {name: d_1}", "True: Database d_1 has been removed {'d_1': 'Absent'}"},
		{"state mysql_database.absent {name: d_1}", "True: Database d_1 is not present, so it cannot be removed {}"},
	})
}

// Nothing listens: functions answer as Salt's do, states fail.
func TestUnreached(t *testing.T) {
	t.Parallel()
	r := rig(host.NewFake())
	const why = "MySQL Error 2003: Can't connect to MySQL server on 'localhost' ([Errno 111] Connection refused)"
	r.Steps(t, []calltest.Step{
		{"call mysql.db_list []", "[]"},
		{"call mysql.user_exists [x]", "False"},
		{"call mysql.slave_lag []", "-3"},
		{"call mysql.version {connection_port: 99999}", "''"},
		{"state mysql_user.present {name: u, password: x}", "False: " + why + " {}"},
		{"state mysql_database.present {name: u}", "False: " + why + " {}"},
		{"test mysql_database.absent {name: u, connection_unix_socket: /s}", "False: MySQL Error 2003: Can't connect to MySQL server on 'localhost' ([Errno 2] No such file or directory) {}"},
		{"test mysql_database.absent {name: u, connection_default_file: /none}", "False: MySQL Error: cannot read the option file /none: No such file or directory {}"},
	})
}
