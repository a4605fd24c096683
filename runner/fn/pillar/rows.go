package pillar

import "brine/internal/fun"

var specs = []fun.Spec{
	{
		Name: "show_pillar", Src: "runners/pillar.py show_pillar", VarKw: true, Fn: showPillar,
		Doc:  "Render the pillar of a minion.\nThe keywords saltenv and pillarenv select environments, others are grains.",
		Args: []fun.Arg{{Name: "minion", Type: fun.Str, Default: "*", Doc: "ID of the minion"}},
	},
	{
		Name: "show_top", Src: "runners/pillar.py show_top", Fn: showTop,
		Doc: "Return the merged top files of the pillar.",
		Args: []fun.Arg{
			{Name: "minion", Type: fun.Str, Doc: "ID of the minion whose grains the top files use"},
			{Name: "saltenv", Type: fun.Str, Default: "base", Doc: "environment"},
		},
	},
}
