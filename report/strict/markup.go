package strict

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer/html"
	nethtml "golang.org/x/net/html"
)

// readXML reads one document of well-formed XML with a declaration and no other instructions.
func readXML(document []byte) (Content, error) {
	d := xml.NewDecoder(bytes.NewReader(document))
	var text, data strings.Builder
	set := map[string]bool{}
	for first, depth, roots := true, 0, 0; ; first = false {
		token, err := d.Token()
		switch {
		case errors.Is(err, io.EOF) && roots == 1:
			return Content{Text: text.String(), Data: data.String(), Structure: sorted(set)}, nil
		case errors.Is(err, io.EOF):
			return Content{}, fmt.Errorf("%d elements hold the document, want 1", roots)
		case err != nil:
			return Content{}, err
		}
		switch token := token.(type) {
		case xml.ProcInst:
			if token.Target != "xml" || !first {
				return Content{}, fmt.Errorf("an instruction %s", token.Target)
			}
		case xml.Directive:
			return Content{}, fmt.Errorf("a directive %q", token)
		case xml.StartElement:
			if depth == 0 {
				roots++
			}
			depth++
			if err := xmlElement(token, &text, &data, set); err != nil {
				return Content{}, err
			}
		case xml.EndElement:
			depth--
		case xml.CharData:
			fmt.Fprintln(&text, strings.TrimSpace(string(token)))
		}
	}
}

// spoken are the attributes that hold text for people.
var spoken = []string{"name", "classname", "message", "value", "type", "aria-label", "alt", "title", "hostname", "placeholder"}

func xmlElement(e xml.StartElement, text, data *strings.Builder, set map[string]bool) error {
	element := e.Name.Local
	seen := map[xml.Name]bool{}
	for _, a := range e.Attr {
		if seen[a.Name] {
			return fmt.Errorf("<%s> has %s twice", e.Name.Local, a.Name.Local)
		}
		seen[a.Name] = true
		element += " " + a.Name.Local
		if slices.Contains(spoken, a.Name.Local) {
			fmt.Fprintln(text, a.Value)
		} else {
			fmt.Fprintln(data, a.Value)
		}
	}
	set[element] = true
	return nil
}

// readSVG reads a picture: no script, no style sheet or picture from elsewhere, and a title for those who cannot see it.
func readSVG(document []byte) (Content, error) {
	c, err := readXML(document)
	if err != nil {
		return c, err
	}
	if !slices.ContainsFunc(c.Structure, func(e string) bool { return strings.HasPrefix(e, "svg ") && strings.Contains(e, " viewBox") }) {
		return c, errors.New("no <svg> with a viewBox")
	}
	if !slices.Contains(c.Structure, "title") && !slices.Contains(c.Structure, "title id") {
		return c, errors.New("no <title>")
	}
	for _, e := range c.Structure {
		name, attributes, _ := strings.Cut(e, " ")
		if slices.Contains([]string{"script", "foreignObject", "image", "use", "a", "iframe"}, name) || strings.Contains(" "+attributes, " on") || strings.Contains(" "+attributes+" ", " href ") {
			return c, fmt.Errorf("<%s>", e)
		}
	}
	// A path is full of numbers, of which -1 may be one.
	c.Data = strings.ReplaceAll(c.Data, "-1", "")
	return c, nil
}

// void are the elements of HTML that have no end.
var void = []string{"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}

// elsewhere finds what a page would fetch, as case D-18 does.
var elsewhere = regexp.MustCompile(`(src|href)="?(https?:)?//`)

// readHTML reads a page: every element that begins ends, in order, no id stands twice, nothing runs but its own scripts,
// and nothing is fetched. The data is the JSON inside it, which is strict too.
func readHTML(document []byte) (Content, error) {
	if at := elsewhere.Find(document); at != nil {
		return Content{}, fmt.Errorf("something is fetched: %s", at)
	}
	if !bytes.HasPrefix(bytes.ToLower(document[:min(15, len(document))]), []byte("<!doctype html>")) {
		return Content{}, errors.New("no <!doctype html>")
	}
	return htmlTokens(document)
}

// htmlTokens reads a page or a part of one.
func htmlTokens(document []byte) (Content, error) {
	p := htmlPage{set: map[string]bool{}, ids: map[string]bool{}}
	z := nethtml.NewTokenizer(bytes.NewReader(document))
	for {
		kind := z.Next()
		if kind == nethtml.ErrorToken {
			break
		}
		if err := p.token(kind, z.Token()); err != nil {
			return Content{}, err
		}
	}
	if err := z.Err(); !errors.Is(err, io.EOF) {
		return Content{}, err
	}
	if len(p.open) > 0 {
		return Content{}, fmt.Errorf("<%s> does not end", p.open[len(p.open)-1])
	}
	return Content{Text: p.text.String(), Data: p.data.String(), Structure: sorted(p.set)}, nil
}

// An htmlPage is a page while it is read.
type htmlPage struct {
	text, data strings.Builder
	set, ids   map[string]bool
	open       []string
	isData     bool // inside a script that is JSON
}

func (p *htmlPage) token(kind nethtml.TokenType, token nethtml.Token) error {
	switch kind {
	case nethtml.TextToken:
		return p.chars(token.Data)
	case nethtml.SelfClosingTagToken:
		return p.element(token)
	case nethtml.StartTagToken:
		if !slices.Contains(void, token.Data) {
			p.open = append(p.open, token.Data)
		}
		return p.element(token)
	case nethtml.EndTagToken:
		if len(p.open) == 0 || p.open[len(p.open)-1] != token.Data {
			return fmt.Errorf("</%s> ends %v", token.Data, p.open)
		}
		p.open = p.open[:len(p.open)-1]
	}
	return nil
}

// chars takes the text between two tags.
func (p *htmlPage) chars(text string) error {
	inside := ""
	if len(p.open) > 0 {
		inside = p.open[len(p.open)-1]
	}
	switch {
	case inside == "script" && p.isData:
		_, err := readJSON([]byte(text))
		fmt.Fprintln(&p.data, text)
		return err
	case inside != "script" && inside != "style":
		p.text.WriteString(text)
	}
	return nil
}

func (p *htmlPage) element(token nethtml.Token) error {
	element := token.Data
	p.isData = false
	seen := map[string]bool{}
	for _, a := range token.Attr {
		element += " " + a.Key
		if seen[a.Key] || strings.HasPrefix(a.Key, "on") {
			return fmt.Errorf("<%s> has %s", token.Data, a.Key)
		}
		seen[a.Key] = true
		value := strings.ToLower(strings.TrimSpace(a.Val))
		switch {
		case a.Key == "id" && p.ids[a.Val]:
			return fmt.Errorf("the id %q stands twice", a.Val)
		case a.Key == "id":
			p.ids[a.Val] = true
		case a.Key == "type":
			p.isData = token.Data == "script" && strings.HasSuffix(a.Val, "json")
		case strings.HasPrefix(value, "javascript:"):
			return fmt.Errorf("<%s> runs %s", token.Data, a.Val)
		case slices.Contains(spoken, a.Key):
			fmt.Fprintln(&p.text, a.Val)
		}
	}
	p.set[element] = true
	return nil
}

// readMarkdown renders GitHub's Markdown, in which HTML passes as it is, and reads that.
func readMarkdown(document []byte) (Content, error) {
	var page bytes.Buffer
	convert := goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(html.WithUnsafe()))
	if err := convert.Convert(document, &page); err != nil {
		return Content{}, err
	}
	return htmlTokens(page.Bytes())
}
