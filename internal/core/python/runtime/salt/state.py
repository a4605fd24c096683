"""Words of states."""
STATE_REQUISITE_KEYWORDS = frozenset(["onchanges", "onchanges_any", "onfail", "onfail_any", "onfail_all", "onfail_stop", "prereq", "prerequired", "watch", "watch_any", "require", "require_any", "listen"])
STATE_REQUISITE_IN_KEYWORDS = frozenset(["onchanges_in", "onfail_in", "prereq_in", "watch_in", "require_in", "listen_in"])
STATE_RUNTIME_KEYWORDS = frozenset([
    "fun", "state", "check_cmd", "failhard", "onlyif", "unless", "retry", "order", "parallel", "prereq", "prereq_in", "prerequired", "reload_modules",
    "reload_grains", "reload_pillar", "runas", "runas_password", "fire_event", "saltenv", "use", "use_in", "__run_name", "__env__", "__sls__", "__id__",
    "__sls_included_from__", "__orchestration_jid__", "__pub_user", "__pub_arg", "__pub_jid", "__pub_fun", "__pub_tgt", "__pub_ret", "__pub_pid", "__pub_tgt_type", "__prereq__",
])
STATE_INTERNAL_KEYWORDS = STATE_REQUISITE_KEYWORDS | STATE_REQUISITE_IN_KEYWORDS | STATE_RUNTIME_KEYWORDS


def format_log(ret):
    """Does nothing: brine logs what states return."""
