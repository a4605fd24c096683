package trace

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"strings"
	"time"
)

// A message is one of OTLP, which is sent as Protocol Buffers or as JSON. Only what
// traces need of either encoding is here.
type message []field

// A field has its number, its name in JSON, and a string, an ID ([]byte), a time,
// a number (int), a message or several.
type field struct {
	number int
	name   string
	value  any
}

// The wire types of Protocol Buffers.
const (
	varint  = 0
	fixed64 = 1
	bytesOf = 2
)

func (m message) protobuf(b []byte) []byte {
	tag := func(f field, wire int) { b = binary.AppendUvarint(b, uint64(f.number)<<3|uint64(wire)) }
	text := func(f field, s []byte) {
		tag(f, bytesOf)
		b = append(binary.AppendUvarint(b, uint64(len(s))), s...)
	}
	for _, f := range m {
		switch v := f.value.(type) {
		case string:
			text(f, []byte(v))
		case []byte:
			text(f, v)
		case int:
			tag(f, varint)
			b = binary.AppendUvarint(b, uint64(v))
		case time.Time:
			tag(f, fixed64)
			b = binary.LittleEndian.AppendUint64(b, uint64(v.UnixNano()))
		case message:
			text(f, v.protobuf(nil))
		case []message:
			for _, x := range v {
				text(f, x.protobuf(nil))
			}
		}
	}
	return b
}

// json writes the message as OTLP has JSON: IDs in hexadecimal, times as strings,
// and enumerations as numbers.
func (m message) json(b []byte) []byte {
	b = append(b, '{')
	for i, f := range m {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(strconv.AppendQuote(b, f.name), ':')
		switch v := f.value.(type) {
		case string:
			s, err := json.Marshal(v)
			if err != nil { // no string fails; an empty one keeps the rest whole
				s = []byte(`""`)
			}
			b = append(b, s...)
		case []byte:
			b = strconv.AppendQuote(b, hex.EncodeToString(v))
		case int:
			b = strconv.AppendInt(b, int64(v), 10)
		case time.Time:
			b = strconv.AppendQuote(b, strconv.FormatInt(v.UnixNano(), 10))
		case message:
			b = v.json(b)
		case []message:
			b = append(b, '[')
			for k, x := range v {
				if k > 0 {
					b = append(b, ',')
				}
				b = x.json(b)
			}
			b = append(b, ']')
		}
	}
	return append(b, '}')
}

// An attr is an attribute, whose value is text.
type attr struct{ key, value string }

func attributes(all []attr) []message {
	var out []message
	for _, a := range all {
		if a.value != "" {
			out = append(out, message{{1, "key", valid(a.key)}, {2, "value", message{{1, "stringValue", valid(a.value)}}}})
		}
	}
	return out
}

// maxText bounds a text of a span, in bytes.
const maxText = 4 << 10

// valid is text as Protocol Buffers takes it, of bounded length.
func valid(s string) string {
	if len(s) > maxText {
		s = s[:maxText]
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

// request is an ExportTraceServiceRequest.
func (e *Exporter) request(spans []message) message {
	return message{{1, "resourceSpans", []message{{
		{1, "resource", message{{1, "attributes", attributes(e.resource)}}},
		{2, "scopeSpans", []message{{
			{1, "scope", message{{1, "name", "brine"}}},
			{2, "spans", spans},
		}}},
	}}}}
}

// The numbers of OTLP's enumerations.
const (
	kindInternal = 1
	kindClient   = 3
	statusError  = 2
)

// span is a Span of OTLP: that of spans[i], whose ID is ids[i].
func (e *Exporter) span(s *Span, ids [][8]byte, i int) message {
	m := message{{1, "traceId", e.trace[:]}, {2, "spanId", ids[i][:]}}
	switch {
	case s.Parent >= 0 && s.Parent < len(ids):
		m = append(m, field{4, "parentSpanId", ids[s.Parent][:]})
	case s.Parent < 0 && e.parent != [8]byte{}:
		m = append(m, field{4, "parentSpanId", e.parent[:]})
	}
	kind := kindInternal
	if s.Kind == Host {
		kind = kindClient
	}
	m = append(m, field{5, "name", valid(s.Name)}, field{6, "kind", kind}, field{7, "startTimeUnixNano", s.Start}, field{8, "endTimeUnixNano", s.End},
		field{9, "attributes", attributes([]attr{
			{"brine.kind", s.Kind}, {"brine.jid", s.JID}, {"brine.host", s.Host}, {"brine.step", s.Step}, {"brine.fun", s.Fun}, {"brine.sls", s.SLS}, {"brine.status", s.Status},
		})})
	if s.Failed {
		status := message{{3, "code", statusError}}
		if s.Reason != "" {
			status = message{{2, "message", valid(s.Reason)}, {3, "code", statusError}}
		}
		m = append(m, field{15, "status", status})
	}
	return m
}
