//go:build !slim

package sdb

// moreMakers are the drivers of the controller.
func moreMakers() map[string]maker {
	return map[string]maker{
		"consul": newConsul, "etcd": newEtcd, "memcached": newMemcached, "redis": newRedis, "rest": newREST, "sqlite3": newSQLite, "vault": newVault,
	}
}

// elsewhere returns nothing: every driver is here.
func elsewhere() []string { return nil }
