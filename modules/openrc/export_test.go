package openrc

// Parse runs what reads rc-update's output, for the fuzzer.
func Parse(text string) { parseTable(text) }
