package strict

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"image/png"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// readJSON reads one JSON document: UTF-8, no name twice in an object, nothing after it. All of it is data: a string is
// what it is, and to show it safely is its reader's job.
func readJSON(document []byte) (Content, error) {
	if !utf8.Valid(document) {
		return Content{}, errors.New("not UTF-8")
	}
	d := json.NewDecoder(bytes.NewReader(document))
	d.UseNumber()
	if err := jsonValue(d); err != nil {
		return Content{}, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return Content{}, fmt.Errorf("more than one document: %w", err)
	}
	return Content{Data: string(document)}, nil
}

// jsonValue reads one value.
func jsonValue(d *json.Decoder) error {
	begin, err := d.Token()
	if _, nested := begin.(json.Delim); err != nil || !nested {
		return err
	}
	names := map[json.Token]bool{}
	for d.More() {
		if begin == json.Delim('{') {
			name, err := d.Token()
			if err != nil {
				return err
			}
			if names[name] {
				return fmt.Errorf("%q stands twice in one object", name)
			}
			names[name] = true
		}
		if err := jsonValue(d); err != nil {
			return err
		}
	}
	_, err = d.Token()
	return err
}

// readCSV reads rows of one length, in which no cell is a formula.
func readCSV(document []byte) (Content, error) {
	rows, err := csv.NewReader(bytes.NewReader(document)).ReadAll()
	if err != nil {
		return Content{}, err
	}
	var text strings.Builder
	for i, row := range rows {
		for _, cell := range row {
			if _, err := strconv.ParseFloat(cell, 64); err != nil && cell != "" && strings.ContainsAny(cell[:1], "=+-@\t\r") {
				return Content{}, fmt.Errorf("row %d: %q is a formula", i+1, cell)
			}
		}
		fmt.Fprintln(&text, strings.Join(row, "\n"))
	}
	return Content{Text: text.String()}, nil
}

// readPNG decodes the whole picture, which has more than one colour.
func readPNG(document []byte) (Content, error) {
	in := bytes.NewReader(document)
	picture, err := png.Decode(in)
	if err != nil {
		return Content{}, err
	}
	if in.Len() > 0 {
		return Content{}, fmt.Errorf("%d bytes after the picture", in.Len())
	}
	box := picture.Bounds()
	first := picture.At(box.Min.X, box.Min.Y)
	for y := box.Min.Y; y < box.Max.Y; y++ {
		for x := box.Min.X; x < box.Max.X; x++ {
			if picture.At(x, y) != first {
				return Content{}, nil
			}
		}
	}
	return Content{}, fmt.Errorf("a picture of %v in one colour", box.Size())
}
