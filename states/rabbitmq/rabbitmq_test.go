package rabbitmq_test

import (
	"context"
	"io"
	"slices"
	"strings"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/testkit/calltest"
	mod "brine/modules/rabbitmq"
	"brine/states/rabbitmq"
)

const listing = " -q --formatter=json"

// answers are what the programs of a broker print.
func answers() map[string]string {
	return map[string]string{
		"version":                                  "3.10.8\n",
		"list_users" + listing:                     `[` + "\n" + `{"user":"guest","tags":["administrator"]}` + "\n" + `,{"user":"ann","tags":[]}]`,
		"list_vhosts" + listing:                    `[{"name":"/"},{"name":"two words"}]`,
		"list_parameters" + listing:                `[{"component":"federation-upstream","name":"north","value":"{\"uri\":\"amqp://u:p@h\",\"max-hops\":1}"},{"component":"other","name":"x","value":"{}"}]`,
		"list_policies" + listing + " -p /":        `[{"vhost":"/","name":"ttl","pattern":"^tmp","apply-to":"queues","definition":"{\"message-ttl\":60000}","priority":0}]`,
		"list_policies" + listing + " -p gone":     "",
		"list_user_permissions" + listing + " ann": `[{"vhost":"/","configure":".*","write":".*","read":".*"}]`,
		"list_user_permissions" + listing + " new": `[]`,
		"list_permissions" + listing + " -p /":     `[{"user":"ann","configure":".*","write":".*","read":".*"}]`,
		"list_queues -q":                           "name\tmessages\nq1\t3\nq2\t0\n",
		"list_queues -q -p orders name":            "name\nq1\n",
		"add_user new":                             "Adding user \"new\" ...\nPassword: \nDone.\n",
		"add_user none":                            "Adding user \"none\" ...\nPassword: \nDone.\n",
		"clear_password none":                      "Clearing\n",
		"change_password ann":                      "Changing\n",
		"set_user_tags new a b":                    "Setting\n",
		"set_user_tags ann":                        "Setting\n",
		"set_permissions -p / new .* .* ":          "ok",
		"set_permissions -p / -- ann -x .* .*":     "ok",
		"delete_user ann":                          "ok",
		"add_vhost orders":                         "Adding vhost \"orders\" ...\n",
		"delete_vhost two words":                   "Deleting vhost \"two words\" ...\n",
		`set_policy -p / --priority=0 --apply-to=queues ttl ^tmp {"message-ttl":1}`:        "Setting policy\n",
		`set_policy -p / --priority=0 new .* {}`:                                           "Setting policy\n",
		"clear_policy -p / ttl":                                                            "Clearing",
		`set_parameter federation-upstream south {"uri":"amqp://s","trust-user-id":false}`: "ok",
		`set_parameter federation-upstream north {"uri":"amqp://u:q@h","max-hops":1}`:      "ok",
		"clear_parameter federation-upstream north":                                        "ok",
		"cluster_status": "Cluster status of node rabbit@a ...\nDisk Nodes\n\nrabbit@a\nrabbit@bc\n",
		"stop_app":       "", "start_app": "", "status": "Status", "reset": "Resetting",
		"join_cluster --ram rabbit@b":         "Clustering\n",
		"plugins list -m -e":                  "rabbitmq_management\n",
		"plugins list -m":                     "Listing plugins with pattern \".*\" ...\nrabbitmq_management\nrabbitmq_shovel\n",
		"plugins enable rabbitmq_shovel":      "Enabling\n",
		"plugins disable rabbitmq_management": "Disabling\n",
	}
}

func rig(t *testing.T) (*calltest.Rig, *[]string) {
	t.Helper()
	said, calls := answers(), &[]string{}
	h := host.NewFake()
	h.PutExe("/usr/sbin/rabbitmqctl")
	h.PutExe("/usr/sbin/rabbitmq-plugins")
	h.HandleCommand("*", func(_ context.Context, c host.Cmd) (host.Output, error) {
		var stdin []byte
		if c.Stdin != nil {
			stdin, _ = io.ReadAll(c.Stdin)
		}
		name := strings.TrimPrefix(strings.TrimPrefix(c.Argv[0], "/usr/sbin/"), "rabbitmq")
		key := strings.TrimPrefix(name+" "+strings.Join(c.Argv[1:], " "), "ctl ")
		key = strings.TrimPrefix(key, "-")
		*calls = append(*calls, key)
		if strings.HasPrefix(key, "authenticate_user") {
			if key == "authenticate_user ann" && string(stdin) == "right\n" || key == "authenticate_user ann wörd" {
				return host.Output{}, nil
			}
			return host.Output{Status: 65, Stderr: []byte("Error: failed to authenticate user \"ann\"")}, nil
		}
		out, ok := said[key]
		if !ok {
			return host.Output{Status: 64, Stderr: []byte("no " + key)}, nil
		}
		return host.Output{Stdout: []byte(out)}, nil
	})
	return calltest.New(h, fun.Entry{Kind: fun.Exec, Name: "rabbitmq", Load: mod.Module},
		fun.Entry{Kind: fun.State, Name: "rabbitmq_cluster", Load: rabbitmq.Clusters}, fun.Entry{Kind: fun.State, Name: "rabbitmq_plugin", Load: rabbitmq.Plugins},
		fun.Entry{Kind: fun.State, Name: "rabbitmq_policy", Load: rabbitmq.Policies}, fun.Entry{Kind: fun.State, Name: "rabbitmq_upstream", Load: rabbitmq.Upstreams},
		fun.Entry{Kind: fun.State, Name: "rabbitmq_user", Load: rabbitmq.Users}, fun.Entry{Kind: fun.State, Name: "rabbitmq_vhost", Load: rabbitmq.VHosts}), calls
}

func TestUsers(t *testing.T) {
	t.Parallel()
	r, calls := rig(t)
	r.Steps(t, []calltest.Step{
		{"state rabbitmq_user.present {name: ann}", "True: User 'ann' is already present. {}"},
		{"state rabbitmq_user.present {name: ann, password: right}", "True: User 'ann' is already present. {}"},
		{"state rabbitmq_user.present {name: ann, password: wörd}", "True: User 'ann' is already present. {}"},
		{"test rabbitmq_user.present {name: ann, password: other}", "None: Configuration for 'ann' will change. {'password': {'old': '', 'new': 'Set password.'}}"},
		{"state rabbitmq_user.present {name: ann, password: other}", "True: 'ann' was configured. {'password': {'old': '', 'new': 'Set password.'}}"},
		{"state rabbitmq_user.present {name: ann, perms: [{/: ['.*', '.*', '.*']}]}", "True: 'ann' is already in the desired state. {}"},
		{"state rabbitmq_user.present {name: ann, perms: [{/: ['-x', '.*', '.*']}]}", "True: 'ann' was configured. {'perms': {'old': {'/': {'configure': '.*', 'write': '.*', 'read': '.*'}}, 'new': {'/': {'configure': '-x', 'write': '.*', 'read': '.*'}}}}"},
		{"state rabbitmq_user.present {name: ann, perms: [{/: ['.*', '.*']}]}", "False: Error: perms of virtual host '/' must be a list of three patterns: configure, write and read, not ['.*', '.*'] {}"},
		{"test rabbitmq_user.present {name: new, password: x, tags: a}", "None: User 'new' is set to be created. {'user': {'old': '', 'new': 'new'}}"},
		{"state rabbitmq_user.present {name: new, password: x, tags: a b, perms: [{/: ['.*', '.*', '']}]}", "True: 'new' was configured. {'user': {'old': '', 'new': 'new'}, 'tags': {'old': [], 'new': ['a', 'b']}, 'perms': {'new': {'/': {'configure': '.*', 'write': '.*', 'read': ''}}}}"},
		{"state rabbitmq_user.present {name: new, password: x, tags: [c]}", "False: Error: RabbitMQ command failed: no set_user_tags new c {'user': {'old': '', 'new': 'new'}}"},
		{"state rabbitmq_user.present {name: none}", "True: 'none' was configured. {'user': {'old': '', 'new': 'none'}}"},
		{"state rabbitmq_user.present {name: -x}", "False: Error: invalid name '-x': it must not be empty, start with a dash or contain null bytes {}"},
		{"state rabbitmq_user.absent {name: nobody}", "True: The user 'nobody' is not present. {}"},
		{"test rabbitmq_user.absent {name: ann}", "None: The user 'ann' will be removed. {'name': {'old': 'ann', 'new': ''}}"},
		{"state rabbitmq_user.absent {name: ann}", "True: The user 'ann' was removed. {'name': {'old': 'ann', 'new': ''}}"},
		{"state rabbitmq_user.absent {name: guest}", "False: Error: RabbitMQ command failed: no delete_user guest {}"},
	})
	if slices.ContainsFunc(*calls, func(c string) bool { return strings.Contains(c, "other") || strings.Contains(c, "right") }) {
		t.Errorf("a password is on a command line: %q", *calls)
	}
}

func TestStates(t *testing.T) {
	t.Parallel()
	r, _ := rig(t)
	r.Steps(t, []calltest.Step{
		{"state rabbitmq_vhost.present {name: two words}", "True: Virtual Host 'two words' already exists. {}"},
		{"test rabbitmq_vhost.present {name: orders}", "None: Virtual Host 'orders' will be created. {'old': '', 'new': 'orders'}"},
		{"state rabbitmq_vhost.present {name: orders}", "True: Adding vhost \"orders\" ... {'old': '', 'new': 'orders'}"},
		{"state rabbitmq_vhost.present {name: bad}", "False: Error: RabbitMQ command failed: no add_vhost bad {}"},
		{"state rabbitmq_vhost.absent {name: orders}", "True: Virtual Host 'orders' is not present. {}"},
		{"test rabbitmq_vhost.absent {name: /}", "None: Virtual Host '/' will be removed. {'old': '/', 'new': ''}"},
		{"state rabbitmq_vhost.absent {name: two words}", "True: Deleting vhost \"two words\" ... {'old': 'two words', 'new': ''}"},
		{"state rabbitmq_policy.present {name: ttl, pattern: ^tmp, apply_to: queues, definition: {message-ttl: 60000}}", "True: Policy / ttl is already present {}"},
		{"state rabbitmq_policy.present {name: ttl, pattern: ^tmp, definition: '{\"message-ttl\":60000}'}", "True: Policy / ttl is already present {}"},
		{"test rabbitmq_policy.present {name: ttl, pattern: x, priority: 2, apply_to: all, definition: '{}'}", "None: Policy / ttl is set to be updated {'old': {'pattern': '^tmp', 'apply_to': 'queues', 'definition': '{\"message-ttl\":60000}', 'priority': '0'}, 'new': ['Pattern', 'Definition', 'Applyto', 'Priority']}"},
		{"state rabbitmq_policy.present {name: ttl, pattern: ^tmp, apply_to: queues, definition: {message-ttl: 1}}", "True: Setting policy {'old': {'pattern': '^tmp', 'apply_to': 'queues', 'definition': '{\"message-ttl\":60000}', 'priority': '0'}, 'new': ['Definition']}"},
		{"test rabbitmq_policy.present {name: new, pattern: '.*', definition: {}}", "None: Policy / new is set to be created {'old': {}, 'new': 'new'}"},
		{"state rabbitmq_policy.present {name: new, pattern: '.*', definition: {}}", "True: Setting policy {'old': {}, 'new': 'new'}"},
		{"state rabbitmq_policy.absent {name: new}", "True: Policy '/ new' is not present. {}"},
		{"test rabbitmq_policy.absent {name: ttl}", "None: Policy '/ ttl' will be removed. {'old': 'ttl', 'new': ''}"},
		{"state rabbitmq_policy.absent {name: ttl}", "True: Deleted {'old': 'ttl', 'new': ''}"},
		{"state rabbitmq_policy.absent {name: ttl, vhost: gone}", "False: Error: rabbitmqctl list_policies did not print a list in JSON, which needs RabbitMQ 3.7 or later {}"},
		{"state rabbitmq_upstream.present {name: north, uri: 'amqp://u:p@h', max_hops: 1}", "True: Upstream \"north\" already present as specified. {}"},
		{"test rabbitmq_upstream.present {name: north, uri: 'amqp://u:q@h', max_hops: 1}", "None: Upstream \"north\" would have been updated. {}"},
		{"state rabbitmq_upstream.present {name: north, uri: 'amqp://u:q@h', max_hops: 1}", "True: Upstream \"north\" updated. {'old': {'uri': 'amqp://<redacted>@h'}, 'new': {'uri': 'amqp://<redacted>@h'}}"},
		{"state rabbitmq_upstream.present {name: south, uri: 'amqp://s', trust_user_id: false}", "True: Upstream \"south\" created. {'old': None, 'new': {'uri': 'amqp://s', 'trust-user-id': False}}"},
		{"state rabbitmq_upstream.present {name: bad, uri: 'amqp://s'}", "False: Error trying to create upstream: RabbitMQ command failed: no set_parameter federation-upstream bad {\"uri\":\"amqp://s\"} {}"},
		{"state rabbitmq_upstream.absent {name: x}", "True: The upstream \"x\" is already absent. {}"},
		{"test rabbitmq_upstream.absent {name: north}", "None: Upstream \"north\" would have been deleted. {}"},
		{"state rabbitmq_upstream.absent {name: north}", "True: Upstream \"north\" has been deleted. {'old': 'north', 'new': None}"},
		{"state rabbitmq_cluster.joined {name: x, host: bc}", "True: Already in cluster {}"},
		{"test rabbitmq_cluster.joined {name: x, host: b}", "None: Node is set to join cluster rabbit@b {'old': '', 'new': 'rabbit@b'}"},
		{"state rabbitmq_cluster.joined {name: x, host: b, ram_node: true}", "True: Clustering {'old': '', 'new': 'rabbit@b'}"},
		{"state rabbitmq_cluster.join {name: x, host: b}", "False: Error: RabbitMQ command failed: no join_cluster rabbit@b {}"},
		{"state rabbitmq_plugin.enabled {name: rabbitmq_management}", "True: Plugin 'rabbitmq_management' is already enabled. {}"},
		{"test rabbitmq_plugin.enabled {name: rabbitmq_shovel}", "None: Plugin 'rabbitmq_shovel' is set to be enabled. {'old': '', 'new': 'rabbitmq_shovel'}"},
		{"state rabbitmq_plugin.enabled {name: rabbitmq_shovel}", "True: Plugin 'rabbitmq_shovel' was enabled. {'old': '', 'new': 'rabbitmq_shovel'}"},
		{"state rabbitmq_plugin.enabled {name: odd}", "False: Error: RabbitMQ command failed: no plugins enable odd {}"},
		{"state rabbitmq_plugin.disabled {name: rabbitmq_shovel}", "True: Plugin 'rabbitmq_shovel' is already disabled. {}"},
		{"state rabbitmq_plugin.disabled {name: rabbitmq_management}", "True: Plugin 'rabbitmq_management' was disabled. {'old': 'rabbitmq_management', 'new': ''}"},
	})
}

func TestFunctions(t *testing.T) {
	t.Parallel()
	r, _ := rig(t)
	r.Steps(t, []calltest.Step{
		{"call rabbitmq.list_users {}", "{'guest': ['administrator'], 'ann': []}"},
		{"call rabbitmq.user_exists {name: ann}", "True"},
		{"call rabbitmq.list_vhosts {}", "['/', 'two words']"},
		{"call rabbitmq.vhost_exists {name: words}", "False"},
		{"call rabbitmq.list_upstreams {}", "{'north': '{\"uri\":\"amqp://u:p@h\",\"max-hops\":1}'}"},
		{"call rabbitmq.upstream_exists {name: x}", "False"},
		{"call rabbitmq.list_permissions {vhost: /}", "{'ann': {'configure': '.*', 'write': '.*', 'read': '.*'}}"},
		{"call rabbitmq.list_permissions {vhost: --x}", "error: invalid name '--x': it must not be empty, start with a dash or contain null bytes"},
		{"call rabbitmq.list_user_permissions {name: ann}", "{'/': {'configure': '.*', 'write': '.*', 'read': '.*'}}"},
		{"call rabbitmq.list_policies {}", "{'/': {'ttl': {'pattern': '^tmp', 'apply_to': 'queues', 'definition': '{\"message-ttl\":60000}', 'priority': '0'}}}"},
		{"call rabbitmq.policy_exists {vhost: /, name: ttl}", "True"},
		{"call rabbitmq.list_queues {}", "{'q1': ['3'], 'q2': ['0']}"},
		{"call rabbitmq.list_available_plugins {}", "['rabbitmq_management', 'rabbitmq_shovel']"},
		{"call rabbitmq.plugin_is_enabled {name: rabbitmq_shovel}", "False"},
		{"call rabbitmq.add_user {name: new, password: p}", "{'Added': 'Adding user \"new\" ...\\nDone.'}"},
		{"call rabbitmq.check_password {name: ann, password: right}", "True"},
		{"call rabbitmq.check_password {name: ann, password: wrong}", "False"},
		{"call rabbitmq.set_permissions {vhost: /, user: new, read: ''}", "{'Permissions Set': 'ok'}"},
		{"call rabbitmq.set_policy {vhost: /, name: a, pattern: b, definition: '{'}", "error: The 'definition' argument must be a dictionary or JSON string: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"},
		{"call rabbitmq.status {}", "'Status'"},
		{"call rabbitmq.reset {}", "'Resetting'"},
		{"call rabbitmq.force_reset {}", "error: RabbitMQ command failed: no force_reset"},
		{"call rabbitmq.join_cluster {host: b, ram_node: true}", "{'Join': 'Clustering'}"},
	})
	if got := r.Fn(t, "rabbitmq.list_queues_vhost", "[orders, root, name]"); got != "{'q1': ''}" {
		t.Errorf("list_queues_vhost: %s", got)
	}
}
