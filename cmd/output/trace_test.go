package output

import (
	"testing"
	"testing/synctest"
	"time"

	"brine/cmd/app"
)

// TestExporting: a collector that hangs does not keep an interrupted run until its
// second signal ends the process.
func TestExporting(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		i := &app.Interrupt{}
		ctx, end := exporting(i)
		defer end()
		time.Sleep(time.Minute)
		if err := ctx.Err(); err != nil {
			t.Errorf("without a signal: %v", err)
		}
		i.Drain.Store(true)
		time.Sleep(interruptedExport / 2)
		if err := ctx.Err(); err != nil {
			t.Errorf("right after a signal: %v", err)
		}
		time.Sleep(interruptedExport)
		if ctx.Err() == nil {
			t.Error("after a signal it goes on")
		}
	})
	var none *app.Interrupt
	_, end := exporting(none)
	end()
}
