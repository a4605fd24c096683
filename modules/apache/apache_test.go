package apache

import (
	"strings"
	"testing"

	"brine/internal/py/value"
)

func TestParseStatus(t *testing.T) {
	got := value.Repr(parseStatus("Total Accesses: 5\nCPULoad: .5\nServer: x\nScoreboard: __W.@\nbroken\n"))
	if want := "'Total Accesses': 5, 'CPULoad': 0.5, 'Server': 'x'}"; !strings.HasSuffix(got, want) || !strings.Contains(got, "{'_': 2, ") || !strings.Contains(got, "'@': 1") {
		t.Errorf("parseStatus = %s", got)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("*:80 is a NameVirtualHost\n default server a b\n port 80 c d e")
	f.Add("Scoreboard: _W\nx: 1")
	f.Fuzz(func(_ *testing.T, s string) {
		_ = parseVhosts(strings.Split(s, "\n"))
		_ = parseStatus(s)
	})
}
