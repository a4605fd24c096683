package summary

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// splitID parts an id at its first run of digits: "web12.example" is "web",
// "12", ".example".
func splitID(id string) (head, num, tail string) {
	i := strings.IndexAny(id, "0123456789")
	if i < 0 {
		return id, "", ""
	}
	j := i
	for j < len(id) && id[j] >= '0' && id[j] <= '9' {
		j++
	}
	return id[:i], id[i:j], id[j:]
}

// CompareIDs orders ids as people count: web9 before web10.
func CompareIDs(a, b string) int {
	ah, an, at := splitID(a)
	bh, bn, bt := splitID(b)
	if ah != bh || an == "" || bn == "" {
		return strings.Compare(a, b)
	}
	if at != bt {
		return strings.Compare(at, bt)
	}
	at, bt = strings.TrimLeft(an, "0"), strings.TrimLeft(bn, "0")
	if len(at) != len(bt) {
		return len(at) - len(bt)
	}
	return strings.Compare(an, bn)
}

// FoldIDs writes sorted ids with their ranges folded: web[1-40],db1.
func FoldIDs(ids []string) string {
	parts, _ := fold(ids)
	return strings.Join(parts, ",")
}

// FoldSome folds ids, which it sorts, into at most some parts, and counts the ids
// that these are without: web[1-40],db1 and 17 more.
func FoldSome(ids []string, most int) string {
	ids = slices.Clone(ids)
	slices.SortFunc(ids, CompareIDs)
	parts, ends := fold(ids)
	if len(parts) <= most {
		return strings.Join(parts, ",")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(parts[:most], ","), len(ids)-ends[most-1])
}

// fold folds sorted ids. ends has how many of them each part and those before it
// are.
func fold(ids []string) (parts []string, ends []int) {
	for i := 0; i < len(ids); {
		head, num, tail := splitID(ids[i])
		j := i + 1
		if num != "" && len(num) < 10 {
			n, _ := strconv.Atoi(num)
			for ; j < len(ids); j++ {
				h, m, t := splitID(ids[j])
				next := strconv.Itoa(n + j - i)
				if num[0] == '0' {
					next = fmt.Sprintf("%0*d", len(num), n+j-i)
				}
				if h != head || t != tail || m != next {
					break
				}
			}
		}
		if j-i > 1 {
			_, last, _ := splitID(ids[j-1])
			parts = append(parts, fmt.Sprintf("%s[%s-%s]%s", head, num, last, tail))
		} else {
			parts = append(parts, ids[i])
		}
		ends = append(ends, j)
		i = j
	}
	return parts, ends
}
