package value

// Outweighs reports whether the text in v has more than n bytes. It looks no
// further once it knows, and takes each value beside text for a few bytes.
func Outweighs(v Value, n int) bool { return weigh(v, n, 0) < 0 }

// small is the size counted for a value that is not a string.
const small = 8

// weigh returns what is left of n beside v; less than 0 where that is nothing.
func weigh(v Value, n, depth int) int {
	n -= small
	if n < 0 || depth > MaxDepth {
		return n
	}
	switch v := v.(type) {
	case string:
		n -= len(v)
	case Bytes:
		n -= len(v)
	case *List:
		if v != nil {
			n = weighAll(v.Items, n, depth)
		}
	case Tuple:
		n = weighAll(v, n, depth)
	case *Map:
		for k, x := range v.All() {
			if n = weigh(k, n, depth+1); n >= 0 {
				n = weigh(x, n, depth+1)
			}
			if n < 0 {
				break
			}
		}
	}
	return n
}

func weighAll(items []Value, n, depth int) int {
	for _, x := range items {
		if n = weigh(x, n, depth+1); n < 0 {
			break
		}
	}
	return n
}
