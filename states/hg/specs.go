package hg

import "brine/internal/core/fun"

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "latest", Doc: "Make sure that a clone is at the newest revision, or at a given one.", Src: "states/hg.py latest", Do: latest,
	},
}
