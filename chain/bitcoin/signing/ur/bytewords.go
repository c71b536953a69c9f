package ur

import (
	"encoding/binary"
	"fmt"
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

// bytesOf maps a pair of letters to its byte.
var bytesOf = func() map[string]byte {
	m := map[string]byte{}
	for i := range 256 {
		m[pairs[2*i:2*i+2]] = byte(i)
	}
	return m
}()

// encodeWords writes data and its CRC-32 as bytewords.
func encodeWords(data []byte) string {
	text := make([]byte, 0, 2*len(data)+8)
	for _, b := range binary.BigEndian.AppendUint32(data[:len(data):len(data)], crc32.ChecksumIEEE(data)) {
		text = append(text, pairs[2*int(b)], pairs[2*int(b)+1])
	}
	return string(text)
}

var errWords = fmt.Errorf("%w: no bytewords with their checksum", ErrPart)

// decodeWords reads bytewords in lower case, and checks the CRC-32 at their end.
func decodeWords(text string) ([]byte, error) {
	if len(text)%2 != 0 || len(text) < 8 {
		return nil, errWords
	}
	data := make([]byte, len(text)/2)
	for i := range data {
		b, ok := bytesOf[text[2*i:2*i+2]]
		if !ok {
			return nil, errWords
		}
		data[i] = b
	}
	end := len(data) - 4
	if binary.BigEndian.Uint32(data[end:]) != crc32.ChecksumIEEE(data[:end]) {
		return nil, errWords
	}
	return data[:end], nil
}
