module github.com/flosch/pongo2/v6

go 1.26
