package fleet

import (
	"testing"

	"brine/internal/core/fun"
)

// TestUnlisted is where an id of a list is said to be missing.
func TestUnlisted(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		fleets []string
		want   string
	}{
		{nil, "web9 is not in the roster"},
		{[]string{""}, "web9 is not in the roster"},
		{[]string{"lab"}, "web9 is not in the fleet lab"},
		{[]string{"", "lab"}, "web9 is neither in the roster nor in the fleet lab"},
	} {
		if got := (&fun.UnlistedError{ID: "web9", Fleets: tt.fleets}).Error(); got != tt.want {
			t.Errorf("%q: %s, want %s", tt.fleets, got, tt.want)
		}
	}
	f := &Fleet{Providers: []Provider{&machines{ids: []string{"web1"}}}}
	ids, unlisted, err := f.Listed(t.Context(), fun.Job{Tgt: "web1,web9", TgtType: "list"})
	if err != nil || len(ids) != 1 || len(unlisted) != 1 || unlisted[0].Error() != `web9 is not in the roster (did you mean "web1"?)` {
		t.Errorf("listed are %q, not listed %v, %v", ids, unlisted, err)
	}
}
