CREATE TABLE IF NOT EXISTS orchestration_states (
  hash varchar(64) NOT NULL,
  kind varchar(20) NOT NULL,
  name varchar(255) NOT NULL,
  description text NOT NULL,
  source varchar(64) NOT NULL,
  created varchar(26) NOT NULL,
  PRIMARY KEY (hash)
);
CREATE INDEX IF NOT EXISTS idx_orchestration_states_name ON orchestration_states (name);
CREATE TABLE IF NOT EXISTS orchestration_steps (
  hash varchar(64) NOT NULL,
  step_order integer NOT NULL,
  step_id text NOT NULL,
  label text NOT NULL,
  fun text NOT NULL,
  tgt text NOT NULL,
  action_id text NOT NULL,
  args text NOT NULL,
  PRIMARY KEY (hash, step_order)
);
CREATE TABLE IF NOT EXISTS orchestration_executions (
  jid varchar(20) NOT NULL,
  hash varchar(64) NOT NULL,
  kind varchar(20) NOT NULL,
  name varchar(255) NOT NULL,
  user_name text NOT NULL,
  controller text NOT NULL,
  cache text NOT NULL,
  pid integer NOT NULL,
  started varchar(26) NOT NULL,
  ended varchar(26) NOT NULL,
  status varchar(20) NOT NULL,
  signal_number integer NOT NULL,
  test integer NOT NULL,
  resumes varchar(20) NOT NULL,
  parent varchar(20) NOT NULL,
  revision text NOT NULL,
  pillar varchar(64) NOT NULL,
  steps integer NOT NULL,
  steps_done integer NOT NULL,
  steps_failed integer NOT NULL,
  hosts integer NOT NULL,
  PRIMARY KEY (jid)
);
CREATE INDEX IF NOT EXISTS idx_orchestration_executions_name_jid ON orchestration_executions (name, jid);
CREATE INDEX IF NOT EXISTS idx_orchestration_executions_status_jid ON orchestration_executions (status, jid);
CREATE INDEX IF NOT EXISTS idx_orchestration_executions_hash ON orchestration_executions (hash);
CREATE TABLE IF NOT EXISTS orchestration_execution_steps (
  jid varchar(20) NOT NULL,
  step_order integer NOT NULL,
  step_id text NOT NULL,
  fun text NOT NULL,
  action_id varchar(64) NOT NULL,
  step_jid varchar(20) NOT NULL,
  result varchar(20) NOT NULL,
  started varchar(26) NOT NULL,
  duration double precision NOT NULL,
  comment text NOT NULL,
  tgt text NOT NULL,
  pillar text NOT NULL,
  PRIMARY KEY (jid, step_order)
);
CREATE INDEX IF NOT EXISTS idx_orchestration_execution_steps_action_id_jid ON orchestration_execution_steps (action_id, jid);
CREATE TABLE IF NOT EXISTS orchestration_execution_hosts (
  jid varchar(20) NOT NULL,
  step_jid varchar(20) NOT NULL,
  host varchar(255) NOT NULL,
  step_order integer NOT NULL,
  result varchar(20) NOT NULL,
  duration double precision NOT NULL,
  changed integer NOT NULL,
  ended varchar(26) NOT NULL,
  detail text NOT NULL,
  PRIMARY KEY (jid, step_jid, host)
);
CREATE INDEX IF NOT EXISTS idx_orchestration_execution_hosts_host_jid ON orchestration_execution_hosts (host, jid);
