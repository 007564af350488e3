// Screenshots takes pictures of an HTML report, for whoever changes how it looks: the whole page at three
// widths, light and dark, and on paper.
//
//	go run ./scripts/screenshots REPORT.html FOLDER
//
// It needs Chromium or Chrome. The pictures are FOLDER/WIDTH-SCHEME.png and paper.png. The page is offline; what goes
// wrong in it is told, and the exit code is 1 then.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"

	"stormtest/report/browsertest"
)

// looks are the pictures that are taken: a big screen, a tablet, a telephone.
var looks = []struct {
	name string
	view browsertest.View
}{
	{"1280-light", browsertest.View{Width: 1280, Height: 800}}, {"1280-dark", browsertest.View{Width: 1280, Height: 800, Dark: true}},
	{"768-light", browsertest.View{Width: 768, Height: 1024}}, {"768-dark", browsertest.View{Width: 768, Height: 1024, Dark: true}},
	{"390-light", browsertest.View{Width: 390, Height: 844}}, {"390-dark", browsertest.View{Width: 390, Height: 844, Dark: true}},
	// A sheet of A4 between margins of 10 mm is 718 CSS pixels wide.
	{"paper", browsertest.View{Width: 718, Height: 1047, Print: true}},
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "screenshots:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) != 2 {
		return errors.New("want REPORT.html FOLDER")
	}
	if err := os.MkdirAll(args[1], 0o755); err != nil {
		return err
	}
	b, err := browsertest.Start(ctx)
	if err != nil {
		return err
	}
	for _, look := range looks {
		err = errors.Join(err, shoot(b, args[0], look.view, filepath.Join(args[1], look.name+".png")))
	}
	return errors.Join(err, b.Close())
}

// shoot takes one picture; an error also says what is wrong with the page.
func shoot(b *browsertest.Browser, page string, v browsertest.View, picture string) error {
	tab, err := b.Open(page, v)
	if err != nil {
		return err
	}
	defer tab.Close()
	if err := tab.Settle(); err != nil {
		return err
	}
	data, err := tab.Screenshot()
	if err != nil {
		return err
	}
	if err := os.WriteFile(picture, data, 0o644); err != nil {
		return err
	}
	fmt.Println(picture)
	if faults := tab.Faults(); len(faults) > 0 {
		return fmt.Errorf("%s: %q", picture, faults)
	}
	return nil
}
