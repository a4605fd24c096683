// Package assembly lists brine's rooms: the only place that imports them all.
package assembly

import (
	"slices"

	"brine/internal/core/fun"
	aliasesmod "brine/modules/aliases"
	alternativesmod "brine/modules/alternatives"
	apachemod "brine/modules/apache"
	archivemod "brine/modules/archive"
	atmod "brine/modules/at"
	cmdmod "brine/modules/cmd"
	composermod "brine/modules/composer"
	configmod "brine/modules/config"
	cpmod "brine/modules/cp"
	cronmod "brine/modules/cron"
	datamod "brine/modules/data"
	debconfmod "brine/modules/debconf"
	defaultsmod "brine/modules/defaults"
	digmod "brine/modules/dig"
	diskmod "brine/modules/disk"
	dnsutilmod "brine/modules/dnsutil"
	dockermod "brine/modules/docker"
	environmod "brine/modules/environ"
	eventmod "brine/modules/event"
	filemod "brine/modules/file"
	firewalldmod "brine/modules/firewalld"
	gemmod "brine/modules/gem"
	gitmod "brine/modules/git"
	grainsmod "brine/modules/grains"
	groupmod "brine/modules/group"
	hashutilmod "brine/modules/hashutil"
	helmmod "brine/modules/helm"
	hgmod "brine/modules/hg"
	hostsmod "brine/modules/hosts"
	httpmod "brine/modules/http"
	inimanagemod "brine/modules/inimanage"
	"brine/modules/ip/debianip"
	"brine/modules/ip/rhip"
	ipsetmod "brine/modules/ipset"
	iptablesmod "brine/modules/iptables"
	jinjamod "brine/modules/jinja"
	kernelpkgmod "brine/modules/kernelpkg"
	keyboardmod "brine/modules/keyboard"
	kmodmod "brine/modules/kmod"
	linuxaclmod "brine/modules/linuxacl"
	linuxlvmmod "brine/modules/linuxlvm"
	linuxsysctlmod "brine/modules/linuxsysctl"
	localemod "brine/modules/locale"
	logmod "brine/modules/log"
	logrotatemod "brine/modules/logrotate"
	matchmod "brine/modules/match"
	mdadmraidmod "brine/modules/mdadmraid"
	minemod "brine/modules/mine"
	mountmod "brine/modules/mount"
	mysqlmod "brine/modules/mysql"
	networkmod "brine/modules/network"
	nfs3mod "brine/modules/nfs3"
	nftablesmod "brine/modules/nftables"
	npmmod "brine/modules/npm"
	openrcmod "brine/modules/openrc"
	outmod "brine/modules/out"
	partitionmod "brine/modules/partedpartition"
	pillarmod "brine/modules/pillar"
	pipmod "brine/modules/pip"
	"brine/modules/pkg/apkpkg"
	"brine/modules/pkg/aptpkg"
	"brine/modules/pkg/dpkg"
	"brine/modules/pkg/pacmanpkg"
	pkgresource "brine/modules/pkg/resource"
	"brine/modules/pkg/rpm"
	"brine/modules/pkg/yumpkg"
	"brine/modules/pkg/zypperpkg"
	postgresmod "brine/modules/postgres"
	psmod "brine/modules/ps"
	publishmod "brine/modules/publish"
	quotamod "brine/modules/quota"
	rabbitmqmod "brine/modules/rabbitmq"
	randommod "brine/modules/random"
	rsyncmod "brine/modules/rsync"
	runitmod "brine/modules/runit"
	rvmmod "brine/modules/rvm"
	saltcheckmod "brine/modules/saltcheck"
	saltutilmod "brine/modules/saltutil"
	schedulemod "brine/modules/schedule"
	sdbmod "brine/modules/sdb"
	selinuxmod "brine/modules/selinux"
	shadowmod "brine/modules/shadow"
	shimsmod "brine/modules/shims"
	slsutilmod "brine/modules/slsutil"
	smbiosmod "brine/modules/smbios"
	sshmod "brine/modules/ssh"
	statusmod "brine/modules/status"
	supervisordmod "brine/modules/supervisord"
	systemmod "brine/modules/system"
	systemdmod "brine/modules/systemd"
	sysvmod "brine/modules/sysv"
	tempmod "brine/modules/temp"
	testmod "brine/modules/test"
	timezonemod "brine/modules/timezone"
	tlsmod "brine/modules/tls"
	usermod "brine/modules/user"
	virtualenvmod "brine/modules/virtualenv"
	webutilmod "brine/modules/webutil"
	x509mod "brine/modules/x509"
	driftrun "brine/runner/fn/drift"
	"brine/runner/fn/events"
	fileserverrun "brine/runner/fn/fileserver"
	"brine/runner/fn/mine"
	"brine/runner/fn/orchestrate"
	pillarrun "brine/runner/fn/pillar"
	"brine/runner/fn/saltrun"
	statefn "brine/runner/fn/state"
	testrun "brine/runner/fn/testing"
	undofn "brine/runner/fn/undo"
	"brine/runner/fn/wheel"
	aliasstates "brine/states/alias"
	alternativesstates "brine/states/alternatives"
	apachestates "brine/states/apache"
	aptstates "brine/states/apt"
	archivestates "brine/states/archive"
	atstates "brine/states/at"
	blockdevstates "brine/states/blockdev"
	cmdstates "brine/states/cmd"
	composerstates "brine/states/composer"
	cronstates "brine/states/cron"
	debconfstates "brine/states/debconf"
	diskstates "brine/states/disk"
	dockerstates "brine/states/docker"
	environstates "brine/states/environ"
	eventstates "brine/states/event"
	filestates "brine/states/file"
	firewalldstates "brine/states/firewalld"
	gemstates "brine/states/gem"
	gitstates "brine/states/git"
	grainsstates "brine/states/grains"
	groupstates "brine/states/group"
	helmstates "brine/states/helm"
	hgstates "brine/states/hg"
	hoststates "brine/states/host"
	httpstates "brine/states/http"
	inimanagestates "brine/states/inimanage"
	ipsetstates "brine/states/ipset"
	iptablesstates "brine/states/iptables"
	kernelpkgstates "brine/states/kernelpkg"
	keyboardstates "brine/states/keyboard"
	kmodstates "brine/states/kmod"
	linuxaclstates "brine/states/linuxacl"
	localestates "brine/states/locale"
	logrotatestates "brine/states/logrotate"
	loopstates "brine/states/loop"
	lvmstates "brine/states/lvm"
	modulestates "brine/states/module"
	mountstates "brine/states/mount"
	mysqldatabasestates "brine/states/mysqldatabase"
	mysqlgrantsstates "brine/states/mysqlgrants"
	mysqlquerystates "brine/states/mysqlquery"
	mysqluserstates "brine/states/mysqluser"
	networkstates "brine/states/network"
	nfsexportstates "brine/states/nfsexport"
	nftablesstates "brine/states/nftables"
	npmstates "brine/states/npm"
	pipstates "brine/states/pip"
	pkgstates "brine/states/pkg"
	pkgrepostates "brine/states/pkgrepo"
	postgresstates "brine/states/postgres"
	processstates "brine/states/process"
	quotastates "brine/states/quota"
	rabbitmqstates "brine/states/rabbitmq"
	raidstates "brine/states/raid"
	rsyncstates "brine/states/rsync"
	rvmstates "brine/states/rvm"
	saltstates "brine/states/salt"
	saltutilstates "brine/states/saltutil"
	schedulestates "brine/states/schedule"
	selinuxstates "brine/states/selinux"
	servicestates "brine/states/service"
	shimsstates "brine/states/shims"
	sshauthstates "brine/states/sshauth"
	sshknownhostsstates "brine/states/sshknownhosts"
	stateconfstates "brine/states/stateconf"
	statusstates "brine/states/status"
	supervisordstates "brine/states/supervisord"
	sysctlstates "brine/states/sysctl"
	teststates "brine/states/test"
	timezonestates "brine/states/timezone"
	tlsstates "brine/states/tls"
	userstates "brine/states/user"
	virtualenvstates "brine/states/virtualenv"
	webutilstates "brine/states/webutil"
	x509states "brine/states/x509"
)

// Table returns all functions of this build. Modules are made when they are
// first used.
func Table() *fun.Table {
	return fun.NewTable([]fun.Entry{
		{Kind: fun.Exec, Name: "aliases", Load: aliasesmod.Module},
		{Kind: fun.Exec, Name: "alternatives", Load: alternativesmod.Module},
		{Kind: fun.Exec, Name: "aptpkg", Virtual: "pkg", Load: aptpkg.Module},
		{Kind: fun.Exec, Name: "apkpkg", Virtual: "pkg", Load: apkpkg.Module},
		{Kind: fun.Exec, Name: "composer", Load: composermod.Module},
		{Kind: fun.Exec, Name: "hg", Load: hgmod.Module},
		{Kind: fun.Exec, Name: "pacmanpkg", Virtual: "pkg", Load: pacmanpkg.Module},
		{Kind: fun.Exec, Name: "parted_partition", Virtual: "partition", Load: partitionmod.Module},
		{Kind: fun.Exec, Name: "pyenv", Load: shimsmod.PyenvModule},
		{Kind: fun.Exec, Name: "rbenv", Load: shimsmod.RbenvModule},
		{Kind: fun.Exec, Name: "rvm", Load: rvmmod.Module},
		{Kind: fun.Exec, Name: "yumpkg", Virtual: "pkg", Load: yumpkg.Module},
		{Kind: fun.Exec, Name: "zypperpkg", Virtual: "pkg", Load: zypperpkg.Module},
		{Kind: fun.Exec, Name: "archive", Load: archivemod.Module},
		{Kind: fun.Exec, Name: "at", Load: atmod.Module},
		{Kind: fun.Exec, Name: "beacons", Load: beaconsModule},
		{Kind: fun.Exec, Name: "cmd", Load: cmdmod.Module},
		{Kind: fun.Exec, Name: "config", Load: configmod.Module},
		{Kind: fun.Exec, Name: "cp", Load: cpmod.Module},
		{Kind: fun.Exec, Name: "cron", Load: cronmod.Module},
		{Kind: fun.Exec, Name: "data", Load: datamod.Module},
		{Kind: fun.Exec, Name: "deb_apache", Virtual: "apache", Load: apachemod.Debian},
		{Kind: fun.Exec, Name: "apache", Virtual: "apache", Load: apachemod.Module},
		{Kind: fun.Exec, Name: "debconfmod", Virtual: "debconf", Load: debconfmod.Module},
		{Kind: fun.Exec, Name: "debian_ip", Virtual: "ip", Load: debianip.Module},
		{Kind: fun.Exec, Name: "rh_ip", Virtual: "ip", Load: rhip.Module},
		{Kind: fun.Exec, Name: "defaults", Load: defaultsmod.Module},
		{Kind: fun.Exec, Name: "dig", Load: digmod.Module},
		{Kind: fun.Exec, Name: "disk", Load: diskmod.Module},
		{Kind: fun.Exec, Name: "dnsutil", Load: dnsutilmod.Module},
		{Kind: fun.Exec, Name: "dockermod", Virtual: "docker", Load: dockermod.Module},
		{Kind: fun.Exec, Name: "dpkg_lowpkg", Virtual: "lowpkg", Load: dpkg.Module},
		{Kind: fun.Exec, Name: "rpm_lowpkg", Virtual: "lowpkg", Load: rpm.Module},
		{Kind: fun.Exec, Name: "environ", Load: environmod.Module},
		{Kind: fun.Exec, Name: "etcd", Load: etcdModule},
		{Kind: fun.Exec, Name: "event", Load: eventmod.Module},
		{Kind: fun.Exec, Name: "file", Load: filemod.Module},
		{Kind: fun.Exec, Name: "firewalld", Load: firewalldmod.Module},
		{Kind: fun.Exec, Name: "gem", Load: gemmod.Module},
		{Kind: fun.Exec, Name: "git", Load: gitmod.Module},
		{Kind: fun.Exec, Name: "grains", Load: grainsmod.Module},
		{Kind: fun.Exec, Name: "group", Load: groupmod.Module},
		{Kind: fun.Exec, Name: "hashutil", Load: hashutilmod.Module},
		{Kind: fun.Exec, Name: "helm", Load: helmmod.Module},
		{Kind: fun.Exec, Name: "hosts", Load: hostsmod.Module},
		{Kind: fun.Exec, Name: "http", Load: httpmod.Module},
		{Kind: fun.Exec, Name: "ini_manage", Virtual: "ini", Load: inimanagemod.Module},
		{Kind: fun.Exec, Name: "ipset", Load: ipsetmod.Module},
		{Kind: fun.Exec, Name: "iptables", Load: iptablesmod.Module},
		{Kind: fun.Exec, Name: "jinja", Load: jinjamod.Module},
		{Kind: fun.Exec, Name: "kernelpkg_linux_apt", Virtual: "kernelpkg", Load: kernelpkgmod.Module},
		{Kind: fun.Exec, Name: "keyboard", Load: keyboardmod.Module},
		{Kind: fun.Exec, Name: "kmod", Load: kmodmod.Module},
		{Kind: fun.Exec, Name: "ldap", Load: ldapModule},
		{Kind: fun.Exec, Name: "ldap3", Load: ldap3Module},
		{Kind: fun.Exec, Name: "linux_acl", Virtual: "acl", Load: linuxaclmod.Module},
		{Kind: fun.Exec, Name: "linux_lvm", Virtual: "lvm", Load: linuxlvmmod.Module},
		{Kind: fun.Exec, Name: "linux_sysctl", Virtual: "sysctl", Load: linuxsysctlmod.Module},
		{Kind: fun.Exec, Name: "locale", Load: localemod.Module},
		{Kind: fun.Exec, Name: "log", Load: logmod.Module},
		{Kind: fun.Exec, Name: "logrotate", Load: logrotatemod.Module},
		{Kind: fun.Exec, Name: "match", Load: matchmod.Module},
		{Kind: fun.Exec, Name: "mdadm_raid", Virtual: "raid", Load: mdadmraidmod.Module},
		{Kind: fun.Exec, Name: "mine", Load: minemod.Module},
		{Kind: fun.Exec, Name: "mount", Load: mountmod.Module},
		{Kind: fun.Exec, Name: "mysql", Load: mysqlmod.Module},
		{Kind: fun.Exec, Name: "network", Load: networkmod.Module},
		{Kind: fun.Exec, Name: "nfs3", Load: nfs3mod.Module},
		{Kind: fun.Exec, Name: "nftables", Load: nftablesmod.Module},
		{Kind: fun.Exec, Name: "npm", Load: npmmod.Module},
		{Kind: fun.Exec, Name: "out", Load: outmod.Module},
		{Kind: fun.Exec, Name: "pillar", Load: pillarmod.Module},
		{Kind: fun.Exec, Name: "pip", Load: pipmod.Module},
		{Kind: fun.Exec, Name: "pkg_resource", Load: pkgresource.Module},
		{Kind: fun.Exec, Name: "postgres", Load: postgresmod.Module},
		{Kind: fun.Exec, Name: "ps", Load: psmod.Module},
		{Kind: fun.Exec, Name: "publish", Load: publishmod.Module},
		{Kind: fun.Exec, Name: "quota", Load: quotamod.Module},
		{Kind: fun.Exec, Name: "rabbitmq", Load: rabbitmqmod.Module},
		{Kind: fun.Exec, Name: "random", Load: randommod.Module},
		{Kind: fun.Exec, Name: "rsync", Load: rsyncmod.Module},
		{Kind: fun.Exec, Name: "runit", Load: runitmod.Module},
		{Kind: fun.Exec, Name: "saltcheck", Load: saltcheckmod.Module},
		{Kind: fun.Exec, Name: "saltutil", Load: saltutilmod.Module},
		{Kind: fun.Exec, Name: "schedule", Load: schedulemod.Module},
		{Kind: fun.Exec, Name: "sdb", Load: sdbmod.Module},
		{Kind: fun.Exec, Name: "selinux", Load: selinuxmod.Module},
		{Kind: fun.Exec, Name: "shadow", Load: shadowmod.Module},
		{Kind: fun.Exec, Name: "slsutil", Load: slsutilmod.Module},
		{Kind: fun.Exec, Name: "smbios", Load: smbiosmod.Module},
		{Kind: fun.Exec, Name: "ssh", Load: sshmod.Module},
		{Kind: fun.Exec, Name: "state", Load: stateModule},
		{Kind: fun.Exec, Name: "status", Load: statusmod.Module},
		{Kind: fun.Exec, Name: "supervisord", Load: supervisordmod.Module},
		{Kind: fun.Exec, Name: "sys", Load: sysModule},
		{Kind: fun.Exec, Name: "system", Load: systemmod.Module},
		{Kind: fun.Exec, Name: "systemd_service", Virtual: "service", Load: systemdmod.Module},
		{Kind: fun.Exec, Name: "gentoo_service", Virtual: "service", Load: openrcmod.Module},
		{Kind: fun.Exec, Name: "runit", Virtual: "service", Load: runitmod.Service},
		{Kind: fun.Exec, Name: "debian_service", Virtual: "service", Load: sysvmod.Debian},
		{Kind: fun.Exec, Name: "rh_service", Virtual: "service", Load: sysvmod.RedHat},
		{Kind: fun.Exec, Name: "temp", Load: tempmod.Module},
		{Kind: fun.Exec, Name: "test", Load: testmod.Module},
		{Kind: fun.Exec, Name: "timezone", Load: timezonemod.Module},
		{Kind: fun.Exec, Name: "tls", Load: tlsmod.Module},
		{Kind: fun.Exec, Name: "undo", Load: undofn.Module},
		{Kind: fun.Exec, Name: "user", Load: usermod.Module},
		{Kind: fun.Exec, Name: "vault", Load: vaultModule},
		{Kind: fun.Exec, Name: "virtualenv", Load: virtualenvmod.Module},
		{Kind: fun.Exec, Name: "webutil", Load: webutilmod.Module},
		{Kind: fun.Exec, Name: "x509", Virtual: "x509", Load: x509mod.Module},
		{Kind: fun.Exec, Name: "x509_v2", Virtual: "x509", Load: x509mod.ModuleV2},

		{Kind: fun.State, Name: "alias", Load: aliasstates.States},
		{Kind: fun.State, Name: "alternatives", Load: alternativesstates.States},
		{Kind: fun.State, Name: "apache", Load: apachestates.States},
		{Kind: fun.State, Name: "apache_conf", Load: apachestates.Conf},
		{Kind: fun.State, Name: "apache_module", Load: apachestates.Modules},
		{Kind: fun.State, Name: "apache_site", Load: apachestates.Sites},
		{Kind: fun.State, Name: "aptpkg", Virtual: "apt", Load: aptstates.States},
		{Kind: fun.State, Name: "archive", Load: archivestates.States},
		{Kind: fun.State, Name: "at", Load: atstates.States},
		{Kind: fun.State, Name: "beacon", Load: beaconState},
		{Kind: fun.State, Name: "blockdev", Load: blockdevstates.States},
		{Kind: fun.State, Name: "cmd", Load: cmdstates.States},
		{Kind: fun.State, Name: "composer", Load: composerstates.States},
		{Kind: fun.State, Name: "cron", Load: cronstates.States},
		{Kind: fun.State, Name: "debconfmod", Virtual: "debconf", Load: debconfstates.States},
		{Kind: fun.State, Name: "disk", Load: diskstates.States},
		{Kind: fun.State, Name: "docker_container", Load: dockerstates.Containers},
		{Kind: fun.State, Name: "docker_image", Load: dockerstates.Images},
		{Kind: fun.State, Name: "docker_network", Load: dockerstates.Networks},
		{Kind: fun.State, Name: "docker_volume", Load: dockerstates.Volumes},
		{Kind: fun.State, Name: "environ", Load: environstates.States},
		{Kind: fun.State, Name: "etcd", Load: etcdState},
		{Kind: fun.State, Name: "event", Load: eventstates.States},
		{Kind: fun.State, Name: "file", Load: filestates.States},
		{Kind: fun.State, Name: "firewalld", Load: firewalldstates.States},
		{Kind: fun.State, Name: "gem", Load: gemstates.States},
		{Kind: fun.State, Name: "git", Load: gitstates.States},
		{Kind: fun.State, Name: "grains", Load: grainsstates.States},
		{Kind: fun.State, Name: "group", Load: groupstates.States},
		{Kind: fun.State, Name: "helm", Load: helmstates.States},
		{Kind: fun.State, Name: "hg", Load: hgstates.States},
		{Kind: fun.State, Name: "host", Load: hoststates.States},
		{Kind: fun.State, Name: "http", Load: httpstates.States},
		{Kind: fun.State, Name: "ini_manage", Virtual: "ini", Load: inimanagestates.States},
		{Kind: fun.State, Name: "ipset", Load: ipsetstates.States},
		{Kind: fun.State, Name: "iptables", Load: iptablesstates.States},
		{Kind: fun.State, Name: "kernelpkg", Load: kernelpkgstates.States},
		{Kind: fun.State, Name: "keyboard", Load: keyboardstates.States},
		{Kind: fun.State, Name: "kmod", Load: kmodstates.States},
		{Kind: fun.State, Name: "ldap", Load: ldapState},
		{Kind: fun.State, Name: "linux_acl", Virtual: "acl", Load: linuxaclstates.States},
		{Kind: fun.State, Name: "locale", Load: localestates.States},
		{Kind: fun.State, Name: "logrotate", Load: logrotatestates.States},
		{Kind: fun.State, Name: "loop", Load: loopstates.States},
		{Kind: fun.State, Name: "lvm", Load: lvmstates.States},
		{Kind: fun.State, Name: "mdadm_raid", Virtual: "raid", Load: raidstates.States},
		{Kind: fun.State, Name: "module", Load: modulestates.States},
		{Kind: fun.State, Name: "mount", Load: mountstates.States},
		{Kind: fun.State, Name: "mysql_database", Load: mysqldatabasestates.States},
		{Kind: fun.State, Name: "mysql_grants", Load: mysqlgrantsstates.States},
		{Kind: fun.State, Name: "mysql_query", Load: mysqlquerystates.States},
		{Kind: fun.State, Name: "mysql_user", Load: mysqluserstates.States},
		{Kind: fun.State, Name: "network", Load: networkstates.States},
		{Kind: fun.State, Name: "nfs_export", Load: nfsexportstates.States},
		{Kind: fun.State, Name: "nftables", Load: nftablesstates.States},
		{Kind: fun.State, Name: "npm", Load: npmstates.States},
		{Kind: fun.State, Name: "pip", Load: pipstates.States},
		{Kind: fun.State, Name: "pkg", Load: pkgstates.States},
		{Kind: fun.State, Name: "pkgrepo", Load: pkgrepostates.States},
		{Kind: fun.State, Name: "postgres_cluster", Load: postgresstates.Clusters},
		{Kind: fun.State, Name: "postgres_database", Load: postgresstates.Databases},
		{Kind: fun.State, Name: "postgres_extension", Load: postgresstates.Extensions},
		{Kind: fun.State, Name: "postgres_group", Load: postgresstates.Groups},
		{Kind: fun.State, Name: "postgres_initdb", Load: postgresstates.DataDirs},
		{Kind: fun.State, Name: "postgres_language", Load: postgresstates.Languages},
		{Kind: fun.State, Name: "postgres_privileges", Load: postgresstates.Privileges},
		{Kind: fun.State, Name: "postgres_schema", Load: postgresstates.Schemas},
		{Kind: fun.State, Name: "postgres_tablespace", Load: postgresstates.Tablespaces},
		{Kind: fun.State, Name: "postgres_user", Load: postgresstates.Users},
		{Kind: fun.State, Name: "process", Load: processstates.States},
		{Kind: fun.State, Name: "pyenv", Load: shimsstates.PyenvStates},
		{Kind: fun.State, Name: "quota", Load: quotastates.States},
		{Kind: fun.State, Name: "rabbitmq_cluster", Load: rabbitmqstates.Clusters},
		{Kind: fun.State, Name: "rabbitmq_plugin", Load: rabbitmqstates.Plugins},
		{Kind: fun.State, Name: "rabbitmq_policy", Load: rabbitmqstates.Policies},
		{Kind: fun.State, Name: "rabbitmq_upstream", Load: rabbitmqstates.Upstreams},
		{Kind: fun.State, Name: "rabbitmq_user", Load: rabbitmqstates.Users},
		{Kind: fun.State, Name: "rabbitmq_vhost", Load: rabbitmqstates.VHosts},
		{Kind: fun.State, Name: "rbenv", Load: shimsstates.RbenvStates},
		{Kind: fun.State, Name: "rsync", Load: rsyncstates.States},
		{Kind: fun.State, Name: "rvm", Load: rvmstates.States},
		{Kind: fun.State, Name: "salt", Load: saltstates.States},
		{Kind: fun.State, Name: "saltutil", Load: saltutilstates.States},
		{Kind: fun.State, Name: "schedule", Load: schedulestates.States},
		{Kind: fun.State, Name: "selinux", Load: selinuxstates.States},
		{Kind: fun.State, Name: "service", Load: servicestates.States},
		{Kind: fun.State, Name: "ssh_auth", Load: sshauthstates.States},
		{Kind: fun.State, Name: "ssh_known_hosts", Load: sshknownhostsstates.States},
		{Kind: fun.State, Name: "stateconf", Load: stateconfstates.States},
		{Kind: fun.State, Name: "status", Load: statusstates.States},
		{Kind: fun.State, Name: "supervisord", Load: supervisordstates.States},
		{Kind: fun.State, Name: "sysctl", Load: sysctlstates.States},
		{Kind: fun.State, Name: "test", Load: teststates.States},
		{Kind: fun.State, Name: "timezone", Load: timezonestates.States},
		{Kind: fun.State, Name: "tls", Load: tlsstates.States},
		{Kind: fun.State, Name: "user", Load: userstates.States},
		{Kind: fun.State, Name: "vault", Load: vaultState},
		{Kind: fun.State, Name: "virtualenv", Load: virtualenvstates.States},
		{Kind: fun.State, Name: "webutil", Load: webutilstates.States},
		{Kind: fun.State, Name: "x509", Virtual: "x509", Load: x509states.States},
		{Kind: fun.State, Name: "x509_v2", Virtual: "x509", Load: x509states.StatesV2},

		{Kind: fun.Runner, Name: "audit", Load: auditRunner},
		{Kind: fun.Runner, Name: "beacon", Load: beaconRunner},
		{Kind: fun.Runner, Name: "cache", Load: cacheRunner},
		{Kind: fun.Runner, Name: "config", Load: saltrun.Config},
		{Kind: fun.Runner, Name: "doc", Load: docRunner},
		{Kind: fun.Runner, Name: "drift", Load: driftrun.Runners},
		{Kind: fun.Runner, Name: "error", Load: saltrun.Error},
		{Kind: fun.Runner, Name: "event", Load: events.Runners},
		{Kind: fun.Runner, Name: "fileserver", Load: fileserverrun.Runners},
		{Kind: fun.Runner, Name: "history", Load: historyRunner},
		{Kind: fun.Runner, Name: "http", Load: saltrun.HTTP},
		{Kind: fun.Runner, Name: "jobs", Load: jobsRunner},
		{Kind: fun.Runner, Name: "lock", Load: lockRunner},
		{Kind: fun.Runner, Name: "manage", Load: manageRunner},
		{Kind: fun.Runner, Name: "mine", Load: mine.Runners},
		{Kind: fun.Runner, Name: "network", Load: networkRunner},
		{Kind: fun.Runner, Name: "pillar", Load: pillarrun.Runners},
		{Kind: fun.Runner, Name: "queue", Load: queueRunner},
		{Kind: fun.Runner, Name: "reactor", Load: reactorRunner},
		{Kind: fun.Runner, Name: "returner", Load: returnerRunner},
		{Kind: fun.Runner, Name: "salt", Load: saltrun.Runners},
		{Kind: fun.Runner, Name: "saltutil", Load: saltutilmod.Runners},
		{Kind: fun.Runner, Name: "sdb", Load: sdbmod.Runners},
		{Kind: fun.Runner, Name: "ssh", Load: sshRunner},
		{Kind: fun.Runner, Name: "state", Load: stateRunner},
		{Kind: fun.Runner, Name: "survey", Load: surveyRunner},
		{Kind: fun.Runner, Name: "test", Load: testrun.Runners},

		{Kind: fun.Wheel, Name: "config", Load: wheel.Config},
		{Kind: fun.Wheel, Name: "error", Load: wheel.Error},
		{Kind: fun.Wheel, Name: "key", Load: wheel.Key},
		{Kind: fun.Wheel, Name: "minions", Load: wheel.Minions},
	})
}

// stateRunner joins orchestrations with what watches and steers runs.
func stateRunner() fun.Module {
	m := orchestrate.Runners()
	m.Specs = slices.Concat(m.Specs, events.StateSpecs(eventLog), events.PauseRunners())
	m.SortSpecs()
	return m
}

// stateModule joins the execution module "state" with masterless
// orchestration, which stands above it.
func stateModule() fun.Module {
	m := statefn.Module()
	m.Specs = slices.Concat(m.Specs, orchestrate.Specs(), events.PauseSpecs())
	m.SortSpecs()
	return m
}

// vaultAway is the reason for which an agent does not have the modules "vault".
const vaultAway = "an agent does not ask Vault; ext_pillar vault, or sdb:// in the pillar, hands it its secrets"

// etcdAway is the reason for which an agent does not have the modules "etcd".
const etcdAway = "an agent does not ask etcd; 'brine call', salt.function and ext_pillar etcd do, on the controller"

// ldapAway is the reason for which an agent does not have the modules "ldap" and "ldap3".
const ldapAway = "an agent does not speak LDAP; the controller does: 'brine call' or salt.function there, and ext_pillar pillar_ldap"

// beaconsAway is the reason for which an agent does not have the module "beacons".
const beaconsAway = "an agent has no beacons; 'brine call' on the machine has them, or let file.managed write minion.d/beacons.conf there"
