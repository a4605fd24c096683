//go:build linux

package assembly

import "brine/internal/value"

// jailSources are files on the file server.
var jailSources = map[string]string{
	"app.conf": "port = 8080\n", "tree/one": "1\n", "tree/sub/two": "2\n",
}

// jailCommands make what the arguments of linkArgs name.
var jailCommands = []string{
	"mkdir -p /srv/in && cd /srv/in && mkdir -p sub && echo one >one && echo two >sub/shadow && tar cf /srv/a.tar one sub && zip -qr /srv/a.zip one sub",
	"git init -q -b main /srv/repo && cd /srv/repo && git config user.email a@b && git config user.name a && echo 1 >one && git add . && git commit -qm one",
}

// linkArgs are arguments of functions whose example does nothing in a jail. The path
// that is tried is set after them.
var linkArgs = map[string]func() *value.Map{}

// notInJail are modules, or functions with an argument, of states that do nothing
// with a path in a jail, and why.
var notInJail = map[string]string{}
