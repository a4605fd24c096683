package helm

import "brine/internal/core/fun"

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "release_absent", Doc: "Make sure that a release is not installed.", Src: "states/helm.py release_absent", Do: releaseAbsent,
	},
	{
		Name: "release_present", Doc: "Install a release, or upgrade it.\n\nAn installed release is upgraded at every run.", Src: "states/helm.py release_present", Do: releasePresent, Always: true,
	},
	{
		Name: "repo_managed", Doc: "Make sure that repositories of charts are configured or not.", Src: "states/helm.py repo_managed", Do: repoManaged,
	},
	{
		Name: "repo_updated", Doc: "Read what the repositories of charts have.", Src: "states/helm.py repo_updated", Do: repoUpdated, Always: true,
	},
}
