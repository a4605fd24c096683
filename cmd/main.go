// Package cmd is brine's command line.
package cmd

// Main runs the command line of the process and returns the exit status.
func Main() int { return 0 }
