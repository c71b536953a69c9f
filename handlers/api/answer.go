package api

import (
	"bytes"
	"encoding/json"

	"github.com/gofiber/fiber/v2"
)

// envelope is every successful answer. Every other one is a page.Envelope,
// which the server makes of the error that a handler returned.
type envelope struct {
	Status   bool     `json:"status"`
	Message  string   `json:"message"`
	Data     any      `json:"data"`
	Meta     *meta    `json:"meta,omitempty"`
	Warnings []string `json:"warnings,omitempty"`
}

// meta is what a list says of itself.
type meta struct {
	NextCursor *string `json:"next_cursor" doc:"Send it as cursor to get the next page; null on the last one." example:"q83vEjRWeJA"`
	HasMore    bool    `json:"has_more" doc:"Whether there is a next page." example:"true"`
}

// encodeJSON writes JSON as answers carry it: text stays readable, and what a
// merchant gave as metadata keeps its order and the spelling of its numbers.
func encodeJSON(v any) ([]byte, error) {
	var out bytes.Buffer
	to := json.NewEncoder(&out)
	to.SetEscapeHTML(false)
	err := to.Encode(v)
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), err
}

// encodeEnvelope writes data in the envelope; about is nil but for lists.
func (c *call) encodeEnvelope(data any, about *meta) ([]byte, error) {
	return encodeJSON(envelope{Status: true, Message: c.op.message, Data: data, Meta: about, Warnings: c.warnings})
}

// writeAnswer sends data in the envelope; about is nil but for lists.
func (c *call) writeAnswer(data any, about *meta) error {
	body, err := c.encodeEnvelope(data, about)
	if err != nil {
		return err
	}
	return sendBody(c.fiber, c.op.status, body)
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
	return c.writeAnswer(items, about)
}

// sendBody writes a JSON answer that no cache keeps: it may hold secrets.
func sendBody(c *fiber.Ctx, status int, body []byte) error {
	c.Set(fiber.HeaderContentType, fiber.MIMEApplicationJSON)
	c.Set(fiber.HeaderCacheControl, "no-store")
	return c.Status(status).Send(body)
}
