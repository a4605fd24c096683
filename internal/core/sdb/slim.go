//go:build slim

package sdb

// moreMakers returns no driver: an agent has those that every build has.
func moreMakers() map[string]maker { return nil }

// elsewhere are the drivers of the controller.
func elsewhere() []string {
	return []string{"consul", "etcd", "memcached", "redis", "rest", "sqlite3", "vault"}
}
