//go:build !slim

package assembly

import (
	"sort"

	"brine/internal/returner"
	"brine/internal/returner/carbon"
	"brine/internal/returner/mail"
	"brine/internal/returner/memcache"
	"brine/internal/returner/plain"
	"brine/internal/returner/redisdb"
	"brine/internal/returner/sqldb"
	"brine/internal/returner/web"
	"brine/internal/returner/zabbix"
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
