// Screenshots takes pictures of an HTML report, for whoever changes how it looks: the whole page at three
// widths, light and dark, and on paper.
//
//	go run ./scripts/screenshots REPORT.html FOLDER
//
// It needs Chromium or Chrome. The pictures are FOLDER/WIDTH-SCHEME.png, and paper.pdf is how the page is printed. The page
// is offline; what goes wrong in it is told, and the exit code is 1 then.
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
		err = errors.Join(err, keep(b, shot{args[0], filepath.Join(args[1], look.name+".png")}, look.view, (*browsertest.Tab).Screenshot))
	}
	err = errors.Join(err, keep(b, shot{args[0], filepath.Join(args[1], "paper.pdf")}, browsertest.View{}, (*browsertest.Tab).PDF))
	return errors.Join(err, b.Close())
}

// A shot is a page, and the file that its picture goes to.
type shot struct{ page, file string }

// keep takes one picture; an error also says what is wrong with the page.
func keep(b *browsertest.Browser, s shot, v browsertest.View, take func(*browsertest.Tab) ([]byte, error)) error {
	tab, err := b.Open(s.page, v)
	if err != nil {
		return err
	}
	defer tab.Close()
	if err := tab.Settle(); err != nil {
		return err
	}
	data, err := take(tab)
	if err != nil {
		return err
	}
	if err := os.WriteFile(s.file, data, 0o644); err != nil {
		return err
	}
	fmt.Println(s.file)
	if faults := tab.Faults(); len(faults) > 0 {
		return fmt.Errorf("%s: %q", s.file, faults)
	}
	return nil
}
