// Package rabbitmq is Salt's execution module "rabbitmq": users, virtual hosts,
// policies, plugins, upstreams and the cluster of a RabbitMQ broker.
//
// [Client] runs rabbitmqctl and rabbitmq-plugins; the state modules rabbitmq_* use
// it, too. It reads the answers as JSON, which rabbitmqctl prints since 3.7.
package rabbitmq

import (
	"context"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/cmd"
	"brine/modules/machine"
	"brine/modules/tool"
)

// Module returns the execution module "rabbitmq".
func Module() fun.Module {
	return fun.Module{Name: "rabbitmq", Kind: fun.Exec, Doc: "Manage a RabbitMQ broker.", Specs: specs, Avail: tool.Needs("rabbitmqctl", "Module rabbitmq: module only works when RabbitMQ is installed")}
}

// A Client manages the broker of this machine as one account.
type Client struct {
	Env  *fun.Env
	User string // "" is one's own
}

// ClientOf returns the client of a call that runs as user.
func ClientOf(c *fun.Call, user string) *Client { return &Client{Env: c.Env, User: user} }

// A job is one run of a program of RabbitMQ.
type job struct {
	looks   bool // the program changes nothing
	stdin   string
	options []string
	words   []string // what stands after the options
}

func (j *job) argv(program string) []string {
	argv := append([]string{program}, j.options...)
	if slices.ContainsFunc(j.words, func(w string) bool { return strings.HasPrefix(w, "-") }) {
		argv = append(argv, "--")
	}
	return append(argv, j.words...)
}

func (b *Client) try(ctx context.Context, program string, j job) (cmd.Out, error) {
	return cmd.RunWords(ctx, b.Env, j.argv(program), cmd.Options{
		RunAs: b.User, Stdin: j.stdin, ReadOnly: j.looks, KeepLocale: true,
	})
}

func (b *Client) run(ctx context.Context, program string, j job) (string, error) {
	out, err := b.try(ctx, program, j)
	if err != nil {
		return "", err
	}
	if out.Retcode != 0 {
		return "", failure(out)
	}
	return out.Stdout, nil
}

func failure(out cmd.Out) error {
	said := out.Stderr
	if said == "" {
		said = out.Stdout
	}
	return fun.Errorf("RabbitMQ command failed: %s", Hide(said))
}

var uriRE = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)(amqps?)://[^\s/]*@`) })

// Hide hides the credentials of the URIs of brokers in a text.
func Hide(s string) string { return uriRE().ReplaceAllString(s, "$1://<redacted>@") }

// Ctl runs rabbitmqctl: a command, its options, and the words after them.
func (b *Client) Ctl(ctx context.Context, options []string, words ...string) (string, error) {
	return b.run(ctx, "rabbitmqctl", job{options: options, words: words})
}

// rows runs a command that lists, and returns the mappings that it prints.
func (b *Client) rows(ctx context.Context, command string, options ...string) ([]*value.Map, error) {
	j := job{looks: true, options: append([]string{command, "-q", "--formatter=json"}, options...)}
	out, err := b.run(ctx, "rabbitmqctl", j)
	if err != nil {
		return nil, err
	}
	v, err := value.ParseJSON(out)
	list, ok := v.(*value.List)
	if err != nil || !ok {
		return nil, fun.Errorf("rabbitmqctl %s did not print a list in JSON, which needs RabbitMQ 3.7 or later", command)
	}
	rows := make([]*value.Map, 0, len(list.Items))
	for _, item := range list.Items {
		if m, ok := item.(*value.Map); ok {
			rows = append(rows, m)
		}
	}
	return rows, nil
}

func text(m *value.Map, key string) string {
	v, ok := m.Get(key)
	if !ok || v == nil {
		return ""
	}
	return value.Str(v)
}

// Users returns the tags of every user.
func (b *Client) Users(ctx context.Context) (*value.Map, error) {
	rows, err := b.rows(ctx, "list_users")
	if err != nil {
		return nil, err
	}
	users := value.NewMap(len(rows))
	for _, row := range rows {
		tags, _ := row.Get("tags")
		if _, ok := tags.(*value.List); !ok {
			tags = value.NewList()
		}
		users.Set(text(row, "user"), tags)
	}
	return users, nil
}

// VHosts returns the names of the virtual hosts.
func (b *Client) VHosts(ctx context.Context) ([]string, error) {
	rows, err := b.rows(ctx, "list_vhosts")
	if err != nil {
		return nil, err
	}
	names := make([]string, len(rows))
	for i, row := range rows {
		names[i] = text(row, "name")
	}
	return names, nil
}

// permissions returns the rows of a listing without one of their keys, by its value.
func (b *Client) permissions(ctx context.Context, key, command string, options ...string) (*value.Map, error) {
	rows, err := b.rows(ctx, command, options...)
	if err != nil {
		return nil, err
	}
	out := value.NewMap(len(rows))
	for _, row := range rows {
		name := text(row, key)
		row.Delete(key)
		out.Set(name, row)
	}
	return out, nil
}

// UserPermissions returns the permissions of a user by virtual host.
func (b *Client) UserPermissions(ctx context.Context, user string) (*value.Map, error) {
	if err := checkName(user); err != nil {
		return nil, err
	}
	return b.permissions(ctx, "vhost", "list_user_permissions", user)
}

// VHostPermissions returns the permissions in a virtual host by user.
func (b *Client) VHostPermissions(ctx context.Context, vhost string) (*value.Map, error) {
	if err := checkName(vhost); err != nil {
		return nil, err
	}
	return b.permissions(ctx, "user", "list_permissions", "-p", vhost)
}

// A Policy is a policy of a virtual host.
type Policy struct{ VHost, Name, Pattern, Definition, Priority, ApplyTo string }

// Map returns the policy as list_policies shows it.
func (p *Policy) Map() *value.Map {
	return value.MapOf("pattern", p.Pattern, "apply_to", p.ApplyTo, "definition", p.Definition, "priority", p.Priority)
}

// Policies returns the policies of a virtual host.
func (b *Client) Policies(ctx context.Context, vhost string) ([]Policy, error) {
	if err := checkName(vhost); err != nil {
		return nil, err
	}
	rows, err := b.rows(ctx, "list_policies", "-p", vhost)
	if err != nil {
		return nil, err
	}
	list := make([]Policy, len(rows))
	for i, row := range rows {
		list[i] = Policy{
			VHost: text(row, "vhost"), Name: text(row, "name"), Pattern: text(row, "pattern"),
			Definition: asJSON(row, "definition"), Priority: text(row, "priority"), ApplyTo: text(row, "apply-to"),
		}
	}
	return list, nil
}

// asJSON returns a value that some versions print as a text of JSON and others as
// the value itself.
func asJSON(m *value.Map, key string) string {
	v, _ := m.Get(key)
	if s, ok := v.(string); ok {
		return s
	}
	return string(value.EncodeJSON(v))
}

// SetPolicy sets a policy. Its priority and what it applies to may be "".
func (b *Client) SetPolicy(ctx context.Context, p Policy) (string, error) {
	if err := checkName(p.VHost, p.Name); err != nil {
		return "", err
	}
	options := []string{"set_policy", "-p", p.VHost}
	if p.Priority != "" {
		options = append(options, "--priority="+p.Priority)
	}
	if p.ApplyTo != "" {
		options = append(options, "--apply-to="+p.ApplyTo)
	}
	return b.Ctl(ctx, options, p.Name, p.Pattern, p.Definition)
}

// DeletePolicy removes a policy.
func (b *Client) DeletePolicy(ctx context.Context, vhost, name string) (string, error) {
	if err := checkName(vhost, name); err != nil {
		return "", err
	}
	return b.Ctl(ctx, []string{"clear_policy", "-p", vhost}, name)
}

// Upstreams returns the definitions of the upstreams of federation, as JSON.
func (b *Client) Upstreams(ctx context.Context) (*value.Map, error) {
	rows, err := b.rows(ctx, "list_parameters")
	if err != nil {
		return nil, err
	}
	out := value.NewMap(len(rows))
	for _, row := range rows {
		if text(row, "component") == upstream {
			out.Set(text(row, "name"), asJSON(row, "value"))
		}
	}
	return out, nil
}

const upstream = "federation-upstream"

// SetUpstream creates or changes an upstream.
func (b *Client) SetUpstream(ctx context.Context, name string, definition *value.Map) error {
	if err := checkName(name); err != nil {
		return err
	}
	_, err := b.Ctl(ctx, []string{"set_parameter"}, upstream, name, string(value.EncodeJSON(definition)))
	return err
}

// DeleteUpstream removes an upstream.
func (b *Client) DeleteUpstream(ctx context.Context, name string) error {
	if err := checkName(name); err != nil {
		return err
	}
	_, err := b.Ctl(ctx, []string{"clear_parameter"}, upstream, name)
	return err
}

// UpstreamArgs are the arguments that describe an upstream.
type UpstreamArgs struct {
	_              fun.Arguments
	URI            value.Value `arg:"uri,required,secret,str" doc:"URI of the broker to receive from; several are separated by spaces"`
	PrefetchCount  value.Value `arg:"prefetch_count,int" doc:"how many messages may wait for confirmation"`
	ReconnectDelay value.Value `arg:"reconnect_delay,int" unit:"seconds" doc:"time before a lost connection is opened again"`
	AckMode        value.Value `arg:"ack_mode,str" oneof:"on-confirm|on-publish|no-ack" doc:"when messages are confirmed"`
	TrustUserID    value.Value `arg:"trust_user_id,bool" doc:"pass on the user ids of messages"`
	Exchange       value.Value `arg:"exchange,str" doc:"name of the exchange there; without it, the same name as here"`
	MaxHops        value.Value `arg:"max_hops,int" doc:"how many links a message may pass"`
	Expires        value.Value `arg:"expires,int" unit:"milliseconds" doc:"how long a queue there outlives a lost connection"`
	MessageTTL     value.Value `arg:"message_ttl,int" unit:"milliseconds" doc:"how long messages there wait"`
	HaPolicy       value.Value `arg:"ha_policy,str" doc:"argument x-ha-policy of the queue there"`
	Queue          value.Value `arg:"queue,str" doc:"name of the queue there; without it, the same name as here"`
}

// Upstream returns the definition, without what is empty.
func (a *UpstreamArgs) Upstream() *value.Map {
	out := value.NewMap(4)
	for k, v := range value.MapOf(
		"uri", a.URI, "prefetch-count", a.PrefetchCount, "reconnect-delay", a.ReconnectDelay, "ack-mode", a.AckMode, "trust-user-id", a.TrustUserID,
		"exchange", a.Exchange, "max-hops", a.MaxHops, "expires", a.Expires, "message-ttl", a.MessageTTL, "ha-policy", a.HaPolicy, "queue", a.Queue,
	).All() {
		if _, isBool := v.(bool); isBool || value.Truth(v) {
			out.Set(k, v)
		}
	}
	return out
}

// plugins returns the path of rabbitmq-plugins, which some packages keep out of
// $PATH.
func (b *Client) plugins() string {
	const name, lib = "rabbitmq-plugins", "/usr/lib/rabbitmq/lib"
	if _, err := b.Env.Host.LookPath(name, ""); err == nil {
		return name
	}
	entries, _ := b.Env.Host.ReadDir(lib)
	for _, e := range entries {
		p := filepath.Join(lib, e, "sbin", name)
		if strings.HasPrefix(e, "rabbitmq_server-") && machine.Executable(b.Env.Host, p) {
			return p
		}
	}
	return name
}

// Plugins returns the names of the plugins: all, or those that were enabled.
func (b *Client) Plugins(ctx context.Context, enabled bool) ([]string, error) {
	j := job{looks: true, options: []string{"list", "-m"}}
	if enabled {
		j.options = append(j.options, "-e")
	}
	out, err := b.run(ctx, b.plugins(), j)
	if err != nil {
		return nil, err
	}
	return words(out), nil
}

// SetPlugin enables or disables a plugin.
func (b *Client) SetPlugin(ctx context.Context, name string, enable bool) (string, error) {
	if err := checkName(name); err != nil {
		return "", err
	}
	verb := "disable"
	if enable {
		verb = "enable"
	}
	return b.run(ctx, b.plugins(), job{options: []string{verb}, words: []string{name}})
}

// Join makes the node a member of the cluster of another node. The broker is
// stopped for it, and started again whether it worked or not.
func (b *Client) Join(ctx context.Context, node string, ram bool) (string, error) {
	if err := checkName(node); err != nil {
		return "", err
	}
	options := []string{"join_cluster"}
	if ram {
		options = append(options, "--ram")
	}
	if _, err := b.Ctl(ctx, []string{"stop_app"}); err != nil {
		return "", err
	}
	out, err := b.Ctl(ctx, options, node)
	if _, startErr := b.Ctl(ctx, []string{"start_app"}); err == nil {
		err = startErr
	}
	return out, err
}

// checkName refuses names that rabbitmqctl would take for an option.
func checkName(names ...string) error {
	for _, n := range names {
		if n == "" || strings.HasPrefix(n, "-") || strings.ContainsRune(n, 0) {
			return fun.Errorf("invalid name '%s': it must not be empty, start with a dash or contain null bytes", n)
		}
	}
	return nil
}

// heading reports whether a line of a listing is none of its data.
func heading(line string) bool {
	return line == "" || strings.Contains(line, "...done") || strings.HasPrefix(line, "WARNING:") ||
		strings.HasPrefix(line, "Listing") && (strings.HasSuffix(line, "...") || !strings.Contains(line, "\t"))
}

func words(out string) []string {
	var list []string
	for line := range strings.Lines(out) {
		if line = strings.TrimRight(line, "\r\n"); !heading(line) {
			list = append(list, strings.Fields(line)...)
		}
	}
	return list
}

// table returns the columns of a listing by the first one. The line that names the
// columns, which newer versions print, is left out.
func table(out string, columns []string) *value.Map {
	m := value.NewMap(8)
	names := strings.Join(columns, "\t")
	first := true
	for line := range strings.Lines(out) {
		line = strings.TrimRight(line, "\r\n")
		if heading(line) {
			continue
		}
		if first && line == names {
			first = false
			continue
		}
		first = false
		key, rest, more := strings.Cut(line, "\t")
		if !more {
			m.Set(key, "")
			continue
		}
		m.Set(key, value.Strings(strings.Split(rest, "\t")...))
	}
	return m
}
