package systemd

// Parse runs what reads systemctl's output, for the fuzzer.
func Parse(text string) {
	parseUnits(text)
	parseShow(text)
}
