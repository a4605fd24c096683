package module

import "brine/internal/core/fun"

var specs = []fun.Spec{
	{
		Name: "run", Always: true, Hands: true, Do: run, Src: "states/module.py run",
		Doc: "Call execution functions.\n" +
			"Old style: name is the function and further arguments are passed to it; args and kwargs are for those that it does not declare,\n" +
			"m_name, m_names, m_fun, m_state and m_saltenv for those that the state system uses itself.\n" +
			"New style: each argument is a function with a list of arguments.",
	},
	{
		Name: "wait", Hands: true, Do: idle, Src: "states/module.py wait", Doc: "Call an execution function only if a watched state changed.\nFurther arguments are those of run.",
	},
	{
		Name: "watch", Hands: true, Do: idle, Src: "states/module.py watch", Doc: "Call an execution function only if a watched state changed; same as wait.\nFurther arguments are those of run.",
	},
}
