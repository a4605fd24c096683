//go:build slim

package assembly

import "brine/internal/core/fun"

// The modules "etcd" are the controller's.

func etcdModule() fun.Module { return away(fun.Exec, "etcd", etcdAway) }
func etcdState() fun.Module  { return away(fun.State, "etcd", etcdAway) }
