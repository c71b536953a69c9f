package settings

import (
	"bytes"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"cointill/core/fault"
	"cointill/core/memory"
)

// drawn is a picture of two colours: a small file whatever its size.
func drawn(t *testing.T, encode func(*bytes.Buffer, image.Image) error, picture image.Image) []byte {
	t.Helper()
	var file bytes.Buffer
	if err := encode(&file, picture); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

func asPNG(file *bytes.Buffer, picture image.Image) error { return png.Encode(file, picture) }

func asJPEG(file *bytes.Buffer, picture image.Image) error { return jpeg.Encode(file, picture, nil) }

// TestPicturesTakeWhatIsReserved: redrawing a picture allocates no more than is reserved for one
// of its size, whatever its format and shape.
func TestPicturesTakeWhatIsReserved(t *testing.T) {
	for name, file := range map[string][]byte{
		"16 bits a channel, square": drawn(t, asPNG, image.NewNRGBA64(image.Rect(0, 0, 1500, 1500))),
		"16 bits a channel, wide":   drawn(t, asPNG, image.NewNRGBA64(image.Rect(0, 0, 9000, 250))),
		"a palette":                 drawn(t, asPNG, image.NewPaletted(image.Rect(0, 0, 1500, 1500), color.Palette{color.White})),
		"a JPEG, high":              drawn(t, asJPEG, image.NewNRGBA(image.Rect(0, 0, 700, 3000))),
		"a small one":               drawn(t, asJPEG, image.NewNRGBA(image.Rect(0, 0, 200, 200))),
	} {
		width, height, sentence := measurePicture(file)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, again := redrawPicture(file); !sentence.IsZero() || !again.IsZero() {
			t.Fatalf("%s: %s%s", name, sentence, again)
		}
		runtime.ReadMemStats(&after)
		// What a picture of any size takes, as a PNG's encoder and readers do, is beside it.
		if took := int64(after.TotalAlloc - before.TotalAlloc); took > memoryOf(width, height)+4<<20 {
			t.Errorf("%s: %d KiB are allocated, %d are reserved", name, took>>10, memoryOf(width, height)>>10)
		}
	}
}

// TestPicturesShareMemory: a picture waits for the memory that others use, and is Unavailable when
// the wait ends without it. One that needs more than all of the memory is refused.
func TestPicturesShareMemory(t *testing.T) {
	small := drawn(t, asPNG, image.NewPaletted(image.Rect(0, 0, 400, 400), color.Palette{color.White}))
	large := drawn(t, asPNG, image.NewPaletted(image.Rect(0, 0, 2000, 2000), color.Palette{color.White}))
	synctest.Test(t, func(t *testing.T) {
		s := &Service{Pictures: memory.NewBudget(16 << 20).Part(16 << 20)}
		if _, sentence, err := s.redrawLogo(t.Context(), large); err != nil || !strings.Contains(sentence.String(),
			"memory") {
			t.Errorf("a picture beyond all memory is told %q, %v", sentence, err)
		}
		s.Pictures.Take(15 << 20)
		began := time.Now()
		if _, _, err := s.redrawLogo(t.Context(), small); fault.KindOf(err) != fault.Unavailable || time.Since(began) != pictureWait {
			t.Errorf("beside others a picture is told %v after %s, want busy after %s", err, time.Since(began), pictureWait)
		}
		time.AfterFunc(time.Second, func() { s.Pictures.Give(15 << 20) })
		for range 3 {
			if picture, sentence, err := s.redrawLogo(t.Context(), small); picture == nil {
				t.Errorf("with memory given back a picture is told %q, %v", sentence, err)
			}
		}
	})
}
