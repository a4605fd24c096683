package jobs

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// kept is a record that keeps the last return.
type kept struct {
	Nothing
	ret fun.Return
}

func (k *kept) Return(ret fun.Return) error {
	k.ret = ret
	return nil
}

// TestMaskedError: why there is no return has no secrets, and is still that error.
func TestMaskedError(t *testing.T) {
	t.Parallel()
	k := &kept{}
	mask := func(_ string, v value.Value) value.Value {
		if s, ok := v.(string); ok {
			return strings.ReplaceAll(s, "hunter2", "XXX")
		}
		return v
	}
	err := fmt.Errorf("sudo said hunter2: %w", fun.ErrStopped)
	if err := Masked(k, mask).Return(fun.Return{ID: "web1", Stage: fun.Lost, Err: err}); err != nil {
		t.Fatal(err)
	}
	if got := k.ret.Err; strings.Contains(got.Error(), "hunter2") || !errors.Is(got, fun.ErrStopped) {
		t.Errorf("Err = %v", got)
	}
}
