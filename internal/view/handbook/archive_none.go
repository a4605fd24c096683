//go:build !release

package handbook

// embedded is nil: this is not a release build.
var embedded []byte
