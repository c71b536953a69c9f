package ui

import (
	"strconv"
	"strings"

	"rsc.io/qr"
)

// quiet is the empty border that a QR code needs, in modules.
const quiet = 4

// QRProps describes a QR code that was drawn by QRPath.
type QRProps struct {
	Path string
	Size int
	Alt  string
}

// QRPath draws a text as a QR code of level M: one SVG path on a square of
// size modules, quiet zone included. It is pure, and fails only when the text
// is too long.
func QRPath(text string) (path string, size int, err error) {
	code, err := qr.Encode(text, qr.M)
	if err != nil {
		return "", 0, err
	}
	var out strings.Builder
	for y := 0; y < code.Size; y++ {
		for x := 0; x < code.Size; x++ {
			if !code.Black(x, y) {
				continue
			}
			run := 1
			for x+run < code.Size && code.Black(x+run, y) {
				run++
			}
			width := strconv.Itoa(run)
			out.WriteString("M" + strconv.Itoa(x+quiet) + " " + strconv.Itoa(y+quiet) + "h" + width + "v1h-" + width +
				"z")
			x += run
		}
	}
	return out.String(), code.Size + 2*quiet, nil
}

// DrawQR draws a text with the description alt. A text that is too long for a QR code has none.
func DrawQR(text, alt string) QRProps {
	path, size, err := QRPath(text)
	if err != nil {
		return QRProps{}
	}
	return QRProps{Path: path, Size: size, Alt: alt}
}

// QRPicture draws a text as a QR code of level M in PNG, quiet zone included, with 16 pixels a
// module. It fails only when the text is too long.
func QRPicture(text string) ([]byte, error) {
	code, err := qr.Encode(text, qr.M)
	if err != nil {
		return nil, err
	}
	code.Scale = 16
	return code.PNG(), nil
}

func (p QRProps) viewBox() string {
	size := strconv.Itoa(p.Size)
	return "0 0 " + size + " " + size
}
