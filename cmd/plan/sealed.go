package plan

import (
	"fmt"
	"strings"

	"brine/cmd/app"
	"brine/internal/py/value"
)

// sealed are the options that change what the same tree and pillar mean: which states
// run, in which order and how, and what templates and the pillar come to. A plan has
// their keyed hashes. What is served, the roster and the pillar have hashes of their
// own.
var sealed = [...]string{
	"backup_mode", "decrypt_pillar", "decrypt_pillar_default", "decrypt_pillar_delimiter", "decrypt_pillar_renderers",
	"default_top", "disable_modules", "disabled_requisites", "env_order", "ext_pillar", "ext_pillar_first", "failhard",
	"fileserver_backend", "global_state_conditions", "gpg_decrypt_must_succeed", "grains", "hash_type", "jinja_env",
	"jinja_lstrip_blocks", "jinja_sls_env", "jinja_trim_blocks", "lock_saltenv", "master_tops", "master_tops_first",
	"nodegroups", "on_demand_ext_pillar", "pillar_includes_override_sls", "pillar_merge_lists", "pillar_opts",
	"pillar_raise_on_missing", "pillar_source_merging_strategy", "pillarenv", "pillarenv_from_saltenv", "providers",
	"renderer", "renderer_blacklist", "renderer_whitelist", "roster_defaults", "saltenv", "ssh_merge_pillar",
	"ssh_minion_opts", "state_aggregate", "state_auto_order", "state_top", "state_top_saltenv", "test",
	"top_file_merging_strategy", "whitelist_modules",
}

// options notes the hashes of the options that change what a run does.
func (pl *planner) options() {
	for _, name := range sealed {
		if v := pl.s.Cfg.Opts.At(name); v != nil {
			pl.p.Inputs.Options[name] = pl.key.Hash(value.EncodeJSON(v))
		}
	}
}

// refuseExtPillar is why --no-ext-pillar does not allow a plan: an external pillar
// would run.
func refuseExtPillar(opts *value.Map) error {
	var names []string
	if l := opts.List("ext_pillar"); l != nil {
		for _, x := range l.Items {
			if m, ok := x.(*value.Map); ok {
				for k := range m.All() {
					names = append(names, value.Str(k))
				}
			}
		}
	}
	if len(names) == 0 {
		return nil
	}
	return &app.StatusError{
		Status: app.ExitGeneric, Err: fmt.Errorf("--no-ext-pillar: the configuration has external pillars, which a plan would run: %s", strings.Join(names, ", ")),
		Hint: "plan without --no-ext-pillar, or with a configuration that has none",
	}
}
