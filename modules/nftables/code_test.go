package nftables

import "testing"

// listed is what nft 1.0.6 --debug=netlink prints about a chain.
const listed = `ip t @__set0
	element 00000002  : 0 [end]
	element 00000004  : 0 [end]
ip t @__set1
	element 0000bb01  : 0 [end]
	element 00005000  : 0 [end]
ip t c 2
  [ ct load state => reg 1 ]
  [ bitwise reg 1 = ( reg 1 & 0x00000008 ) ^ 0x00000000 ]

ip t c 5 2
  [ ct load state => reg 1 ]
  [ lookup reg 1 set __set0 0x0 ]
  [ payload load 2b @ transport header + 2 => reg 1 ]
  [ lookup reg 1 set __set1 0x0 ]
  [ counter pkts 7 bytes 420 ]
  [ immediate reg 0 accept ]

table ip t {
	chain c { # handle 1
	}
}
`

// checked is what nft --check --debug=netlink prints about a rule.
const checked = `__set%d t 3 size 2
__set%d t 0
	element 00000004  : 0 [end]	element 00000002  : 0 [end]
__set%d t 3 size 2
__set%d t 0
	element 00005000  : 0 [end]	element 0000bb01  : 0 [end]
ip t c 
  [ ct load state => reg 1 ]
  [ lookup reg 1 set __set%d ]
  [ payload load 2b @ transport header + 2 => reg 1 ]
  [ lookup reg 1 set __set%d ]
  [ counter pkts 0 bytes 0 ]
  [ immediate reg 0 accept ]

`

func TestReadCode(t *testing.T) {
	t.Parallel()
	have := readCode(listed, "ip t c")
	want := readCode(checked, "ip t c")
	if len(have) != 2 || len(want) != 1 {
		t.Fatalf("have %q, want %q", have, want)
	}
	if have[0].handle != "2" || have[1].handle != "5" || want[0].handle != "" {
		t.Errorf("handles %q, %q, %q", have[0].handle, have[1].handle, want[0].handle)
	}
	if have[1].code != want[0].code {
		t.Errorf("codes differ:\n%s\n%s", have[1].code, want[0].code)
	}
	if have[0].code == want[0].code {
		t.Error("other rules have the same code")
	}
	if other := readCode(listed, "ip t d"); len(other) != 0 {
		t.Errorf("rules of another chain: %q", other)
	}
}

func FuzzReadCode(f *testing.F) {
	f.Add(listed, "ip t c")
	f.Add(checked, "ip t c")
	f.Add("\telement [end]\nip t c\n  [ set __", "ip")
	f.Fuzz(func(_ *testing.T, out, head string) { readCode(out, head) })
}
