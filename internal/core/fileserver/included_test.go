package fileserver_test

import (
	"testing"

	"brine/internal/core/fileserver"
	"brine/internal/py/value"
)

// TestIncluded: globs and regular expressions say which files are copied.
func TestIncluded(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		path             string
		include, exclude value.Value
		want             bool
	}{
		{"a.log", nil, nil, true},
		{"a.log", "*.log", nil, true},
		{"a.txt", "*.log", nil, false},
		{"a.log", nil, "*.log", false},
		{"a.log", "*.log", "a*", false},
		{"dir/a.log", "E@a\\.log$", nil, true},
		{"x", value.NewList("y", "x"), value.NewList("z"), true},
	} {
		if got, err := fileserver.Included(tt.path, tt.include, tt.exclude); got != tt.want || err != nil {
			t.Errorf("Included(%q, %v, %v) = %v, %v", tt.path, tt.include, tt.exclude, got, err)
		}
	}
	if _, err := fileserver.Included("x", "E@(", nil); err == nil {
		t.Error("a wrong pattern is no error")
	}
}
