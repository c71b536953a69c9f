package node

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// ParseReplies reads a JSON list of at most as many replies as there were calls.
func ParseReplies[R any](list []byte, most int) ([]R, error) {
	decoder := jsontext.NewDecoder(bytes.NewBuffer(list), AllowDuplicateNames)
	replies := make([]R, 0, most)
	err := ReadList(decoder, most, func() error {
		var r R
		err := json.UnmarshalDecode(decoder, &r)
		replies = append(replies, r)
		return err
	})
	return replies, err
}

// OrderReplies returns the replies in the order of the ids of their calls, and how many calls have one.
func OrderReplies[R any](replies []R, ids []int64, idOf func(R) *int64) (ordered []R, found int) {
	place := make(map[int64]int, len(ids))
	for i, id := range ids {
		place[id] = i
	}
	ordered = make([]R, len(ids))
	for _, r := range replies {
		id := idOf(r)
		if id == nil {
			continue
		}
		if i, ok := place[*id]; ok {
			delete(place, *id)
			ordered[i] = r
		}
	}
	return ordered, len(ids) - len(place)
}

// UnreadableReplyError is the Failure of a body that is no answer of a server of a kind ("a node's JSON-RPC").
func UnreadableReplyError(kind string, status int, body []byte, err error) error {
	switch {
	case status >= 500:
		return ServerError(status)
	case status != http.StatusOK:
		return UnexpectedAnswerError(kind, fmt.Errorf("HTTP %d", status))
	case len(body) == 0:
		return UnexpectedAnswerError(kind, errors.New("an empty answer"))
	case bytes.HasPrefix(bytes.TrimSpace(body), []byte("<")):
		return UnexpectedAnswerError(kind, errors.New("a web page"))
	}
	return UnexpectedAnswerError(kind, errors.New(PrintableText(err.Error())))
}
