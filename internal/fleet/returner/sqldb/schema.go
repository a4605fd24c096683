package sqldb

// The schemas that Salt documents, written so that running them again keeps the
// existing tables.

const mysqlSchema = "CREATE DATABASE IF NOT EXISTS `salt`\n" +
	"  DEFAULT CHARACTER SET utf8\n" +
	"  DEFAULT COLLATE utf8_general_ci;\n" +
	"USE `salt`;\n" +
	"CREATE TABLE IF NOT EXISTS `jids` (\n" +
	"  `jid` varchar(255) NOT NULL,\n" +
	"  `load` mediumtext NOT NULL,\n" +
	"  UNIQUE KEY `jid` (`jid`)\n" +
	") ENGINE=InnoDB DEFAULT CHARSET=utf8;\n" +
	"CREATE TABLE IF NOT EXISTS `salt_returns` (\n" +
	"  `fun` varchar(50) NOT NULL,\n" +
	"  `jid` varchar(255) NOT NULL,\n" +
	"  `return` mediumtext NOT NULL,\n" +
	"  `id` varchar(255) NOT NULL,\n" +
	"  `success` varchar(10) NOT NULL,\n" +
	"  `full_ret` mediumtext NOT NULL,\n" +
	"  `alter_time` TIMESTAMP DEFAULT CURRENT_TIMESTAMP,\n" +
	"  KEY `id` (`id`),\n" +
	"  KEY `jid` (`jid`),\n" +
	"  KEY `fun` (`fun`)\n" +
	") ENGINE=InnoDB DEFAULT CHARSET=utf8;\n" +
	"CREATE TABLE IF NOT EXISTS `salt_events` (\n" +
	"  `id` BIGINT NOT NULL AUTO_INCREMENT,\n" +
	"  `tag` varchar(255) NOT NULL,\n" +
	"  `data` mediumtext NOT NULL,\n" +
	"  `alter_time` TIMESTAMP DEFAULT CURRENT_TIMESTAMP,\n" +
	"  `master_id` varchar(255) NOT NULL,\n" +
	"  PRIMARY KEY (`id`),\n" +
	"  KEY `tag` (`tag`)\n" +
	") ENGINE=InnoDB DEFAULT CHARSET=utf8;\n"

const pgjsonbSchema = `CREATE TABLE IF NOT EXISTS jids (
  jid varchar(255) NOT NULL PRIMARY KEY,
  load jsonb NOT NULL
);
CREATE INDEX IF NOT EXISTS idx_jids_jsonb ON jids USING gin (load) WITH (fastupdate=on);
CREATE TABLE IF NOT EXISTS salt_returns (
  fun varchar(50) NOT NULL,
  jid varchar(255) NOT NULL,
  return jsonb NOT NULL,
  id varchar(255) NOT NULL,
  success varchar(10) NOT NULL,
  full_ret jsonb NOT NULL,
  alter_time TIMESTAMP WITH TIME ZONE DEFAULT NOW()
);
CREATE INDEX IF NOT EXISTS idx_salt_returns_id ON salt_returns (id);
CREATE INDEX IF NOT EXISTS idx_salt_returns_jid ON salt_returns (jid);
CREATE INDEX IF NOT EXISTS idx_salt_returns_fun ON salt_returns (fun);
CREATE INDEX IF NOT EXISTS idx_salt_returns_return ON salt_returns USING gin (return) WITH (fastupdate=on);
CREATE INDEX IF NOT EXISTS idx_salt_returns_full_ret ON salt_returns USING gin (full_ret) WITH (fastupdate=on);
CREATE SEQUENCE IF NOT EXISTS seq_salt_events_id;
CREATE TABLE IF NOT EXISTS salt_events (
  id BIGINT NOT NULL UNIQUE DEFAULT nextval('seq_salt_events_id'),
  tag varchar(255) NOT NULL,
  data jsonb NOT NULL,
  alter_time TIMESTAMP WITH TIME ZONE DEFAULT NOW(),
  master_id varchar(255) NOT NULL
);
CREATE INDEX IF NOT EXISTS idx_salt_events_tag ON salt_events (tag);
CREATE INDEX IF NOT EXISTS idx_salt_events_data ON salt_events USING gin (data) WITH (fastupdate=on);
`

const postgresSchema = `CREATE TABLE IF NOT EXISTS jids (
  jid varchar(20) PRIMARY KEY,
  load text NOT NULL
);
CREATE TABLE IF NOT EXISTS salt_returns (
  fun varchar(50) NOT NULL,
  jid varchar(255) NOT NULL,
  return text NOT NULL,
  full_ret text,
  id varchar(255) NOT NULL,
  success varchar(10) NOT NULL,
  alter_time TIMESTAMP WITH TIME ZONE DEFAULT now()
);
CREATE INDEX IF NOT EXISTS idx_salt_returns_id ON salt_returns (id);
CREATE INDEX IF NOT EXISTS idx_salt_returns_jid ON salt_returns (jid);
CREATE INDEX IF NOT EXISTS idx_salt_returns_fun ON salt_returns (fun);
CREATE INDEX IF NOT EXISTS idx_salt_returns_updated ON salt_returns (alter_time);
CREATE SEQUENCE IF NOT EXISTS seq_salt_events_id;
CREATE TABLE IF NOT EXISTS salt_events (
  id BIGINT NOT NULL UNIQUE DEFAULT nextval('seq_salt_events_id'),
  tag varchar(255) NOT NULL,
  data text NOT NULL,
  alter_time TIMESTAMP WITH TIME ZONE DEFAULT NOW(),
  master_id varchar(255) NOT NULL
);
CREATE INDEX IF NOT EXISTS idx_salt_events_tag ON salt_events (tag);
`

// sqliteSchema has the table of events, too, which Salt's returner has not.
const sqliteSchema = `CREATE TABLE IF NOT EXISTS jids (
  jid TEXT PRIMARY KEY,
  load TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS salt_returns (
  fun TEXT KEY,
  jid TEXT KEY,
  id TEXT KEY,
  fun_args TEXT,
  date TEXT NOT NULL,
  full_ret TEXT NOT NULL,
  success TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS idx_salt_returns_jid ON salt_returns (jid);
CREATE TABLE IF NOT EXISTS salt_events (
  id INTEGER PRIMARY KEY,
  tag TEXT NOT NULL,
  data TEXT NOT NULL,
  alter_time TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f', 'now', 'localtime')),
  master_id TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS idx_salt_events_tag ON salt_events (tag);
`
