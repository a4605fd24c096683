//go:build !slim

package ldap3

import (
	"brine/internal/core/fun"
	"brine/internal/py/value"
)

type connectArgs struct {
	_    fun.Arguments
	Spec *value.Map `arg:"connect_spec,required" doc:"the server: url, bind (method, dn, password), tls, opts"`
}

type searchArgs struct {
	connectArgs
	Base   string      `arg:"base,required" doc:"DN of the entry at which the search begins"`
	Scope  string      `arg:"scope" default:"subtree" oneof:"subtree|base|onelevel" doc:"what to search below it"`
	Filter string      `arg:"filterstr" default:"(objectClass=*)" doc:"the filter"`
	Attrs  []string    `arg:"attrlist" doc:"return these attributes; default: all"`
	Only   value.Value `arg:"attrsonly" default:"0" doc:"if true, return no values"`
}

type dnArgs struct {
	connectArgs
	DN string `arg:"dn,required" doc:"DN of the entry"`
}

type addArgs struct {
	dnArgs
	Attributes *value.Map `arg:"attributes,required" doc:"its attributes, each with a list of values"`
}

type modifyArgs struct {
	dnArgs
	Directives []value.Value `arg:"directives,required,secret" doc:"lists of an operation (add, delete, replace), an attribute and a list of values"`
}

type changeArgs struct {
	dnArgs
	Before *value.Map `arg:"before,required" doc:"the attributes as they are"`
	After  *value.Map `arg:"after,required" doc:"the attributes as they shall be"`
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{Name: "add", Doc: "Add an entry.", Src: "modules/ldap3.py add", Do: addEntry},
	{Name: "change", Doc: "Change the attributes of an entry that differ between two views of it.", Src: "modules/ldap3.py change", Do: changeEntry},
	{Name: "delete", Doc: "Delete an entry.", Src: "modules/ldap3.py delete", Do: deleteEntry},
	{Name: "modify", Doc: "Add, delete and replace values of an entry.", Src: "modules/ldap3.py modify", Do: modifyEntry},
	{Name: "search", Doc: "Return entries and their attributes, by DN.", Src: "modules/ldap3.py search", Do: search},
}

type oldSearchArgs struct {
	_         fun.Arguments
	Filter    string      `arg:"filter,required" doc:"the filter"`
	DN        string      `arg:"dn" doc:"DN of the entry at which the search begins; default: ldap.basedn"`
	Scope     value.Value `arg:"scope" doc:"0 (base), 1 (onelevel) or 2 (subtree); default: ldap.scope"`
	Attrs     value.Value `arg:"attrs" doc:"return these attributes; an empty string is all; default: ldap.attrs"`
	URI       value.Value `arg:"uri,kw" doc:"URL of the server, instead of server and port"`
	Server    value.Value `arg:"server,kw" doc:"the server; default: ldap.server"`
	Port      value.Value `arg:"port,kw" doc:"its port; default: ldap.port"`
	TLS       value.Value `arg:"tls,kw" doc:"use StartTLS; default: ldap.tls"`
	NoVerify  value.Value `arg:"no_verify,kw" doc:"do not verify the certificate; default: ldap.no_verify"`
	BindDN    value.Value `arg:"binddn,kw" doc:"the account; default: ldap.binddn"`
	BindPW    value.Value `arg:"bindpw,kw,secret" doc:"its password; default: ldap.bindpw"`
	Anonymous value.Value `arg:"anonymous,kw" doc:"do not log in; default: ldap.anonymous"`
}

var oldSpecs = []fun.Spec{
	{Name: "search", Doc: "Search entries by a filter.", Src: "modules/ldapmod.py search", Do: oldSearch},
}
