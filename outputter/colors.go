package outputter

// palette is the escape sequences of the colours in use; the zero palette has
// none. Salt: salt/utils/color.py get_colors.
type palette struct {
	green, cyan, red, yellow               string
	lightRed, lightYellow, lightGreen      string
	blue, magenta, lightBlue, lightMagenta string
	lightGray, darkGray, white, endc       string
}

func colors(on bool) palette {
	if !on {
		return palette{}
	}
	return palette{
		green: "\x1b[0;32m", cyan: "\x1b[0;36m", red: "\x1b[0;31m", yellow: "\x1b[0;33m",
		lightRed: "\x1b[0;1;31m", lightYellow: "\x1b[0;1;33m", lightGreen: "\x1b[0;1;32m",
		blue: "\x1b[0;34m", magenta: "\x1b[0;35m", lightBlue: "\x1b[0;1;34m", lightMagenta: "\x1b[0;1;35m",
		lightGray: "\x1b[0;37m", darkGray: "\x1b[0;1;30m", white: "\x1b[0;1;37m", endc: "\x1b[0;0m",
	}
}
