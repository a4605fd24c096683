// Package absent knows why brine lacks functions and modules of Salt 3006: the
// errors of a run, 'brine check' and the tables of docs/compatibility have their
// reasons from here. An agent has none, its controller shows them.
//
// salt.txt has the names of Salt's modules of the kinds without functions, made by
// the recorder in cmd/internal/reference/salt; reasons.txt is written by hand.
package absent

import "strings"

// The kinds of modules that have no functions of their own; the others are those of
// fun.Kind.Short.
const (
	Renderer   = "renderer"
	Pillar     = "pillar"
	SDB        = "sdb"
	Roster     = "roster"
	Returner   = "returner"
	Outputter  = "outputter"
	Grains     = "grains"
	Top        = "top"
	FileServer = "fileserver"
	Beacon     = "beacon"
	Matcher    = "matcher"
	Serializer = "serializer"
	LogHandler = "loghandler"
	Executor   = "executor"
	Cache      = "cache"
	Engine     = "engine"
	Thorium    = "thorium"
	Queue      = "queue"
	Auth       = "auth"
	Token      = "token"
	NetAPI     = "netapi"
	Proxy      = "proxy"
)

// Kinds are the kinds without functions.
func Kinds() []string {
	return []string{
		Renderer, Pillar, SDB, Roster, Returner, Outputter, Grains, Top, FileServer, Beacon, Matcher, Serializer,
		LogHandler, Executor, Cache, Engine, Thorium, Queue, Auth, Token, NetAPI, Proxy,
	}
}

// ReasonSuffix returns a reason as the end of an error's sentence: ": " and Why, and with
// it that Salt has what was asked for; "" where nothing is known.
func ReasonSuffix(kind, name string) string {
	why := Why(kind, name)
	if why == "" {
		return ""
	}
	return ": Salt has it, brine does not: " + why
}

// module returns the module of a function; the name itself where it has no dot.
func module(name string) string {
	mod, _, _ := strings.Cut(name, ".")
	return mod
}
