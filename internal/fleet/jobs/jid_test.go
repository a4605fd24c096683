package jobs

import (
	"testing"
	"time"
)

func TestNextIsUniqueAndGrows(t *testing.T) {
	var j JIDs
	now := time.Date(2026, 11, 21, 9, 8, 7, 123456789, time.UTC)
	a, b := j.Next(now), j.Next(now)
	if a != "20261121090807123456" || b != "20261121090807123457" {
		t.Errorf("Next = %s, %s", a, b)
	}
	if !IsJID(a) || IsJID("2026112109080712345x") || IsJID("1") {
		t.Error("IsJID is wrong")
	}
}
