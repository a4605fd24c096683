//go:build !slim

package assembly

import (
	"sort"

	"brine/internal/fleet/returner"
	"brine/internal/fleet/returner/carbon"
	"brine/internal/fleet/returner/mail"
	"brine/internal/fleet/returner/memcache"
	"brine/internal/fleet/returner/plain"
	"brine/internal/fleet/returner/redisdb"
	"brine/internal/fleet/returner/sqldb"
	"brine/internal/fleet/returner/web"
	"brine/internal/fleet/returner/zabbix"
)

// Returners returns the returners of this build, alphabetically.
func Returners() []returner.Spec {
	specs := append(plain.Specs(), sqldb.Specs()...)
	specs = append(specs, web.Specs()...)
	specs = append(specs, mail.Specs()...)
	specs = append(specs, carbon.Spec(), memcache.Spec(), redisdb.Spec(), zabbix.Spec(), returner.Spec{
		Name: "multi_returner", Doc: "Hand returns to several returners: those of the option multi_returner.", Src: "returners/multi_returner.py",
	})
	sort.Slice(specs, func(i, j int) bool { return specs[i].Name < specs[j].Name })
	return specs
}
