package rabbitmq

import "brine/internal/fun"

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "add_user", Doc: "Create a user. Without a password nobody can log in as the user.", Src: "modules/rabbitmq.py add_user", Fn: addUser,
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Required: true, Doc: "name of the user"},
			{Name: "password", Type: fun.Str, Secret: true, Doc: "password"},
			{Name: "runas", Type: fun.Str, Doc: "account that runs the program"},
		},
	},
	{
		Name: "add_vhost", Doc: "Create a virtual host.", Src: "modules/rabbitmq.py add_vhost", Fn: addVHost,
		Args: []fun.Arg{
			{Name: "vhost", Type: fun.Str, Required: true, Doc: "name of the virtual host"},
			{Name: "runas", Type: fun.Str, Doc: "account that runs the program"},
		},
	},
	{
		Name: "change_password", Doc: "Set the password of a user.", Src: "modules/rabbitmq.py change_password", Fn: changePassword,
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Required: true, Doc: "name of the user"},
			{Name: "password", Type: fun.Str, Required: true, Secret: true, Doc: "password"},
			{Name: "runas", Type: fun.Str, Doc: "account that runs the program"},
		},
	},
	{
		Name: "check_password", Doc: "Report whether a password is that of a user.", Src: "modules/rabbitmq.py check_password", Fn: checkPassword,
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Required: true, Doc: "name of the user"},
			{Name: "password", Type: fun.Str, Required: true, Secret: true, Doc: "password"},
			{Name: "runas", Type: fun.Str, Doc: "account that runs the program"},
		},
	},
	{
		Name: "clear_password", Doc: "Remove the password of a user.", Src: "modules/rabbitmq.py clear_password", Fn: clearPassword,
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Required: true, Doc: "name of the user"},
			{Name: "runas", Type: fun.Str, Doc: "account that runs the program"},
		},
	},
	{
		Name: "cluster_status", Doc: "Return what rabbitmqctl says of the cluster.", Src: "modules/rabbitmq.py cluster_status", Fn: clusterStatus,
		Args: []fun.Arg{
			{Name: "runas", Type: fun.Str, Doc: "account that runs the program"},
		},
	},
	{
		Name: "delete_policy", Doc: "Remove a policy.", Src: "modules/rabbitmq.py delete_policy", Fn: deletePolicy,
		Args: []fun.Arg{
			{Name: "vhost", Type: fun.Str, Required: true, Doc: "name of the virtual host"},
			{Name: "name", Type: fun.Str, Required: true, Doc: "name of the policy"},
			{Name: "runas", Type: fun.Str, Doc: "account that runs the program"},
		},
	},
	{
		Name: "delete_upstream", Doc: "Remove an upstream of federation.", Src: "modules/rabbitmq.py delete_upstream", Fn: deleteUpstream,
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Required: true, Doc: "name of the upstream"},
			{Name: "runas", Type: fun.Str, Doc: "account that runs the program"},
		},
	},
	{
		Name: "delete_user", Doc: "Remove a user.", Src: "modules/rabbitmq.py delete_user", Fn: deleteUser,
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Required: true, Doc: "name of the user"},
			{Name: "runas", Type: fun.Str, Doc: "account that runs the program"},
		},
	},
	{
		Name: "delete_vhost", Doc: "Remove a virtual host with its queues and messages.", Src: "modules/rabbitmq.py delete_vhost", Fn: deleteVHost,
		Args: []fun.Arg{
			{Name: "vhost", Type: fun.Str, Required: true, Doc: "name of the virtual host"},
			{Name: "runas", Type: fun.Str, Doc: "account that runs the program"},
		},
	},
	{
		Name: "disable_plugin", Doc: "Disable a plugin.", Src: "modules/rabbitmq.py disable_plugin", Fn: disablePlugin,
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Required: true, Doc: "name of the plugin"},
			{Name: "runas", Type: fun.Str, Doc: "account that runs the program"},
		},
	},
	{
		Name: "enable_plugin", Doc: "Enable a plugin.", Src: "modules/rabbitmq.py enable_plugin", Fn: enablePlugin,
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Required: true, Doc: "name of the plugin"},
			{Name: "runas", Type: fun.Str, Doc: "account that runs the program"},
		},
	},
	{
		Name: "force_reset", Doc: "Remove a node from its cluster and empty it, without asking the other nodes.", Src: "modules/rabbitmq.py force_reset", Fn: command,
		Args: []fun.Arg{
			{Name: "runas", Type: fun.Str, Doc: "account that runs the program"},
		},
	},
	{
		Name: "join_cluster", Doc: "Make this node a member of a cluster.", Src: "modules/rabbitmq.py join_cluster", Fn: joinCluster,
		Args: []fun.Arg{
			{Name: "host", Type: fun.Str, Required: true, Doc: "host of a node of the cluster"},
			{Name: "user", Type: fun.Str, Default: "rabbit", Doc: "user part of the name of that node"},
			{Name: "ram_node", Type: fun.Bool, Doc: "keep the state of the node in memory only"},
			{Name: "runas", Type: fun.Str, Doc: "account that runs the program"},
		},
	},
	{
		Name: "list_available_plugins", Doc: "Return the names of all plugins.", Src: "modules/rabbitmq.py list_available_plugins", Fn: listAvailablePlugins,
		Args: []fun.Arg{
			{Name: "runas", Type: fun.Str, Doc: "account that runs the program"},
		},
	},
	{
		Name: "list_enabled_plugins", Doc: "Return the names of the enabled plugins.", Src: "modules/rabbitmq.py list_enabled_plugins", Fn: listEnabledPlugins,
		Args: []fun.Arg{
			{Name: "runas", Type: fun.Str, Doc: "account that runs the program"},
		},
	},
	{
		Name: "list_permissions", Doc: "Return the permissions in a virtual host by user.", Src: "modules/rabbitmq.py list_permissions", Fn: listPermissions,
		Args: []fun.Arg{
			{Name: "vhost", Type: fun.Str, Required: true, Doc: "name of the virtual host"},
			{Name: "runas", Type: fun.Str, Doc: "account that runs the program"},
		},
	},
	{
		Name: "list_policies", Doc: "Return policies by virtual host and name.", Src: "modules/rabbitmq.py list_policies", Fn: listPolicies,
		Args: []fun.Arg{
			{Name: "vhost", Type: fun.Str, Default: "/", Doc: "name of the virtual host"},
			{Name: "runas", Type: fun.Str, Doc: "account that runs the program"},
		},
	},
	{
		Name: "list_queues", Doc: "Return details of the queues of the virtual host /. Further arguments name the columns.", Src: "modules/rabbitmq.py list_queues", Fn: listQueues, VarArg: true,
		Args: []fun.Arg{
			{Name: "runas", Type: fun.Str, Doc: "account that runs the program"},
		},
	},
	{
		Name: "list_queues_vhost", Doc: "Return details of the queues of a virtual host. Further arguments name the columns.", Src: "modules/rabbitmq.py list_queues_vhost", Fn: listQueues, VarArg: true,
		Args: []fun.Arg{
			{Name: "vhost", Type: fun.Str, Required: true, Doc: "name of the virtual host"},
			{Name: "runas", Type: fun.Str, Doc: "account that runs the program"},
		},
	},
	{
		Name: "list_upstreams", Doc: "Return the definitions of the upstreams of federation.", Src: "modules/rabbitmq.py list_upstreams", Fn: listUpstreams,
		Args: []fun.Arg{
			{Name: "runas", Type: fun.Str, Doc: "account that runs the program"},
		},
	},
	{
		Name: "list_user_permissions", Doc: "Return the permissions of a user by virtual host.", Src: "modules/rabbitmq.py list_user_permissions", Fn: listUserPermissions,
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Required: true, Doc: "name of the user"},
			{Name: "runas", Type: fun.Str, Doc: "account that runs the program"},
		},
	},
	{
		Name: "list_users", Doc: "Return the users and their tags.", Src: "modules/rabbitmq.py list_users", Fn: listUsers,
		Args: []fun.Arg{
			{Name: "runas", Type: fun.Str, Doc: "account that runs the program"},
		},
	},
	{
		Name: "list_vhosts", Doc: "Return the names of the virtual hosts.", Src: "modules/rabbitmq.py list_vhosts", Fn: listVHosts,
		Args: []fun.Arg{
			{Name: "runas", Type: fun.Str, Doc: "account that runs the program"},
		},
	},
	{
		Name: "plugin_is_enabled", Doc: "Report whether a plugin is enabled.", Src: "modules/rabbitmq.py plugin_is_enabled", Fn: pluginIsEnabled,
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Required: true, Doc: "name of the plugin"},
			{Name: "runas", Type: fun.Str, Doc: "account that runs the program"},
		},
	},
	{
		Name: "policy_exists", Doc: "Report whether a policy is there.", Src: "modules/rabbitmq.py policy_exists", Fn: policyExists,
		Args: []fun.Arg{
			{Name: "vhost", Type: fun.Str, Required: true, Doc: "name of the virtual host"},
			{Name: "name", Type: fun.Str, Required: true, Doc: "name of the policy"},
			{Name: "runas", Type: fun.Str, Doc: "account that runs the program"},
		},
	},
	{
		Name: "reset", Doc: "Remove a node from its cluster and empty it.", Src: "modules/rabbitmq.py reset", Fn: command,
		Args: []fun.Arg{
			{Name: "runas", Type: fun.Str, Doc: "account that runs the program"},
		},
	},
	{
		Name: "set_permissions", Doc: "Set what a user may configure, write and read in a virtual host.", Src: "modules/rabbitmq.py set_permissions", Fn: setPermissions,
		Args: []fun.Arg{
			{Name: "vhost", Type: fun.Str, Required: true, Doc: "name of the virtual host"},
			{Name: "user", Type: fun.Str, Required: true, Doc: "name of the user"},
			{Name: "conf", Type: fun.Str, Default: ".*", Doc: "pattern of names that the user may configure"},
			{Name: "write", Type: fun.Str, Default: ".*", Doc: "pattern of names that the user may write to"},
			{Name: "read", Type: fun.Str, Default: ".*", Doc: "pattern of names that the user may read from"},
			{Name: "runas", Type: fun.Str, Doc: "account that runs the program"},
		},
	},
	{
		Name: "set_policy", Doc: "Create or change a policy.", Src: "modules/rabbitmq.py set_policy", Fn: setPolicy,
		Args: []fun.Arg{
			{Name: "vhost", Type: fun.Str, Required: true, Doc: "name of the virtual host"},
			{Name: "name", Type: fun.Str, Required: true, Doc: "name of the policy"},
			{Name: "pattern", Type: fun.Str, Required: true, Doc: "regular expression of the names of queues and exchanges"},
			{Name: "definition", Type: fun.Str | fun.Dict, Required: true, Doc: "settings, as a mapping or as JSON"},
			{Name: "priority", Type: fun.Int, Doc: "the policy of the highest priority counts"},
			{Name: "runas", Type: fun.Str, Doc: "account that runs the program"},
			{Name: "apply_to", Type: fun.Str, OneOf: []string{"queues", "exchanges", "all"}, Doc: "queues, exchanges or all"},
		},
	},
	{
		Name: "set_upstream", Doc: "Create or change an upstream of federation.", Src: "modules/rabbitmq.py set_upstream", Fn: setUpstream,
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Required: true, Doc: "name of the upstream"},
			{Name: "uri", Type: fun.Str, Required: true, Secret: true, Doc: "URI of the broker to receive from; several are separated by spaces"},
			{Name: "prefetch_count", Type: fun.Int, Doc: "how many messages may wait for confirmation"},
			{Name: "reconnect_delay", Type: fun.Int, Unit: "seconds", Doc: "time before a lost connection is opened again"},
			{Name: "ack_mode", Type: fun.Str, OneOf: []string{"on-confirm", "on-publish", "no-ack"}, Doc: "when messages are confirmed"},
			{Name: "trust_user_id", Type: fun.Bool, Doc: "pass on the user ids of messages"},
			{Name: "exchange", Type: fun.Str, Doc: "name of the exchange there; without it, the same name as here"},
			{Name: "max_hops", Type: fun.Int, Doc: "how many links a message may pass"},
			{Name: "expires", Type: fun.Int, Unit: "milliseconds", Doc: "how long a queue there outlives a lost connection"},
			{Name: "message_ttl", Type: fun.Int, Unit: "milliseconds", Doc: "how long messages there wait"},
			{Name: "ha_policy", Type: fun.Str, Doc: "argument x-ha-policy of the queue there"},
			{Name: "queue", Type: fun.Str, Doc: "name of the queue there; without it, the same name as here"},
			{Name: "runas", Type: fun.Str, Doc: "account that runs the program"},
		},
	},
	{
		Name: "set_user_tags", Doc: "Replace the tags of a user.", Src: "modules/rabbitmq.py set_user_tags", Fn: setUserTags,
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Required: true, Doc: "name of the user"},
			{Name: "tags", Type: fun.Strs, Required: true, Doc: "tags"},
			{Name: "runas", Type: fun.Str, Doc: "account that runs the program"},
		},
	},
	{
		Name: "start_app", Doc: "Start the broker in its running Erlang node.", Src: "modules/rabbitmq.py start_app", Fn: command,
		Args: []fun.Arg{
			{Name: "runas", Type: fun.Str, Doc: "account that runs the program"},
		},
	},
	{
		Name: "status", Doc: "Return what rabbitmqctl says of the broker.", Src: "modules/rabbitmq.py status", Fn: status,
		Args: []fun.Arg{
			{Name: "runas", Type: fun.Str, Doc: "account that runs the program"},
		},
	},
	{
		Name: "stop_app", Doc: "Stop the broker; its Erlang node goes on.", Src: "modules/rabbitmq.py stop_app", Fn: command,
		Args: []fun.Arg{
			{Name: "runas", Type: fun.Str, Doc: "account that runs the program"},
		},
	},
	{
		Name: "upstream_exists", Doc: "Report whether an upstream of federation is there.", Src: "modules/rabbitmq.py upstream_exists", Fn: upstreamExists,
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Required: true, Doc: "name of the upstream"},
			{Name: "runas", Type: fun.Str, Doc: "account that runs the program"},
		},
	},
	{
		Name: "user_exists", Doc: "Report whether a user is there.", Src: "modules/rabbitmq.py user_exists", Fn: userExists,
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Required: true, Doc: "name of the user"},
			{Name: "runas", Type: fun.Str, Doc: "account that runs the program"},
		},
	},
	{
		Name: "vhost_exists", Doc: "Report whether a virtual host is there.", Src: "modules/rabbitmq.py vhost_exists", Fn: vhostExists,
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Required: true, Doc: "name of the user"},
			{Name: "runas", Type: fun.Str, Doc: "account that runs the program"},
		},
	},
}
