package lsp

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strconv"
	"strings"
	"sync"
)

// A stream frames messages by Content-Length, as the base protocol has it. A
// message that is too large, or no JSON object, is skipped.
type stream struct {
	r   *bufio.Reader
	log *slog.Logger

	mu sync.Mutex
	w  io.Writer
}

func newStream(r io.Reader, w io.Writer, log *slog.Logger) *stream {
	return &stream{r: bufio.NewReader(r), w: w, log: log}
}

// WriteObject writes a message.
func (s *stream) WriteObject(obj any) error {
	body, err := json.Marshal(obj)
	if err != nil {
		return fmt.Errorf("encode a message: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err = s.w.Write(append([]byte("Content-Length: "+strconv.Itoa(len(body))+"\r\n\r\n"), body...))
	return err
}

// Limits of a message's header.
const (
	maxHeaderLine = 1 << 10
	maxHeaders    = 16
)

var errHeader = errors.New("invalid header of a message")

// ReadObject reads the next message that is valid.
func (s *stream) ReadObject(v any) error {
	for {
		n, err := s.header()
		if err != nil {
			return err
		}
		if n > maxMessage {
			s.log.Warn("message skipped: it is too large", "bytes", n)
			if _, err := io.CopyN(io.Discard, s.r, n); err != nil {
				return err
			}
			continue
		}
		body, err := io.ReadAll(io.LimitReader(s.r, n)) // grows with what comes, not with what was announced
		if err != nil {
			return err
		}
		if int64(len(body)) < n {
			return io.ErrUnexpectedEOF
		}
		if err := json.Unmarshal(body, v); err != nil {
			s.log.Warn("message skipped: it is invalid", "err", err)
			continue
		}
		return nil
	}
}

// header reads the header of a message and returns the length of its body.
func (s *stream) header() (int64, error) {
	length := int64(-1)
	for range maxHeaders {
		line, err := s.headerLine()
		if err != nil {
			return 0, err
		}
		if line == "" {
			if length < 0 {
				return 0, errHeader
			}
			return length, nil
		}
		name, val, ok := strings.Cut(line, ":")
		if !ok {
			return 0, errHeader
		}
		if strings.EqualFold(strings.TrimSpace(name), "Content-Length") {
			if length, err = strconv.ParseInt(strings.TrimSpace(val), 10, 64); err != nil || length < 0 {
				return 0, errHeader
			}
		}
	}
	return 0, errHeader
}

func (s *stream) headerLine() (string, error) {
	var line []byte
	for len(line) < maxHeaderLine {
		c, err := s.r.ReadByte()
		if err != nil {
			return "", err
		}
		if c == '\n' {
			return strings.TrimSuffix(string(line), "\r"), nil
		}
		line = append(line, c)
	}
	return "", errHeader
}

// Close does nothing: the streams belong to the caller.
func (s *stream) Close() error { return nil }
