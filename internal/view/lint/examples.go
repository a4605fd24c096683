package lint

import "strings"

// An Examples has trees of which each that is bad has one finding of a rule, and those
// that are good have none.
type Examples struct{ bad, good []string }

// write shows the first tree of a list as Markdown.
func write(b *strings.Builder, what string, texts []string) {
	lang := "yaml"
	if strings.Contains(texts[0], " --\n") {
		lang = "text"
	}
	b.WriteString(what + "\n\n```" + lang + "\n" + texts[0] + "```\n\n")
}

// examples are those of every rule: the test and the documentation of it.
var examples = map[string]Examples{
	badCondition: {
		bad: []string{
			"reload:\n  cmd.run:\n    - name: app reload\n    - onlyif: true\n",
			"a:\n  test.nop:\n    - unless: 1\n",
			"a:\n  test.nop:\n    - unless:\n      - func: test.ping\n",
			"a:\n  test.nop:\n    - creates: 5\n",
			"a:\n  test.nop:\n    - check_cmd:\n      - true\n",
			"a:\n  test.nop:\n    - onlyif: []\n",
		},
		good: []string{
			"reload:\n  cmd.run:\n    - name: app reload\n    - onlyif: test -e /etc/app.conf\n",
			"a:\n  test.nop:\n    - unless:\n      - fun: test.ping\n      - 'false'\n    - creates: [/a, /b]\n    - check_cmd: 'true'\n",
			"a:\n  test.nop:\n    - onlyif: {{ grains.cmd }}\n",
		},
	},
	badRetry: {
		bad: []string{
			"download:\n  cmd.run:\n    - name: app fetch\n    - retry:\n        attempt: 3\n",
			"a:\n  test.nop:\n    - retry:\n        interval: soon\n",
			"a:\n  test.nop:\n    - retry: 3\n",
		},
		good: []string{
			"download:\n  cmd.run:\n    - name: app fetch\n    - retry:\n        attempts: 3\n        interval: 10\n        splay: 5\n        until: True\n",
			"a:\n  test.nop:\n    - retry: True\n",
			"a:\n  test.nop:\n    - retry:\n        attempts: {{ grains.n }}\n",
		},
	},
	badReaction: {
		bad: []string{
			"greet:\n  local.test.echo:\n    - args:\n      - text: {{ data.text }}\n",
			"greet:\n  local.test.echo:\n    - tgt: {{ data.id }}\n    - text: hello\n",
			"{% set post = data.post | load_json %}\ngreet:\n  cmd.test.echo:\n    - tgt: {{ post.host }}\n    - text: hello\n",
		},
		good: []string{
			"greet:\n  local.test.echo:\n    - tgt: {{ data.id }}\n    - args:\n      - text: {{ data.text }}\n",
			"greet:\n  runner.state.orchestrate:\n    - args:\n      - mods: orch.deploy\n      - pillar: {release: {{ data.release | json }}}\n-- salt/orch/deploy.sls --\nshow:\n  test.nop: []\n",
		},
	},
	badSlot: {
		bad: []string{
			"copy:\n  test.nop:\n    - text: __slot__:salt:test.echo\n",
			"a:\n  test.nop:\n    - text: __slot__:slat:test.echo(x)\n",
		},
		good: []string{
			"copy:\n  test.nop:\n    - text: __slot__:salt:test.echo(text).key ~ more\n",
		},
	},
	compileWarning: {
		bad: []string{
			"a:\n  test.nop:\n    - require_in: b\n",
		},
		good: []string{
			"a:\n  test.nop:\n    - require_in:\n      - test: b\nb:\n  test.nop: []\n",
		},
	},
	conflictingArguments: {
		bad: []string{
			"/etc/app.conf:\n  file.managed:\n    - source: salt://app.conf\n    - contents: port = 80\n-- salt/app.conf --\nport = 80\n",
			"tools:\n  pkg.installed:\n    - pkgs: [git]\n    - sources:\n      - git: salt://git.deb\n-- salt/git.deb --\n",
			"/a:\n  file.append:\n    - source: salt://x\n    - sources: ['salt://x']\n-- salt/x --\n",
			"/a:\n  file.serialize:\n    - dataset: {a: 1}\n    - dataset_pillar: a\n",
		},
		good: []string{
			"/etc/app.conf:\n  file.managed:\n    - source: salt://app.conf\n-- salt/app.conf --\nport = 80\n",
			"/etc/app.conf:\n  file.managed:\n    - source: ''\n    - contents: x\n",
		},
	},
	dangerousPath: {
		bad: []string{
			"/etc:\n  file.absent: []\n",
			"a:\n  cmd.run:\n    - name: rm -rf /{{ pillar.get('x', '') }}\n",
		},
		good: []string{
			"/etc/app:\n  file.absent: []\n",
		},
	},
	decimalMode: {
		bad: []string{
			"/etc/app.conf:\n  file.managed:\n    - contents: x\n    - mode: {{ 0o644 }}\n",
			"/srv/app:\n  file.directory:\n    - dir_mode: 1023\n",
		},
		good: []string{
			"/etc/app.conf:\n  file.managed:\n    - contents: x\n    - mode: '0644'\n",
			"/etc/app.conf:\n  file.managed:\n    - contents: x\n    - mode: {{ '0644' }}\n",
		},
	},
	deprecated: {
		bad: []string{
			"a:\n  cmd.wait:\n    - name: app reload\n",
		},
		good: []string{
			"a:\n  cmd.run:\n    - name: app reload\n    - onchanges:\n      - test: b\nb:\n  test.nop: []\n",
		},
	},
	duplicateID: {
		bad: []string{
			"include:\n  - other\na:\n  test.nop: []\n-- salt/other.sls --\na:\n  test.nop: []\n",
		},
		good: []string{
			"include:\n  - other\na:\n  test.nop: []\n-- salt/other.sls --\nb:\n  test.nop: []\n",
		},
	},
	duplicateKey: {
		bad: []string{
			"a:\n  test.nop: []\na:\n  cmd.run: []\n",
		},
		good: []string{
			"a:\n  test.nop: []\nb:\n  cmd.run: []\n",
		},
	},
	duplicatePath: {
		bad: []string{
			"config:\n  file.managed:\n    - name: /etc/app.conf\n    - contents: one\nagain:\n  file.managed:\n    - name: /etc/app.conf\n    - contents: two\n",
			"old:\n  file.absent:\n    - name: /etc/app\nnew:\n  file.directory:\n    - name: /etc/app/\n",
			"include:\n  - other\na:\n  file.symlink:\n    - name: /x\n    - target: /y\n-- salt/other.sls --\nb:\n  file.managed:\n    - name: /x\n    - contents: z\n",
		},
		good: []string{
			"config:\n  file.managed:\n    - name: /etc/app.conf\n    - contents: one\nagain:\n  file.managed:\n    - name: /etc/other.conf\n    - contents: two\n",
			"a:\n  file.managed:\n    - name: /x\n    - contents: one\nb:\n  file.managed:\n    - name: /x\n    - mode: '0600'\nc:\n  file.absent:\n    - name: /x\n    - onlyif: test -e /y\n",
			"a:\n  file.directory:\n    - name: /x\nb:\n  file.directory:\n    - name: /x\n",
			"{% if grains.a %}\na:\n  file.absent:\n    - name: /x\n{% else %}\nb:\n  file.touch:\n    - name: /x\n{% endif %}\n",
		},
	},
	emptyPath: {
		bad: []string{
			"/srv/{{ '' }}/data:\n  file.touch: []\n",
		},
		good: []string{
			"/srv/{{ 'app' }}/data:\n  file.touch: []\n",
		},
	},
	irregularSpace: {
		bad: []string{
			"a:\n  test.nop: []  # café\u00a0noir\n",
		},
		good: []string{
			"a:\n  test.nop: []  # café noir\n",
		},
	},
	jinjaCommentSpace: {
		bad: []string{
			"{#comment #}\na:\n  test.nop: []\n",
			"{#- comment-#}\na:\n  test.nop: []\n",
		},
		good: []string{
			"{# comment #}\n{#- comment -#}\n{##}\na:\n  test.nop: []\n",
		},
	},
	jinjaStatementSpace: {
		bad: []string{
			"{%set x = 1 %}\na:\n  test.nop: []\n",
			"{%- set x = 1-%}\na:\n  test.nop: []\n",
		},
		good: []string{
			"{% set x = '%}' %}\n{%- set x = 1 -%}\n{% raw %}{%x%}{% endraw %}\na:\n  test.nop: []\n",
			"{% set y = {\n  'a': 1\n} %}\na:\n  test.nop: []\n",
		},
	},
	jinjaVariableSpace: {
		bad: []string{
			"a:\n  test.nop:\n    - text: {{grains['os'] }}\n",
			"a:\n  test.nop:\n    - text: '{{ 1}}'\n",
		},
		good: []string{
			"a:\n  test.nop:\n    - text: {{ grains['os'] }}\n",
			"a:\n  test.nop:\n    - text: '{{ {'a': '}}'}.a }}{{- {'a': 1} }}'\n",
		},
	},
	lineLength: {
		bad: []string{
			"a:  # long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long \n  test.nop: []\n",
		},
		good: []string{
			"a:\n  test.nop: []\n",
		},
	},
	missingArgument: {
		bad: []string{
			"/srv/link:\n  file.symlink: []\n",
		},
		good: []string{
			"/srv/link:\n  file.symlink:\n    - target: /srv/app\n",
		},
	},
	missingFile: {
		bad: []string{
			"/etc/app.conf:\n  file.managed:\n    - source: salt://app/conf\n-- salt/app/app.conf --\n",
		},
		good: []string{
			"/etc/app.conf:\n  file.managed:\n    - source: salt://app/app.conf\n-- salt/app/app.conf --\n",
		},
	},
	missingInclude: {
		bad: []string{
			"include:\n  - comon\n-- salt/common.sls --\na:\n  test.nop: []\n",
			"a:\n  test.nop: []\n-- salt/top.sls --\nbase:\n  '*':\n    - gone\n",
			"a:\n  test.nop: []\n-- pillar/top.sls --\nbase:\n  '*':\n    - gone\n",
			"update:\n  salt.state:\n    - tgt: '*'\n    - sls: comon\n-- salt/common.sls --\na:\n  test.nop: []\n",
			"a:\n  salt.state:\n    - tgt: '*'\n    - sls: [web, comon]\n",
			"a:\n  salt.runner:\n    - name: state.orchestrate\n    - mods: gone\n",
			"a:\n  salt.function:\n    - name: state.apply\n    - tgt: '*'\n    - arg: [gone]\n",
		},
		good: []string{
			"include:\n  - common\n-- salt/common.sls --\na:\n  test.nop: []\n",
			"update:\n  salt.state:\n    - tgt: '*'\n    - sls: common,web\nb:\n  salt.state:\n    - tgt: '*'\n    - sls: {{ pillar.x }}\n-- salt/common.sls --\na:\n  test.nop: []\n",
		},
	},
	missingRequisite: {
		bad: []string{
			"a:\n  test.nop:\n    - require:\n      - test: b\n",
			"a:\n  test.nop:\n    - require_in:\n      - test: c\n",
		},
		good: []string{
			"a:\n  test.nop:\n    - require:\n      - test: b\nb:\n  test.nop: []\n",
		},
	},
	modeZero: {
		bad: []string{
			"/etc/app.conf:\n  file.managed:\n    - contents: x\n    - mode: '644'\n",
			"/etc/app.conf:\n  file.managed:\n    - contents: x\n    - mode: 644\n",
		},
		good: []string{
			"/etc/app.conf:\n  file.managed:\n    - contents: x\n    - mode: '0644'\n",
		},
	},
	notInBrine: {
		bad: []string{
			"a:\n  test.nop:\n    - text: {{ salt['consul.get']('key') }}\n",
		},
		good: []string{
			"a:\n  test.nop:\n    - text: {{ salt['test.echo']('key') }}\n",
		},
	},
	notJudged: {
		bad: []string{
			"{% for i in range(grains.n) %}\na{{ i }}:\n  test.nop: []\n{% endfor %}\n",
			"#!py\n\ndef run():\n  return {}\n",
			"{{ grains.x }}:\n  test.nop: []\nb:\n  test.nop:\n    - require:\n      - test: d\n",
			"a:\n  {{ grains.x }}: []\n",
			"/a:\n  file.managed:\n    - contents_pillar: app\n    - template: jinja\n",
			"/a:\n  file.managed:\n    - contents_grains: text\n    - template: jinja\n",
			"/a:\n  file.recurse:\n    - source: salt://a\n    - template: jinja\n    - include_pat: {{ pillar.pat }}\n-- salt/a/x --\n{{ nope }}\n",
			"a:\n  test.nop: []\n-- pillar/p.sls --\n#!py\n\ndef run():\n  return {}\n",
		},
		good: []string{
			"{% for i in range(3) %}\na{{ i }}:\n  test.nop: []\n{% endfor %}\n",
		},
	},
	pillarColon: {
		bad: []string{
			"a:\n  test.nop:\n    - text: '{{ pillar.get('app:port', 80) }}'\n",
		},
		good: []string{
			"a:\n  test.nop:\n    - text: '{{ salt['pillar.get']('app:port', 80) }}'\n",
		},
	},
	renderError: {
		bad: []string{
			"{% if %}\na:\n  test.nop: []\n",
			"/etc/app.conf:\n  file.managed:\n    - source: salt://app.conf\n    - template: jinja\n-- salt/app.conf --\n{% if %}\n",
		},
		good: []string{
			"{% if True %}\na:\n  test.nop: []\n{% endif %}\n",
		},
	},
	requisiteCycle: {
		bad: []string{
			"a:\n  test.nop:\n    - require:\n      - test: b\nb:\n  test.nop:\n    - require:\n      - test: a\n",
		},
		good: []string{
			"a:\n  test.nop:\n    - require:\n      - test: b\nb:\n  test.nop: []\n",
		},
	},
	secretText: {
		bad: []string{
			"-- salt/web.sls --\na:\n  test.nop:\n    - text: {{ pillar.app }}\n-- pillar/web.sls --\napp:\n  password: hunter22\n",
		},
		good: []string{
			"-- salt/web.sls --\na:\n  test.nop:\n    - text: {{ pillar.app }}\n-- pillar/web.sls --\napp:\n  password: {{ 'made by a template' }}\n",
		},
	},
	starlark: {
		bad: []string{
			"-- salt/_modules/shop.star --\ndef price(item):\n    return pirce(item)\n",
			"-- salt/_states/bad.star --\ndef f(:\n  pass\n",
		},
		good: []string{
			"-- salt/_modules/shop.star --\ndef price(item):\n    return item\n",
		},
	},
	stringBoolean: {
		bad: []string{
			"/etc/app.conf:\n  file.managed:\n    - contents: x\n    - makedirs: 'false'\n",
		},
		good: []string{
			"/etc/app.conf:\n  file.managed:\n    - contents: x\n    - makedirs: False\n",
			"/etc/app.conf:\n  file.managed:\n    - contents: x\n    - makedirs: 'true'\n",
		},
	},
	structure: {
		bad: []string{
			"a: 1\n",
		},
		good: []string{
			"a:\n  test.nop: []\n",
		},
	},
	tabStyle: {
		bad: []string{
			"a: # \tcomment\n  test.nop: []\n",
		},
		good: []string{
			"a:\n  test.nop: []\n",
		},
	},
	trailingSpace: {
		bad: []string{
			"a:  \n  test.nop: []\n",
		},
		good: []string{
			"a:\n  test.nop: []\n",
		},
	},
	undefinedVariable: {
		bad: []string{
			"a:\n  test.nop:\n    - text: {{ nope }}\n",
			"/etc/app.conf:\n  file.managed:\n    - source: salt://app.conf\n    - template: jinja\n    - context:\n        port: 80\n-- salt/app.conf --\nport = {{ prot }}\n",
			"/etc/app.conf:\n  file.managed:\n    - source: salt://app.conf\n    - template: jinja\n-- salt/app.conf --\n{{ grains.id }}\n{% if grains.x %}\nport = {{ prot }}\n{% endif %}\n",
			"/etc/app.conf:\n  file.managed:\n    - source: salt://app.conf\n    - template: jinja\n    - user: {{ pillar.x }}\n-- salt/app.conf --\nport = {{ prot }}\n",
			"/etc/app.conf:\n  file.managed:\n    - source: salt://app.conf\n    - template: jinja\n    - context:\n        a: {b: 1}\n-- salt/app.conf --\n{{ a.c.d }}\n",
			"/etc/app:\n  file.recurse:\n    - source: salt://app\n    - template: jinja\n    - context:\n        port: 80\n-- salt/app/sub/app.conf --\nport = {{ prot }}\n-- salt/app/good.conf --\n{{ port }}{{ name }}{{ source }}\n",
			"/etc/app.conf:\n  file.managed:\n    - contents: {% raw %}'port = {{ prot }}'{% endraw %}\n    - template: jinja\n    - defaults:\n        port: 80\n",
			"/etc/app.conf:\n  file.managed:\n    - contents: {% raw %}'{{ name }}'{% endraw %}\n    - template: jinja\n",
			"/etc/app.conf:\n  file.managed:\n    - contents_pillar: app:conf\n    - template: jinja\n-- pillar/web.sls --\napp:\n  conf: {% raw %}'port = {{ prot }}'{% endraw %}\n",
			"/etc/app.conf:\n  file.managed:\n    - contents:\n      - one\n      - {% raw %}'port = {{ prot }}'{% endraw %}\n    - template: jinja\n",
		},
		good: []string{
			"a:\n  test.nop:\n    - text: {{ nope | default('x') }}\n",
			"/etc/app.conf:\n  file.managed:\n    - source: salt://app.conf\n    - template: jinja\n    - user: root\n    - defaults:\n        port: 80\n    - context:\n        host: a\n-- salt/app.conf --\n{{ port }} {{ host }} {{ user }} {{ name }} {{ mode }} {{ source }} {{ grains.id }} {{ pillar.x.y }} {{ salt['cmd.run']('x').z }}\n",
			"/etc/app.conf:\n  file.managed:\n    - source: salt://app.conf\n    - template: jinja\n    - context:\n        app: {{ pillar.app }}\n-- salt/app.conf --\n{% for k, v in app.items() %}{{ v.x.y }}{% endfor %}{{ app.port }}\n",
			"/etc/app.conf:\n  file.managed:\n    - source: salt://app.conf\n-- salt/app.conf --\n{{ nope }}\n",
			"/etc/app:\n  file.recurse:\n    - source: salt://app\n    - template: jinja\n    - file_mode: '0600'\n    - exclude_pat: '*.bin'\n    - maxdepth: 0\n    - context:\n        port: 80\n-- salt/app/app.conf --\nport = {{ port }} {{ name }} {{ grains.id }}\n-- salt/app/other.bin --\n{{ nope }}\n-- salt/app/sub/deep.conf --\n{{ nope }}\n-- salt/apple/conf --\n{{ nope }}\n",
			"/etc/app.conf:\n  file.managed:\n    - contents: {% raw %}'port = {{ port }}{{ grains.id }}{{ pillar.x }}'{% endraw %}\n    - template: jinja\n    - defaults:\n        port: 80\n",
			"/etc/app.conf:\n  file.managed:\n    - contents: {% raw %}'{{ nope }}'{% endraw %}\n",
			"/etc/app.conf:\n  file.managed:\n    - contents: {{ pillar.text }}\n    - template: jinja\n",
			"/etc/app.conf:\n  file.managed:\n    - contents_pillar: app:conf\n    - template: jinja\n    - context:\n        port: 80\n-- pillar/web.sls --\napp:\n  conf: {% raw %}'port = {{ port }}'{% endraw %}\n",
			"{% if pillar.a %}{% set more = 'x' %}{% endif %}\n/etc/app.conf:\n  file.managed:\n    - source: salt://app.conf\n    - template: jinja\n    - context:\n        port: {{ more | default(1) }}\n-- salt/app.conf --\n{% from 'lib.jinja' import name2 %}{% set own = 1 %}{{ port }}{{ own }}{{ name2 }}\n-- salt/lib.jinja --\n{% set name2 = 1 %}\n",
		},
	},
	unknownArgument: {
		bad: []string{
			"/etc/app.conf:\n  file.managed:\n    - contentss: x\n",
			"a:\n  cron.present:\n    - zzz: 1\n",
		},
		good: []string{
			"/etc/app.conf:\n  file.managed:\n    - contents: x\n",
		},
	},
	unknownFunction: {
		bad: []string{
			"a:\n  test.nop:\n    - text: {{ salt['test.ecoh']('x') }}\n",
			"a:\n  test.nop:\n    - onlyif:\n      - fun: test.pign\n",
			"a:\n  test.nop:\n    - text: __slot__:salt:test.ecoh(x)\n",
			"a:\n  salt.function:\n    - name: test.pign\n    - tgt: '*'\n",
			"a:\n  schedule.present:\n    - function: test.pign\n    - seconds: 60\n",
			"a:\n  module.run:\n    - test.pign: []\n",
		},
		good: []string{
			"a:\n  test.nop:\n    - text: {{ salt['test.echo']('x') }}\n    - onlyif:\n      - fun: test.ping\n",
			"a:\n  test.nop:\n    - text: __slot__:salt:test.echo(x)\n",
		},
	},
	unknownGrain: {
		bad: []string{
			"a:\n  test.nop:\n    - text: {{ grains['os_famly'] }}\n",
			"a:\n  test.nop:\n    - text: {{ grains.get('os_famly') }}\n",
			"a:\n  test.nop:\n    - text: {{ grains.os_famly }}{{ 1 }}\n",
			"a:\n  test.nop:\n    - text: {{ salt['grains.get']('os_famly') }}\n",
			"-- salt/top.sls --\nbase:\n  'G@os_famly:Debian':\n    - match: compound\n    - web\n-- salt/web.sls --\na:\n  test.nop: []\n",
		},
		good: []string{
			"a:\n  test.nop:\n    - text: {{ grains['os_family'] }}\n",
			"a:\n  test.nop:\n    - text: {{ grains.get('role') }}{{ grains.datacenter }}\n",
			"a:\n  test.nop:\n    - text: {{ grains['os_famly'] }}\nb:\n  grains.present:\n    - name: os_famly\n    - value: x\n",
			"a:\n  test.nop:\n    - text: {{ grains['os_famly'] }}\n-- salt/_grains/own.py --\ndef own():\n    return {'os_famly': 1}\n",
		},
	},
	unknownRenderer: {
		bad: []string{
			"/etc/app.conf:\n  file.managed:\n    - source: salt://app.conf\n    - template: jinjaa\n-- salt/app.conf --\nx\n",
			"#!jnja|yaml\na:\n  test.nop: []\n",
		},
		good: []string{
			"/etc/app.conf:\n  file.managed:\n    - source: salt://app.conf\n    - template: jinja\n-- salt/app.conf --\nx\n",
			"#!jinja|yaml\na:\n  test.nop: []\n",
		},
	},
	unknownRule: {
		bad: []string{
			"a:  # brine: ignore secrt\n  test.nop: []\n",
		},
		good: []string{
			"a:  # brine: ignore secret\n  test.nop: []\n",
		},
	},
	unknownState: {
		bad: []string{
			"a:\n  file.manged: []\n",
			"{% set ip = salt['mine.get']('*', 'network.ip_addrs').values() | first | first %}\na{{ ip.split('.')[3] }}:\n  pkg.instaled: []\n",
		},
		good: []string{
			"/a:\n  file.managed: []\n",
		},
	},
	unreachableSLS: {
		bad: []string{
			"-- salt/app.v1.sls --\na:\n  test.nop: []\n",
			"-- salt/app.sls --\na:\n  test.nop: []\n-- salt/app/init.sls --\na:\n  test.nop: []\n",
			"-- salt/web.sls --\na:\n  test.nop: []\n-- salt/v1.0/app.sls --\nb:\n  test.nop: []\n",
			"a:\n  test.nop:\n    - text: {{ pillar.app }}\n-- pillar/app.sls --\napp: x\n-- pillar/web.example.com.sls --\nb: x\n",
		},
		good: []string{
			"-- salt/app/v1.sls --\na:\n  test.nop: []\n",
			"-- salt/app/init.sls --\na:\n  test.nop: []\n-- salt/_states/x.y.sls --\na: 1\n",
		},
	},
	unquotedMode: {
		bad: []string{
			"/etc/app.conf:\n  file.managed:\n    - contents: x\n    - mode: 644\n",
			"/srv:\n  file.directory:\n    - dir_mode: 755  # all\n",
			"/etc/app.conf:\n  file.managed:\n    - contents: x\n    - mode: {{ pillar.app.perms }}\n-- pillar/web.sls --\napp:\n  perms: 644\n",
			"/srv:\n  file.directory: [{dir_mode: 0755}]\n",
		},
		good: []string{
			"/etc/app.conf:\n  file.managed:\n    - contents: x\n    - mode: '0644'\n",
			"/etc/app.conf:\n  file.managed:\n    - contents: x\n    - mode: '{{ pillar.app.perms }}'\n-- pillar/web.sls --\napp:\n  perms: 644\n",
		},
	},
	unusedImport: {
		bad: []string{
			"{% from 'map.jinja' import port, host %}\na:\n  test.nop:\n    - text: {{ port }}\n-- salt/map.jinja --\n{% set port = 80 %}\n{% set host = 'x' %}\n",
		},
		good: []string{
			"{% from 'map.jinja' import port %}\na:\n  test.nop:\n    - text: {{ port }}\n-- salt/map.jinja --\n{% set port = 80 %}\n{% set host = 'x' %}\n",
		},
	},
	unusedInclude: {
		bad: []string{
			"include:\n  - common\n  - common\n-- salt/common.sls --\na:\n  test.nop: []\n",
			"include:\n  - empty\n-- salt/empty.sls --\n",
		},
		good: []string{
			"include:\n  - common\n-- salt/common.sls --\na:\n  test.nop: []\n",
		},
	},
	unusedPillar: {
		bad: []string{
			"a:\n  test.nop: []\n-- pillar/web.sls --\nleftover: 1\n",
		},
		good: []string{
			"a:\n  test.nop:\n    - text: {{ pillar.leftover }}\n-- pillar/web.sls --\nleftover: 1\n",
		},
	},
	wrongValue: {
		bad: []string{
			"/etc/app.conf:\n  file.managed:\n    - contents: x\n    - mode: '0999'\n",
			"a:\n  cmd.run:\n    - name: app reload\n    - timeout: soon\n",
			"/etc/app.conf:\n  file.managed:\n    - contents: x\n    - mode: 493\n",
		},
		good: []string{
			"/etc/app.conf:\n  file.managed:\n    - contents: x\n    - mode: '0644'\n",
			"a:\n  cmd.run:\n    - name: app reload\n    - timeout: 30\n",
			"a:\n  cmd.run:\n    - name: app reload\n    - timeout: {{ grains.t }}\n",
		},
	},
	yamlBoolean: {
		bad: []string{
			"a:\n  test.nop:\n    - names:\n      - one\n      - no\n",
		},
		good: []string{
			"a:\n  test.nop:\n    - names:\n      - one\n      - 'no'\n",
		},
	},
	yamlOctal: {
		bad: []string{
			"/etc/app.conf:\n  file.managed:\n    - contents: x\n    - mode: 0644\n",
			"/etc/app.conf:\n  file.managed: [{contents: x}, {mode: 0644}]\n",
			"/srv/app:\n  file.recurse:\n    - source: salt://app\n    - file_mode:\n        0644\n-- salt/app/x --\n",
			"/etc/app.conf:\n  file.managed:\n    - contents: x\n    - mode: &m 0644\n/b:\n  file.managed:\n    - contents: x\n    - mode: *m\n",
			"/etc/app.conf:\n  file.managed:\n    - contents: x\n    - mode: !!int 0644\n",
		},
		good: []string{
			"/etc/app.conf:\n  file.managed:\n    - contents: x\n    - mode: '0644'\n",
			"/etc/app.conf:\n  file.managed:\n    - contents: x\n    - mode: {{ pillar.app.mode }}\n-- pillar/web.sls --\napp:\n  mode: '0644'\n",
			"/etc/app.conf:\n  file.managed:\n    - contents: x\n    - mode: 644\n",
		},
	},
	yamlTab: {
		bad: []string{
			"a:\n\ttest.nop: []\n",
		},
		good: []string{
			"a:\n  test.nop: []\n",
		},
	},
}
