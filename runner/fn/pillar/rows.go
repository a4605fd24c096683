package pillar

import "brine/internal/core/fun"

var specs = []fun.Spec{
	{
		Name: "show_pillar", Src: "runners/pillar.py show_pillar", Do: showPillar,
		Doc: "Render the pillar of a minion.\nFurther arguments are grains of the minion.",
	},
	{
		Name: "show_top", Src: "runners/pillar.py show_top", Do: showTop,
		Doc: "Return the merged top files of the pillar.",
	},
}
