package ui

import (
	"errors"
	"net/http"

	"brine/internal/view/chain"
)

// apiPutChain makes a chain of a text, or puts the text in the place of a version that the
// caller has read.
func (s *Server) apiPutChain(c *apiCall, in *putChain) (*ChainDetail, error) {
	name := c.r.PathValue("name")
	st, _, old, err := s.readChain(c.r)
	switch {
	case errors.Is(err, ErrNotFound) && in.Version == "":
		if _, err = chain.Parse(name, name+".yml", []byte(in.Text)); err == nil {
			c.status = http.StatusCreated
			err = s.create(c.r, name, []byte(in.Text))
		}
	case err != nil:
	case in.Version == "":
		return nil, &apiError{kind: conflict, detail: "There is a chain " + name + " already.", hint: "Send the version that you have read, to change it."}
	case in.Version != old.Version:
		err = errChanged
	default:
		err = writeChain(st, old, []byte(in.Text), (*chainStore).write)
	}
	if err != nil {
		return nil, err
	}
	return s.apiChain(c, nil)
}

func (s *Server) apiDeleteChain(c *apiCall, in *deleteChain) (*nothing, error) {
	st, _, view, err := s.readChain(c.r)
	if err == nil && in.Version != "" && in.Version != view.Version {
		err = errChanged
	}
	if err != nil {
		return nil, err
	}
	return nil, s.deleteChain(c.r, st, view)
}
