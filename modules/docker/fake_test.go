package docker_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/testkit/calltest"
	mod "brine/modules/docker"
	"brine/states/docker"
)

type obj = map[string]any

// An engine is a Docker engine in memory, as far as its documented API is used.
type engine struct {
	mu         sync.Mutex
	n          int
	containers map[string]obj // by ID
	images     map[string]obj // by ID
	networks   map[string]obj // by ID
	volumes    map[string]obj // by name
	auth       []string
	tar        []byte
}

func (g *engine) id() string {
	g.n++
	return fmt.Sprintf("%012x%052x", g.n, 0)
}

func fail(w http.ResponseWriter, status int, format string, args ...any) {
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(obj{"message": fmt.Sprintf(format, args...)})
}

func reply(w http.ResponseWriter, v any) { _ = json.NewEncoder(w).Encode(v) }

func sub(m obj, key string) obj {
	x, ok := m[key].(obj)
	if !ok {
		x = obj{}
		m[key] = x
	}
	return x
}

func (g *engine) container(name string) obj {
	for id, c := range g.containers {
		if id == name || strings.HasPrefix(id, name) && len(name) >= 12 || c["Name"] == "/"+name {
			return c
		}
	}
	return nil
}

func (g *engine) network(name string) obj {
	for id, n := range g.networks {
		if id == name || n["Name"] == name {
			return n
		}
	}
	return nil
}

func (g *engine) image(name string) obj {
	for id, m := range g.images {
		tags := m["RepoTags"].([]string)
		if id == name || strings.HasPrefix(strings.TrimPrefix(id, "sha256:"), name) || slices.Contains(tags, name) || slices.Contains(tags, name+":latest") {
			return m
		}
	}
	return nil
}

func (g *engine) addImage(tags ...string) {
	id := "sha256:" + g.id()
	g.images[id] = obj{"Id": id, "RepoTags": tags, "Size": 2048, "Created": 1700000000, "ParentId": ""}
}

func (g *engine) handler() http.Handler {
	m := http.NewServeMux()
	on := func(pattern string, f func(w http.ResponseWriter, r *http.Request)) {
		m.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			g.mu.Lock()
			defer g.mu.Unlock()
			f(w, r)
		})
	}
	on("GET /version", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, obj{"Version": "20.10.24+dfsg1", "ApiVersion": "1.41"})
	})
	on("POST /auth", func(w http.ResponseWriter, r *http.Request) {
		var a obj
		_ = json.NewDecoder(r.Body).Decode(&a)
		if a["password"] != "good" {
			fail(w, 401, "unauthorized: incorrect username or password")
			return
		}
		reply(w, obj{"Status": "Login Succeeded"})
	})
	g.containerRoutes(on)
	g.imageRoutes(on)
	g.otherRoutes(on)
	return m
}

func (g *engine) containerRoutes(on func(string, func(http.ResponseWriter, *http.Request))) {
	with := func(f func(w http.ResponseWriter, r *http.Request, c obj)) func(http.ResponseWriter, *http.Request) {
		return func(w http.ResponseWriter, r *http.Request) {
			if c := g.container(r.PathValue("name")); c != nil {
				f(w, r, c)
				return
			}
			fail(w, 404, "No such container: %s", r.PathValue("name"))
		}
	}
	on("GET /containers/json", func(w http.ResponseWriter, _ *http.Request) {
		out := []obj{}
		for _, id := range slices.Sorted(maps.Keys(g.containers)) {
			c := g.containers[id]
			status := "Exited (0) 1 hour ago"
			if sub(c, "State")["Running"] == true {
				status = "Up 1 hour"
			}
			out = append(out, obj{"Id": id, "Names": []any{c["Name"]}, "Status": status, "Created": 1700000000, "ImageID": c["Image"]})
		}
		reply(w, out)
	})
	on("GET /containers/{name}/json", with(func(w http.ResponseWriter, _ *http.Request, c obj) { reply(w, c) }))
	on("POST /containers/create", g.create)
	on("DELETE /containers/{name}", with(func(w http.ResponseWriter, r *http.Request, c obj) {
		if sub(c, "State")["Running"] == true && r.FormValue("force") != "true" {
			fail(w, 409, "You cannot remove a running container")
			return
		}
		for _, n := range g.networks {
			delete(sub(n, "Containers"), c["Id"].(string))
		}
		delete(g.containers, c["Id"].(string))
		w.WriteHeader(http.StatusNoContent)
	}))
	set := func(up, paused bool) func(http.ResponseWriter, *http.Request) {
		return with(func(w http.ResponseWriter, _ *http.Request, c obj) {
			st, running := sub(c, "State"), up
			if cmd := fmt.Sprint(sub(c, "Config")["Cmd"]); running && strings.Contains(cmd, "exit") {
				running, st["ExitCode"] = false, 3
			}
			st["Running"], st["Paused"], st["Status"] = running, paused, map[bool]string{true: "running", false: "exited"}[running]
			for k, v := range sub(sub(c, "NetworkSettings"), "Networks") {
				if n := g.network(k); n != nil && running {
					v.(obj)["IPAddress"] = "172.18.0.2"
					sub(n, "Containers")[c["Id"].(string)] = obj{"Name": strings.TrimPrefix(c["Name"].(string), "/"), "IPv4Address": "172.18.0.2/16"}
				}
			}
			w.WriteHeader(http.StatusNoContent)
		})
	}
	on("POST /containers/{name}/start", set(true, false))
	on("POST /containers/{name}/restart", set(true, false))
	on("POST /containers/{name}/stop", set(false, false))
	on("POST /containers/{name}/pause", set(true, true))
	on("POST /containers/{name}/unpause", set(true, false))
	on("POST /containers/{name}/kill", with(func(w http.ResponseWriter, r *http.Request, c obj) {
		if s := r.FormValue("signal"); s == "" || s == "KILL" {
			sub(c, "State")["Running"] = false
		} else {
			c["signalled"] = s
		}
		w.WriteHeader(http.StatusNoContent)
	}))
	on("POST /containers/{name}/wait", with(func(w http.ResponseWriter, _ *http.Request, c obj) {
		sub(c, "State")["Running"] = false
		reply(w, obj{"StatusCode": 0})
	}))
	on("POST /containers/{name}/rename", with(func(w http.ResponseWriter, r *http.Request, c obj) {
		c["Name"] = "/" + r.FormValue("name")
		w.WriteHeader(http.StatusNoContent)
	}))
	on("GET /containers/{name}/logs", with(func(w http.ResponseWriter, _ *http.Request, _ obj) {
		_, _ = w.Write(append(frame(1, "out\n"), frame(2, "err\n")...))
	}))
	on("POST /containers/{name}/exec", with(func(w http.ResponseWriter, r *http.Request, _ obj) {
		var e obj
		_ = json.NewDecoder(r.Body).Decode(&e)
		reply(w, obj{"Id": "exec1", "cmd": e["Cmd"]})
	}))
	on("POST /exec/exec1/start", func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			return
		}
		defer func() { _ = conn.Close() }()
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Type: application/vnd.docker.raw-stream\r\n\r\n")
		_, _ = conn.Write(append(frame(1, "one\n"), frame(2, "two\n")...))
	})
	on("GET /exec/exec1/json", func(w http.ResponseWriter, _ *http.Request) { reply(w, obj{"ExitCode": 4}) })
}

func frame(stream byte, text string) []byte {
	head := []byte{stream, 0, 0, 0, 0, 0, 0, 0}
	binary.BigEndian.PutUint32(head[4:], uint32(len(text)))
	return append(head, text...)
}

func (g *engine) create(w http.ResponseWriter, r *http.Request) {
	var body obj
	_ = json.NewDecoder(r.Body).Decode(&body)
	img := g.image(body["Image"].(string))
	if img == nil {
		fail(w, 404, "No such image: %s", body["Image"])
		return
	}
	name := r.FormValue("name")
	id := g.id()
	if name == "" {
		name = "quirky_" + id[:6]
	}
	if g.container(name) != nil {
		fail(w, 409, "Conflict. The container name %q is already in use", name)
		return
	}
	hostConfig := sub(body, "HostConfig")
	nets := obj{}
	mode := hostConfig["NetworkMode"].(string)
	if mode == "default" {
		mode = "bridge"
	}
	nets[mode] = obj{"Aliases": nil, "Links": nil, "IPAMConfig": nil}
	delete(body, "HostConfig")
	delete(body, "NetworkingConfig")
	for k, v := range map[string]any{"Hostname": id[:12], "Cmd": nil, "Env": []any{"PATH=/bin"}, "StopTimeout": nil} {
		if _, ok := body[k]; !ok {
			body[k] = v
		}
	}
	g.containers[id] = obj{"Id": id, "Name": "/" + name, "Image": img["Id"], "Config": body, "HostConfig": hostConfig, "State": obj{"Running": false, "Status": "created"}, "NetworkSettings": obj{"Networks": nets, "Ports": obj{"80/tcp": []any{obj{"HostIp": "0.0.0.0", "HostPort": "8080"}}}}}
	w.WriteHeader(http.StatusCreated)
	reply(w, obj{"Id": id, "Warnings": []any{}})
}

func (g *engine) imageRoutes(on func(string, func(http.ResponseWriter, *http.Request))) {
	on("GET /images/json", func(w http.ResponseWriter, _ *http.Request) {
		out := []obj{}
		for _, id := range slices.Sorted(maps.Keys(g.images)) {
			out = append(out, maps.Clone(g.images[id]))
		}
		reply(w, out)
	})
	on("GET /images/{name}/json", func(w http.ResponseWriter, r *http.Request) {
		if m := g.image(r.PathValue("name")); m != nil {
			reply(w, m)
			return
		}
		fail(w, 404, "No such image: %s", r.PathValue("name"))
	})
	on("POST /images/create", func(w http.ResponseWriter, r *http.Request) {
		g.auth = append(g.auth, r.Header.Get("X-Registry-Auth"))
		full := r.FormValue("fromImage") + ":" + r.FormValue("tag")
		if strings.Contains(full, "nosuch") {
			fail(w, 404, "pull access denied for nosuch")
			return
		}
		if strings.Contains(full, "broken") {
			reply(w, obj{"status": "Pulling"})
			reply(w, obj{"errorDetail": obj{"message": "no space"}, "error": "no space"})
			return
		}
		g.addImage(full)
		reply(w, obj{"status": "Pulling fs layer", "id": "aaaa"})
		reply(w, obj{"status": "Pull complete", "id": "aaaa"})
		reply(w, obj{"status": "Status: Downloaded newer image for " + full})
	})
	on("POST /build", func(w http.ResponseWriter, r *http.Request) {
		g.tar, _ = io.ReadAll(r.Body)
		if strings.Contains(r.FormValue("t"), "bad") {
			reply(w, obj{"errorDetail": obj{"message": "no Dockerfile"}})
			return
		}
		g.addImage(r.FormValue("t"))
		m := g.image(r.FormValue("t"))
		reply(w, obj{"stream": "Step 1/1 : FROM scratch\n"})
		reply(w, obj{"stream": "Successfully built " + strings.TrimPrefix(m["Id"].(string), "sha256:")[:12] + "\n"})
	})
	on("POST /images/load", func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		if !bytes.HasPrefix(raw, []byte("TAR")) {
			fail(w, 500, "not an archive")
			return
		}
		g.addImage()
		reply(w, obj{"stream": "Loaded image"})
	})
	on("POST /images/{name}/tag", func(w http.ResponseWriter, r *http.Request) {
		m := g.image(r.PathValue("name"))
		m["RepoTags"] = append(m["RepoTags"].([]string), r.FormValue("repo")+":"+r.FormValue("tag"))
		w.WriteHeader(http.StatusCreated)
	})
	on("DELETE /images/{name}", func(w http.ResponseWriter, r *http.Request) {
		m := g.image(r.PathValue("name"))
		for _, c := range g.containers {
			if c["Image"] == m["Id"] && r.FormValue("force") != "true" {
				fail(w, 409, "conflict: unable to remove")
				return
			}
		}
		tags := slices.DeleteFunc(m["RepoTags"].([]string), func(t string) bool { return t == r.PathValue("name") })
		m["RepoTags"] = tags
		if len(tags) == 0 || strings.HasPrefix(r.PathValue("name"), "sha256:") {
			delete(g.images, m["Id"].(string))
		}
		reply(w, []obj{})
	})
}

func (g *engine) otherRoutes(on func(string, func(http.ResponseWriter, *http.Request))) {
	on("GET /networks", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, slices.Collect(maps.Values(g.networks)))
	})
	on("GET /networks/{name}", func(w http.ResponseWriter, r *http.Request) {
		if n := g.network(r.PathValue("name")); n != nil {
			reply(w, n)
			return
		}
		fail(w, 404, "network %s not found", r.PathValue("name"))
	})
	on("POST /networks/create", func(w http.ResponseWriter, r *http.Request) {
		var n obj
		_ = json.NewDecoder(r.Body).Decode(&n)
		delete(n, "CheckDuplicate")
		id := g.id()
		n["Id"], n["Containers"], n["Created"] = id, obj{}, id
		for k, v := range map[string]any{"Driver": "bridge", "Scope": "local", "EnableIPv6": false, "Internal": false, "Options": obj{}, "Labels": obj{}} {
			if _, ok := n[k]; !ok {
				n[k] = v
			}
		}
		ipam := sub(n, "IPAM")
		if l, _ := ipam["Config"].([]any); len(l) == 0 {
			ipam["Driver"], ipam["Config"] = "default", []any{obj{"Subnet": "172.18.0.0/16", "Gateway": "172.18.0.1"}}
		}
		g.networks[id] = n
		w.WriteHeader(http.StatusCreated)
		reply(w, obj{"Id": id})
	})
	on("DELETE /networks/{name}", func(w http.ResponseWriter, r *http.Request) {
		delete(g.networks, g.network(r.PathValue("name"))["Id"].(string))
		w.WriteHeader(http.StatusNoContent)
	})
	on("POST /networks/{name}/{verb}", func(w http.ResponseWriter, r *http.Request) {
		var body obj
		_ = json.NewDecoder(r.Body).Decode(&body)
		n, c := g.network(r.PathValue("name")), g.container(body["Container"].(string))
		nets, id := sub(sub(c, "NetworkSettings"), "Networks"), c["Id"].(string)
		if r.PathValue("verb") == "disconnect" {
			delete(nets, n["Name"].(string))
			delete(sub(n, "Containers"), id)
			return
		}
		conf, _ := body["EndpointConfig"].(obj)
		end := obj{"Aliases": conf["Aliases"], "Links": conf["Links"], "IPAMConfig": conf["IPAMConfig"]}
		if sub(c, "State")["Running"] == true {
			end["IPAddress"] = "172.18.0.3"
			sub(n, "Containers")[id] = obj{"Name": strings.TrimPrefix(c["Name"].(string), "/")}
		}
		nets[n["Name"].(string)] = end
	})
	on("GET /volumes", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, obj{"Volumes": slices.Collect(maps.Values(g.volumes)), "Warnings": nil})
	})
	on("POST /volumes/create", func(w http.ResponseWriter, r *http.Request) {
		var v obj
		_ = json.NewDecoder(r.Body).Decode(&v)
		if _, ok := v["Driver"]; !ok {
			v["Driver"] = "local"
		}
		g.volumes[v["Name"].(string)] = v
		w.WriteHeader(http.StatusCreated)
		reply(w, v)
	})
	on("DELETE /volumes/{name}", func(w http.ResponseWriter, r *http.Request) {
		delete(g.volumes, r.PathValue("name"))
		w.WriteHeader(http.StatusNoContent)
	})
}

// rig returns a run on a machine with an engine.
func rig(t *testing.T) (*calltest.Rig, *host.Fake, *engine) {
	t.Helper()
	g := &engine{containers: map[string]obj{}, images: map[string]obj{}, networks: map[string]obj{}, volumes: map[string]obj{}}
	g.networks["b"] = obj{"Id": "b", "Name": "bridge", "Containers": obj{}}
	srv := httptest.NewServer(g.handler())
	t.Cleanup(srv.Close)
	h := host.NewFake()
	h.SetTick(0) // results have how long it took
	h.OnDial = func(ctx context.Context, network, address string) (net.Conn, error) {
		if network != "unix" || address != "/var/run/docker.sock" {
			t.Errorf("dial %s %s", network, address)
		}
		var d net.Dialer
		return d.DialContext(ctx, "tcp", srv.Listener.Addr().String())
	}
	return calltest.New(
		h,
		fun.Entry{Kind: fun.Exec, Name: "docker", Load: mod.Module},
		fun.Entry{Kind: fun.State, Name: "docker_container", Load: docker.Containers},
		fun.Entry{Kind: fun.State, Name: "docker_image", Load: docker.Images},
		fun.Entry{Kind: fun.State, Name: "docker_network", Load: docker.Networks},
		fun.Entry{Kind: fun.State, Name: "docker_volume", Load: docker.Volumes},
	), h, g
}
