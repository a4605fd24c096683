// Package ip declares the settings that the providers of the virtual module "ip" have
// in common with the states of network.
package ip

import (
	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// Interface are the settings of an interface. Each provider takes those that its system
// has, and checks their values.
type Interface struct {
	_ fun.Arguments
	_ value.Value `arg:"proto,kw,str" doc:"how it gets its address, such as static, dhcp, manual or none"`
	_ value.Value `arg:"ipaddr,kw,str" doc:"IPv4 address"`
	_ value.Value `arg:"address,kw,str" doc:"the same as ipaddr"`
	_ value.Value `arg:"ipaddrs,kw,list|str" doc:"further IPv4 addresses, with their prefix lengths"`
	_ value.Value `arg:"addresses,kw,list|str" doc:"the same as ipaddrs"`
	_ value.Value `arg:"netmask,kw,int|str" doc:"netmask, or the length of the prefix"`
	_ value.Value `arg:"prefix,kw,int|str" doc:"length of the prefix, instead of netmask"`
	_ value.Value `arg:"broadcast,kw,str" doc:"broadcast address"`
	_ value.Value `arg:"network,kw,str" doc:"address of the network"`
	_ value.Value `arg:"gateway,kw,str" doc:"router of the default route"`
	_ value.Value `arg:"metric,kw,int|str" doc:"metric of the default route"`
	_ value.Value `arg:"pointopoint,kw,str" doc:"address of the other end"`
	_ value.Value `arg:"scope,kw,str" doc:"scope of the address: global, link, host, site"`
	_ value.Value `arg:"srcaddr,kw,str" doc:"source address of what is sent"`
	_ value.Value `arg:"ipaddr_start,kw,str" doc:"first address of a range"`
	_ value.Value `arg:"ipaddr_end,kw,str" doc:"last address of a range"`
	_ value.Value `arg:"clonenum_start,kw,int|str" doc:"number of the first interface of a range"`
	_ value.Value `arg:"dns,kw,list|str" doc:"name servers"`
	_ value.Value `arg:"dns-nameservers,kw,list|str" doc:"the same as dns"`
	_ value.Value `arg:"search,kw,list|str" doc:"domains to search"`
	_ value.Value `arg:"dns-search,kw,list|str" doc:"the same as search"`
	_ value.Value `arg:"domain,kw,list|str" doc:"domains to search, on Red Hat systems"`
	_ value.Value `arg:"peerdns,kw,str|bool|int" doc:"use the name servers that DHCP gives"`
	_ value.Value `arg:"peerroutes,kw,str|bool|int" doc:"use the routes that DHCP gives"`
	_ value.Value `arg:"defroute,kw,str|bool|int" doc:"it has the default route"`
	_ value.Value `arg:"hostname,kw,str" doc:"host name to send to the DHCP server"`
	_ value.Value `arg:"client,kw,str" doc:"client identifier to send to the DHCP server"`
	_ value.Value `arg:"vendor,kw,str" doc:"vendor class to send to the DHCP server"`
	_ value.Value `arg:"leasehours,kw,int|str" doc:"hours to ask of the DHCP server"`
	_ value.Value `arg:"leasetime,kw,int|str" doc:"seconds to ask of the DHCP server"`
	_ value.Value `arg:"bootfile,kw,str" doc:"file in which the answer of a BOOTP server is kept"`
	_ value.Value `arg:"server,kw,str" doc:"address of the BOOTP server"`
	_ value.Value `arg:"enable_ipv4,kw,str|bool|int" doc:"configure IPv4"`
	_ value.Value `arg:"enable_ipv6,kw,str|bool|int" doc:"configure IPv6"`
	_ value.Value `arg:"ipv4_failure_fatal,kw,str|bool|int" doc:"the interface fails if IPv4 does"`
	_ value.Value `arg:"ipv4proto,kw,str" doc:"proto of IPv4 only"`
	_ value.Value `arg:"ipv4addr,kw,str" doc:"the same as ipaddr"`
	_ value.Value `arg:"ipv4address,kw,str" doc:"the same as ipaddr"`
	_ value.Value `arg:"ipv4addrs,kw,list|str" doc:"the same as ipaddrs"`
	_ value.Value `arg:"ipv4ipaddr,kw,str" doc:"the same as ipaddr"`
	_ value.Value `arg:"ipv4ipaddrs,kw,list|str" doc:"the same as ipaddrs"`
	_ value.Value `arg:"ipv4netmask,kw,int|str" doc:"netmask of IPv4 only"`
	_ value.Value `arg:"ipv4gateway,kw,str" doc:"gateway of IPv4 only"`
	_ value.Value `arg:"ipv4mtu,kw,int|str" doc:"mtu of IPv4 only"`
	_ value.Value `arg:"ipv4ttl,kw,int|str" doc:"ttl of IPv4 only"`
	_ value.Value `arg:"ipv6proto,kw,str" doc:"proto of IPv6 only"`
	_ value.Value `arg:"ipv6addr,kw,str" doc:"IPv6 address"`
	_ value.Value `arg:"ipv6address,kw,str" doc:"the same as ipv6addr"`
	_ value.Value `arg:"ipv6ipaddr,kw,str" doc:"the same as ipv6addr"`
	_ value.Value `arg:"ipv6addrs,kw,list|str" doc:"further IPv6 addresses"`
	_ value.Value `arg:"ipv6addresses,kw,list|str" doc:"the same as ipv6addrs"`
	_ value.Value `arg:"ipv6ipaddrs,kw,list|str" doc:"the same as ipv6addrs"`
	_ value.Value `arg:"ipv6netmask,kw,int|str" doc:"length of the prefix of IPv6"`
	_ value.Value `arg:"ipv6gateway,kw,str" doc:"router of the default route of IPv6"`
	_ value.Value `arg:"ipv6mtu,kw,int|str" doc:"mtu of IPv6 only"`
	_ value.Value `arg:"ipv6ttl,kw,int|str" doc:"ttl of IPv6 only"`
	_ value.Value `arg:"ipv6scope,kw,str" doc:"scope of the IPv6 address"`
	_ value.Value `arg:"ipv6hwaddress,kw,str" doc:"hwaddr of IPv6 only"`
	_ value.Value `arg:"ipv6_autoconf,kw,str|bool|int" doc:"configure IPv6 as the router advertises"`
	_ value.Value `arg:"ipv6_peerdns,kw,str|bool|int" doc:"peerdns of IPv6"`
	_ value.Value `arg:"ipv6_peerroutes,kw,str|bool|int" doc:"peerroutes of IPv6"`
	_ value.Value `arg:"ipv6_defroute,kw,str|bool|int" doc:"defroute of IPv6"`
	_ value.Value `arg:"ipv6privext,kw,int|str" doc:"the same as privext"`
	_ value.Value `arg:"ipv6accept_ra,kw,int|str" doc:"the same as accept_ra"`
	_ value.Value `arg:"ipv6autoconf,kw,int|str" doc:"the same as autoconf"`
	_ value.Value `arg:"ipv6dhcp,kw,int|str" doc:"the same as dhcp"`
	_ value.Value `arg:"ipv6preferred-lifetime,kw,int|str" doc:"the same as preferred-lifetime"`
	_ value.Value `arg:"ipv6dad-attempts,kw,int|str" doc:"the same as dad-attempts"`
	_ value.Value `arg:"ipv6dad-interval,kw,float|str" doc:"the same as dad-interval"`
	_ value.Value `arg:"ipv6media,kw,str" doc:"the same as media"`
	_ value.Value `arg:"ipv6local,kw,str" doc:"local of IPv6 only"`
	_ value.Value `arg:"ipv6endpoint,kw,str" doc:"endpoint of IPv6 only"`
	_ value.Value `arg:"accept_ra,kw,int|str" doc:"accept router advertisements: 0, 1 or 2"`
	_ value.Value `arg:"autoconf,kw,int|str" doc:"configure addresses without DHCP: 0 or 1"`
	_ value.Value `arg:"dhcp,kw,int|str" doc:"use DHCPv6 without addresses: 0 or 1"`
	_ value.Value `arg:"dhcpv6c,kw,str|bool|int" doc:"use DHCPv6"`
	_ value.Value `arg:"dad-attempts,kw,int|str" doc:"how often to check for duplicate addresses"`
	_ value.Value `arg:"dad-interval,kw,float|str" doc:"seconds between these checks"`
	_ value.Value `arg:"media,kw,str" doc:"type of the medium"`
	_ value.Value `arg:"preferred-lifetime,kw,int|str" doc:"seconds for which the address is preferred"`
	_ value.Value `arg:"privext,kw,int|str" doc:"privacy extensions: 0, 1 or 2"`
	_ value.Value `arg:"hwaddr,kw,str" doc:"hardware address; on Red Hat systems also auto and none"`
	_ value.Value `arg:"hwaddress,kw,str" doc:"the same as hwaddr"`
	_ value.Value `arg:"macaddr,kw,str" doc:"hardware address to set, on Red Hat systems"`
	_ value.Value `arg:"mtu,kw,int|str" doc:"largest packet"`
	_ value.Value `arg:"ttl,kw,int|str" doc:"time to live of packets"`
	_ value.Value `arg:"arpcheck,kw,str|bool|int" doc:"check that nobody has the address"`
	_ value.Value `arg:"hotplug,kw,str|bool|int" doc:"bring it up when the kernel finds it"`
	_ value.Value `arg:"onboot,kw,str|bool|int" doc:"has no effect: enabled decides"`
	_ value.Value `arg:"onparent,kw,str|bool|int" doc:"bring it up with the interface that it belongs to"`
	_ value.Value `arg:"userctl,kw,str|bool|int" doc:"users may bring it up and down"`
	_ value.Value `arg:"nm_controlled,kw,str|bool|int" doc:"NetworkManager manages it"`
	_ value.Value `arg:"nickname,kw,str" doc:"nickname of the interface"`
	_ value.Value `arg:"uuid,kw,str" doc:"identifier of the connection"`
	_ value.Value `arg:"zone,kw,str" doc:"zone of firewalld"`
	_ value.Value `arg:"options,kw,str" doc:"options of the method"`
	_ value.Value `arg:"unit,kw,int|str" doc:"number of the ppp unit"`
	_ value.Value `arg:"local,kw,str" doc:"address of this end of a tunnel"`
	_ value.Value `arg:"endpoint,kw,str" doc:"address of the other end of a tunnel"`
	_ value.Value `arg:"dstaddr,kw,str" doc:"address of the other end of a point-to-point link"`
	_ value.Value `arg:"my_inner_ipaddr,kw,str" doc:"address in the tunnel, of type ipip"`
	_ value.Value `arg:"my_outer_ipaddr,kw,str" doc:"address of this end, of type ipip"`
	_ value.Value `arg:"autoneg,kw,str|bool|int" doc:"negotiate speed and duplex"`
	_ value.Value `arg:"duplex,kw,str" doc:"full or half"`
	_ value.Value `arg:"speed,kw,int|str" doc:"10, 100, 1000 or 10000"`
	_ value.Value `arg:"advertise,kw,int|str" doc:"speeds to advertise, as a bit mask"`
	_ value.Value `arg:"channels,kw,dict" doc:"numbers of channels: rx, tx, other, combined"`
	_ value.Value `arg:"rx,kw,str|bool|int" doc:"offload to the card: checksums of what is received"`
	_ value.Value `arg:"tx,kw,str|bool|int" doc:"offload to the card: checksums of what is sent"`
	_ value.Value `arg:"sg,kw,str|bool|int" doc:"offload to the card: scatter and gather"`
	_ value.Value `arg:"tso,kw,str|bool|int" doc:"offload to the card: TCP segmentation"`
	_ value.Value `arg:"ufo,kw,str|bool|int" doc:"offload to the card: UDP fragmentation"`
	_ value.Value `arg:"gso,kw,str|bool|int" doc:"offload to the card: segmentation of what is sent"`
	_ value.Value `arg:"gro,kw,str|bool|int" doc:"offload to the card: joining of what is received"`
	_ value.Value `arg:"lro,kw,str|bool|int" doc:"offload to the card: joining of large packets"`
	_ value.Value `arg:"master,kw,str" doc:"the bond that a slave belongs to"`
	_ value.Value `arg:"slaves,kw,list|str" doc:"the slaves of a bond"`
	_ value.Value `arg:"slave,kw,str|bool|int" doc:"it belongs to a bond"`
	_ value.Value `arg:"mode,kw,int|str" doc:"mode of a bond, by number or name"`
	_ value.Value `arg:"miimon,kw,int|str" doc:"milliseconds between checks of the links of a bond"`
	_ value.Value `arg:"arp_interval,kw,int|str" doc:"milliseconds between ARP requests of a bond"`
	_ value.Value `arg:"arp_ip_target,kw,list|str" doc:"addresses that a bond asks by ARP"`
	_ value.Value `arg:"downdelay,kw,int|str" doc:"milliseconds until a link of a bond is taken for down"`
	_ value.Value `arg:"updelay,kw,int|str" doc:"milliseconds until a link of a bond is taken for up"`
	_ value.Value `arg:"use_carrier,kw,str|bool|int" doc:"ask the driver for the state of the links"`
	_ value.Value `arg:"primary,kw,str" doc:"the slave of a bond to prefer"`
	_ value.Value `arg:"lacp_rate,kw,int|str" doc:"fast or slow"`
	_ value.Value `arg:"ad_select,kw,int|str" doc:"how a bond selects links"`
	_ value.Value `arg:"hashing-algorithm,kw,str" doc:"how a bond spreads packets, such as layer2 or layer3+4"`
	_ value.Value `arg:"max_bonds,kw,int|str" doc:"has no effect"`
	_ value.Value `arg:"team_master,kw,str" doc:"the team that a port belongs to"`
	_ value.Value `arg:"team_config,kw,dict" doc:"configuration of a team"`
	_ value.Value `arg:"team_port_config,kw,dict" doc:"configuration of a port of a team"`
	_ value.Value `arg:"bridge,kw,str" doc:"the bridge that it belongs to"`
	_ value.Value `arg:"ports,kw,list|str" doc:"the interfaces of a bridge"`
	_ value.Value `arg:"bypassfirewall,kw,str|bool|int" doc:"packets of the bridge do not pass the firewall"`
	_ value.Value `arg:"stp,kw,str|bool|int" doc:"use the spanning tree protocol"`
	_ value.Value `arg:"delay,kw,int|str" doc:"forward delay of a bridge"`
	_ value.Value `arg:"ageing,kw,int|float|str" doc:"seconds until a bridge forgets an address"`
	_ value.Value `arg:"bridgeprio,kw,int|str" doc:"priority of a bridge"`
	_ value.Value `arg:"fd,kw,int|float|str" doc:"forward delay of a bridge"`
	_ value.Value `arg:"gcint,kw,int|float|str" doc:"seconds between cleanups of a bridge"`
	_ value.Value `arg:"hello,kw,int|float|str" doc:"seconds between hello packets of a bridge"`
	_ value.Value `arg:"maxage,kw,int|float|str" doc:"seconds for which a bridge keeps what it heard"`
	_ value.Value `arg:"maxwait,kw,int|str" doc:"seconds to wait for the ports of a bridge"`
	_ value.Value `arg:"hw,kw,str" doc:"hardware address of a bridge"`
	_ value.Value `arg:"pathcost,kw,str" doc:"a port of a bridge and its cost"`
	_ value.Value `arg:"portprio,kw,str" doc:"a port of a bridge and its priority"`
	_ value.Value `arg:"waitport,kw,int|str" doc:"seconds to wait for ports of a bridge, and the ports"`
	_ value.Value `arg:"vlan,kw,str|bool|int" doc:"it is a VLAN"`
	_ value.Value `arg:"vlan_id,kw,int|str" doc:"number of the VLAN"`
	_ value.Value `arg:"vlan-raw-device,kw,str" doc:"the interface that a VLAN is on"`
	_ value.Value `arg:"phys_dev,kw,str" doc:"the interface that a VLAN is on, on Red Hat systems"`
	_ value.Value `arg:"reorder_hdr,kw,str|bool|int" doc:"move the VLAN header of packets"`
	_ value.Value `arg:"source,kw,list|str" doc:"files of an interface of type source"`
	_ value.Value `arg:"filename,kw,str" doc:"file that the interface is written to, in interfaces.d"`
	_ value.Value `arg:"provider,kw,str" doc:"name of the provider of a PPPoE interface"`
	_ value.Value `arg:"user,kw,str" doc:"user at the provider"`
	_ value.Value `arg:"password,kw,str,secret" doc:"password at the provider"`
	_ value.Value `arg:"pppoe_iface,kw,str" doc:"the interface that PPPoE uses"`
	_ value.Value `arg:"connect,kw,str" doc:"program that makes the connection"`
	_ value.Value `arg:"linkname,kw,str" doc:"name of the link"`
	_ value.Value `arg:"holdoff,kw,int|str" doc:"seconds until the next attempt"`
	_ value.Value `arg:"maxfail,kw,int|str" doc:"number of failed attempts after which to give up"`
	_ value.Value `arg:"lcp-echo-interval,kw,int|str" doc:"seconds between echo requests"`
	_ value.Value `arg:"lcp-echo-failure,kw,int|str" doc:"number of echo requests without an answer after which the link is taken for down"`
	_ value.Value `arg:"noipdefault,kw,str|bool|int" doc:"the provider chooses the address"`
	_ value.Value `arg:"usepeerdns,kw,str|bool|int" doc:"use the name servers of the provider"`
	_ value.Value `arg:"defaultroute,kw,str|bool|int" doc:"it has the default route"`
	_ value.Value `arg:"hide-password,kw,str|bool|int" doc:"keep the password out of logs"`
	_ value.Value `arg:"noauth,kw,str|bool|int" doc:"do not ask the provider to authenticate"`
	_ value.Value `arg:"persist,kw,str|bool|int" doc:"connect again after a failure"`
	_ value.Value `arg:"noaccomp,kw,str|bool|int" doc:"do not compress addresses"`
	_ value.Value `arg:"wireless-essid,kw,str" doc:"name of the wireless network"`
	_ value.Value `arg:"wireless-mode,kw,str" doc:"mode of the wireless interface"`
	_ value.Value `arg:"wpa-ap-scan,kw,int|str" doc:"who looks for access points: 0, 1 or 2"`
	_ value.Value `arg:"wpa-conf,kw,str" doc:"file of wpa_supplicant"`
	_ value.Value `arg:"wpa-driver,kw,str" doc:"driver of wpa_supplicant"`
	_ value.Value `arg:"wpa-group,kw,str" doc:"ciphers of the group"`
	_ value.Value `arg:"wpa-key-mgmt,kw,str" doc:"how keys are managed"`
	_ value.Value `arg:"wpa-pairwise,kw,str" doc:"ciphers of the pair"`
	_ value.Value `arg:"wpa-proto,kw,str" doc:"WPA or RSN"`
	_ value.Value `arg:"wpa-psk,kw,str,secret" doc:"pre-shared key"`
	_ value.Value `arg:"wpa-roam,kw,str" doc:"file of wpa_supplicant for roaming"`
	_ value.Value `arg:"wpa-ssid,kw,str" doc:"name of the wireless network, for wpa_supplicant"`
	_ value.Value `arg:"up_cmds,kw,list|str" doc:"commands of the option up"`
	_ value.Value `arg:"pre_up_cmds,kw,list|str" doc:"commands of the option pre-up"`
	_ value.Value `arg:"post_up_cmds,kw,list|str" doc:"commands of the option post-up"`
	_ value.Value `arg:"down_cmds,kw,list|str" doc:"commands of the option down"`
	_ value.Value `arg:"pre_down_cmds,kw,list|str" doc:"commands of the option pre-down"`
	_ value.Value `arg:"post_down_cmds,kw,list|str" doc:"commands of the option post-down"`
}

// Routes are the routes of an interface.
type Routes struct {
	_ fun.Arguments
	_ value.Value `arg:"routes,kw,list[dict]" doc:"the routes, each a mapping of name, ipaddr, netmask, gateway and metric"`
}

// Global are the network settings of a machine.
type Global struct {
	_ fun.Arguments
	_ value.Value `arg:"enabled,kw,str|bool|int" doc:"configure interfaces at boot"`
	_ value.Value `arg:"hostname,kw,str" doc:"name of the machine, with or without its domain"`
	_ value.Value `arg:"search,kw,list|str" doc:"domains to search"`
	_ value.Value `arg:"apply_hostname,kw,str|bool|int" doc:"set the host name at once, too"`
	_ value.Value `arg:"require_reboot,kw,str|bool|int" doc:"do not restart networking: the settings count from the next boot on"`
	_ value.Value `arg:"retain_settings,kw,str|bool|int" doc:"keep settings that are not given"`
	_ value.Value `arg:"gateway,kw,str" doc:"router of the default route"`
	_ value.Value `arg:"gatewaydev,kw,str" doc:"interface of the default route"`
	_ value.Value `arg:"nozeroconf,kw,str|bool|int" doc:"no route for link-local addresses"`
	_ value.Value `arg:"nisdomain,kw,str" doc:"NIS domain"`
	_ value.Value `arg:"networkdelay,kw,int|str" doc:"seconds to wait after networking started"`
	_ value.Value `arg:"devtimeout,kw,int|str" doc:"seconds to wait for interfaces"`
	_ value.Value `arg:"networking_ipv6,kw,str|bool|int" doc:"use IPv6"`
	_ value.Value `arg:"enable_ipv6,kw,str|bool|int" doc:"configure IPv6 on interfaces"`
	_ value.Value `arg:"ipv6gateway,kw,str" doc:"router of the default route of IPv6"`
}

// DryRun says that nothing is to be written.
type DryRun struct {
	_    fun.Arguments
	Test bool `arg:"test,kw" doc:"return what would be written"`
}

// Settings returns the settings that a call gives: those that the struct a declares, then
// the further ones.
func Settings(c *fun.Call, a any) *value.Map {
	o := c.Given(a)
	o.Update(c.Kw)
	return o
}
