package ur

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
)

// pairs are the first and last letters of the 256 words that stand for bytes, in the order of the
// bytes (BCR-2020-012, "minimal" style).
const pairs = "" +
	"aeadaoaxaaahamatayasbkbdbnbtbabsbebybgbwbbbzcmchcscfcycwcecackct" +
	"cxclcpcndkdadsdidedtdrdndwdpdmdldyeheyeoeeecenemetesftfrfnfsfmfh" +
	"fzfpfwfxfyfefgflfdgagegrgsgtglgwgdgygmgughgohfhghdhkhthphhhlhyhe" +
	"hnhsidiaieihiyioisinimjejzjnjtjljojsjpjkjykpkoktkskkknkgkekikblb" +
	"lalylflslrlplnltloldlelulklgmnmymhmemomumwmdmtmsmknlnyndnsntnnne" +
	"nboyoeotoxonolospdptpkpypspmplpepfpaprqdqzrerprlrorhrdrkrfryrnrs" +
	"rtsesasrssskswstspsosgsbsfsntotktitttdtetytltbtstptatnuyuoutueur" +
	"vtvyvovlvevwvavdvswlwdwmwpwewywswtwnwzwfwkykynylyaytzszoztzczezm"

// letters maps a pair of letters to one more than its byte; 0 is no pair.
var letters = func() (m [26 * 26]uint16) {
	for i := range 256 {
		m[pairIndex(pairs[2*i], pairs[2*i+1])] = uint16(i + 1)
	}
	return m
}()

func pairIndex(first, last byte) int { return int(first-'a')*26 + int(last-'a') }

// encodeWords writes data and its CRC-32 as bytewords.
func encodeWords(data []byte) string {
	text := make([]byte, 0, 2*len(data)+8)
	for _, b := range binary.BigEndian.AppendUint32(data[:len(data):len(data)], crc32.ChecksumIEEE(data)) {
		text = append(text, pairs[2*int(b)], pairs[2*int(b)+1])
	}
	return string(text)
}

var errWords = errors.New("ur: not bytewords with their checksum")

// decodeWords reads bytewords in lower case, and checks the CRC-32 at their end.
func decodeWords(text string) ([]byte, error) {
	if len(text)%2 != 0 || len(text) < 8 {
		return nil, errWords
	}
	data := make([]byte, len(text)/2)
	for i := range data {
		first, last := text[2*i], text[2*i+1]
		if first < 'a' || first > 'z' || last < 'a' || last > 'z' || letters[pairIndex(first, last)] == 0 {
			return nil, errWords
		}
		data[i] = byte(letters[pairIndex(first, last)] - 1)
	}
	end := len(data) - 4
	if binary.BigEndian.Uint32(data[end:]) != crc32.ChecksumIEEE(data[:end]) {
		return nil, errWords
	}
	return data[:end], nil
}
