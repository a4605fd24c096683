// Types type-checks the program and all that it imports as they are on other systems. It
// finds what a build for them would find, but for what only an assembler or a linker sees,
// in a tenth of its time: releases are built for real.
//
// usage: go run -C .ci/types . [OS...] (default: darwin freebsd)
package main

import (
	"fmt"
	"os"

	"golang.org/x/tools/go/packages"
)

func main() {
	systems := os.Args[1:]
	if len(systems) == 0 {
		systems = []string{"darwin", "freebsd"}
	}
	bad := false
	for _, system := range systems {
		n, err := check(system)
		switch {
		case err != nil:
			fmt.Fprintf(os.Stderr, "types: %s: %v\n", system, err)
			bad = true
		case n == 0: // whatever was loaded, it was not the program
			fmt.Fprintf(os.Stderr, "types: %s: no package was looked at\n", system)
			bad = true
		case n > 0:
			fmt.Printf("types: %d packages for %s\n", n, system)
		default:
			bad = true
		}
	}
	if bad {
		os.Exit(1)
	}
}

// check type-checks the program for a system and returns how many packages that were; -1
// where it has faults, which are printed.
func check(system string) (int, error) {
	all, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedImports | packages.NeedDeps | packages.NeedTypes | packages.NeedSyntax | packages.NeedTypesInfo,
		Dir:  "../..",
		Env:  append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOFLAGS=-mod=readonly"),
	}, ".")
	if err != nil {
		return 0, err
	}
	n, faults := 0, map[string]bool{}
	packages.Visit(all, nil, func(p *packages.Package) {
		n++
		for _, e := range p.Errors {
			if text := e.Error(); !faults[text] {
				faults[text] = true
				fmt.Fprintf(os.Stderr, "%s: %s\n", system, text)
			}
		}
	})
	if len(faults) > 0 {
		return -1, nil
	}
	return n, nil
}
