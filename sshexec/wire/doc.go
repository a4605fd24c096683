// Package wire is what controller and agent speak over one channel: frames of
// bounded length, and above them streams that both ends open.
//
// A [Mux] is one end. [Greet] exchanges the hellos and starts it. A stream is a
// named request with a head (a value), bytes either way under credit, and an
// end either way, which carries an error or a closing value. [Mux.Call] is a
// stream whose answer is one value; [Mux.Note] is a message without an answer.
//
// The peer is not trusted. Frames, streams, what is buffered and what waits to
// be written are bounded; a peer that exceeds what it was granted, or is silent
// for three heartbeats, ends the Mux, and with it every stream, with an error
// that says so. Nothing that a peer sends makes this end wait for it.
package wire

// The channel, both ways:
//
//	magic, then frames: length uint32 | type uint8 | stream uint32 | payload
//
// The magic holds a NUL, which no shell start file prints, and ends in CR LF,
// which a terminal in between would change. Big endian throughout; length is
// that of the payload.
//
//	hello   stream 0: a map: proto, window, frame and what the end says of itself
//	open    flags (1: no body follows) | length of method uint8 | method | head
//	data    bytes; as many as the receiver granted
//	credit  uint32: so many more bytes may come
//	end     code uint8 | text, or for code 0 the closing value or nothing
//	cancel  text: the stream is over for both
//	note    stream 0: length of name uint8 | name | value
//	ping    stream 0: nothing; answered by pong
//	ack     stream 0: uint64: so many bytes of frames were received; see resume.go
//	bye     stream 0: the channel is closed, and no other link will carry it
//
// Values have an encoding of their own (value.go): JSON would turn integer keys
// into text and lose bytes, tuples and dates. The controller's streams have odd
// numbers, the agent's even ones, each higher than the one before. A frame for
// a stream that is over is dropped: it was under way when the stream ended.
