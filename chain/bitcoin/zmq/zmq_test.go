package zmq

import (
	"encoding/binary"
	"net"
	"strings"
	"testing"
)

// TestFalsePublishersAreRefused: servers that are no ZeroMQ publishers are refused.
func TestFalsePublishersAreRefused(t *testing.T) {
	t.Parallel()
	greeting := make([]byte, 64)
	greeting[0], greeting[9], greeting[10] = 0xff, 0x7f, 3
	copy(greeting[12:], "NULL")
	ready := commandFrame("READY", "Socket-Type", "PUB")
	huge := binary.BigEndian.AppendUint64([]byte{frameLong}, 1<<62)
	curve := append([]byte{}, greeting...)
	copy(curve[12:], "CURVE")
	var many []byte
	for range 20 {
		many = append(many, frameMore, 1, 'x')
	}
	for name, sent := range map[string][]byte{
		"web server": []byte("HTTP/1.1 400 Bad Request\r\n\r\n" + strings.Repeat(" ", 100)),
		"curve":      curve,
		"error":      append(append([]byte{}, greeting...), commandFrame("ERROR", "x", "y")...),
		"huge":       append(append(append([]byte{}, greeting...), ready...), huge...),
		"many":       append(append(append([]byte{}, greeting...), ready...), many...),
		"short":      greeting[:10],
	} {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Write(sent)
			_, _ = conn.Read(make([]byte, 1000))
			_ = conn.(*net.TCPConn).CloseWrite()
		}()
		heard := 0
		err = Subscribe(t.Context(), listener.Addr().String(), func() {}, func([]byte) { heard++ })
		if err == nil || heard > 0 {
			t.Errorf("%s: error %v, heard %d", name, err, heard)
		}
		_ = listener.Close()
	}
}
