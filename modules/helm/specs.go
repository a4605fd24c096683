package helm

import "brine/internal/core/fun"

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "completion", Doc: "Return the script that completes command lines of helm in a shell.", Src: "modules/helm.py completion", Do: text[*completionArgs],
	},
	{
		Name: "create", Doc: "Create a directory with the files of a chart.", Src: "modules/helm.py create", Do: acts[*createArgs],
	},
	{
		Name: "dependency_build", Doc: "Fetch the dependencies of a chart as its lock file has them.", Src: "modules/helm.py dependency_build", Do: acts[*chartArgs],
	},
	{
		Name: "dependency_list", Doc: "List the dependencies of a chart.", Src: "modules/helm.py dependency_list", Do: text[*chartArgs],
	},
	{
		Name: "dependency_update", Doc: "Fetch the dependencies of a chart as the chart names them.", Src: "modules/helm.py dependency_update", Do: acts[*chartArgs],
	},
	{
		Name: "env", Doc: "Return the environment of helm.", Src: "modules/helm.py env", Do: text[*FlagArgs],
	},
	{
		Name: "get_all", Doc: "Return all of a release.", Src: "modules/helm.py get_all", Do: text[*releaseArgs],
	},
	{
		Name: "get_hooks", Doc: "Return the hooks of a release.", Src: "modules/helm.py get_hooks", Do: text[*releaseArgs],
	},
	{
		Name: "get_manifest", Doc: "Return the manifest of a release.", Src: "modules/helm.py get_manifest", Do: text[*releaseArgs],
	},
	{
		Name: "get_notes", Doc: "Return the notes of a release.", Src: "modules/helm.py get_notes", Do: text[*releaseArgs],
	},
	{
		Name: "get_values", Doc: "Return the values of a release.", Src: "modules/helm.py get_values", Do: data[*releaseArgs],
	},
	{
		Name: "help", Doc: "Return the help of a command of helm.", Src: "modules/helm.py help_", Do: text[*helpArgs],
	},
	{
		Name: "history", Doc: "Return the revisions of a release.", Src: "modules/helm.py history", Do: data[*releaseArgs],
	},
	{
		Name: "install", Doc: "Install a chart as a release.", Src: "modules/helm.py install", Do: acts[*installArgs],
	},
	{
		Name: "lint", Doc: "Examine a chart.", Src: "modules/helm.py lint", Do: acts[*lintArgs],
	},
	{
		Name: "list", Doc: "List the releases.", Src: "modules/helm.py list_", Do: data[*NamespaceArgs],
	},
	{
		Name: "package", Doc: "Pack a chart into an archive.", Src: "modules/helm.py package", Do: acts[*chartArgs],
	},
	{
		Name: "plugin_install", Doc: "Install a plugin of helm.", Src: "modules/helm.py plugin_install", Do: acts[*pathArgs],
	},
	{
		Name: "plugin_list", Doc: "List the plugins of helm.", Src: "modules/helm.py plugin_list", Do: text[*FlagArgs],
	},
	{
		Name: "plugin_uninstall", Doc: "Remove a plugin of helm.", Src: "modules/helm.py plugin_uninstall", Do: acts[*pluginArgs],
	},
	{
		Name: "plugin_update", Doc: "Update a plugin of helm.", Src: "modules/helm.py plugin_update", Do: acts[*pluginArgs],
	},
	{
		Name: "pull", Doc: "Download a chart.", Src: "modules/helm.py pull", Do: acts[*pullArgs],
	},
	{
		Name: "repo_add", Doc: "Add a repository of charts.", Src: "modules/helm.py repo_add", Do: acts[*repoAddArgs],
	},
	{
		Name: "repo_index", Doc: "Write the index of a directory of charts.", Src: "modules/helm.py repo_index", Do: acts[*repoIndexArgs],
	},
	{
		Name: "repo_list", Doc: "List the repositories of charts.", Src: "modules/helm.py repo_list", Do: data[*NamespaceArgs],
	},
	{
		Name: "repo_manage", Doc: "Add and remove repositories of charts.", Src: "modules/helm.py repo_manage", Do: repoManage,
	},
	{
		Name: "repo_remove", Doc: "Remove a repository of charts.", Src: "modules/helm.py repo_remove", Do: acts[*repoRemoveArgs],
	},
	{
		Name: "repo_update", Doc: "Read what the repositories of charts have.", Src: "modules/helm.py repo_update", Do: acts[*NamespaceArgs],
	},
	{
		Name: "rollback", Doc: "Take a release back to an earlier revision.", Src: "modules/helm.py rollback", Do: acts[*rollbackArgs],
	},
	{
		Name: "search_hub", Doc: "Search the public charts.", Src: "modules/helm.py search_hub", Do: data[*searchArgs],
	},
	{
		Name: "search_repo", Doc: "Search the charts of the repositories.", Src: "modules/helm.py search_repo", Do: data[*searchArgs],
	},
	{
		Name: "show_all", Doc: "Return all that a chart says of itself.", Src: "modules/helm.py show_all", Do: text[*chartArgs],
	},
	{
		Name: "show_chart", Doc: "Return the description of a chart.", Src: "modules/helm.py show_chart", Do: text[*chartArgs],
	},
	{
		Name: "show_readme", Doc: "Return the README of a chart.", Src: "modules/helm.py show_readme", Do: text[*chartArgs],
	},
	{
		Name: "show_values", Doc: "Return the default values of a chart.", Src: "modules/helm.py show_values", Do: text[*chartArgs],
	},
	{
		Name: "status", Doc: "Return the status of a release.", Src: "modules/helm.py status", Do: data[*statusArgs],
	},
	{
		Name: "template", Doc: "Render a chart without installing it.", Src: "modules/helm.py template", Do: text[*templateArgs],
	},
	{
		Name: "test", Doc: "Run the tests of a release.", Src: "modules/helm.py test", Do: text[*releaseArgs],
	},
	{
		Name: "uninstall", Doc: "Remove a release.", Src: "modules/helm.py uninstall", Do: acts[*statusArgs],
	},
	{
		Name: "upgrade", Doc: "Upgrade a release.", Src: "modules/helm.py upgrade", Do: acts[*installArgs],
	},
	{
		Name: "verify", Doc: "Check the signature of a packed chart.", Src: "modules/helm.py verify", Do: acts[*pathArgs],
	},
	{
		Name: "version", Doc: "Return the version of helm.", Src: "modules/helm.py version", Do: text[*FlagArgs],
	},
}
