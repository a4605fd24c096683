package pyformat

import (
	"fmt"
	"strings"
	"time"
)

// Strftime formats t by C's strftime as Python's datetime does in the C
// locale. A conversion that is not known stays as it is.
func Strftime(t time.Time, format string) string {
	var b strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i+1 == len(format) {
			b.WriteByte(format[i])
			continue
		}
		i++
		// glibc's flags: - no fill, _ blanks, 0 zeros, ^ upper case.
		flag := byte(0)
		if strings.IndexByte("-_0^#", format[i]) >= 0 && i+1 < len(format) {
			flag = format[i]
			i++
		}
		if (format[i] == 'E' || format[i] == 'O') && i+1 < len(format) {
			i++
		}
		s, ok := strftimeField(t, format[i], flag)
		if !ok {
			b.WriteByte('%')
			if flag != 0 {
				b.WriteByte(flag)
			}
			b.WriteByte(format[i])
			continue
		}
		if flag == '^' {
			s = strings.ToUpper(s)
		}
		b.WriteString(s)
	}
	return b.String()
}

func strftimeField(t time.Time, c, flag byte) (string, bool) {
	num := func(n, width int, fill byte) string {
		switch flag {
		case '-':
			return fmt.Sprint(n)
		case '_':
			fill = ' '
		case '0':
			fill = '0'
		}
		s := fmt.Sprint(n)
		if len(s) < width {
			s = strings.Repeat(string(fill), width-len(s)) + s
		}
		return s
	}
	hour12 := (t.Hour()+11)%12 + 1
	isoYear, isoWeek := t.ISOWeek()
	switch c {
	case 'a':
		return t.Format("Mon"), true
	case 'A':
		return t.Format("Monday"), true
	case 'b', 'h':
		return t.Format("Jan"), true
	case 'B':
		return t.Format("January"), true
	case 'c':
		return t.Format("Mon Jan _2 15:04:05 ") + fmt.Sprint(t.Year()), true
	case 'C':
		return num(t.Year()/100, 2, '0'), true
	case 'd':
		return num(t.Day(), 2, '0'), true
	case 'D', 'x':
		return t.Format("01/02/06"), true
	case 'e':
		return num(t.Day(), 2, ' '), true
	case 'f':
		return fmt.Sprintf("%06d", t.Nanosecond()/1000), true
	case 'F':
		return fmt.Sprintf("%d-%02d-%02d", t.Year(), t.Month(), t.Day()), true
	case 'g':
		return num(isoYear%100, 2, '0'), true
	case 'G':
		return num(isoYear, 4, '0'), true
	case 'H':
		return num(t.Hour(), 2, '0'), true
	case 'I':
		return num(hour12, 2, '0'), true
	case 'j':
		return num(t.YearDay(), 3, '0'), true
	case 'k':
		return num(t.Hour(), 2, ' '), true
	case 'l':
		return num(hour12, 2, ' '), true
	case 'm':
		return num(int(t.Month()), 2, '0'), true
	case 'M':
		return num(t.Minute(), 2, '0'), true
	case 'n':
		return "\n", true
	case 'p':
		return t.Format("PM"), true
	case 'P':
		return t.Format("pm"), true
	case 'r':
		return t.Format("03:04:05 PM"), true
	case 'R':
		return t.Format("15:04"), true
	case 's':
		return fmt.Sprint(t.Unix()), true
	case 'S':
		return num(t.Second(), 2, '0'), true
	case 't':
		return "\t", true
	case 'T', 'X':
		return t.Format("15:04:05"), true
	case 'u':
		return fmt.Sprint((int(t.Weekday())+6)%7 + 1), true
	case 'U':
		return num((t.YearDay()-int(t.Weekday())+6)/7, 2, '0'), true
	case 'V':
		return num(isoWeek, 2, '0'), true
	case 'w':
		return fmt.Sprint(int(t.Weekday())), true
	case 'W':
		return num((t.YearDay()-(int(t.Weekday())+6)%7+6)/7, 2, '0'), true
	case 'y':
		return num(t.Year()%100, 2, '0'), true
	case 'Y':
		return fmt.Sprint(t.Year()), true
	case 'z', 'Z':
		// Salt's and YAML's times carry no zone; Python prints nothing then.
		return "", true
	case '%':
		return "%", true
	}
	return "", false
}
