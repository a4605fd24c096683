package disk

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/textfile"
	"brine/modules/tool"
)

// disks returns the argument disks as paths below /dev.
func disks(c *fun.Call, names []string) ([]string, error) {
	var out []string
	for _, d := range names {
		if d == "" || strings.HasPrefix(d, "-") {
			return nil, fun.Errorf("invalid device %q", d)
		}
		if !strings.HasPrefix(d, "/dev") {
			d = "/dev/" + d
		}
		out = append(out, d)
	}
	return out, tool.Need(c.Env.Host, "hdparm")
}

// parameters asks hdparm(8) for the parameters of disks, by disk and name.
func parameters(ctx context.Context, c *fun.Call, names []string, letters string) (*value.Map, error) {
	devs, err := disks(c, names)
	if err != nil {
		return nil, err
	}
	all := value.NewMap(len(devs))
	for _, dev := range devs {
		out, err := tool.Run(ctx, c.Env.Host, "hdparm", "-"+letters, dev)
		if err != nil {
			return nil, err
		}
		m := value.NewMap(16)
		for line := range strings.Lines(out.Stdout) {
			if key, v, ok := parameter(strings.TrimSpace(line), dev); ok {
				m.Set(key, v)
			}
		}
		all.Set(dev, m)
	}
	return all, nil
}

// parameter reads a line of hdparm(8): "multcount = 16 (on)", "write-caching =  1",
// "max sectors = 100/200, HPA is enabled", "geometry = 1/2/3, sectors = 4".
func parameter(line, dev string) (key string, v value.Value, ok bool) {
	if line == "" || line == dev+":" {
		return "", nil, false
	}
	key, rest, ok := strings.Cut(line, ":")
	if ok {
		key = strings.TrimSuffix(key, " is")
	} else if key, rest, ok = strings.Cut(line, "="); !ok {
		return "", nil, false
	}
	key = strings.ReplaceAll(strings.ToLower(strings.TrimSpace(key)), " ", "_")
	rest = strings.TrimSpace(rest)
	if f := strings.Split(rest, " "); len(f) > 1 && strings.HasPrefix(f[1], "(") && strings.Contains(rest, ")") {
		if n, err := strconv.ParseInt(f[0], 10, 64); err == nil {
			return key, value.NewList(n, strings.Trim(f[1], "()")), true
		}
	}
	l, deep := value.NewList(), value.NewMap(0)
	for _, part := range strings.FieldsFunc(rest, func(r rune) bool { return r == '/' || r == ',' }) {
		part = strings.TrimSpace(part)
		if name, val, is := strings.Cut(part, "="); is {
			if val = strings.TrimSpace(val); val != "" {
				deep.Set(strings.TrimSpace(name), val)
			}
		} else if part != "" {
			l.Append(textfile.Number(part))
		}
	}
	if deep.Len() > 0 {
		l.Append(deep)
	}
	switch l.Len() {
	case 0:
		return "", nil, false
	case 1:
		return key, l.Items[0], true
	}
	return key, l, true
}

type hdparmsArgs struct {
	disksArg
	Args []string `arg:"args" doc:"letters of options of hdparm(8) that ask; default: all"`
}

func hdparms(ctx context.Context, c *fun.Call, a *hdparmsArgs) (fun.Result, error) {
	letters := strings.Join(a.Args, "")
	if letters == "" {
		letters = "aAbBcCdgHiJkMmNnQrRuW"
	}
	// A letter with a value, or one of the dangerous long options, is not asked for.
	if strings.Trim(letters, "aAbBcCdgHiIJkMmNnQrRuvW") != "" {
		return fun.Result{}, fun.Errorf("invalid parameters %q for hdparm", letters)
	}
	m, err := parameters(ctx, c, a.Disks, letters)
	return fun.Result{Value: m}, err
}

type hpaArgs struct {
	disksArg
	Size fun.Opt[string] `arg:"size" doc:"how much to hide: sectors, or a share such as 5%"`
}

// hpa returns the hidden area of disks, or sets it. Salt: salt/modules/disk.py hpa.
// Difference: a share such as 5% is of each disk's own size, not of what was worked
// out for the disk before.
func hpa(ctx context.Context, c *fun.Call, a *hpaArgs) (fun.Result, error) {
	all, err := parameters(ctx, c, a.Disks, "N")
	if err != nil {
		return fun.Result{}, err
	}
	out := value.NewMap(all.Len())
	for dev, v := range all.All() {
		m, _ := v.(*value.Map)
		if m == nil || m.Len() == 0 {
			continue
		}
		_, first := m.Entry(0)
		l, _ := first.(*value.List)
		if l == nil || l.Len() < 3 {
			continue
		}
		visible, ok1 := value.AsInt(l.Items[0])
		total, ok2 := value.AsInt(l.Items[1])
		switch {
		case !ok1 || !ok2:
		case visible == total || strings.Contains(value.Str(l.Items[2]), "disabled"):
			out.Set(dev, value.MapOf("total", total))
		default:
			out.Set(dev, value.MapOf("total", total, "visible", visible, "hidden", total-visible))
		}
	}
	if !a.Size.Given {
		return fun.Value(out)
	}
	for dev, v := range out.All() {
		total, _ := value.AsInt(v.(*value.Map).At("total"))
		keep, err := hide(total, a.Size.V)
		if err != nil {
			return fun.Result{}, err
		}
		res, err := tool.Run(ctx, c.Env.Host, "hdparm", "--yes-i-know-what-i-am-doing", "-Np"+strconv.FormatInt(keep, 10), value.Str(dev))
		if err != nil {
			return fun.Result{}, err
		}
		if !res.OK() {
			return fun.Result{}, fun.Errorf("hdparm --yes-i-know-what-i-am-doing -Np%d %s: %s", keep, value.Str(dev), res.Fault())
		}
	}
	return fun.Value(nil)
}

// hide returns how many sectors stay visible where size are hidden: a number, or a
// share such as 5%.
func hide(total int64, size string) (int64, error) {
	text, share := strings.CutSuffix(size, "%")
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil || n < 0 || share && n > 100 {
		return 0, fun.Errorf("invalid size %q: a number of sectors, or a share such as 5%%, is needed", size)
	}
	keep := total - n
	if share {
		keep = total / 100 * (100 - n)
	}
	if keep <= 0 {
		keep = total
	}
	return keep, nil
}

type smartAttributesArgs struct {
	_          fun.Arguments
	Dev        string                 `arg:"dev,required,path" doc:"the disk, with or without /dev/"`
	Attributes fun.Opt[[]value.Value] `arg:"attributes,list[int]" doc:"numbers of attributes; None is all"`
	Values     fun.Opt[[]string]      `arg:"values" doc:"names of columns; None is all"`
}

// smartAttributes reads smartctl --attributes. Salt: salt/modules/disk.py
// smart_attributes.
func smartAttributes(ctx context.Context, c *fun.Call, a *smartAttributesArgs) (fun.Result, error) {
	dev := a.Dev
	if dev == "" || strings.HasPrefix(dev, "-") {
		return fun.Result{}, fun.Errorf("invalid device %q", dev)
	}
	if !strings.HasPrefix(dev, "/dev/") {
		dev = "/dev/" + dev
	}
	out, err := tool.Run(ctx, c.Env.Host, "smartctl", "--attributes", dev)
	if err != nil {
		return fun.Result{}, err
	}
	if !out.OK() {
		return fun.Result{}, fun.Errorf("%s", out.Fault())
	}
	var head []string
	m := value.NewMap(16)
	for line := range strings.Lines(out.Stdout) {
		f := strings.Fields(line)
		if head == nil {
			if strings.HasPrefix(line, "ID#") {
				head = strings.Fields(strings.ToLower(line))[1:]
			}
			continue
		}
		if len(f) == 0 {
			break
		}
		id, err := strconv.ParseInt(f[0], 10, 64)
		if err != nil {
			break
		}
		if a.Attributes.Given && !slices.ContainsFunc(a.Attributes.V, func(v value.Value) bool { return value.Equal(v, id) }) {
			continue
		}
		m.Set(id, row(head, f[1:], a))
	}
	return fun.Value(m)
}

// row joins the names of columns and a line; the last column takes the rest.
func row(head, f []string, a *smartAttributesArgs) *value.Map {
	data := value.NewMap(len(head))
	for i, key := range head {
		if i >= len(f) {
			break
		}
		if a.Values.Given && !slices.Contains(a.Values.V, key) {
			continue
		}
		words := f[i : i+1]
		if i == len(head)-1 {
			words = f[i:]
		}
		v := textfile.Number(strings.Join(words, " "))
		if len(words) > 1 {
			l := value.NewList()
			for _, w := range words {
				if n, ok := textfile.Number(w).(int64); ok {
					l.Append(n)
				}
			}
			if l.Len() == len(words) {
				v = l
			}
		}
		data.Set(key, v)
	}
	return data
}

// A column of numbers of iostat(1), summed over its reports.
type sums struct {
	total []float64
	n     int
}

func (s *sums) add(words []string) {
	for i, w := range words {
		f, _ := strconv.ParseFloat(w, 64)
		if i == len(s.total) {
			s.total = append(s.total, 0)
		}
		s.total[i] += f
	}
	s.n++
}

// mean returns the means by column.
func (s *sums) mean(head []string) *value.Map {
	m := value.NewMap(len(head))
	for i, key := range head {
		if i >= len(s.total) {
			break
		}
		v, err := value.Round(s.total[i]/float64(s.n), 2, false)
		if err == nil {
			m.Set(key, v)
		}
	}
	return m
}

type iostatArgs struct {
	_        fun.Arguments
	Interval int64             `arg:"interval" default:"1" unit:"s" doc:"time between reports"`
	Count    int64             `arg:"count" default:"5" doc:"number of reports"`
	Disks    fun.Opt[[]string] `arg:"disks" doc:"names of disks; None is all, and the processors"`
}

// iostat runs iostat(1) and returns the means of its reports by device.
// Salt: salt/modules/disk.py iostat. Difference: the tables of sysstat 12 are read, too.
func iostat(ctx context.Context, c *fun.Call, a *iostatArgs) (fun.Result, error) {
	if err := tool.Need(c.Env.Host, "iostat"); err != nil {
		return fun.Result{}, err
	}
	argv := []string{"iostat", "-x", strconv.FormatInt(a.Interval, 10), strconv.FormatInt(a.Count, 10)}
	if a.Disks.Given {
		argv[1] = "-xd"
		for _, d := range a.Disks.V {
			if strings.HasPrefix(d, "-") {
				return fun.Result{}, fun.Errorf("invalid device %q", d)
			}
			argv = append(argv, d)
		}
	}
	out, err := tool.Run(ctx, c.Env.Host, argv...)
	if err != nil {
		return fun.Result{}, err
	}
	m := tables(strings.Split(out.Stdout, "\n"))
	return fun.Result{Value: m, Retcode: out.Status}, nil
}

// tables reads the reports of iostat(1).
func tables(lines []string) *value.Map {
	var cpuHead, devHead, order []string
	cpu, devs := sums{}, map[string]*sums{}
	section := ""
	for _, line := range lines {
		f := strings.Fields(line)
		switch {
		case len(f) == 0:
			section = ""
		case f[0] == "avg-cpu:":
			section, cpuHead = "cpu", f[1:]
		case f[0] == "Device" || f[0] == "Device:":
			section, devHead = "dev", f[1:]
		case section == "cpu":
			cpu.add(f)
		case section == "dev":
			s := devs[f[0]]
			if s == nil {
				s = &sums{}
				devs[f[0]] = s
				order = append(order, f[0])
			}
			s.add(f[1:])
		}
	}
	m := value.NewMap(len(order) + 1)
	if cpu.n > 0 {
		m.Set("sys", cpu.mean(cpuHead))
	}
	for _, d := range order {
		m.Set(d, devs[d].mean(devHead))
	}
	return m
}
