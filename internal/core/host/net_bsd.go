//go:build darwin || freebsd

package host

// addrDetails knows nothing beyond what package net tells.
func addrDetails() map[addrKey]AddrDetail { return nil }
