//go:build !slim

// Command brine runs Salt's states and orchestrations without Salt.
package main

import (
	"os"

	"brine/cmd"
)

func main() { os.Exit(cmd.Main()) }
