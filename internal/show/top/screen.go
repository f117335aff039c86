package top

import (
	"fmt"

	"github.com/gdamore/tcell/v3"
	"github.com/gdamore/tcell/v3/color"
)

// Screen is the terminal while the view has it. Close, and Suspend until Resume, give
// it back as it was; both may be called from any goroutine.
type Screen struct {
	tty   tcell.Screen
	ascii bool
}

// Open takes the terminal. Nothing is asked of it: answers that come late, over a
// slow line, would be taken for keys.
func Open() (*Screen, error) {
	tcell.SetEncodingFallback(tcell.EncodingFallbackASCII)
	tty, err := tcell.NewScreen(tcell.OptNegotiation(false), tcell.OptKeyboardProtocol(tcell.LegacyKeyboard))
	if err == nil {
		err = tty.Init()
	}
	if err != nil {
		return nil, fmt.Errorf("take the terminal: %w", err)
	}
	tty.HideCursor()
	return &Screen{tty: tty, ascii: tty.CharacterSet() != "UTF-8"}, nil
}

// Close gives the terminal back.
func (s *Screen) Close() { s.tty.Fini() }

// Guard is deferred by each goroutine that runs while the view has the terminal: one
// that panics gives it back first, so that its trace can be read, and a shell be used.
func (s *Screen) Guard() {
	if r := recover(); r != nil {
		s.Close()
		panic(r)
	}
}

// draw shows a frame.
func (s *Screen) draw(frame []line) {
	s.tty.Clear()
	for y, l := range frame {
		x := 0
		for _, part := range l {
			text := part.text
			if s.ascii {
				text = asciiOf.Replace(text)
			}
			s.tty.PutStrStyled(x, y, text, styleOf(part.style))
			x += width(text)
		}
	}
	s.tty.Show()
}

// styleOf is a style in the terminal's own sixteen colours, which are readable on its
// background.
func styleOf(s style) tcell.Style {
	out := tcell.StyleDefault.Bold(s&bold != 0).Dim(s&dim != 0).Reverse(s&reversed != 0)
	for _, c := range []struct {
		style style
		index int
	}{{red, 1}, {green, 2}, {yellow, 3}, {cyan, 6}} {
		if s&c.style != 0 {
			out = out.Foreground(color.PaletteColor(c.index))
		}
	}
	return out
}

// keyNames are the keys that are no letters.
var keyNames = map[tcell.Key]string{
	tcell.KeyUp: "up", tcell.KeyDown: "down", tcell.KeyLeft: "left", tcell.KeyRight: "right",
	tcell.KeyPgUp: "pgup", tcell.KeyPgDn: "pgdn", tcell.KeyHome: "home", tcell.KeyEnd: "end",
	tcell.KeyEnter: "enter", tcell.KeyEscape: "esc", tcell.KeyBackspace: "backspace",
	tcell.KeyCtrlC: "ctrl-c", tcell.KeyCtrlZ: "ctrl-z", tcell.KeyCtrlL: "ctrl-l",
	tcell.KeyCtrlF: "pgdn", tcell.KeyCtrlB: "pgup", tcell.KeyCtrlN: "down", tcell.KeyCtrlP: "up",
}

// keyOf is a key's name, "" for one that does nothing.
func keyOf(e *tcell.EventKey) string {
	if e.Key() == tcell.KeyRune {
		return e.Str()
	}
	return keyNames[e.Key()]
}
