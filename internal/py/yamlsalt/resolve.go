package yamlsalt

import "strings"

// resolve returns the tag of a plain scalar by the rules of YAML 1.1, as PyYAML
// implements them.
func resolve(s string) string {
	if s == "" {
		return tagNull
	}
	switch c := s[0]; c {
	case 'y', 'Y', 'n', 'N', 't', 'T', 'f', 'F', 'o', 'O', '~':
		if len(s) <= 5 {
			switch s {
			case "yes", "Yes", "YES", "no", "No", "NO", "true", "True", "TRUE", "false", "False", "FALSE",
				"on", "On", "ON", "off", "Off", "OFF":
				return tagBool
			case "~", "null", "Null", "NULL":
				return tagNull
			}
		}
	case '<':
		if s == "<<" {
			return tagMerge
		}
	case '=':
		if s == "=" {
			return tagValue
		}
	case '-', '+', '.', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		switch {
		case isFloat(s):
			return tagFloat
		case isInt(s):
			return tagInt
		case isTimestamp(s):
			return tagTimestamp
		}
	}
	return tagStr
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// span returns how many bytes at the start of s are in set.
func span(s, set string) int {
	for i := range len(s) {
		if strings.IndexByte(set, s[i]) < 0 {
			return i
		}
	}
	return len(s)
}

const digits = "0123456789"

// sexagesimal returns the length of the groups ":59" at the start of s.
func sexagesimal(s string) int {
	n := 0
	for n+1 < len(s) && s[n] == ':' && isDigit(s[n+1]) {
		if n+2 < len(s) && isDigit(s[n+2]) && s[n+1] <= '5' {
			n += 3
		} else {
			n += 2
		}
	}
	return n
}

func isInt(s string) bool {
	if s[0] == '-' || s[0] == '+' {
		s = s[1:]
	}
	if s == "" || !isDigit(s[0]) {
		return false
	}
	if s[0] == '0' {
		switch rest := s[1:]; {
		case rest == "":
			return true
		case rest[0] == 'b':
			return len(rest) > 1 && span(rest[1:], "01_") == len(rest)-1
		case rest[0] == 'x':
			return len(rest) > 1 && span(rest[1:], "0123456789abcdefABCDEF_") == len(rest)-1
		default:
			return span(rest, "01234567_") == len(rest)
		}
	}
	n := span(s, digits+"_")
	if n == len(s) {
		return true
	}
	m := sexagesimal(s[n:])
	return m > 0 && n+m == len(s)
}

func isFloat(s string) bool {
	signed := s[0] == '-' || s[0] == '+'
	if signed {
		s = s[1:]
	}
	if s == "" {
		return false
	}
	if s[0] == '.' {
		switch s {
		case ".inf", ".Inf", ".INF":
			return true
		case ".nan", ".NaN", ".NAN":
			return !signed
		}
		if signed || len(s) < 2 || !isDigit(s[1]) {
			return false
		}
		return isExponent(s[1+span(s[1:], digits+"_"):])
	}
	if !isDigit(s[0]) {
		return false
	}
	n := span(s, digits+"_")
	sexa := sexagesimal(s[n:])
	n += sexa
	if n >= len(s) || s[n] != '.' {
		return false
	}
	n++
	n += span(s[n:], digits+"_")
	if sexa > 0 {
		return n == len(s)
	}
	return isExponent(s[n:])
}

// isExponent reports whether s is "" or an exponent, which must have a sign.
func isExponent(s string) bool {
	if s == "" {
		return true
	}
	return len(s) >= 3 && (s[0] == 'e' || s[0] == 'E') && (s[1] == '-' || s[1] == '+') && span(s[2:], digits) == len(s)-2
}

func isTimestamp(s string) bool {
	// number eats a number of min to max digits.
	number := func(minLen, maxLen int) bool {
		n := min(span(s, digits), maxLen)
		if n < minLen {
			return false
		}
		s = s[n:]
		return true
	}
	char := func(set string) bool {
		if s == "" || strings.IndexByte(set, s[0]) < 0 {
			return false
		}
		s = s[1:]
		return true
	}
	whole := s
	if !number(4, 4) || !char("-") || !number(1, 2) || !char("-") || !number(1, 2) {
		return false
	}
	if s == "" {
		return len(whole) == len("2006-01-02")
	}
	if !char("Tt") {
		n := span(s, " \t")
		if n == 0 {
			return false
		}
		s = s[n:]
	}
	if !number(1, 2) || !char(":") || !number(2, 2) || !char(":") || !number(2, 2) {
		return false
	}
	if char(".") {
		s = s[span(s, digits):]
	}
	if s == "" {
		return true
	}
	s = s[span(s, " \t"):]
	if s == "Z" {
		return true
	}
	if !char("+-") || !number(1, 2) {
		return false
	}
	return s == "" || char(":") && number(2, 2) && s == ""
}
