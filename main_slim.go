//go:build slim

// Command brine, built with the tag slim, is an agent: what "brine ssh" places
// on targets.
//
// It starts for every contact, and reads no limits of a container for that: the
// number of CPUs is that of the machine.
//
//go:debug containermaxprocs=0
//go:debug updatemaxprocs=0
package main

import (
	"os"

	"brine/cmd/serve"
)

func main() { os.Exit(serve.Main()) }
