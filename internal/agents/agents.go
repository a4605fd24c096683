// Package agents has the agents that a release build of brine brings for other
// platforms.
//
// "make release" fills the directory images (see "brine agent build --embed")
// and builds with the tag release; without the tag there are none.
package agents
