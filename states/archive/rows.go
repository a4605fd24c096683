package archive

import "brine/internal/core/fun"

var specs = []fun.Spec{
	{
		Name: "extracted", Do: extracted, Leaves: extractedLeaves, Src: "states/archive.py extracted",
		Doc: "Extract an archive unless its contents already exist.",
	},
}
