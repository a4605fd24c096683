package debconf

import "brine/internal/core/fun"

var specs = []fun.Spec{
	{
		Name: "set", Do: set, Src: "states/debconfmod.py set",
		Doc: "Answer questions of a package.\nThis sets what debconf knows. A package that is installed already has to be configured again to see it: dpkg-reconfigure.",
	},
	{
		Name: "set_file", Do: setFile, Src: "states/debconfmod.py set_file", Always: true,
		Doc: "Set the answers that a file has.\nThe file has lines as debconf-get-selections prints them: package, question, type, value. The state does not report changes.",
	},
}
