module site

go 1.26.0

require (
	github.com/ulikunitz/xz v0.5.17
	github.com/yuin/goldmark v1.8.7
)
