package main

import (
	"debug/buildinfo"
	"io"
	"strings"
	"time"

	"github.com/CycloneDX/cyclonedx-go"
)

// components writes the list of components: the modules that the binaries say they
// were built from.
func (r *release) components() error {
	seen := map[string]bool{}
	var list []cyclonedx.Component
	for _, b := range r.bins {
		info, err := buildinfo.ReadFile(b.path)
		if err != nil {
			return err
		}
		add := func(name, version, purl string) {
			if seen[name+"@"+version] {
				return
			}
			seen[name+"@"+version] = true
			list = append(list, cyclonedx.Component{BOMRef: purl, Type: cyclonedx.ComponentTypeLibrary, Name: name, Version: version, PackageURL: purl})
		}
		goVersion := strings.TrimPrefix(info.GoVersion, "go")
		add("std", goVersion, "pkg:golang/std@"+goVersion)
		for _, m := range info.Deps {
			if m.Replace != nil {
				m = m.Replace
			}
			add(m.Path, m.Version, "pkg:golang/"+m.Path+"@"+m.Version)
		}
	}
	bom := cyclonedx.NewBOM()
	bom.Metadata = &cyclonedx.Metadata{
		Timestamp: r.date.Format(time.RFC3339),
		Component: &cyclonedx.Component{
			BOMRef: "brine", Type: cyclonedx.ComponentTypeApplication, Name: "brine", Version: r.version,
			Licenses: &cyclonedx.Licenses{{License: &cyclonedx.License{ID: "Apache-2.0"}}},
		},
	}
	bom.Components = &list
	return r.create("brine-"+r.version+".cdx.json", func(w io.Writer) error {
		return cyclonedx.NewBOMEncoder(w, cyclonedx.BOMFileFormatJSON).SetPretty(true).Encode(bom)
	})
}
