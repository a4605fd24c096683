//go:build slim

// Command brine, built with the tag slim, is an agent: what "brine ssh" places
// on targets.
package main

import (
	"os"

	"brine/cmd/serve"
)

func main() { os.Exit(serve.Main()) }
