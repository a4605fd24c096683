// Package agents contains the agents that are built into brine.
//
// "make build" and "make release" fill the directory images (see "brine agent
// build --embed") and build with the tag release; without the tag there are none.
package agents
