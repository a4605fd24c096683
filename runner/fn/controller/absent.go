package controller

import (
	"strings"

	"brine/internal/core/fun"
)

// Reasons that several modules share.
const (
	noMaster   = "it manages the master's keys or connections, and brine has no master; targets are the entries of the roster"
	appliance  = "it is for network devices and appliances, which brine does not manage"
	cloud      = "it uses the API of a provider; let a script that cmd.run calls, or Terraform, do that"
	guests     = "it manages virtual machines and containers on other hosts, which brine does not"
	service    = "it uses the API of a service, which brine does not; http.query calls most of them"
	windows    = "it is for Windows"
	lastGrains = "grains are kept for a day at most, for targeting alone; salt.execute '*' grains.items asks the targets"
	noPillars  = "pillars are never kept; pillar.show_pillar ID renders one"
	noBanks    = "brine has no cache of that form; the runner functions of sdb read and write data that stays"
)

// absent are the reasons for which Salt's runner functions are not there, by function,
// or by module where all of it is absent.
var absent = map[string]string{
	"asam": appliance, "bgp": appliance, "drac": appliance, "f5": appliance, "net": appliance,
	"cloud": cloud, "ddns": "it sends updates of DNS by dnspython; nsupdate in cmd.run does the same",
	"digicert": service, "mattermost": service, "pagerduty": service, "spacewalk": service, "vault": service, "venafi": service, "vistara": service,
	"lxc": guests, "virt": guests, "vmadm": guests,
	"auth":       "it makes tokens for a master's external authentication; 'brine ui token' makes those of brine's API",
	"git_pillar": "trees of ext_pillar git are fetched when a pillar is rendered",
	"launchd":    "it writes a file for a master on macOS",
	"nacl":       "the encryption of nacl is not supported; the renderer gpg, sops and vault are",
	"pkg":        "salt.execute '*' pkg.list_upgrades asks the targets",
	"thin":       "salt-ssh needs an archive of Salt; brine sends its agent by itself",
	"winrepo":    windows,

	"cache.clear_all":      "grains are kept for a day at most and pillars never: cache.clear_mine removes the mine data",
	"cache.clear_git_lock": "fileserver.clear_lock removes the locks of gitfs",
	"cache.clear_grains":   "grains are kept for a day at most; the option ssh_refresh_grains has them gathered again",
	"cache.clear_pillar":   noPillars,
	"cache.cloud":          cloud,
	"cache.fetch":          noBanks,
	"cache.flush":          noBanks,
	"cache.grains":         lastGrains,
	"cache.list":           noBanks,
	"cache.pillar":         noPillars,
	"cache.store":          noBanks,

	"fileserver.lock": "brine takes the locks of gitfs for as long as it fetches; update one remote with fileserver.update remote=NAME",

	"http.update_ca_bundle": "the certificates of the system are used; update them with the system's packages",

	"jobs.master": "jobs.active lists what the brine processes of this machine work on, runners too",

	"manage.bootstrap":        "there is no minion to install; 'brine ssh' sends its agent to the targets",
	"manage.bootstrap_psexec": windows,
	"manage.key_regen":        noMaster,
	"manage.safe_accept":      noMaster,

	"network.wolmatch": "hardware addresses of machines that are switched off are not kept; network.wollist reads them from a file",

	"pillar.clear_pillar_cache": noPillars,
	"pillar.show_pillar_cache":  noPillars,

	"reactor.add":        "no process keeps a list of reactions that could change; edit the option reactor",
	"reactor.delete":     "no process keeps a list of reactions that could change; edit the option reactor",
	"reactor.is_leader":  "workers share the events among them without a leader",
	"reactor.set_leader": "workers share the events among them without a leader",

	"saltutil.sync_eauth_tokens": "saltutil.sync_tokens does it",

	"test.stream": "it shows the progress events of a master",
}

const ownQueues = "the queues of brine hold orchestrations: 'brine docs queue'"

// WhyAbsent returns why brine lacks a function of Salt; "" where nothing is known.
func WhyAbsent(k fun.Kind, name string) string {
	if k != fun.Runner {
		return ""
	}
	mod, _, _ := strings.Cut(name, ".")
	if why := absent[name]; why != "" {
		return why
	}
	if mod == "queue" {
		return ownQueues
	}
	return absent[mod]
}
