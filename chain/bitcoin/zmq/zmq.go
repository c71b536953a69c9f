// Package zmq listens to the ZeroMQ publisher of a node. It implements the part of ZMTP 3.0 that a subscriber
// needs, so that reads are bounded and a lost connection is noticed. The common Go library allocates any size
// that a frame announces, and waits without limit on a lost connection.
package zmq

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"cointill/chain/node"
)

// zmqTopics are the publications that are subscribed to; a node may publish only some of them.
var zmqTopics = []string{"hashblock", "rawblock", "hashtx", "rawtx"}

// Flags of a frame of ZMTP, the protocol of ZeroMQ.
const (
	frameMore, frameLong, frameCommand = 1, 2, 4
	greetingLen                        = 64
)

// MaxFrame bounds a frame: a block is the longest.
const MaxFrame = 4 << 20

// Subscribe listens to the publisher at an address. It calls up when the connection stands, and handlePush
// with each transaction, nil for other publications.
func Subscribe(ctx context.Context, at string, up func(), handlePush func(tx []byte)) error {
	dialer := net.Dialer{Timeout: 5 * time.Second, KeepAlive: 15 * time.Second} // KeepAlive finds a lost peer
	conn, err := dialer.DialContext(ctx, "tcp", at)
	if err != nil {
		return node.UnreachableError(err)
	}
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	defer conn.Close()
	if err := greetPublisher(conn); err != nil {
		return err
	}
	up()
	for {
		message, err := receiveMessage(conn)
		if err != nil {
			return err
		}
		var tx []byte
		if len(message) > 1 && string(message[0]) == "rawtx" {
			tx = message[1]
		}
		handlePush(tx)
	}
}

// greetPublisher does the handshake and subscribes.
func greetPublisher(conn net.Conn) error {
	greeting := make([]byte, greetingLen)
	greeting[0], greeting[9], greeting[10] = 0xff, 0x7f, 3
	copy(greeting[12:], "NULL")
	ready := commandFrame("READY", "Socket-Type", "SUB")
	if _, err := conn.Write(append(greeting, ready...)); err != nil {
		return node.BrokenConnectionError(err)
	}
	timer := time.AfterFunc(node.MaxSilence, func() { conn.Close() })
	defer timer.Stop()
	theirs := make([]byte, greetingLen)
	if _, err := io.ReadFull(conn, theirs); err != nil {
		return node.BrokenConnectionError(err)
	}
	if theirs[0] != 0xff || theirs[9]&1 != 1 || theirs[10] < 3 || !bytes.HasPrefix(theirs[12:], []byte("NULL\x00")) {
		return node.UnexpectedAnswerError("a ZeroMQ publisher", errors.New("another greeting"))
	}
	flags, body, err := readFrame(conn)
	if err != nil {
		return err
	}
	if flags&frameCommand == 0 || !bytes.HasPrefix(body, []byte("\x05READY")) {
		return node.UnexpectedAnswerError("a ZeroMQ publisher", errors.New("it isn't ready"))
	}
	var subscriptions []byte
	for _, topic := range zmqTopics {
		subscriptions = append(subscriptions, 0, byte(1+len(topic)), 1)
		subscriptions = append(subscriptions, topic...)
	}
	if _, err := conn.Write(subscriptions); err != nil {
		return node.BrokenConnectionError(err)
	}
	return nil
}

// commandFrame returns a command frame with one property.
func commandFrame(name, property, value string) []byte {
	body := append([]byte{byte(len(name))}, name...)
	body = append(append(body, byte(len(property))), property...)
	body = append(binary.BigEndian.AppendUint32(body, uint32(len(value))), value...)
	return append([]byte{frameCommand, byte(len(body))}, body...)
}

// receiveMessage reads one message of at most eight frames, and skips commands.
func receiveMessage(conn net.Conn) (message [][]byte, err error) {
	for range 8 {
		flags, body, err := readFrame(conn)
		if err != nil {
			return nil, err
		}
		if flags&frameCommand != 0 {
			continue
		}
		message = append(message, body)
		if flags&frameMore == 0 {
			return message, nil
		}
	}
	return nil, node.UnexpectedAnswerError("a ZeroMQ publisher", errors.New("a message of many frames"))
}

// readFrame reads one frame.
func readFrame(conn net.Conn) (flags byte, body []byte, err error) {
	var head [9]byte
	if _, err := io.ReadFull(conn, head[:2]); err != nil {
		return 0, nil, node.BrokenConnectionError(err)
	}
	size := uint64(head[1])
	if head[0]&frameLong != 0 {
		if _, err := io.ReadFull(conn, head[2:9]); err != nil {
			return 0, nil, node.BrokenConnectionError(err)
		}
		size = binary.BigEndian.Uint64(head[1:9])
	}
	if size > MaxFrame {
		return 0, nil, node.NewFailure(fmt.Errorf("a frame of %d bytes", size),
			"pushes messages longer than they can be.")
	}
	body = make([]byte, size)
	if _, err := io.ReadFull(conn, body); err != nil {
		return 0, nil, node.BrokenConnectionError(err)
	}
	return head[0], body, nil
}
