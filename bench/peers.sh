# The peers of brine over the same sshd, with the same key and as many
# connections at once: read by bench/ssh, whose variables and functions it uses.
# Those that are not installed are passed over.

# What each needs is far from brine's own: ssh, pssh and clush run a shell
# command and compare no states; ansible runs modules by a Python on the host.
at_once=64
for n in $counts; do
	head -"$n" "$tmp/addrs" >"$tmp/hosts.txt"
	if command -v ssh >/dev/null; then
		mkdir -p "$tmp/cm"
		measure "ssh, one process a host (xargs -P $at_once)" "$n" xargs -a "$tmp/hosts.txt" -P $at_once -I{} ssh -F "$tmp/ssh_config" {} true
		xargs -a "$tmp/hosts.txt" -P 8 -I{} ssh -F "$tmp/ssh_config" -o ControlMaster=auto -o ControlPersist=120 -S "$tmp/cm/%h" -fN {} </dev/null >/dev/null 2>&1
		was_repeats=$repeats
		gone() { :; } # the masters stay
		measure "ssh over open ControlMasters" "$n" xargs -a "$tmp/hosts.txt" -P $at_once -I{} ssh -F "$tmp/ssh_config" -S "$tmp/cm/%h" {} true
		repeats=$was_repeats
		xargs -a "$tmp/hosts.txt" -P 8 -I{} ssh -F "$tmp/ssh_config" -S "$tmp/cm/%h" -O exit {} >/dev/null 2>&1
	fi
	for pssh in pssh parallel-ssh; do
		command -v $pssh >/dev/null || continue
		measure "$pssh" "$n" $pssh -h "$tmp/hosts.txt" -p $at_once -t 0 -x "-F $tmp/ssh_config" true
		break
	done
	if command -v clush >/dev/null; then
		measure "clush" "$n" clush -f $at_once -o "-F $tmp/ssh_config" -w "$(paste -sd, "$tmp/hosts.txt")" true
	fi
	command -v ansible >/dev/null || continue
	python=
	for p in /usr/bin/python3 $(command -v python3); do
		[ -x "$p" ] && python=$p && break
	done
	cat >"$tmp/ansible.cfg" <<END
[defaults]
inventory = $tmp/hosts.txt
forks = $at_once
interpreter_python = $python
gathering = explicit
retry_files_enabled = False
local_tmp = $tmp/ansible
${MITOGEN:+strategy_plugins = $MITOGEN}
${MITOGEN:+strategy = mitogen_linear}
[ssh_connection]
pipelining = True
ssh_args = -F $tmp/ssh_config -o ControlMaster=auto -o ControlPersist=5s
control_path_dir = $tmp/cp
END
	{
		echo '- hosts: all'
		echo '  gather_facts: false'
		echo '  tasks:'
		awk -v d="$tmp" 'BEGIN {
			printf "    - file: {path: \"%s/out/a-{{ inventory_hostname }}\", state: directory}\n", d
			for (i = 0; i < 20; i++) printf "    - copy: {src: %s/salt/src/f%d, dest: \"%s/out/a-{{ inventory_hostname }}/f%d\", mode: \"0644\"}\n", d, i, d, i
			for (i = 0; i < 5; i++) print "    - command: \"true\""
		}'
	} >"$tmp/play.yml"
	ANSIBLE_CONFIG=$tmp/ansible.cfg
	export ANSIBLE_CONFIG
	name=ansible${MITOGEN:+ with mitogen}
	measure "$name, ping" "$n" ansible all -m ping
	[ "$n" -le "${ANSIBLE_MAX:-10}" ] || continue
	ansible-playbook "$tmp/play.yml" >/dev/null 2>&1 || echo "ansible-playbook failed" >&2
	measure "$name, 20 files and 5 commands, nothing to do" "$n" ansible-playbook "$tmp/play.yml"
done
