package api

import (
	"bytes"
	"encoding/json"

	"github.com/gofiber/fiber/v2"
)

// envelope is every successful answer. Every other one is a page.Envelope,
// which the server makes of the error that a handler returned.
type envelope struct {
	Status  bool   `json:"status"`
	Message string `json:"message"`
	Data    any    `json:"data"`
	Meta    *meta  `json:"meta,omitempty"`
}

// meta is what a list says of itself.
type meta struct {
	NextCursor *string `json:"next_cursor" doc:"Send it as cursor to get the next page; null on the last one." example:"q83vEjRWeJA"`
	HasMore    bool    `json:"has_more" doc:"Whether there is a next page." example:"true"`
}

// encode writes JSON as answers carry it: text stays readable, and what a
// merchant gave as metadata keeps its order and the spelling of its numbers.
func encode(v any) ([]byte, error) {
	var out bytes.Buffer
	to := json.NewEncoder(&out)
	to.SetEscapeHTML(false)
	err := to.Encode(v)
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), err
}

// answer sends data in the envelope.
func (c *call) answer(data any) error {
	body, err := c.envelope(data)
	if err != nil {
		return err
	}
	return send(c.fiber, c.op.status, body)
}

func (c *call) envelope(data any) ([]byte, error) {
	return encode(envelope{Status: true, Message: c.op.message, Data: data})
}

// answerList sends one page of a list; next is the cursor of the following one, "" after the last.
func answerList[T any](c *call, items []T, next string) error {
	if items == nil {
		items = []T{}
	}
	about := &meta{HasMore: next != ""}
	if next != "" {
		about.NextCursor = &next
	}
	body, err := encode(envelope{Status: true, Message: c.op.message, Data: items, Meta: about})
	if err != nil {
		return err
	}
	return send(c.fiber, c.op.status, body)
}

// send writes a JSON answer that no cache keeps: it may hold secrets.
func send(c *fiber.Ctx, status int, body []byte) error {
	c.Set(fiber.HeaderContentType, fiber.MIMEApplicationJSON)
	c.Set(fiber.HeaderCacheControl, "no-store")
	return c.Status(status).Send(body)
}
