package sysv

// Parse runs what reads chkconfig's output, for the fuzzer.
func Parse(text string) { parseLevels(text) }
