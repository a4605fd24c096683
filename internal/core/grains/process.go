package grains

import (
	"crypto/sha256"
	"encoding/binary"
	"path"
	"strings"

	"brine/internal/py/value"
)

func (c *collector) id() *value.Map { return value.MapOf("id", c.minionID()) }

func (c *collector) minionID() string {
	if c.id_ != "" {
		return c.id_
	}
	return c.opts.Str("id")
}

// serverID gives a number made of the id, for what wants numbers of machines.
func (c *collector) serverID() *value.Map {
	sum := sha256.Sum256([]byte(c.minionID()))
	// The digest as one big number, modulo 2**31.
	return value.MapOf("server_id", int64(binary.BigEndian.Uint32(sum[28:])&0x7fffffff))
}

func (c *collector) master() *value.Map {
	v, ok := c.opts.Get("master")
	if !ok {
		v = ""
	}
	return value.MapOf("master", v)
}

func (c *collector) saltVersion() *value.Map {
	return value.MapOf("saltversion", SaltVersion, "saltversioninfo", value.NewList(int64(saltVersionMajor), int64(saltVersionMinor)))
}

// saltPath gives the directory of the program, which is all there is of brine.
func (c *collector) saltPath() *value.Map {
	if c.exe == "" {
		return nil
	}
	return value.MapOf("saltpath", path.Dir(c.exe))
}

// python gives the version of Python that Salt 3006.0 brings, whose semantics
// templates have here too: trees choose package names by it. The executable is
// the machine's own python3, where there is one.
func (c *collector) python() *value.Map {
	m := value.MapOf("pythonversion", value.NewList(int64(3), int64(10), int64(11), "final", int64(0)))
	if p := c.which("python3"); p != "" {
		m.Set("pythonexecutable", p)
	}
	return m
}

func (c *collector) path() *value.Map {
	p, _ := c.getenv("PATH")
	p = strings.TrimSpace(p)
	return value.MapOf("path", p, "systempath", value.Strings(strings.Split(p, ":")...))
}

func (c *collector) shell() *value.Map {
	s, ok := c.getenv("SHELL")
	if !ok {
		s = "/bin/sh"
	}
	return value.MapOf("shell", s)
}

func (c *collector) cwd() *value.Map {
	d, err := c.h.Getwd()
	if err != nil {
		return nil
	}
	return value.MapOf("cwd", d)
}

func (c *collector) pid() *value.Map { return value.MapOf("pid", int64(c.h.Getpid())) }

func (c *collector) user() *value.Map {
	uid := c.h.Geteuid()
	m := value.MapOf("uid", int64(uid))
	if a, err := c.h.LookupUID(uid); err == nil {
		m.Set("username", a.Name)
	}
	return m
}

func (c *collector) group() *value.Map {
	gid := c.h.Getegid()
	m := value.MapOf("gid", int64(gid))
	if g, err := c.h.LookupGID(gid); err == nil {
		m.Set("groupname", g.Name)
	}
	return m
}

// locale gives language, encodings and time zone.
func (c *collector) locale() *value.Map {
	zone, _ := c.h.Now().Zone()
	lang, enc := c.language()
	return value.MapOf("locale_info", value.MapOf("defaultlanguage", lang, "defaultencoding", enc, "detectedencoding", "utf-8", "timezone", zone))
}

// language returns what Python's locale.getdefaultlocale makes of the
// environment: None for the C locale, "unknown" for names that are none.
func (c *collector) language() (lang, enc value.Value) {
	name := "C"
	for _, v := range []string{"LC_ALL", "LC_CTYPE", "LANG", "LANGUAGE"} {
		if s, _ := c.getenv(v); s != "" {
			if v == "LANGUAGE" {
				s, _, _ = strings.Cut(s, ":")
			}
			name = s
			break
		}
	}
	return parseLocale(name)
}

func parseLocale(name string) (lang, enc value.Value) {
	base, mod, _ := strings.Cut(name, "@")
	l, e, hasEnc := strings.Cut(base, ".")
	if l == "C" || l == "POSIX" {
		if !hasEnc || encodingName(e) != "UTF-8" {
			return nil, nil
		}
		l = "en_US" // Python's alias of C.UTF-8
	}
	switch {
	case hasEnc:
		return l, encodingName(e)
	case mod == "euro":
		return l, "ISO8859-15"
	case len(l) == 5 && l[2] == '_':
		return l, "ISO8859-1"
	}
	return "unknown", "unknown"
}

// encodingName returns an encoding as Python's locale module writes it.
func encodingName(e string) string {
	key := strings.ToLower(strings.NewReplacer("-", "", "_", "").Replace(e))
	switch {
	case key == "utf8":
		return "UTF-8"
	case strings.HasPrefix(key, "iso8859") && len(key) > len("iso8859"):
		return "ISO8859-" + key[len("iso8859"):]
	case key == "koi8r":
		return "KOI8-R"
	case key == "koi8u":
		return "KOI8-U"
	}
	return e
}
