package link

import (
	"slices"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// targetOpts are the options that a controller hands on.
//
// Salt: salt/client/ssh/__init__.py minion_opts, salt/master.py _master_opts.
var targetOpts = [...]string{
	"allow_undefined", "archive_max_members", "archive_max_size", "custom_memory", "custom_steps", "custom_timeout", "default_top", "disabled_requisites", "env_order", "failhard", "file_ignore_glob", "file_ignore_regex",
	"hash_type", "ipv6", "jinja_env", "jinja_lstrip_blocks", "jinja_sls_env", "jinja_trim_blocks",
	"lock_saltenv", "log_level", "mask_pillar_keys", "mine_functions", "nodegroups", "pillar_merge_lists", "pillar_raise_on_missing",
	"pillar_source_merging_strategy", "pillarenv", "pillarenv_from_saltenv", "python_salt", "renderer",
	"saltenv", "state_aggregate", "state_auto_order",
	"state_events", "state_top", "state_top_saltenv", "stateconf_end_marker", "stateconf_goal_state",
	"stateconf_start_state", "stateconf_state_func", "test", "timezone", "top_file_merging_strategy", "undo", "undo_days", "undo_size",
}

// TargetOpts returns those of a controller's options that hold on targets too:
// how states are compiled and run, what may not be called, and what ssh_minion_opts says. Paths,
// credentials and what else concerns the controller alone stay here.
func TargetOpts(opts *value.Map) *value.Map {
	m := value.NewMap(len(targetOpts))
	for _, k := range slices.Concat(targetOpts[:], fun.LimitOptions()) {
		if v, ok := opts.Get(k); ok {
			m.Set(k, v)
		}
	}
	if tops := opts.Map("master_tops"); tops.Len() > 0 {
		// That there are some: the target asks the controller for what they give.
		m.Set("master_tops", value.MapOf("controller", true))
		m.Set("master_tops_first", opts.At("master_tops_first"))
	}
	if extra := opts.Map("ssh_minion_opts"); extra != nil {
		m.Update(extra)
	}
	return m
}
