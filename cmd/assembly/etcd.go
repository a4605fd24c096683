//go:build !slim

package assembly

import (
	"brine/internal/core/fun"
	etcdmod "brine/modules/etcd"
	etcdstates "brine/states/etcd"
)

// etcdModule is the execution module "etcd".
func etcdModule() fun.Module { return notOnAgents(etcdmod.Module(), etcdAway) }

// etcdState is the state module "etcd".
func etcdState() fun.Module { return notOnAgents(etcdstates.States(), etcdAway) }
