package progress

// A list is things in order, each with its link in it. All that changes it takes
// the same time whatever its length.
type list[T any] struct {
	front, back *link[T]
	len         int
}

// A link is the place of a thing in a list; it is in one list at most.
type link[T any] struct {
	of         T
	prev, next *link[T]
}

func (l *list[T]) add(x *link[T]) {
	x.prev, x.next = l.back, nil
	if l.back == nil {
		l.front = x
	} else {
		l.back.next = x
	}
	l.back = x
	l.len++
}

func (l *list[T]) remove(x *link[T]) {
	if x.prev == nil {
		l.front = x.next
	} else {
		x.prev.next = x.next
	}
	if x.next == nil {
		l.back = x.prev
	} else {
		x.next.prev = x.prev
	}
	x.prev, x.next = nil, nil
	l.len--
}

// first returns the first n, or as many as there are.
func (l *list[T]) first(n int) []T {
	out := make([]T, 0, max(0, min(n, l.len)))
	for x := l.front; len(out) < cap(out); x = x.next {
		out = append(out, x.of)
	}
	return out
}

// last returns the last n in order, or as many as there are.
func (l *list[T]) last(n int) []T {
	out := make([]T, max(0, min(n, l.len)))
	x := l.back
	for i := len(out) - 1; i >= 0; i-- {
		out[i], x = x.of, x.prev
	}
	return out
}
