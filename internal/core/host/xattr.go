package host

import "strings"

// isKept reports whether an extended attribute is one of those that belong to a file as
// its owner and mode do: ACLs, those of users, and the capabilities of a program.
func isKept(name string) bool {
	switch name {
	case "system.posix_acl_access", "system.posix_acl_default", "security.capability":
		return true
	}
	return strings.HasPrefix(name, "user.")
}

// Xattrs returns the ACLs, the attributes of users and the capabilities that a file or
// directory has, by the names of extended attributes; none where the system or the file
// system has no such thing. A link at p is not followed.
func Xattrs(h Host, p string) (map[string]string, error) {
	switch x := h.(type) {
	case forced:
		return Xattrs(x.Host, p)
	case interface {
		Xattrs(p string) (map[string]string, error)
	}:
		return x.Xattrs(p)
	}
	return nil, nil
}

// SetXattrs has a file or directory have those extended attributes of [Xattrs], and no
// others of them.
func SetXattrs(h Host, p string, want map[string]string) error {
	switch x := h.(type) {
	case forced:
		return SetXattrs(x.Host, p, want)
	case interface {
		SetXattrs(p string, want map[string]string) error
	}:
		return x.SetXattrs(p, want)
	}
	return nil
}
