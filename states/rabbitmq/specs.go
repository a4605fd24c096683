package rabbitmq

import "brine/internal/core/fun"

var clusterSpecs = []fun.Spec{
	{
		Name: "join", Doc: "Make sure that this node is a member of a cluster.", Src: "states/rabbitmq_cluster.py join", Do: joined,
	},
	{
		Name: "joined", Doc: "Make sure that this node is a member of a cluster.", Src: "states/rabbitmq_cluster.py joined", Do: joined,
	},
}

var pluginSpecs = []fun.Spec{
	{
		Name: "disabled", Doc: "Make sure that a plugin is disabled.", Src: "states/rabbitmq_plugin.py disabled", Do: pluginDisabled,
	},
	{
		Name: "enabled", Doc: "Make sure that a plugin is enabled.", Src: "states/rabbitmq_plugin.py enabled", Do: pluginEnabled,
	},
}

var policySpecs = []fun.Spec{
	{
		Name: "absent", Doc: "Make sure that a policy does not exist.", Src: "states/rabbitmq_policy.py absent", Do: policyAbsent,
	},
	{
		Name: "present", Doc: "Make sure that a policy is there, as described.", Src: "states/rabbitmq_policy.py present", Do: policyPresent,
	},
}

var upstreamSpecs = []fun.Spec{
	{
		Name: "absent", Doc: "Make sure that an upstream of federation does not exist.", Src: "states/rabbitmq_upstream.py absent", Do: upstreamAbsent,
	},
	{
		Name: "present", Doc: "Make sure that an upstream of federation is there, as described.", Src: "states/rabbitmq_upstream.py present", Do: upstreamPresent,
	},
}

var userSpecs = []fun.Spec{
	{
		Name: "absent", Doc: "Make sure that a user does not exist.", Src: "states/rabbitmq_user.py absent", Do: userAbsent,
	},
	{
		Name: "present", Doc: "Make sure that a user is there, with a password, tags and permissions.", Src: "states/rabbitmq_user.py present", Do: userPresent,
	},
}

var vhostSpecs = []fun.Spec{
	{
		Name: "absent", Doc: "Make sure that a virtual host does not exist.", Src: "states/rabbitmq_vhost.py absent", Do: vhostAbsent,
	},
	{
		Name: "present", Doc: "Make sure that a virtual host is there.", Src: "states/rabbitmq_vhost.py present", Do: vhostPresent,
	},
}
