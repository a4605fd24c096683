package summary

import (
	"slices"
	"strings"
	"testing"
)

func TestFoldIDs(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ ids, want string }{
		{"web1", "web1"},
		{"web2 web1 web3", "web[1-3]"},
		{"web9 web10 web11 web8", "web[8-11]"},
		{"web01 web02 web04", "web[01-02],web04"},
		{"web1.example web2.example db", "db,web[1-2].example"},
		{"web1.a web2.b", "web1.a,web2.b"},
		{"a b", "a,b"},
		{"n99999999999999999999 n99999999999999999998", "n99999999999999999998,n99999999999999999999"},
		{"web1 web01", "web01,web1"},
	} {
		ids := strings.Fields(tt.ids)
		slices.SortStableFunc(ids, CompareIDs)
		if got := FoldIDs(ids); got != tt.want {
			t.Errorf("FoldIDs(%q) = %q, want %q", tt.ids, got, tt.want)
		}
	}
}

func FuzzFoldIDs(f *testing.F) {
	f.Add("web1 web2 db")
	f.Add("0 00 1 a1b2")
	f.Fuzz(func(t *testing.T, s string) {
		ids := strings.Fields(s)
		slices.SortStableFunc(ids, CompareIDs)
		_ = FoldIDs(ids)
		for _, id := range ids {
			if h, n, tail := splitID(id); h+n+tail != id {
				t.Errorf("splitID(%q) = %q %q %q", id, h, n, tail)
			}
		}
	})
}

func TestFoldSome(t *testing.T) {
	t.Parallel()
	ids := strings.Fields("web9 web1 web2 web3 db1 db3 db2 x y z")
	for _, tt := range []struct {
		most int
		want string
	}{{9, "db[1-3],web[1-3],web9,x,y,z"}, {2, "db[1-3],web[1-3] and 4 more"}, {1, "db[1-3] and 7 more"}} {
		if got := FoldSome(ids, tt.most); got != tt.want {
			t.Errorf("FoldSome(%d) = %q, want %q", tt.most, got, tt.want)
		}
	}
}
