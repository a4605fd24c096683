CREATE TABLE orchestration_execution_hosts (
  jid TEXT NOT NULL,
  step_jid TEXT NOT NULL,
  host TEXT NOT NULL,
  step_order INTEGER NOT NULL,
  result TEXT NOT NULL,
  duration REAL NOT NULL,
  changed INTEGER NOT NULL,
  ended TEXT NOT NULL,
  detail text NOT NULL,
  PRIMARY KEY (jid, step_jid, host)
) WITHOUT ROWID;
CREATE TABLE orchestration_execution_steps (
  jid TEXT NOT NULL,
  step_order INTEGER NOT NULL,
  step_id text NOT NULL,
  fun text NOT NULL,
  action_id TEXT NOT NULL,
  step_jid TEXT NOT NULL,
  result TEXT NOT NULL,
  started TEXT NOT NULL,
  duration REAL NOT NULL,
  comment text NOT NULL,
  tgt text NOT NULL,
  pillar text NOT NULL,
  PRIMARY KEY (jid, step_order)
) WITHOUT ROWID;
CREATE TABLE orchestration_executions (
  jid TEXT NOT NULL,
  hash TEXT NOT NULL,
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  user_name text NOT NULL,
  controller text NOT NULL,
  cache text NOT NULL,
  pid INTEGER NOT NULL,
  started TEXT NOT NULL,
  ended TEXT NOT NULL,
  status TEXT NOT NULL,
  signal_number INTEGER NOT NULL,
  test INTEGER NOT NULL,
  resumes TEXT NOT NULL,
  parent TEXT NOT NULL,
  revision text NOT NULL,
  pillar TEXT NOT NULL,
  steps INTEGER NOT NULL,
  steps_done INTEGER NOT NULL,
  steps_failed INTEGER NOT NULL,
  hosts INTEGER NOT NULL,
  PRIMARY KEY (jid)
) WITHOUT ROWID;
CREATE TABLE orchestration_states (
  hash TEXT NOT NULL,
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  description text NOT NULL,
  source TEXT NOT NULL,
  created TEXT NOT NULL,
  PRIMARY KEY (hash)
) WITHOUT ROWID;
CREATE TABLE orchestration_steps (
  hash TEXT NOT NULL,
  step_order INTEGER NOT NULL,
  step_id text NOT NULL,
  label text NOT NULL,
  fun text NOT NULL,
  tgt text NOT NULL,
  action_id text NOT NULL,
  args text NOT NULL,
  PRIMARY KEY (hash, step_order)
) WITHOUT ROWID;
CREATE INDEX idx_orchestration_states_name ON orchestration_states (name);
CREATE INDEX idx_orchestration_executions_name_jid ON orchestration_executions (name, jid);
CREATE INDEX idx_orchestration_executions_status_jid ON orchestration_executions (status, jid);
CREATE INDEX idx_orchestration_executions_hash ON orchestration_executions (hash);
CREATE INDEX idx_orchestration_execution_steps_action_id_jid ON orchestration_execution_steps (action_id, jid);
CREATE INDEX idx_orchestration_execution_hosts_host_jid ON orchestration_execution_hosts (host, jid);
