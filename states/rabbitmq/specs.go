package rabbitmq

import "brine/internal/fun"

var clusterSpecs = []fun.Spec{
	{
		Name: "join", Doc: "Make sure that this node is a member of a cluster.", Src: "states/rabbitmq_cluster.py join", State: joined,
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Required: true, Doc: "any text"},
			{Name: "host", Type: fun.Str, Required: true, Doc: "host of a node of the cluster"},
			{Name: "user", Type: fun.Str, Default: "rabbit", Doc: "user part of the name of that node"},
			{Name: "ram_node", Type: fun.Bool, Doc: "keep the state of the node in memory only"},
			{Name: "runas", Type: fun.Str, Default: "root", Doc: "account that runs the program"},
		},
	},
	{
		Name: "joined", Doc: "Make sure that this node is a member of a cluster.", Src: "states/rabbitmq_cluster.py joined", State: joined,
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Required: true, Doc: "any text"},
			{Name: "host", Type: fun.Str, Required: true, Doc: "host of a node of the cluster"},
			{Name: "user", Type: fun.Str, Default: "rabbit", Doc: "user part of the name of that node"},
			{Name: "ram_node", Type: fun.Bool, Doc: "keep the state of the node in memory only"},
			{Name: "runas", Type: fun.Str, Default: "root", Doc: "account that runs the program"},
		},
	},
}

var pluginSpecs = []fun.Spec{
	{
		Name: "disabled", Doc: "Make sure that a plugin is disabled.", Src: "states/rabbitmq_plugin.py disabled", State: pluginDisabled,
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Required: true, Doc: "name of the plugin"},
			{Name: "runas", Type: fun.Str, Doc: "account that runs the program"},
		},
	},
	{
		Name: "enabled", Doc: "Make sure that a plugin is enabled.", Src: "states/rabbitmq_plugin.py enabled", State: pluginEnabled,
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Required: true, Doc: "name of the plugin"},
			{Name: "runas", Type: fun.Str, Doc: "account that runs the program"},
		},
	},
}

var policySpecs = []fun.Spec{
	{
		Name: "absent", Doc: "Make sure that a policy does not exist.", Src: "states/rabbitmq_policy.py absent", State: policyAbsent,
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Required: true, Doc: "name of the policy"},
			{Name: "vhost", Type: fun.Str, Default: "/", Doc: "name of the virtual host"},
			{Name: "runas", Type: fun.Str, Doc: "account that runs the program"},
		},
	},
	{
		Name: "present", Doc: "Make sure that a policy is there, as described.", Src: "states/rabbitmq_policy.py present", State: policyPresent,
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Required: true, Doc: "name of the policy"},
			{Name: "pattern", Type: fun.Str, Required: true, Doc: "regular expression of the names of queues and exchanges"},
			{Name: "definition", Type: fun.Str | fun.Dict, Required: true, Doc: "settings, as a mapping or as JSON"},
			{Name: "priority", Type: fun.Int, Default: int64(0), Doc: "the policy of the highest priority counts"},
			{Name: "vhost", Type: fun.Str, Default: "/", Doc: "name of the virtual host"},
			{Name: "runas", Type: fun.Str, Doc: "account that runs the program"},
			{Name: "apply_to", Type: fun.Str, OneOf: []string{"queues", "exchanges", "all"}, Doc: "queues, exchanges or all"},
		},
	},
}

var upstreamSpecs = []fun.Spec{
	{
		Name: "absent", Doc: "Make sure that an upstream of federation does not exist.", Src: "states/rabbitmq_upstream.py absent", State: upstreamAbsent,
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Required: true, Doc: "name of the upstream"},
			{Name: "runas", Type: fun.Str, Doc: "account that runs the program"},
		},
	},
	{
		Name: "present", Doc: "Make sure that an upstream of federation is there, as described.", Src: "states/rabbitmq_upstream.py present", State: upstreamPresent,
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
}

var userSpecs = []fun.Spec{
	{
		Name: "absent", Doc: "Make sure that a user does not exist.", Src: "states/rabbitmq_user.py absent", State: userAbsent,
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Required: true, Doc: "name of the user"},
			{Name: "runas", Type: fun.Str, Doc: "account that runs the program"},
		},
	},
	{
		Name: "present", Doc: "Make sure that a user is there, with a password, tags and permissions.", Src: "states/rabbitmq_user.py present", State: userPresent,
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Required: true, Doc: "name of the user"},
			{Name: "password", Type: fun.Str, Secret: true, Doc: "password"},
			{Name: "force", Type: fun.Bool, Default: false, Doc: "set the password without looking whether it is right"},
			{Name: "tags", Type: fun.Strs, Doc: "tags; text is split at blanks"},
			{Name: "perms", Type: fun.Dicts, Doc: "mappings of a virtual host to three patterns: configure, write and read"},
			{Name: "runas", Type: fun.Str, Doc: "account that runs the program"},
		},
	},
}

var vhostSpecs = []fun.Spec{
	{
		Name: "absent", Doc: "Make sure that a virtual host does not exist.", Src: "states/rabbitmq_vhost.py absent", State: vhostAbsent,
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Required: true, Doc: "name of the virtual host"},
		},
	},
	{
		Name: "present", Doc: "Make sure that a virtual host is there.", Src: "states/rabbitmq_vhost.py present", State: vhostPresent,
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Required: true, Doc: "name of the virtual host"},
		},
	},
}
