// Package controller has small runner modules of Salt that only a controller has:
// "cache", "doc", "network" and "ssh".
package controller

import (
	"context"
	"fmt"
	"strings"
	"time"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/runner/fn/saltrun"
)

// SSH returns the rows of the runner module "ssh".
func SSH() fun.Module {
	return fun.Module{Name: "ssh", Kind: fun.Runner, Doc: "Run execution functions over SSH.", Specs: []fun.Spec{
		{
			Name: "cmd", Src: "runners/ssh.py cmd", Do: sshCmd,
			Doc: "Run an execution function on targets of the roster and return their results by ID.",
		},
	}}
}

// Doc returns the rows of the runner module "doc".
func Doc() fun.Module {
	return fun.Module{Name: "doc", Kind: fun.Runner, Doc: "Return documentation of functions.", Specs: []fun.Spec{
		{
			Name: "execution", Src: "runners/doc.py execution", Do: docsOf(fun.Exec),
			Doc: "Return the documentation of all execution functions.\nDifference: Salt asks the minions; here they are those of this controller.",
		},
		{Name: "runner", Src: "runners/doc.py runner", Do: docsOf(fun.Runner), Doc: "Return the documentation of all runner functions."},
		{Name: "wheel", Src: "runners/doc.py wheel", Do: docsOf(fun.Wheel), Doc: "Return the documentation of all wheel functions."},
	}}
}

// Network returns the rows of the runner module "network".
func Network() fun.Module {
	return fun.Module{Name: "network", Kind: fun.Runner, Doc: "Wake machines over the network.", Specs: []fun.Spec{
		{Name: "wol", Src: "runners/network.py wol", Do: wol, Doc: "Send the packet that wakes a machine, from this controller."},
		{
			Name: "wollist", Src: "runners/network.py wollist", Do: wolList,
			Doc: "Send the packets that wake the machines of a file, and return their hardware addresses.\nAn invalid line is an error before anything is sent.",
		},
	}}
}

type sshArgs struct {
	_       fun.Arguments
	Tgt     value.Value   `arg:"tgt,required,str|list" doc:"target expression"`
	Fun     string        `arg:"fun,required" doc:"function to run"`
	Arg     []value.Value `arg:"arg" doc:"positional arguments of the function"`
	Timeout time.Duration `arg:"timeout" unit:"s" doc:"ask a silent target after this time whether it is still working"`
	TgtType string        `arg:"tgt_type" default:"glob" doc:"type of tgt"`
	Kwarg   *value.Map    `arg:"kwarg" doc:"keyword arguments of the function"`
}

// rosterFleet is the name of the machines of the roster among the fleets.
const rosterFleet = "roster"

func sshCmd(ctx context.Context, c *fun.Call, a *sshArgs) (fun.Result, error) {
	kw := value.NewMap(0)
	if a.Kwarg != nil {
		kw = a.Kwarg
	}
	return saltrun.OnTargets(ctx, c, fun.Job{
		Tgt: a.Tgt, TgtType: a.TgtType, Fun: a.Fun, Args: fun.Args{Pos: a.Arg, Kw: kw}, Timeout: a.Timeout, Fleet: rosterFleet,
	})
}

// docsOf returns a function that returns the documentation of a kind of functions.
func docsOf(k fun.Kind) func(context.Context, *fun.Call, *fun.NoArgs) (fun.Result, error) {
	return func(_ context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
		docs := value.NewMap(64)
		for _, name := range c.Env.Table.Names(k) {
			if _, spec, ok := c.Env.Table.Lookup(k, name); ok {
				docs.Set(name, spec.Doc)
			}
		}
		return fun.Value(docs)
	}
}

type wolArgs struct {
	_        fun.Arguments
	MAC      string `arg:"mac,required" doc:"hardware address, with or without separators"`
	Bcast    string `arg:"bcast" default:"255.255.255.255" doc:"address to send to"`
	DestPort int64  `arg:"destport" default:"9" doc:"UDP port"`
}

func wol(ctx context.Context, c *fun.Call, a *wolArgs) (fun.Result, error) {
	return c.Env.Invoker.Invoke(ctx, fun.Exec, "network.wol", fun.Args{Pos: []value.Value{a.MAC, a.Bcast, a.DestPort}})
}

type wolListArgs struct {
	_        fun.Arguments
	MACList  string `arg:"maclist,required" doc:"file with one hardware address in each line"`
	Bcast    string `arg:"bcast" default:"255.255.255.255" doc:"address to send to"`
	DestPort int64  `arg:"destport" default:"9" doc:"UDP port"`
}

func wolList(ctx context.Context, c *fun.Call, a *wolListArgs) (fun.Result, error) {
	b, err := c.Env.Host.ReadFile(a.MACList)
	if err != nil {
		return fun.Result{}, fun.Errorf("maclist: %v", err)
	}
	var macs []string
	n := 0
	for line := range strings.Lines(string(b)) {
		n++
		mac := strings.TrimSpace(line)
		if mac == "" {
			continue
		}
		if !isMAC(mac) {
			return fun.Result{}, fun.Errorf("%s:%d: %.40q is not a hardware address such as 08:00:27:13:69:77", a.MACList, n, mac)
		}
		macs = append(macs, mac)
	}
	for _, mac := range macs {
		if _, err := wol(ctx, c, &wolArgs{MAC: mac, Bcast: a.Bcast, DestPort: a.DestPort}); err != nil {
			return fun.Result{}, fmt.Errorf("%s: %w", mac, err)
		}
	}
	return fun.Value(value.Strings(macs...))
}

// isMAC reports whether network.wol takes a hardware address: twelve hexadecimal
// digits, in pairs with one kind of separator or without any.
func isMAC(s string) bool {
	if len(s) == 17 {
		s = strings.ReplaceAll(s, s[2:3], "")
	}
	return len(s) == 12 && strings.Trim(s, "0123456789abcdefABCDEF") == ""
}
