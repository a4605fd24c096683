package ui

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// An object is an object of the OpenAPI document.
type object = map[string]any

// Document is the OpenAPI document of the API, made of the table of routes and of the
// types of requests and answers.
func Document() []byte {
	d := &document{schemas: object{}}
	paths := object{}
	for _, x := range apiRoutes() {
		if x.api == nil {
			continue
		}
		method, path, _ := strings.Cut(x.pattern, " ")
		item, _ := paths[path].(object)
		if item == nil {
			item = object{}
			paths[path] = item
		}
		item[strings.ToLower(method)] = d.operation(path, x)
	}
	d.ref(reflect.TypeFor[Problem]())
	root := object{
		"openapi": "3.1.0",
		"info": object{
			"title": "brine ui", "version": strings.TrimPrefix(apiBase, apiRoot),
			"description": "Run what a tree defines, watch it, and look at what ran. Times are those of RFC 3339. Errors are problems as RFC 9457 has them.",
		},
		"servers":  []object{{"url": "/"}},
		"security": []object{{"token": []string{}}},
		"paths":    paths,
		"components": object{
			"schemas":         d.schemas,
			"securitySchemes": object{"token": object{"type": "http", "scheme": "bearer", "description": "A secret that 'brine ui token add' has printed."}},
		},
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	_ = e.Encode(root) // it has only maps, lists and text
	return b.Bytes()
}

// apiDocument answers with the document.
func (s *Server) apiDocument(c *apiCall, _ *nothing) (*plainText, error) {
	if s.opts.Tokens == nil {
		return nil, errAPIOff
	}
	return c.text("application/json", string(Document()))
}

// A document collects the schemas of types.
type document struct{ schemas object }

// operation describes a route.
func (d *document) operation(path string, x route) object {
	o := x.api
	out := object{
		"operationId": o.id, "summary": o.summary,
		"responses": object{
			strconv.Itoa(o.status): d.answer(path, o),
			"default":              object{"description": "A problem.", "content": object{"application/problem+json": object{"schema": d.ref(reflect.TypeFor[Problem]())}}},
		},
	}
	if o.open {
		out["security"] = []object{}
	}
	if o.signed {
		out["requestBody"] = object{"required": true, "content": object{"application/json": object{"schema": object{"type": "object"}}}}
	}
	if !o.open {
		out["description"] = "Needs the role " + x.least.String() + "."
	}
	if p := d.parameters(path, o); len(p) > 0 {
		out["parameters"] = p
	}
	if body, optional := d.object(o.request); x.least >= Operator && len(body["properties"].(object)) > 0 {
		body["additionalProperties"] = false
		out["requestBody"] = object{"required": !optional, "content": object{"application/json": object{"schema": body}}}
	}
	return out
}

// answer describes what a route answers with.
func (d *document) answer(path string, o *apiOp) object {
	text := http.StatusText(o.status)
	mime := "application/json"
	switch {
	case o.status == http.StatusNoContent:
		return object{"description": text}
	case o.answer == reflect.TypeFor[plainText]() && strings.HasSuffix(path, ".json"):
		return object{"description": text, "content": object{mime: object{"schema": object{"type": "object"}}}}
	case o.answer == reflect.TypeFor[plainText]() && strings.HasSuffix(path, "/export"):
		return object{"description": text, "content": object{"application/x-ndjson": object{"schema": object{"type": "string"}}}}
	case o.answer == reflect.TypeFor[plainText]():
		return object{"description": text, "content": object{"text/plain": object{"schema": object{"type": "string"}}}}
	case o.events:
		return object{
			"description": "Events named run, and end for the last one. The data of each is a RunDetail with those steps that changed; its id is for the header Last-Event-ID.",
			"content":     object{"text/event-stream": object{"schema": d.ref(o.answer)}},
		}
	}
	out := object{"description": text, "content": object{mime: object{"schema": d.ref(o.answer)}}}
	if o.starts {
		out["headers"] = object{"Location": object{"description": "The path of the run.", "schema": object{"type": "string"}}}
	}
	return out
}

// parameters describes the parameters of a route.
func (d *document) parameters(path string, o *apiOp) []object {
	var out []object
	for part := range strings.SplitSeq(path, "/") {
		if name, ok := strings.CutPrefix(part, "{"); ok {
			out = append(out, object{"name": strings.TrimSuffix(name, "}"), "in": "path", "required": true, "schema": object{"type": "string"}})
		}
	}
	fieldsOfType(o.request, "query", func(f reflect.StructField, name string, _ bool) {
		schema := d.field(f)
		p := object{"name": name, "in": "query", "schema": schema}
		if text, ok := schema["description"]; ok {
			p["description"] = text
			delete(schema, "description")
		}
		if most, err := strconv.Atoi(f.Tag.Get("max")); err == nil {
			schema["minimum"], schema["maximum"] = 1, most
		}
		out = append(out, p)
	})
	if o.starts {
		out = append(out, object{
			"name": keyHeader, "in": "header", "schema": object{"type": "string", "minLength": 1, "maxLength": maxKey},
			"description": "A text of your choice, such as a UUID: a request with a key that was used before, in 24 hours, gets the run that the first one started.",
		})
	}
	if o.events {
		out = append(out, object{"name": "Last-Event-ID", "in": "header", "schema": object{"type": "string"}, "description": "The id of the last event that was received."})
	}
	return out
}

// ref refers to the schema of a struct.
func (d *document) ref(t reflect.Type) object {
	if _, known := d.schemas[t.Name()]; !known {
		d.schemas[t.Name()] = object{} // it may refer to itself
		d.schemas[t.Name()], _ = d.object(t)
	}
	return object{"$ref": "#/components/schemas/" + t.Name()}
}

// object is the schema of a struct; optional says that no field is required.
func (d *document) object(t reflect.Type) (schema object, optional bool) {
	properties, required := object{}, []string{}
	fieldsOfType(t, "json", func(f reflect.StructField, name string, optional bool) {
		properties[name] = d.field(f)
		if !optional {
			required = append(required, name)
		}
	})
	schema = object{"type": "object", "properties": properties}
	if len(required) > 0 {
		schema["required"] = required
	}
	return schema, len(required) == 0
}

// field is the schema of a field.
func (d *document) field(f reflect.StructField) object {
	schema := d.schema(f.Type)
	if f.Tag.Get("object") != "" {
		schema = object{"type": "object"}
	}
	if text := f.Tag.Get("enum"); text != "" {
		schema["enum"] = strings.Split(text, ",")
	}
	if f.Tag.Get("problem") != "" {
		schema["enum"] = append(problemNames(), "about:blank")
	}
	if text := f.Tag.Get("doc"); text != "" {
		schema = maps.Clone(schema)
		schema["description"] = text
	}
	return schema
}

// schema is the schema of a type.
func (d *document) schema(t reflect.Type) object {
	switch {
	case t == reflect.TypeFor[time.Time]():
		return object{"type": "string", "format": "date-time"}
	case t == reflect.TypeFor[json.RawMessage]():
		return object{}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return d.schema(t.Elem())
	case reflect.Struct:
		return d.ref(t)
	case reflect.Slice:
		return object{"type": "array", "items": d.schema(t.Elem())}
	case reflect.Map:
		return object{"type": "object", "additionalProperties": d.schema(t.Elem())}
	default:
		return object{"type": jsonType(t)}
	}
}

// jsonType is the type of JSON that a type has.
func jsonType(t reflect.Type) string {
	if t == reflect.TypeFor[time.Time]() {
		return "string"
	}
	switch t.Kind() {
	case reflect.Bool:
		return "boolean"
	case reflect.Int, reflect.Int64:
		return "integer"
	case reflect.Float64:
		return "number"
	case reflect.Slice:
		return "array"
	case reflect.Struct, reflect.Map:
		return "object"
	default:
		return "string"
	}
}
