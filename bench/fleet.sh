# A fleet of simulated targets, and what it is sent: read by bench/scale and
# bench/controllers, which have a directory $tmp and bench/hosts as $tmp/hosts.bin.

# serve starts bench/hosts with the directory $1, and returns when it serves; $! is
# the process.
serve() {
	rm -rf "$1"
	mkdir -m 700 "$1"
	GOGC=200 "$tmp/hosts.bin" "$1" &
	while [ ! -s "$1/port" ] || [ ! -s "$1/known_hosts" ] || [ ! -s "$1/id" ]; do sleep 0.1; done
}
# known prints lines of known_hosts for the hosts of the roster $2, which are in the
# directory $1.
known() { awk -v p="$(cat "$1/port")" -v k="$(cut -d' ' -f2,3 "$1/known_hosts")" '/host:/ { print "[" $2 "]:" p " " k }' "$2"; }

# tree writes a tree: two SLS for the targets, a pillar of some files, and an
# orchestration of five steps over the targets that its pillar names, by default all.
tree() {
	mkdir -m 700 "$tmp/salt" "$tmp/pillar"
	cat >"$tmp/salt/app.sls" <<'END'
{% for i in range(10) %}
app{{ i }}:
  test.succeed_without_changes:
    - name: {{ pillar['app']['name'] }}-{{ grains['id'] }}-{{ i }}
{% endfor %}
END
	cat >"$tmp/salt/ready.sls" <<'END'
ready:
  test.configurable_test_state:
    - changes: true
    - result: true
END
	printf 'base:\n  "*": [common]\n  "h*": [app]\n  "G@os:Debian": [debian]\n' >"$tmp/pillar/top.sls"
	awk 'BEGIN { print "users:"; for (i = 0; i < 20; i++) printf "  user%d: {uid: %d, shell: /bin/bash}\n", i, 1000 + i }' >"$tmp/pillar/common.sls"
	printf 'app:\n  name: shop\n  id: {{ grains.id }}\n' >"$tmp/pillar/app.sls"
	echo 'pkg: apt' >"$tmp/pillar/debian.sls"
	cat >"$tmp/salt/rollout.sls" <<'END'
{% set tgt = pillar.get('tgt', 'h*') %}
alive:
  salt.function:
    - name: test.ping
    - tgt: '{{ tgt }}'
app:
  salt.state:
    - tgt: '{{ tgt }}'
    - sls: app
    - require:
      - salt: alive
odd:
  salt.function:
    - name: test.echo
    - tgt: '{{ tgt }}[13579]'
    - arg: [odd]
    - require:
      - salt: app
ready:
  salt.state:
    - tgt: '{{ tgt }}'
    - sls: ready
    - require:
      - salt: odd
last:
  salt.function:
    - name: grains.get
    - tgt: '{{ tgt }}'
    - arg: [id]
    - onchanges:
      - salt: ready
END
}
