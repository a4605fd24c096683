//go:build !slim

package assembly

import (
	"slices"

	"brine/internal/core/absent"
	"brine/internal/core/beacon"
	"brine/internal/core/config"
	"brine/internal/core/grains"
	"brine/internal/core/python"
	"brine/internal/core/render"
	"brine/internal/core/roster"
	"brine/internal/core/sdb"
	"brine/internal/core/target"
	"brine/internal/fleet/pillar"
	"brine/internal/py/serial"
	"brine/outputter"
)

// OffersPython reports whether the Python modules of a tree can import a module
// of Salt, such as "salt.utils.files".
func OffersPython(module string) bool { return python.Offers(module) }

// Offers returns the modules of a kind without functions that this build has, one of
// [absent.Kinds], by all their names.
func Offers(kind string) []string {
	switch kind {
	case absent.Renderer:
		return render.Renderers()
	case absent.Pillar:
		return pillar.ExtNames()
	case absent.SDB:
		return sdb.Drivers()
	case absent.Roster:
		return roster.Kinds()
	case absent.Returner:
		var names []string
		for _, s := range Returners() {
			names = append(append(names, s.Name), s.Aliases...)
		}
		slices.Sort(names)
		return slices.Compact(names)
	case absent.Outputter:
		return outputter.Names()
	case absent.Grains:
		return grains.SaltModules()
	case absent.Top:
		return pillar.TopNames()
	case absent.FileServer:
		return config.Backends()
	case absent.Beacon:
		return beacon.Names()
	case absent.Matcher:
		return without(target.Types(), "range")
	case absent.Serializer:
		return without(serial.Names(), "tomlmod") // the name of Salt's file of toml
	case absent.Executor:
		return []string{"direct_call"}
	case absent.Cache:
		return []string{"localfs"}
	case absent.NetAPI:
		return []string{"rest_cherrypy", "rest_tornado"}
	}
	return nil
}

func without(names []string, name string) []string {
	return slices.DeleteFunc(names, func(n string) bool { return n == name })
}
