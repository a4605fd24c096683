package machine

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestTell: whoever waits for an image hears how long it has been in the making, and what its
// program said last; and nothing after it was made.
func TestTell(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var notes []string
		i := &Images{Note: func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }}
		last := &lastOutput{}
		stop := i.tell("debian-12", last, 20*time.Second)
		time.Sleep(30 * time.Second)
		_, _ = last.Write([]byte("I: downloading packages...\r\nprogress  10 %\rprogress  99 %\r\n"))
		time.Sleep(20 * time.Second)
		stop()
		time.Sleep(time.Minute)
		want := "still making the image of debian-12 (20s)|still making the image of debian-12 (40s): progress  99 %"
		if got := strings.Join(notes, "|"); got != want {
			t.Errorf("the notes are %q, want %q", got, want)
		}
	})
}

// TestLastOutput: of what a program prints, the end is kept.
func TestLastOutput(t *testing.T) {
	t.Parallel()
	o := &lastOutput{}
	for n := range 2000 {
		fmt.Fprintf(o, "line %d\n", n)
	}
	if text := o.String(); len(text) > keptOutput || !strings.HasSuffix(text, "\nline 1999") {
		t.Errorf("%d bytes are kept, which end with %q", len(text), text[max(0, len(text)-20):])
	}
}

// TestHintOf: a mirror that is not reached and a full disk have hints; other faults have none.
func TestHintOf(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Temporary failure resolving 'deb.debian.org'":                        "the mirror is not reached",
		"Curl error (6): Couldn't resolve host name for https://example.org/": "the mirror is not reached",
		"write: No space left on device":                                      "make room",
		"Unable to find a match: dnf":                                         "",
	} {
		got := hintOf("debian-12", text)
		if (want == "") != (got == "") || !strings.HasPrefix(got, want) {
			t.Errorf("%q: the hint is %q, want %q", text, got, want)
		}
	}
}

// TestNspawnNetwork: a machine with the network of this one cannot change it.
func TestNspawnNetwork(t *testing.T) {
	t.Parallel()
	for shared, own := range map[bool]bool{true: false, false: true} {
		options := nspawnNetwork(shared)
		if slices.Contains(options, "--private-network") != own || slices.Contains(options, "--capability=CAP_NET_ADMIN") != own {
			t.Errorf("with the network of this machine %v: %q", shared, options)
		}
	}
}
