package rabbitmq

import "brine/internal/core/fun"

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "add_user", Doc: "Create a user. Without a password nobody can log in as the user.", Src: "modules/rabbitmq.py add_user", Do: addUser,
	},
	{
		Name: "add_vhost", Doc: "Create a virtual host.", Src: "modules/rabbitmq.py add_vhost", Do: addVHost,
	},
	{
		Name: "change_password", Doc: "Set the password of a user.", Src: "modules/rabbitmq.py change_password", Do: changePassword,
	},
	{
		Name: "check_password", Doc: "Report whether a password is that of a user.", Src: "modules/rabbitmq.py check_password", Do: checkPassword,
	},
	{
		Name: "clear_password", Doc: "Remove the password of a user.", Src: "modules/rabbitmq.py clear_password", Do: clearPassword,
	},
	{
		Name: "cluster_status", Doc: "Return what rabbitmqctl says of the cluster.", Src: "modules/rabbitmq.py cluster_status", Do: clusterStatus,
	},
	{
		Name: "delete_policy", Doc: "Remove a policy.", Src: "modules/rabbitmq.py delete_policy", Do: deletePolicy,
	},
	{
		Name: "delete_upstream", Doc: "Remove an upstream of federation.", Src: "modules/rabbitmq.py delete_upstream", Do: deleteUpstream,
	},
	{
		Name: "delete_user", Doc: "Remove a user.", Src: "modules/rabbitmq.py delete_user", Do: deleteUser,
	},
	{
		Name: "delete_vhost", Doc: "Remove a virtual host with its queues and messages.", Src: "modules/rabbitmq.py delete_vhost", Do: deleteVHost,
	},
	{
		Name: "disable_plugin", Doc: "Disable a plugin.", Src: "modules/rabbitmq.py disable_plugin", Do: disablePlugin,
	},
	{
		Name: "enable_plugin", Doc: "Enable a plugin.", Src: "modules/rabbitmq.py enable_plugin", Do: enablePlugin,
	},
	{
		Name: "force_reset", Doc: "Remove a node from its cluster and empty it, without asking the other nodes.", Src: "modules/rabbitmq.py force_reset", Do: command,
	},
	{
		Name: "join_cluster", Doc: "Make this node a member of a cluster.", Src: "modules/rabbitmq.py join_cluster", Do: joinCluster,
	},
	{
		Name: "list_available_plugins", Doc: "Return the names of all plugins.", Src: "modules/rabbitmq.py list_available_plugins", Do: listAvailablePlugins,
	},
	{
		Name: "list_enabled_plugins", Doc: "Return the names of the enabled plugins.", Src: "modules/rabbitmq.py list_enabled_plugins", Do: listEnabledPlugins,
	},
	{
		Name: "list_permissions", Doc: "Return the permissions in a virtual host by user.", Src: "modules/rabbitmq.py list_permissions", Do: listPermissions,
	},
	{
		Name: "list_policies", Doc: "Return policies by virtual host and name.", Src: "modules/rabbitmq.py list_policies", Do: listPolicies,
	},
	{
		Name: "list_queues", Doc: "Return details of the queues of the virtual host /. Further arguments name the columns.", Src: "modules/rabbitmq.py list_queues", Do: listQueues,
	},
	{
		Name: "list_queues_vhost", Doc: "Return details of the queues of a virtual host. Further arguments name the columns.", Src: "modules/rabbitmq.py list_queues_vhost", Do: listQueuesVHost,
	},
	{
		Name: "list_upstreams", Doc: "Return the definitions of the upstreams of federation.", Src: "modules/rabbitmq.py list_upstreams", Do: listUpstreams,
	},
	{
		Name: "list_user_permissions", Doc: "Return the permissions of a user by virtual host.", Src: "modules/rabbitmq.py list_user_permissions", Do: listUserPermissions,
	},
	{
		Name: "list_users", Doc: "Return the users and their tags.", Src: "modules/rabbitmq.py list_users", Do: listUsers,
	},
	{
		Name: "list_vhosts", Doc: "Return the names of the virtual hosts.", Src: "modules/rabbitmq.py list_vhosts", Do: listVHosts,
	},
	{
		Name: "plugin_is_enabled", Doc: "Report whether a plugin is enabled.", Src: "modules/rabbitmq.py plugin_is_enabled", Do: pluginIsEnabled,
	},
	{
		Name: "policy_exists", Doc: "Report whether a policy is there.", Src: "modules/rabbitmq.py policy_exists", Do: policyExists,
	},
	{
		Name: "reset", Doc: "Remove a node from its cluster and empty it.", Src: "modules/rabbitmq.py reset", Do: command,
	},
	{
		Name: "set_permissions", Doc: "Set what a user may configure, write and read in a virtual host.", Src: "modules/rabbitmq.py set_permissions", Do: setPermissions,
	},
	{
		Name: "set_policy", Doc: "Create or change a policy.", Src: "modules/rabbitmq.py set_policy", Do: setPolicy,
	},
	{
		Name: "set_upstream", Doc: "Create or change an upstream of federation.", Src: "modules/rabbitmq.py set_upstream", Do: setUpstream,
	},
	{
		Name: "set_user_tags", Doc: "Replace the tags of a user.", Src: "modules/rabbitmq.py set_user_tags", Do: setUserTags,
	},
	{
		Name: "start_app", Doc: "Start the broker in its running Erlang node.", Src: "modules/rabbitmq.py start_app", Do: command,
	},
	{
		Name: "status", Doc: "Return what rabbitmqctl says of the broker.", Src: "modules/rabbitmq.py status", Do: status,
	},
	{
		Name: "stop_app", Doc: "Stop the broker; its Erlang node goes on.", Src: "modules/rabbitmq.py stop_app", Do: command,
	},
	{
		Name: "upstream_exists", Doc: "Report whether an upstream of federation is there.", Src: "modules/rabbitmq.py upstream_exists", Do: upstreamExists,
	},
	{
		Name: "user_exists", Doc: "Report whether a user is there.", Src: "modules/rabbitmq.py user_exists", Do: userExists,
	},
	{
		Name: "vhost_exists", Doc: "Report whether a virtual host is there.", Src: "modules/rabbitmq.py vhost_exists", Do: vhostExists,
	},
}
