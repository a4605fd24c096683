package beacon

import (
	"fmt"
	"strings"
	"time"

	"brine/internal/core/schedule"
)

// The names of the units: the timer has all beacons look, and the path unit those that
// watch files.
const (
	timerUnit = "brine-beacon"
	pathUnit  = "brine-beacon-files"
)

// Starting are the units that start the others, and Started those; Units makes some of them.
var (
	Starting = []string{timerUnit + ".timer", pathUnit + ".path"}
	Started  = []string{timerUnit + ".service", pathUnit + ".service"}
)

// An Installation is what units are made of.
type Installation struct {
	Exe, Config, CacheDir string
	Every                 time.Duration
}

// hardened are the settings of the services: they look, and write nothing but what they
// keep, and what a refresh of packages writes.
const hardened = `NoNewPrivileges=yes
ProtectSystem=full
ProtectHome=read-only
ProtectKernelModules=yes
ProtectKernelTunables=yes
ProtectControlGroups=yes
RestrictSUIDSGID=yes
RestrictRealtime=yes
LockPersonality=yes
SystemCallArchitectures=native
Nice=10
TimeoutStartSec=600
`

// Units returns the texts of the units for the beacons of a machine, by name. The units
// have nothing of the beacons but the paths that are watched.
func (c *Config) Units(in Installation) (map[string]string, error) {
	const written = "# Written by brine beacon install; changes are lost.\n"
	service := func(what string, args ...string) string {
		words := []string{schedule.SystemdWord(in.Exe)}
		for _, a := range append([]string{"beacon", "run", "-c", in.Config, "--out=quiet"}, args...) {
			words = append(words, schedule.SystemdWord(a))
		}
		return written + "[Unit]\nDescription=" + what + "\n\n[Service]\nType=oneshot\nExecStart=" + strings.Join(words, " ") + "\n" +
			hardened + "ReadWritePaths=-" + strings.ReplaceAll(in.CacheDir, "%", "%%") + "\n"
	}
	seconds := int64(in.Every / time.Second)
	files := map[string]string{
		timerUnit + ".service": service("Beacons of brine"),
		timerUnit + ".timer": written + fmt.Sprintf("[Unit]\nDescription=Times of the beacons of brine\n\n[Timer]\nOnActiveSec=1s\nOnUnitActiveSec=%ds\nAccuracySec=1s\nUnit=%s.service\n\n[Install]\nWantedBy=timers.target\n",
			seconds, timerUnit),
	}
	names, paths := c.Watched()
	if len(paths) == 0 {
		return files, nil
	}
	var b strings.Builder
	b.WriteString(written + "[Unit]\nDescription=Files that beacons of brine watch\n\n[Path]\n")
	for _, p := range paths {
		if strings.ContainsAny(p, "\n\r") {
			return nil, fmt.Errorf("a unit cannot have the line break in the path %q", p)
		}
		b.WriteString("PathModified=" + strings.ReplaceAll(p, "%", "%%") + "\n")
	}
	b.WriteString("Unit=" + pathUnit + ".service\n\n[Install]\nWantedBy=paths.target\n")
	files[pathUnit+".path"] = b.String()
	// A file that is written all the time starts it all the time: the limit of systemd
	// would end the path unit.
	files[pathUnit+".service"] = strings.Replace(service("Beacons of brine that watch files", names...), "\n\n[Service]", "\nStartLimitIntervalSec=0\n\n[Service]", 1)
	return files, nil
}
