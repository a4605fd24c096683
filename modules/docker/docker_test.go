package docker_test

import (
	"regexp"
	"strings"
	"testing"

	"brine/internal/testkit/calltest"
)

var ids = regexp.MustCompile(`(sha256:)?[0-9a-f]{12}0{52}`)

// steps makes calls, and hides IDs in what they return.
func steps(t *testing.T, r *calltest.Rig, all []calltest.Step) {
	t.Helper()
	for i, s := range all {
		verb, rest, _ := strings.Cut(s[0], " ")
		name, args, _ := strings.Cut(rest, " ")
		var got string
		switch verb {
		case "call":
			got = r.Fn(t, name, args)
		case "watch":
			got = r.Watch(t, name, args, false)
		default:
			got = r.State(t, name, args, verb == "test")
		}
		got = ids.ReplaceAllString(got, "ID")
		if got != s[1] {
			t.Errorf("step %d: %s\ngot  %s\nwant %s", i+1, s[0], got, s[1])
		}
	}
}

func TestContainers(t *testing.T) {
	t.Parallel()
	r, _, g := rig(t)
	g.addImage("nginx:1")
	const web = "{name: web, image: 'nginx:1', env: {A: 1}, publish: ['8080:80'], restart: always, memory: 64m}"
	steps(t, r, []calltest.Step{
		{"test docker_container.running " + web, "None: Container 'web' would be created {'image': {'old': None, 'new': 'ID'}}"},
		{"state docker_container.running " + web, "True: Created container 'web' {'container_id': {'added': 'ID'}, 'state': {'old': None, 'new': 'running'}}"},
		{"state docker_container.running " + web, "True: Container 'web' is already configured as specified {}"},
		{"test docker_container.running " + web, "True: Container 'web' is already configured as specified {}"},
		{"call docker.list_containers {all: true}", "['web']"},
		{"test docker_container.running {name: web, image: 'nginx:1', env: [A=2]}", "None: Container 'web' would be replaced {'container': {'Config': {'Env': {'old': ['A=1'], 'new': ['A=2']}, 'ExposedPorts': {'old': {'80/tcp': {}}, 'new': None}}, 'HostConfig': {'Memory': {'old': 67108864, 'new': None}, 'PortBindings': {'old': {'80/tcp': [{'HostIp': '', 'HostPort': '8080'}]}, 'new': None}, 'RestartPolicy': {'old': {'MaximumRetryCount': 0, 'Name': 'always'}, 'new': None}}}}"},
	})
	got := ids.ReplaceAllString(r.State(t, "docker_container.running", "{name: web, image: 'nginx:1', env: [A=2], publish: '8080:80', restart_policy: always, mem_limit: 67108864}", false), "ID")
	if want := "True: Replaced container 'web' {'container': {'Config': {'Env': {'old': ['A=1'], 'new': ['A=2']}}}, 'container_id': {'removed': ['ID'], 'added': 'ID'}}"; got != want {
		t.Errorf("replace: %s\nwant %s", got, want)
	}
	steps(t, r, []calltest.Step{
		{"call docker.state [web]", "'running'"},
		{"call docker.port [web]", "{'80/tcp': [{'HostIp': '0.0.0.0', 'HostPort': '8080'}]}"},
		{"state docker_container.absent {name: web}", "False: Container is running, set force to True to forcibly remove it {}"},
		{"test docker_container.stopped {name: web}", "None: The following container(s) will be stopped: web {}"},
		{"state docker_container.stopped {name: web}", "True: The following container(s) were stopped: web {'web': {'result': True, 'state': {'old': 'running', 'new': 'stopped'}}}"},
		{"state docker_container.stopped {name: web}", "True: Container 'web' is not running {}"},
		{"state docker_container.stopped {name: x, containers: [web, none]}", "False: The following container(s) are absent: none {}"},
		{"state docker_container.stopped {name: x, containers: [web, none], error_on_absent: false}", "True: All specified containers are absent or not running {}"},
		{"state docker_container.running {name: web, image: 'nginx:1', env: [A=2], publish: '8080:80', restart_policy: always, mem_limit: 64M, start: false}", "True: Container 'web' is already configured as specified {}"},
		{"state docker_container.running {name: web, image: 'nginx:1', env: [A=2], publish: '8080:80', restart_policy: always, mem_limit: 64M}", "True: Container 'web' is already configured as specified. State changed from 'stopped' to 'running'. {'state': {'old': 'stopped', 'new': 'running'}}"},
		{"watch docker_container.running {name: web, image: 'nginx:1', env: [A=2], publish: '8080:80', restart_policy: always, mem_limit: 64M, watch_action: HUP}", "True: Sent signal HUP to container {'signal': 'HUP'}"},
		{"watch docker_container.running {name: web, image: 'nginx:1'}", "True: Replaced container 'web' {'container_id': {'removed': ['ID'], 'added': 'ID'}}"},
		{"call docker.pause [web]", "{'result': True, 'state': {'old': 'running', 'new': 'paused'}}"},
		{"call docker.start [web]", "{'result': False, 'state': {'old': 'paused', 'new': 'paused'}, 'comment': \"Container 'web' is paused, cannot start\"}"},
		{"call docker.stop {name: web, unpause: true}", "{'result': True, 'state': {'old': 'paused', 'new': 'stopped'}}"},
		{"test docker_container.absent {name: web}", "None: Container 'web' will be removed {}"},
		{"state docker_container.absent {name: web}", "True: Successfully removed container 'web' {'removed': ['ID']}"},
		{"state docker_container.absent {name: web}", "True: Container 'web' does not exist {}"},
		{"state docker_container.running {name: a, image: nosuch}", "False: Failed to pull nosuch: Error 404: pull access denied for nosuch {}"},
		{"state docker_container.running {name: a, image: broken}", "False: Failed to pull broken: no space {'image': {'Time_Elapsed': 0.0, 'retcode': 1, 'Errors': ['no space']}}"},
		{"state docker_container.running {name: a}", "False: The 'image' argument is required {}"},
		{"state docker_container.running {name: a, image: 'nginx:1', publish: '80-81:90', rm: true, auto_remove: true}", "False: Failed to translate input. Error(s) follow:\n\n'rm' is an alias for 'auto_remove', they cannot both be used\n\n'port_bindings': Host port range (80-81) does not have the same number of ports as the container port range (90) {}"},
		{"state docker_container.running {name: a, image: 'nginx:1', networks: [none]}", "False: The following networks are not present: none {}"},
	})
	if len(g.containers) != 0 {
		t.Errorf("containers are left: %v", g.containers)
	}
}

func TestRun(t *testing.T) {
	t.Parallel()
	r, _, g := rig(t)
	g.addImage("busybox:latest")
	steps(t, r, []calltest.Step{
		{"test docker_container.run {name: job, image: busybox}", "None: Container would be run {}"},
		{"state docker_container.run {name: job, image: busybox, cmd: 'exit 3'}", "False: Container ran and exited with a return code of 3 {'Id': 'ID', 'Warnings': [], 'Time_Elapsed': 0.0, 'Name': 'job', 'Logs': 'out\\nerr\\n', 'ExitCode': 3}"},
		{"state docker_container.run {name: job, image: busybox, cmd: 'exit 3', failhard: false}", "False: Encountered error running container: Container 'job' exists. Run with replace=True to remove the existing container {}"},
		{"state docker_container.run {name: job, image: busybox, cmd: 'exit 3', failhard: false, replace: true, rm: true}", "True: Container ran and exited with a return code of 3 {'Id': 'ID', 'Warnings': [], 'Time_Elapsed': 0.0, 'Name': 'job', 'Replaces': ['ID'], 'Logs': 'out\\nerr\\n', 'ExitCode': 3}"},
		{"call docker.exists [job]", "False"},
		{"state docker_container.run {name: job, image: busybox, bg: true}", "True: Container was run in the background {'Id': 'ID', 'Warnings': [], 'Time_Elapsed': 0.0, 'Name': 'job'}"},
		{"state docker_container.run {name: job, image: busybox, start: true}", "False: The 'start' argument is not supported {}"},
		{"call docker.run_all [job, \"sh -c 'echo one; echo two >&2'\"]", "{'pid': 0, 'retcode': 4, 'stdout': 'one', 'stderr': 'two'}"},
		{"call docker.run [job, ls]", "'one\\ntwo'"},
		{"call docker.retcode [job, ls]", "4"},
		{"call docker.logs [job]", "'out\\nerr\\n'"},
		{"call docker.wait [job]", "{'result': True, 'state': {'old': 'running', 'new': 'stopped'}, 'exit_status': 0}"},
		{"call docker.rm [job]", "['ID']"},
		{"call docker.rm [job]", "error: Error 404: No such container: job"},
		{"call docker.inspect_container ['../version']", "error: Resource ID was not provided, or is invalid: /containers/../version/json"},
	})
}

func TestNetworks(t *testing.T) {
	t.Parallel()
	r, _, g := rig(t)
	g.addImage("nginx:1")
	steps(t, r, []calltest.Step{
		{"test docker_network.present {name: front}", "None: Network will be created {}"},
		{"state docker_network.present {name: front}", "True: Network 'front' created {'created': True}"},
		{"state docker_network.present {name: front}", "True: Network 'front' already exists, and is configured as specified {}"},
		{"state docker_container.running {name: web, image: 'nginx:1', networks: [{front: [{aliases: www}]}]}", "True: Created container 'web' {'container': {'Networks': {'bridge': {'IPConfiguration': {'old': 'automatic', 'new': 'not connected'}}, 'front': {'Aliases': {'old': None, 'new': ['www']}, 'IPAddress': {'old': None, 'new': '172.18.0.2'}}}}, 'container_id': {'added': 'ID'}, 'state': {'old': None, 'new': 'running'}}"},
		{"state docker_container.running {name: web, image: 'nginx:1', networks: [{front: [{aliases: www}]}]}", "True: Container 'web' is already configured as specified {}"},
		{"test docker_container.running {name: web, image: 'nginx:1', networks: [{front: [{aliases: 'www,web'}]}]}", "None: Container 'web' is already configured as specified. Network configuration would be updated. {'container': {'Networks': {'front': {'Aliases': {'old': ['www'], 'new': ['web', 'www']}}}}}"},
		{"state docker_container.running {name: web, image: 'nginx:1', networks: [{front: [{aliases: 'www,web'}]}]}", "True: Container 'web' is already configured as specified. Reconnected to network 'front' with updated configuration. {'container': {'Networks': {'front': {'Aliases': {'old': ['www'], 'new': ['web', 'www']}}}}}"},
		{"call docker.connected [front]", "['web']"},
		{"test docker_network.present {name: front, subnet: 10.0.20.0/24}", "None: Network would be recreated with new config {'front': {'IPAM': {'Config': {'old': [{'Gateway': '172.18.0.1', 'Subnet': '172.18.0.0/16'}], 'new': [{'Subnet': '10.0.20.0/24'}]}}}}"},
		{"state docker_network.present {name: front, subnet: 10.0.20.0/24}", "True: Network 'front' was replaced with updated config {'front': {'IPAM': {'Config': {'old': [{'Gateway': '172.18.0.1', 'Subnet': '172.18.0.0/16'}], 'new': [{'Subnet': '10.0.20.0/24'}]}}}, 'recreated': True, 'reconnected': ['web']}"},
		{"state docker_network.present {name: front, subnet: 10.0.20.0/24, containers: [web, none]}", "True: Network 'front' already exists, and is configured as specified {}"},
		{"state docker_network.present {name: front, subnet: 10.0.20.1/24}", "False: Failed to translate input. Error(s) follow:\n\n'subnet': '10.0.20.1/24' is not a valid subnet {}"},
		{"state docker_network.present {name: x, gateway: 10.0.0.1}", "False: Failed to translate input. Error(s) follow:\n\nA subnet is required in each IPAM pool {}"},
		{"test docker_network.absent {name: front}", "None: Network 'front' will be removed {}"},
		{"state docker_network.absent {name: front}", "True: Removed network 'front' {'disconnected': ['web'], 'removed': True}"},
		{"state docker_network.absent {name: front}", "True: Network 'front' already absent {}"},
		{"test docker_volume.present {name: v}", "None: The volume 'v' will be created {}"},
		{"state docker_volume.present {name: v, driver_opts: [{o: rw}]}", "True:  {'created': {'Driver': 'local', 'DriverOpts': {'o': 'rw'}, 'Name': 'v'}}"},
		{"state docker_volume.present {name: v, driver: local}", "True: Volume 'v' already exists. {}"},
		{"state docker_volume.present {name: v, driver: nfs}", "False: Driver for existing volume 'v' ('local') does not match specified driver ('nfs') and force is False {}"},
		{"state docker_volume.present {name: v, driver: nfs, force: true}", "True:  {'removed': True, 'created': {'Driver': 'nfs', 'Name': 'v'}}"},
		{"test docker_volume.absent {name: v}", "None: The volume 'v' will be removed {}"},
		{"state docker_volume.absent {name: v}", "True:  {'removed': True}"},
		{"state docker_volume.absent {name: v}", "True: Volume 'v' already absent {}"},
	})
	if len(g.networks) != 1 || len(g.containers) != 1 {
		t.Errorf("something is left: %v %v", g.networks, g.containers)
	}
}

func TestImages(t *testing.T) {
	t.Parallel()
	r, h, g := rig(t)
	h.PutFile("/srv/app/Dockerfile", "FROM scratch\n", 0o644)
	h.PutFile("/srv/app/.dockerignore", "# no\n*.log\n!keep.log\nsub/**/x\n", 0o644)
	h.PutFile("/srv/app/a.log", "SECRET", 0o644)
	h.PutFile("/srv/app/keep.log", "kept", 0o644)
	h.PutFile("/srv/app/sub/deep/x", "SECRET", 0o644)
	h.PutFile("/srv/image.tar", "TAR", 0o644)
	h.PutFile("/srv/bad.tar", "x", 0o644)
	steps(t, r, []calltest.Step{
		{"test docker_image.present {name: nginx, tag: 1}", "None: Image nginx:1 will be pulled {}"},
		{"state docker_image.present {name: nginx, tag: 1}", "True: Image 'nginx:1' was pulled {'Time_Elapsed': 0.0, 'retcode': 0, 'Layers': {'Pulled': ['aaaa']}, 'Status': 'Downloaded newer image for nginx:1'}"},
		{"state docker_image.present {name: 'nginx:1'}", "True: Image nginx:1 already present {}"},
		{"state docker_image.present {name: nosuch}", "False: Encountered error pulling nosuch: Error 404: pull access denied for nosuch {}"},
		{"state docker_image.present {name: broken}", "False: Encountered error pulling broken: no space {}"},
		{"state docker_image.present {name: app, build: /srv/app}", "False: The 'tag' argument is required if any one of 'build', 'load', or 'sls' is used. {}"},
		{"state docker_image.present {name: app, build: /srv/app, load: x}", "False: Only one of 'build', 'load', or 'sls' is permitted. {}"},
		{"test docker_image.present {name: app, build: /srv/app, tag: '1'}", "None: Image app:1 will be built {}"},
		{"state docker_image.present {name: app, build: /srv/app, tag: '1'}", "True: Image 'app:1' was built {'Time_Elapsed': 0.0, 'Id': '000000000002', 'Image': ['app:1']}"},
		{"state docker_image.present {name: bad, build: /srv/app, tag: '1'}", "False: Encountered error building /srv/app as bad:1: Build failed for /srv/app. Error(s) follow:\n\nno Dockerfile {}"},
		{"state docker_image.present {name: loaded, load: /srv/image.tar, tag: '2'}", "True: Image 'loaded:2' was loaded {'Time_Elapsed': 0.0, 'Path': '/srv/image.tar', 'Layers': ['sha256:00000'], 'Image': 'loaded:2'}"},
		{"state docker_image.present {name: l2, load: /srv/bad.tar, tag: '2'}", "False: Encountered error loading /srv/bad.tar as l2:2: Failed to load image(s) from /srv/bad.tar: Error 500: not an archive {}"},
		{"call docker.list_tags []", "['app:1', 'loaded:2', 'nginx:1']"},
		{"call docker.tag [nginx:1, web, 2]", "True"},
		{"call docker.resolve_tag {name: nginx:1, all: true}", "['nginx:1', 'web:2']"},
		{"call docker.resolve_image_id [none]", "False"},
		{"call docker.create {image: 'app:1', name: c}", "{'Id': 'ID', 'Warnings': [], 'Time_Elapsed': 0.0, 'Name': 'c'}"},
		{"state docker_image.absent {name: 'app:1'}", "False: None of the specified images were removed. The following errors were encountered: conflict: unable to remove; Image is in use by container(s): c {}"},
		{"test docker_image.absent {name: x, images: ['web:2', 'loaded:2', none]}", "None: The following images will be removed: web:2, loaded:2 {}"},
		{"state docker_image.absent {name: 'web:2'}", "True: Image web:2 was removed {'Layers': [], 'Tags': ['web:2'], 'retcode': 0}"},
		{"state docker_image.absent {name: 'nginx:1'}", "True: Image nginx:1 was removed {'Layers': ['ID'], 'Tags': ['nginx:1'], 'retcode': 0}"},
		{"state docker_image.absent {name: 'nginx:1'}", "True: Image nginx:1 is not present {}"},
		{"call docker.version []", "{'ApiVersion': '1.41', 'Version': '20.10.24+dfsg1', 'VersionInfo': (20, 10, 24), 'ApiVersionInfo': (1, 41)}"},
	})
	if tar := string(g.tar); !strings.Contains(tar, "FROM scratch") || !strings.Contains(tar, "kept") || strings.Contains(tar, "SECRET") {
		t.Errorf("the archive of the build: %q", tar)
	}
}

func TestLogin(t *testing.T) {
	t.Parallel()
	r, h, g := rig(t)
	r.Env.Opts.Set("docker-registries", calltest.YAML(t, "{hub: {username: u, password: good}, reg.example.com: {username: u, password: bad}}"))
	steps(t, r, []calltest.Step{
		{"call docker.login []", "{'retcode': 1, 'Errors': ['Error 401: unauthorized: incorrect username or password'], 'Results': {'hub': True, 'reg.example.com': False}}"},
		{"call docker.login [none]", "{'retcode': 1, 'Errors': [\"No match found for registry 'none'\"], 'Results': {}}"},
	})
	if text := h.Text("/root/.docker/config.json"); !strings.Contains(text, "dTpnb29k") || strings.Contains(text, "reg.example") {
		t.Errorf("config.json: %s", text)
	}
	if st, err := h.Stat("/root/.docker/config.json"); err != nil || st.Mode.Perm() != 0o600 {
		t.Errorf("config.json: %v %v", st.Mode, err)
	}
	r.Fn(t, "docker.pull", "[nginx]")
	r.Fn(t, "docker.pull", "[reg.example.com/x]")
	if len(g.auth) != 2 || g.auth[0] == "" || g.auth[1] != "" {
		t.Errorf("credentials: %q", g.auth)
	}
	steps(t, r, []calltest.Step{{"call docker.logout [hub]", "{'retcode': 0, 'Errors': [], 'Results': {'hub': True}}"}})
	if text := h.Text("/root/.docker/config.json"); strings.Contains(text, "dTpnb29k") {
		t.Errorf("config.json: %s", text)
	}
}

// Nothing listens.
func TestUnreached(t *testing.T) {
	t.Parallel()
	r, h, _ := rig(t)
	h.OnDial = nil
	const why = "Cannot connect to the Docker engine at unix:///var/run/docker.sock: No such file or directory"
	steps(t, r, []calltest.Step{
		{"call docker.ps []", "error: " + why},
		{"state docker_container.running {name: a, image: x}", "False: " + why + " {}"},
		{"test docker_container.absent {name: a}", "False: " + why + " {}"},
		{"test docker_image.present {name: a}", "False: " + why + " {}"},
		{"state docker_network.absent {name: a}", "False: " + why + " {}"},
		{"state docker_volume.present {name: a}", "False: " + why + " {}"},
	})
}
