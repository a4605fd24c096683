package natsbus

import (
	"strings"
	"testing"
)

func TestSubject(t *testing.T) {
	t.Parallel()
	for tag, want := range map[string]string{
		"deploy/done":            "brine.deploy.done",
		"salt/job/2026/ret/a.b":  "brine.salt.job.2026.ret.a%2Eb",
		"":                       "brine.%",
		"/a//":                   "brine.%.a.%.%",
		"*/>/ %":                 "brine.%2A.%3E.%20%25",
		"é\r\n":                  "brine.%C3%A9%0D%0A",
		"my_tag-1":               "brine.my_tag-1",
		"\xff\x00":               "brine.%FF%00",
		strings.Repeat("x/", 99): "brine" + strings.Repeat(".x", 99) + ".%",
	} {
		if got := Subject("brine", tag); got != want {
			t.Errorf("Subject(%q) = %s, want %s", tag, got, want)
		}
		if got, ok := Tag("brine", want); !ok || got != tag {
			t.Errorf("Tag(%s) = %q, %v, want %q", want, got, ok, tag)
		}
	}
	for _, bad := range []string{"", "brine", "brine.", "brine.a..b", "other.a", "brine.%2e", "brine.%4", "brine.a%", "brine.%41", "brine.%ZZ", "brine.a b", "brine.%%", "brine.é"} {
		if tag, ok := Tag("brine", bad); ok {
			t.Errorf("Tag(%q) = %q, want none", bad, tag)
		}
	}
}

func FuzzSubject(f *testing.F) {
	for _, s := range []string{"", "deploy/done", "/%2E/", "brine.a.%", "brine.%C3%A9", "a b*>\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		subject := Subject("brine", s)
		if got, ok := Tag("brine", subject); !ok || got != s {
			t.Errorf("Tag(%q) = %q, %v, want %q", subject, got, ok, s)
		}
		if strings.ContainsAny(subject, " \t\r\n*>\x00") || strings.Contains(subject, "..") {
			t.Errorf("%q has the subject %q", s, subject)
		}
		if tag, ok := Tag("brine", s); ok && Subject("brine", tag) != s {
			t.Errorf("%q is a subject of %q, whose is %q", s, tag, Subject("brine", tag))
		}
	})
}
