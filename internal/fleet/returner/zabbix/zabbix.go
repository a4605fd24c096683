// Package zabbix is Salt's returner "zabbix": it tells a Zabbix server by the
// program zabbix_sender.
package zabbix

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"brine/internal/core/cause"
	"brine/internal/core/host"
	"brine/internal/fleet/jobs"
	"brine/internal/fleet/returner"
	"brine/internal/py/value"
)

// Spec returns the returner.
func Spec() returner.Spec {
	return returner.Spec{Name: "zabbix", Doc: "Send returns to Zabbix by zabbix_sender.", Src: "returners/zabbix_return.py", New: open}
}

// installs are where the program and its configuration are looked for.
var installs = [...]struct{ sender, config string }{
	{"/usr/local/zabbix/bin/zabbix_sender", "/usr/local/zabbix/etc/zabbix_agentd.conf"},
	{"/usr/bin/zabbix_sender", "/etc/zabbix/zabbix_agentd.conf"},
}

const timeout = 10 * time.Second

type trapper struct {
	host           host.Host
	sender, config string
}

func open(_ context.Context, s returner.Settings) (jobs.Returner, error) {
	for _, i := range installs {
		if exists(s.Env.Host, i.sender) && exists(s.Env.Host, i.config) {
			return &trapper{s.Env.Host, i.sender, i.config}, nil
		}
	}
	return nil, errors.New("no zabbix_sender and zabbix_agentd.conf found")
}

func exists(h host.Host, path string) bool {
	_, err := h.Stat(path)
	return err == nil
}

// Close has nothing to end.
func (t *trapper) Close() error { return nil }

// Return sends a value to salt.trap.high for each state that failed, one to
// salt.trap.warning for each that changed something, else one to
// salt.trap.info.
//
// Salt: returners/zabbix_return.py returner. Difference: the values are those
// of the Zabbix host with the target's id, since here they do not come from the
// target itself; and the failure of a job without states is sent as high.
func (t *trapper) Return(ctx context.Context, rets []*value.Map) error {
	for _, r := range rets {
		for _, v := range values(r) {
			if err := t.send(ctx, r.Str("id"), v.key, v.text); err != nil {
				return err
			}
		}
	}
	return nil
}

// maxCause is how much a value has of the reason of a failure, in characters.
const maxCause = 400

type item struct{ key, text string }

// values are what is sent of a return.
func values(r *value.Map) []item {
	const high, warning, info = "salt.trap.high", "salt.trap.warning", "salt.trap.info"
	var out []item
	told := false // that something failed
	states, _ := r.At("return").(*value.Map)
	for tag, v := range states.All() {
		st, ok := v.(*value.Map)
		if !ok || !st.Has("comment") || !st.Has("name") {
			continue
		}
		text := "SALT:\nname: " + value.Str(st.At("name")) + "\ncomment: " + value.Str(st.At("comment"))
		switch {
		case st.At("result") == false:
			told = true
			if c := cause.OfState("", value.Str(tag), st, cause.Options{}); c.Exited {
				text += "\ncause: " + c.Why(maxCause)
			}
			out = append(out, item{high, text})
		case value.Truth(st.At("changes")):
			out = append(out, item{warning, text})
		}
	}
	switch {
	case !told && !jobs.Succeeded(r):
		out = append(out, item{high, fmt.Sprintf("SALT %s: %s failed", r.Str("id"), r.Str("fun"))})
	case len(out) == 0:
		out = append(out, item{info, fmt.Sprintf("SALT %s OK", r.Str("id"))})
	}
	return out
}

func (t *trapper) send(ctx context.Context, id, key, text string) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	out, err := t.host.Run(ctx, host.Cmd{Argv: []string{t.sender, "-c", t.config, "-s", id, "-k", key, "-o", text}, MaxOutput: 64 << 10})
	if err != nil {
		return err
	}
	if out.Status != 0 {
		said := strings.TrimSpace(string(out.Stdout) + string(out.Stderr))
		if len(said) > 300 {
			said = said[:300] + "..."
		}
		return fmt.Errorf("zabbix_sender ended with status %d: %s", out.Status, said)
	}
	return nil
}
