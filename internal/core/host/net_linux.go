package host

import (
	"encoding/binary"
	"net"
	"strings"
	"syscall"
)

// addrDetails asks the kernel for the details of addresses that package net
// does not return. Details that the kernel does not return are omitted.
func addrDetails() map[addrKey]AddrDetail {
	out := map[addrKey]AddrDetail{}
	rib, err := syscall.NetlinkRIB(syscall.RTM_GETADDR, syscall.AF_UNSPEC)
	if err != nil {
		return out
	}
	msgs, err := syscall.ParseNetlinkMessage(rib)
	if err != nil {
		return out
	}
	for _, m := range msgs {
		// struct ifaddrmsg: family, prefixlen, flags, scope, index
		if m.Header.Type != syscall.RTM_NEWADDR || len(m.Data) < syscall.SizeofIfAddrmsg {
			continue
		}
		attrs, err := syscall.ParseNetlinkRouteAttr(&m)
		if err != nil {
			continue
		}
		var d AddrDetail
		var local, address net.IP
		for _, a := range attrs {
			switch a.Attr.Type {
			case syscall.IFA_ADDRESS:
				address = net.IP(a.Value)
			case syscall.IFA_LOCAL:
				local = net.IP(a.Value)
			case syscall.IFA_BROADCAST:
				d.Broadcast = net.IP(a.Value)
			case syscall.IFA_LABEL:
				d.Label = strings.TrimRight(string(a.Value), "\x00")
			}
		}
		if local == nil { // IPv6, and interfaces that are not point to point
			local = address
		}
		switch m.Data[3] {
		case syscall.RT_SCOPE_UNIVERSE:
			d.Scope = "global"
		case syscall.RT_SCOPE_SITE:
			d.Scope = "site"
		case syscall.RT_SCOPE_LINK:
			d.Scope = "link"
		case syscall.RT_SCOPE_HOST:
			d.Scope = "host"
		}
		d.Secondary = m.Data[0] == syscall.AF_INET && m.Data[2]&syscall.IFA_F_SECONDARY != 0
		index := binary.NativeEndian.Uint32(m.Data[4:8])
		out[addrKey{int(index), local.String()}] = d
	}
	return out
}
