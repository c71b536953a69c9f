package web

import (
	"bytes"
	"errors"
	"regexp"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"
)

// bareLine ends a request's first line, or the headers of one that has none, with a line
// feed alone. fasthttp takes that for an end, and keeps nothing to tell it by.
var bareLine = regexp.MustCompile(` HTTP/\d\.\d(\r\n)?\n`)

const longestBareLine = len(" HTTP/1.1\r\n\n")

var errBareLine = errors.New("a line feed without a carriage return")

// bareLines looks for a bareLine in bytes that are read piece by piece.
type bareLines struct {
	last [longestBareLine - 1]byte // the last bytes of the piece before
}

// find gives how much of the next piece stands before the line feed; -1 where there is none.
func (b *bareLines) find(piece []byte) int {
	edge := append(b.last[:], piece[:min(len(piece), longestBareLine)]...)
	if at := bareLine.FindIndex(edge); at != nil {
		return at[1] - 1 - len(b.last)
	}
	if at := bareLine.FindIndex(piece); at != nil {
		return at[1] - 1
	}
	if len(piece) > longestBareLine {
		edge = piece
	}
	copy(b.last[:], edge[len(edge)-len(b.last):])
	return -1
}

// lastChunk begins the line after which a body in chunks has a trailer, or an empty line.
var lastChunk = regexp.MustCompile("^0+[\r \t;]")

// trailers looks for data after the last chunk of a body: fasthttp accepts a bare line
// feed as an end there, too. Bytes that only look like it, in a body of another kind, are
// found as well; they matter for a request in chunks alone.
type trailers struct {
	begins []byte // the line that is read
	last   byte   // read
	within bool   // a trailer
	odd    bool   // a line of one ended with a line feed alone, or went on in the next
}

const longestBegin = 20 // of a line: fasthttp takes no more than 16 noughts

// read looks at the next piece.
func (t *trailers) read(piece []byte) {
	for part := range bytes.Lines(piece) {
		t.begins = append(t.begins, part[:min(len(part), longestBegin-len(t.begins))]...)
		before := t.last
		if len(part) > 1 {
			before = part[len(part)-2]
		}
		if t.last = part[len(part)-1]; t.last != '\n' {
			return // the rest comes with the next piece
		}
		switch {
		case t.within && (before != '\r' || t.begins[0] == ' ' || t.begins[0] == '\t'):
			t.odd = true
		case t.within:
			t.within = len(t.begins) > len("\r\n")
		case before == '\r':
			t.within = lastChunk.Match(t.begins)
		}
		t.begins = t.begins[:0]
	}
}

// once are headers that mean one thing or nothing.
var once = [][]byte{[]byte(fiber.HeaderAuthorization), []byte(fiber.HeaderContentType), []byte("Idempotency-Key")}

// ambiguous reports a body with both a length and chunks, a line that ends in a line feed
// alone, a header that continues in another line, and a repeated header where one is
// allowed: two servers would divide such bytes into requests differently. The same holds
// for chunks on a connection that had odd trailers.
func ambiguous(r *fasthttp.Request, oddTrailers bool) bool {
	var length, chunks bool // as sent: once read, an empty body in chunks has a length too
	seen := make([]bool, len(once))
	for line := range bytes.Lines(r.Header.RawHeaders()) {
		if line[0] == ' ' || line[0] == '\t' || !bytes.HasSuffix(line, []byte("\r\n")) {
			return true
		}
		name, _, _ := bytes.Cut(line, []byte(":"))
		name = bytes.TrimSpace(name)
		length = length || bytes.EqualFold(name, []byte("Content-Length"))
		chunks = chunks || bytes.EqualFold(name, []byte("Transfer-Encoding"))
		for i, header := range once {
			if same := bytes.EqualFold(name, header); same && seen[i] {
				return true
			} else if same {
				seen[i] = true
			}
		}
	}
	return chunks && (length || oddTrailers)
}
