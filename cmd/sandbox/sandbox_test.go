package sandbox

import (
	"testing"

	"github.com/spf13/cobra"

	"brine/cmd/app"
	"brine/internal/core/python/wire"
	"brine/internal/core/render"
	"brine/internal/testkit/cmdtest"
)

// TestByHand: started by hand, without what another brine sends, both end with a status
// that is not 0; neither takes arguments.
func TestByHand(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		makes  func(*app.App) *cobra.Command
		status int
	}{render.PongoCommand: {NewPongo, 2}, wire.Starlark: {NewStarlark, 1}} {
		if status, out, errs := cmdtest.Run(t, nil, tt.makes, name); status != tt.status || out != "" {
			t.Errorf("%s: status %d, want %d, %q %q", name, status, tt.status, out, errs)
		}
		if status, _, errs := cmdtest.Run(t, nil, tt.makes, name, "x"); status == 0 || errs == "" {
			t.Errorf("%s x: status %d, %q", name, status, errs)
		}
	}
}
