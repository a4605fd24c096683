package lsp

// The messages of the language-server protocol (3.17) that the server reads and
// writes, with the fields that it uses.

type position struct {
	Line      int `json:"line"`
	Character int `json:"character"` // in UTF-16 code units
}

type span struct {
	Start position `json:"start"`
	End   position `json:"end"`
}

type location struct {
	URI   string `json:"uri"`
	Range span   `json:"range"`
}

type textEdit struct {
	Range   span   `json:"range"`
	NewText string `json:"newText"`
}

type workspaceEdit struct {
	Changes map[string][]textEdit `json:"changes"`
}

type docID struct {
	URI string `json:"uri"`
}

type atParams struct {
	TextDocument docID    `json:"textDocument"`
	Position     position `json:"position"`
}

type docParams struct {
	TextDocument docID `json:"textDocument"`
}

// savedParams are those of a document that was saved, or of files that changed.
type savedParams struct {
	TextDocument docID   `json:"textDocument"`
	Changes      []docID `json:"changes"`
}

type folder struct {
	URI string `json:"uri"`
}

type initializeParams struct {
	RootURI          string   `json:"rootUri"`
	RootPath         string   `json:"rootPath"`
	WorkspaceFolders []folder `json:"workspaceFolders"`
	Capabilities     struct {
		Workspace struct {
			DidChangeWatchedFiles struct {
				DynamicRegistration bool `json:"dynamicRegistration"`
			} `json:"didChangeWatchedFiles"`
		} `json:"workspace"`
	} `json:"capabilities"`
}

type foldersParams struct {
	Event struct {
		Added   []folder `json:"added"`
		Removed []folder `json:"removed"`
	} `json:"event"`
}

type openParams struct {
	TextDocument struct {
		URI     string `json:"uri"`
		Version int    `json:"version"`
		Text    string `json:"text"`
	} `json:"textDocument"`
}

type changeParams struct {
	TextDocument struct {
		URI     string `json:"uri"`
		Version int    `json:"version"`
	} `json:"textDocument"`
	ContentChanges []change `json:"contentChanges"`
}

// A change replaces a range of a document; without one, all of it.
type change struct {
	Range *span  `json:"range"`
	Text  string `json:"text"`
}

// The severities of diagnostics.
const (
	severityError       = 1
	severityWarning     = 2
	severityInformation = 3
)

type codeDescription struct {
	Href string `json:"href"`
}

type diagnostic struct {
	Range           span             `json:"range"`
	Severity        int              `json:"severity"`
	Code            string           `json:"code"`
	CodeDescription *codeDescription `json:"codeDescription,omitempty"`
	Source          string           `json:"source"`
	Message         string           `json:"message"`
	Tags            []int            `json:"tags,omitempty"`
}

type publishParams struct {
	URI         string       `json:"uri"`
	Version     *int         `json:"version,omitempty"`
	Diagnostics []diagnostic `json:"diagnostics"`
}

type actionParams struct {
	TextDocument docID `json:"textDocument"`
	Range        span  `json:"range"`
	Context      struct {
		Only []string `json:"only"`
	} `json:"context"`
}

type codeAction struct {
	Title       string        `json:"title"`
	Kind        string        `json:"kind"`
	Diagnostics []diagnostic  `json:"diagnostics,omitempty"`
	IsPreferred bool          `json:"isPreferred,omitempty"`
	Edit        workspaceEdit `json:"edit"`
}

// The kinds of completion items.
const (
	kindFunction  = 3
	kindField     = 5
	kindVariable  = 6
	kindModule    = 9
	kindProperty  = 10
	kindValue     = 12
	kindKeyword   = 14
	kindFile      = 17
	kindReference = 18
)

type markup struct {
	Kind  string `json:"kind"`
	Value string `json:"value"`
}

func markdown(text string) *markup { return &markup{"markdown", text} }

type completionItem struct {
	Label         string    `json:"label"`
	Kind          int       `json:"kind"`
	Detail        string    `json:"detail,omitempty"`
	Documentation *markup   `json:"documentation,omitempty"`
	SortText      string    `json:"sortText,omitempty"`
	TextEdit      *textEdit `json:"textEdit,omitempty"`
	Data          string    `json:"data,omitempty"` // what resolve documents: "state pkg.installed"
}

type completionList struct {
	IsIncomplete bool             `json:"isIncomplete"`
	Items        []completionItem `json:"items"`
}

type hover struct {
	Contents markup `json:"contents"`
	Range    *span  `json:"range,omitempty"`
}

type referenceParams struct {
	atParams
	Context struct {
		IncludeDeclaration bool `json:"includeDeclaration"`
	} `json:"context"`
}

type renameParams struct {
	atParams
	NewName string `json:"newName"`
}

// The kinds of symbols.
const (
	symbolModule = 2
	symbolMethod = 6
	symbolKey    = 20
)

type documentSymbol struct {
	Name           string           `json:"name"`
	Detail         string           `json:"detail,omitempty"`
	Kind           int              `json:"kind"`
	Range          span             `json:"range"`
	SelectionRange span             `json:"selectionRange"`
	Children       []documentSymbol `json:"children,omitempty"`
}

type documentLink struct {
	Range  span   `json:"range"`
	Target string `json:"target"`
}
