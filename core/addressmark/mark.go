// Package addressmark keeps, outside of the database, how far the addresses of each
// account key were given out: a high-water mark for each key. A database that was put back
// to an earlier state offers indexes again that customers have seen; the marks know better.
//
// A mark is a small text file in each of the folders that a Store is made with. Its name
// and content tell the network and a hash of the key's fingerprint, never the key.
package addressmark

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"strconv"
	"strings"
)

// Key is the account key that a mark is of.
type Key struct {
	Network     string // "bitcoin-mainnet"
	Fingerprint string // models.Wallet's
}

// hashFingerprint identifies the key in its file and in the file's name without revealing it.
func (k Key) hashFingerprint() string {
	sum := sha256.Sum256([]byte("cointill address mark\n" + k.Network + "\n" + k.Fingerprint))
	return hex.EncodeToString(sum[:16])
}

// fileName is the name of the key's file in each folder.
func (k Key) fileName() string { return k.hashFingerprint() + ".mark" }

const (
	product = "Cointill address mark, version "
	version = "1"
	warning = ". Keep this file: addresses below \"next\" were given to customers.\n"
	slots   = 2 // records in a file: a write replaces the lower one, so the higher one survives a power cut
	// recordSize is the length of "next 0000000058 1a2b3c4d\n".
	recordSize = 25
	// maxFileBytes is the most bytes that are read from a file.
	maxFileBytes = 1024
)

// errDamaged is of a file that holds no mark of the key. It is never taken for no mark.
var errDamaged = errors.New("it is damaged, or not the file of this key")

// fileHead returns what the key's file begins with.
func (k Key) fileHead() string {
	return product + version + warning + "key " + k.Network + " " + k.hashFingerprint() + "\n"
}

// formatLine formats a line of a file: the lowest index that was not given out, and a checksum.
func formatLine(next int64) string {
	line := fmt.Sprintf("next %010d", next)
	return fmt.Sprintf("%s %08x\n", line, crc32.ChecksumIEEE([]byte(line)))
}

// encodeFile encodes the key's file with a mark.
func (k Key) encodeFile(next int64) []byte {
	return []byte(k.fileHead() + strings.Repeat(formatLine(next), slots))
}

// content is what a key's file says.
type content struct {
	next  int64
	lower int64 // where in the file the record is that the next write replaces
	torn  bool  // one record is damaged, as by a power cut while it was written
}

// decodeFile reads the key's file.
func (k Key) decodeFile(data []byte) (c content, err error) {
	head := k.fileHead()
	if other, ours := bytes.CutPrefix(data, []byte(product)); ours && !bytes.HasPrefix(other, []byte(version+".")) {
		return c, errors.New("another release of Cointill wrote it")
	}
	if len(data) != len(head)+slots*recordSize || string(data[:len(head)]) != head {
		return c, errDamaged
	}
	values := [slots]int64{}
	for i := range values {
		at := len(head) + i*recordSize
		values[i] = parseRecord(string(data[at : at+recordSize]))
	}
	c.next, c.lower, c.torn = max(values[0], values[1]), int64(len(head)), min(values[0], values[1]) < 0
	if values[1] < values[0] {
		c.lower += recordSize
	}
	if c.next < 0 {
		return c, errDamaged
	}
	return c, nil
}

// parseRecord reads a record; it gives -1 for one that is damaged.
func parseRecord(line string) int64 {
	digits, _, _ := strings.Cut(strings.TrimPrefix(line, "next "), " ")
	next, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || next < 0 || formatLine(next) != line {
		return -1
	}
	return next
}
