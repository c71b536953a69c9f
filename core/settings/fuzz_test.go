package settings

import (
	"bytes"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"testing"
)

// FuzzLogo uploads anything: it becomes a small PNG of ours, or is refused with a sentence.
//
//fuzz:inputs 20000
func FuzzLogo(f *testing.F) {
	picture := image.NewPaletted(image.Rect(0, 0, 64, 40), color.Palette{color.White, color.Black})
	wide := image.NewPaletted(image.Rect(0, 0, 2*logoSide, 40), picture.Palette)
	var asPNG, asJPEG, asWide bytes.Buffer
	if png.Encode(&asPNG, picture) != nil || jpeg.Encode(&asJPEG, picture, nil) != nil || png.Encode(&asWide, wide) != nil {
		f.Fatal("can't be drawn")
	}
	for _, file := range [][]byte{nil, asPNG.Bytes(), asJPEG.Bytes(), asWide.Bytes(), asPNG.Bytes()[:asPNG.Len()-30], []byte("RIFF\x1a\x00\x00\x00WEBPVP8L\x0d\x00\x00\x00\x2f\x3f\xc0\x0f\x00"), []byte("<svg/>"), []byte("GIF89a")} {
		f.Add(file)
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		drawn, sentence, _ := (&Service{}).redrawLogo(t.Context(), file) // it has no bound of memory
		if (drawn == nil) == sentence.IsZero() {
			t.Fatalf("%d bytes and %q", len(drawn), sentence)
		}
		if drawn == nil {
			return
		}
		read, err := png.Decode(bytes.NewReader(drawn))
		if err != nil || read.Bounds().Dx() > logoSide || read.Bounds().Dy() > logoSide {
			t.Fatalf("read.Bounds() = %v, err = %v", read.Bounds(), err)
		}
	})
}
