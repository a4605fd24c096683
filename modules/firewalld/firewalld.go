// Package firewalld is Salt's execution module "firewalld": zones and services of
// firewalld, by firewall-cmd.
package firewalld

import (
	"context"
	"slices"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/machine"
	"brine/modules/tool"
)

// Module returns the execution module "firewalld".
func Module() fun.Module {
	return fun.Module{Name: "firewalld", Kind: fun.Exec, Doc: "Manage zones and services of firewalld.", Avail: tool.Needs("firewall-cmd", "The firewalld execution module cannot be loaded: the firewall-cmd binary is not in the path."), Specs: specs}
}

// Cmd runs firewall-cmd with options, which are of the form --NAME or
// --NAME=VALUE, and returns what it printed. A failure has its message.
func Cmd(ctx context.Context, env *fun.Env, options ...string) (string, error) {
	for _, o := range options {
		if strings.ContainsAny(o, "\r\n\x00") {
			return "", fun.Errorf("invalid option of firewall-cmd: %s", value.Repr(o))
		}
	}
	out, err := tool.Run(ctx, env.Host, append([]string{"firewall-cmd"}, options...)...)
	if err != nil {
		return "", err
	}
	if !out.OK() {
		return "", fun.Errorf("firewall-cmd failed: %s", out.Fault())
	}
	return out.Text(), nil
}

// run is Cmd for a zone, "" is none, in the permanent configuration or the runtime one.
func run(ctx context.Context, c *fun.Call, zone string, permanent bool, option string) (string, error) {
	var options []string
	if zone != "" {
		options = append(options, "--zone="+zone)
	}
	options = append(options, option)
	if permanent {
		options = append(options, "--permanent")
	}
	return Cmd(ctx, c.Env, options...)
}

func words(s string, err error) (fun.Result, error) {
	return fun.Result{Value: value.Strings(strings.Fields(s)...)}, err
}

func version(ctx context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	return machine.Text(Cmd(ctx, c.Env, "--version"))
}

func reloadRules(ctx context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	return machine.Text(Cmd(ctx, c.Env, "--reload"))
}

func defaultZone(ctx context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	return machine.Text(Cmd(ctx, c.Env, "--get-default-zone"))
}

func setDefaultZone(ctx context.Context, c *fun.Call, a *mustZone) (fun.Result, error) {
	return machine.Text(Cmd(ctx, c.Env, "--set-default-zone="+a.Zone))
}

func makePermanent(ctx context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	return machine.Text(Cmd(ctx, c.Env, "--runtime-to-permanent"))
}

// parseZones reads what --list-all prints: a zone's name, lines "  KEY: VALUE", and
// further values of a key on lines that begin with a tab.
func parseZones(out string) (*value.Map, error) {
	zones := value.NewMap(1)
	var zone *value.Map
	var last *value.List
	for _, l := range value.SplitLines(out, false) {
		switch first := l[:min(len(l), 1)]; {
		case strings.TrimSpace(l) == "":
		case first != " " && first != "\t":
			zone, last = value.NewMap(16), nil
			zones.Set(strings.TrimRight(l, " \t"), zone)
		case first == "\t":
			if last == nil {
				return nil, fun.Errorf("cannot read the zone: %s", l)
			}
			last.Append(strings.TrimSpace(l))
		default:
			key, val, ok := strings.Cut(l, ":")
			if !ok || zone == nil {
				return nil, fun.Errorf("cannot read the zone: %s", l)
			}
			last = value.NewList(strings.TrimSpace(val))
			zone.Set(strings.TrimSpace(key), last)
		}
	}
	return zones, nil
}

func zonesOf(ctx context.Context, c *fun.Call, zone string, permanent bool, option string) (*value.Map, error) {
	out, err := run(ctx, c, zone, permanent, option)
	if err != nil {
		return nil, err
	}
	return parseZones(out)
}

func listZones(ctx context.Context, c *fun.Call, a *permanentArg) (fun.Result, error) {
	zones, err := zonesOf(ctx, c, "", a.Permanent, "--list-all-zones")
	return fun.Result{Value: zones}, err
}

// listAllArgs are the arguments of listAll, listServices, getMasquerade, addMasquerade and removeMasquerade.
type listAllArgs struct {
	zoneArg
	permanentArg
}

func listAll(ctx context.Context, c *fun.Call, a *listAllArgs) (fun.Result, error) {
	zones, err := zonesOf(ctx, c, a.Zone, a.Permanent, "--list-all")
	return fun.Result{Value: zones}, err
}

func getZones(ctx context.Context, c *fun.Call, a *permanentArg) (fun.Result, error) {
	return words(run(ctx, c, "", a.Permanent, "--get-zones"))
}

func getServices(ctx context.Context, c *fun.Call, a *permanentArg) (fun.Result, error) {
	return words(run(ctx, c, "", a.Permanent, "--get-services"))
}

func getICMPTypes(ctx context.Context, c *fun.Call, a *permanentArg) (fun.Result, error) {
	return words(run(ctx, c, "", a.Permanent, "--get-icmptypes"))
}

// manage creates or deletes a zone or service, and reloads the rules.
func manage(ctx context.Context, c *fun.Call, a *restartArg, option string) (fun.Result, error) {
	out, err := Cmd(ctx, c.Env, option, "--permanent")
	if err == nil && a.Restart && out == "success" {
		return machine.Text(Cmd(ctx, c.Env, "--reload"))
	}
	return machine.Text(out, err)
}

// newZoneArgs are the arguments of newZone and deleteZone.
type newZoneArgs struct {
	mustZone
	restartArg
}

func newZone(ctx context.Context, c *fun.Call, a *newZoneArgs) (fun.Result, error) {
	return manage(ctx, c, &a.restartArg, "--new-zone="+a.Zone)
}

func deleteZone(ctx context.Context, c *fun.Call, a *newZoneArgs) (fun.Result, error) {
	return manage(ctx, c, &a.restartArg, "--delete-zone="+a.Zone)
}

// newServiceArgs are the arguments of newService and deleteService.
type newServiceArgs struct {
	nameArg
	restartArg
}

func newService(ctx context.Context, c *fun.Call, a *newServiceArgs) (fun.Result, error) {
	return manage(ctx, c, &a.restartArg, "--new-service="+a.Name)
}

func deleteService(ctx context.Context, c *fun.Call, a *newServiceArgs) (fun.Result, error) {
	return manage(ctx, c, &a.restartArg, "--delete-service="+a.Name)
}

func listServices(ctx context.Context, c *fun.Call, a *listAllArgs) (fun.Result, error) {
	return words(run(ctx, c, a.Zone, a.Permanent, "--list-services"))
}

// addServiceArgs are the arguments of addService and removeService.
type addServiceArgs struct {
	serviceArg
	zoneArg
	permanentArg
}

func addService(ctx context.Context, c *fun.Call, a *addServiceArgs) (fun.Result, error) {
	return machine.Text(run(ctx, c, a.Zone, a.Permanent, "--add-service="+a.Service))
}

func removeService(ctx context.Context, c *fun.Call, a *addServiceArgs) (fun.Result, error) {
	return machine.Text(run(ctx, c, a.Zone, a.Permanent, "--remove-service="+a.Service))
}

// ofService runs firewall-cmd about a service.
func ofService(ctx context.Context, c *fun.Call, a *serviceArg, option string) (string, error) {
	return Cmd(ctx, c.Env, "--permanent", "--service="+a.Service, option)
}

// ofKnown is ofService for a service that has to exist.
func ofKnown(ctx context.Context, c *fun.Call, a *addServicePortArgs, option string) (fun.Result, error) {
	out, err := Cmd(ctx, c.Env, "--get-services", "--permanent")
	if err != nil {
		return fun.Result{}, err
	}
	if !slices.Contains(strings.Fields(out), a.Service) {
		return fun.Result{}, fun.Errorf("The service does not exist.")
	}
	return machine.Text(ofService(ctx, c, &a.serviceArg, option))
}

// addServicePortArgs are the arguments of addServicePort and removeServicePort.
type addServicePortArgs struct {
	serviceArg
	portArg
}

func addServicePort(ctx context.Context, c *fun.Call, a *addServicePortArgs) (fun.Result, error) {
	return ofKnown(ctx, c, a, "--add-port="+a.Port)
}

func removeServicePort(ctx context.Context, c *fun.Call, a *addServicePortArgs) (fun.Result, error) {
	return ofKnown(ctx, c, a, "--remove-port="+a.Port)
}

func getServicePorts(ctx context.Context, c *fun.Call, a *serviceArg) (fun.Result, error) {
	return words(ofService(ctx, c, a, "--get-ports"))
}

// addServiceProtocolArgs are the arguments of addServiceProtocol and removeServiceProtocol.
type addServiceProtocolArgs struct {
	serviceArg
	protocolArg
}

func addServiceProtocol(ctx context.Context, c *fun.Call, a *addServiceProtocolArgs) (fun.Result, error) {
	return machine.Text(ofService(ctx, c, &a.serviceArg, "--add-protocol="+a.Protocol))
}

func removeServiceProtocol(ctx context.Context, c *fun.Call, a *addServiceProtocolArgs) (fun.Result, error) {
	return machine.Text(ofService(ctx, c, &a.serviceArg, "--remove-protocol="+a.Protocol))
}

func getServiceProtocols(ctx context.Context, c *fun.Call, a *serviceArg) (fun.Result, error) {
	return words(ofService(ctx, c, a, "--get-protocols"))
}

// masquerades reports whether a zone masquerades.
func masquerades(zones *value.Map) bool {
	for _, z := range zones.All() {
		l := z.(*value.Map).List("masquerade")
		if l == nil || l.Len() == 0 || l.Items[0] == "no" {
			return false
		}
	}
	return zones.Len() > 0
}

func getMasquerade(ctx context.Context, c *fun.Call, a *listAllArgs) (fun.Result, error) {
	zones, err := zonesOf(ctx, c, a.Zone, a.Permanent, "--list-all")
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(masquerades(zones))
}

func addMasquerade(ctx context.Context, c *fun.Call, a *listAllArgs) (fun.Result, error) {
	return machine.Text(run(ctx, c, a.Zone, a.Permanent, "--add-masquerade"))
}

func removeMasquerade(ctx context.Context, c *fun.Call, a *listAllArgs) (fun.Result, error) {
	return machine.Text(run(ctx, c, a.Zone, a.Permanent, "--remove-masquerade"))
}

// forceMasquerade has the zone masquerade, where the call asks for that.
func forceMasquerade(ctx context.Context, c *fun.Call, argForceMasquerade bool, argZone string) error {
	if !argForceMasquerade {
		return nil
	}
	zone := "--zone=" + argZone
	out, err := Cmd(ctx, c.Env, zone, "--list-all", "--permanent")
	if err != nil {
		return err
	}
	zones, err := parseZones(out)
	if err != nil || masquerades(zones) {
		return err
	}
	_, err = Cmd(ctx, c.Env, zone, "--add-masquerade", "--permanent")
	return err
}

type addPortArgs struct {
	mustZone
	portArg
	permanentArg
	forceArg
}

func addPort(ctx context.Context, c *fun.Call, a *addPortArgs) (fun.Result, error) {
	if err := forceMasquerade(ctx, c, a.ForceMasquerade, a.Zone); err != nil {
		return fun.Result{}, err
	}
	return machine.Text(run(ctx, c, a.Zone, a.Permanent, "--add-port="+a.Port))
}

type removePortArgs struct {
	mustZone
	portArg
	permanentArg
}

func removePort(ctx context.Context, c *fun.Call, a *removePortArgs) (fun.Result, error) {
	return machine.Text(run(ctx, c, a.Zone, a.Permanent, "--remove-port="+a.Port))
}

// listPortsArgs are the arguments of listPorts, listPortFwd, listICMPBlock, getInterfaces, getSources and getRichRules.
type listPortsArgs struct {
	mustZone
	permanentArg
}

func listPorts(ctx context.Context, c *fun.Call, a *listPortsArgs) (fun.Result, error) {
	return words(run(ctx, c, a.Zone, a.Permanent, "--list-ports"))
}

// port returns the forwarded port as firewall-cmd takes it.
func (a *forwardArgs) port() string {
	return "port=" + a.Src + ":proto=" + a.Proto + ":toport=" + a.Dest + ":toaddr=" + a.Dstaddr
}

type addPortFwdArgs struct {
	mustZone
	forwardArgs
	permanentArg
	forceArg
}

func addPortFwd(ctx context.Context, c *fun.Call, a *addPortFwdArgs) (fun.Result, error) {
	if err := forceMasquerade(ctx, c, a.ForceMasquerade, a.Zone); err != nil {
		return fun.Result{}, err
	}
	return machine.Text(run(ctx, c, a.Zone, a.Permanent, "--add-forward-port="+a.port()))
}

type removePortFwdArgs struct {
	mustZone
	forwardArgs
	permanentArg
}

func removePortFwd(ctx context.Context, c *fun.Call, a *removePortFwdArgs) (fun.Result, error) {
	return machine.Text(run(ctx, c, a.Zone, a.Permanent, "--remove-forward-port="+a.port()))
}

func listPortFwd(ctx context.Context, c *fun.Call, a *listPortsArgs) (fun.Result, error) {
	out, err := run(ctx, c, a.Zone, a.Permanent, "--list-forward-ports")
	if err != nil {
		return fun.Result{}, err
	}
	all := value.NewList()
	for _, l := range value.SplitLines(out, false) {
		parts := strings.SplitN(l, ":", 4) // an IPv6 address has colons
		if len(parts) != 4 {
			return fun.Result{}, fun.Errorf("cannot read the forwarded port: %s", l)
		}
		m := value.NewMap(4)
		for i, name := range [...]string{"Source port", "Protocol", "Destination port", "Destination address"} {
			_, val, _ := strings.Cut(parts[i], "=")
			m.Set(name, val)
		}
		all.Append(m)
	}
	return fun.Value(all)
}

// icmp adds or removes a block of an ICMP type, unless it is as wished.
func icmp(ctx context.Context, c *fun.Call, a *blockICMPArgs, option string, block bool) (fun.Result, error) {
	name := a.Icmp
	query := []string{"--get-icmptypes"}
	if a.Permanent {
		query = append(query, "--permanent")
	}
	known, err := Cmd(ctx, c.Env, query...)
	if err != nil {
		return fun.Result{}, err
	}
	if !slices.Contains(strings.Fields(known), name) {
		c.Env.Log().Error("invalid ICMP type", "icmp", name)
		return fun.Value(false)
	}
	blocked, err := run(ctx, c, a.Zone, a.Permanent, "--list-icmp-blocks")
	if err != nil {
		return fun.Result{}, err
	}
	if slices.Contains(strings.Fields(blocked), name) == block {
		return fun.Value("success")
	}
	return machine.Text(run(ctx, c, a.Zone, a.Permanent, option+"="+name))
}

// blockICMPArgs are the arguments of blockICMP and allowICMP.
type blockICMPArgs struct {
	mustZone
	icmpArg
	permanentArg
}

func blockICMP(ctx context.Context, c *fun.Call, a *blockICMPArgs) (fun.Result, error) {
	return icmp(ctx, c, a, "--add-icmp-block", true)
}

func allowICMP(ctx context.Context, c *fun.Call, a *blockICMPArgs) (fun.Result, error) {
	return icmp(ctx, c, a, "--remove-icmp-block", false)
}

func listICMPBlock(ctx context.Context, c *fun.Call, a *listPortsArgs) (fun.Result, error) {
	return words(run(ctx, c, a.Zone, a.Permanent, "--list-icmp-blocks"))
}

func getInterfaces(ctx context.Context, c *fun.Call, a *listPortsArgs) (fun.Result, error) {
	return words(run(ctx, c, a.Zone, a.Permanent, "--list-interfaces"))
}

// addInterfaceArgs are the arguments of addInterface, removeInterface and changeInterface.
type addInterfaceArgs struct {
	mustZone
	interfaceArg
	permanentArg
}

func addInterface(ctx context.Context, c *fun.Call, a *addInterfaceArgs) (fun.Result, error) {
	return machine.Text(run(ctx, c, a.Zone, a.Permanent, "--add-interface="+a.Interface))
}

func removeInterface(ctx context.Context, c *fun.Call, a *addInterfaceArgs) (fun.Result, error) {
	return machine.Text(run(ctx, c, a.Zone, a.Permanent, "--remove-interface="+a.Interface))
}

func changeInterface(ctx context.Context, c *fun.Call, a *addInterfaceArgs) (fun.Result, error) {
	return machine.Text(run(ctx, c, a.Zone, a.Permanent, "--change-interface="+a.Interface))
}

func getSources(ctx context.Context, c *fun.Call, a *listPortsArgs) (fun.Result, error) {
	return words(run(ctx, c, a.Zone, a.Permanent, "--list-sources"))
}

// addSourceArgs are the arguments of addSource and removeSource.
type addSourceArgs struct {
	mustZone
	sourceArg
	permanentArg
}

func addSource(ctx context.Context, c *fun.Call, a *addSourceArgs) (fun.Result, error) {
	return machine.Text(run(ctx, c, a.Zone, a.Permanent, "--add-source="+a.Source))
}

func removeSource(ctx context.Context, c *fun.Call, a *addSourceArgs) (fun.Result, error) {
	return machine.Text(run(ctx, c, a.Zone, a.Permanent, "--remove-source="+a.Source))
}

func getRichRules(ctx context.Context, c *fun.Call, a *listPortsArgs) (fun.Result, error) {
	out, err := run(ctx, c, a.Zone, a.Permanent, "--list-rich-rules")
	return fun.Result{Value: value.Strings(value.SplitLines(out, false)...)}, err
}

// addRichRuleArgs are the arguments of addRichRule and removeRichRule.
type addRichRuleArgs struct {
	mustZone
	ruleArg
	permanentArg
}

func addRichRule(ctx context.Context, c *fun.Call, a *addRichRuleArgs) (fun.Result, error) {
	return machine.Text(run(ctx, c, a.Zone, a.Permanent, "--add-rich-rule="+a.Rule))
}

func removeRichRule(ctx context.Context, c *fun.Call, a *addRichRuleArgs) (fun.Result, error) {
	return machine.Text(run(ctx, c, a.Zone, a.Permanent, "--remove-rich-rule="+a.Rule))
}
