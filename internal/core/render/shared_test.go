package render_test

import (
	"errors"
	"testing"

	"brine/internal/core/render"
)

// TestOnce: what engines share is made once, and an error is not kept.
func TestOnce(t *testing.T) {
	t.Parallel()
	s, made := &render.Shared{}, 0
	fails := errors.New("not yet")
	get := func() (any, error) {
		if made++; made == 1 {
			return nil, fails
		}
		return made, nil
	}
	if _, err := s.Once("key", get); !errors.Is(err, fails) {
		t.Errorf("first: %v", err)
	}
	for range 2 {
		if v, err := s.Once("key", get); v != 2 || err != nil {
			t.Errorf("Once = %v, %v", v, err)
		}
	}
	if v, _ := (*render.Shared)(nil).Once("key", get); v != 3 {
		t.Errorf("without sharing: %v", v)
	}
}
