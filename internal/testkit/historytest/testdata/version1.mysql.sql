CREATE TABLE IF NOT EXISTS orchestration_states (
  hash varchar(64) NOT NULL,
  kind varchar(20) NOT NULL,
  name varchar(255) NOT NULL,
  description mediumtext NOT NULL,
  source varchar(64) NOT NULL,
  created varchar(26) NOT NULL,
  PRIMARY KEY (hash),
  KEY idx_orchestration_states_name (name)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
CREATE TABLE IF NOT EXISTS orchestration_steps (
  hash varchar(64) NOT NULL,
  step_order integer NOT NULL,
  step_id mediumtext NOT NULL,
  label mediumtext NOT NULL,
  fun mediumtext NOT NULL,
  tgt mediumtext NOT NULL,
  action_id mediumtext NOT NULL,
  args mediumtext NOT NULL,
  PRIMARY KEY (hash, step_order)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
CREATE TABLE IF NOT EXISTS orchestration_executions (
  jid varchar(20) NOT NULL,
  hash varchar(64) NOT NULL,
  kind varchar(20) NOT NULL,
  name varchar(255) NOT NULL,
  user_name mediumtext NOT NULL,
  controller mediumtext NOT NULL,
  cache mediumtext NOT NULL,
  pid integer NOT NULL,
  started varchar(26) NOT NULL,
  ended varchar(26) NOT NULL,
  status varchar(20) NOT NULL,
  signal_number integer NOT NULL,
  test integer NOT NULL,
  resumes varchar(20) NOT NULL,
  parent varchar(20) NOT NULL,
  revision mediumtext NOT NULL,
  pillar varchar(64) NOT NULL,
  steps integer NOT NULL,
  steps_done integer NOT NULL,
  steps_failed integer NOT NULL,
  hosts integer NOT NULL,
  PRIMARY KEY (jid),
  KEY idx_orchestration_executions_name_jid (name, jid),
  KEY idx_orchestration_executions_status_jid (status, jid),
  KEY idx_orchestration_executions_hash (hash)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
CREATE TABLE IF NOT EXISTS orchestration_execution_steps (
  jid varchar(20) NOT NULL,
  step_order integer NOT NULL,
  step_id mediumtext NOT NULL,
  fun mediumtext NOT NULL,
  action_id varchar(64) NOT NULL,
  step_jid varchar(20) NOT NULL,
  result varchar(20) NOT NULL,
  started varchar(26) NOT NULL,
  duration double precision NOT NULL,
  comment mediumtext NOT NULL,
  tgt mediumtext NOT NULL,
  pillar mediumtext NOT NULL,
  PRIMARY KEY (jid, step_order),
  KEY idx_orchestration_execution_steps_action_id_jid (action_id, jid)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
CREATE TABLE IF NOT EXISTS orchestration_execution_hosts (
  jid varchar(20) NOT NULL,
  step_jid varchar(20) NOT NULL,
  host varchar(255) NOT NULL,
  step_order integer NOT NULL,
  result varchar(20) NOT NULL,
  duration double precision NOT NULL,
  changed integer NOT NULL,
  ended varchar(26) NOT NULL,
  detail mediumtext NOT NULL,
  PRIMARY KEY (jid, step_jid, host),
  KEY idx_orchestration_execution_hosts_host_jid (host, jid)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
