//go:build release

package handbook

import _ "embed" // of the archive

//go:embed site.xz
var embedded []byte
