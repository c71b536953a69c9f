package api

import (
	"github.com/gofiber/fiber/v2"

	"cointill/handlers/api/body"
	"cointill/handlers/api/openapi"
)

// envelope is every successful answer. Every other one is a page.Envelope,
// which the server makes of the error that a handler returned.
type envelope struct {
	Status   bool          `json:"status"`
	Message  string        `json:"message"`
	Data     any           `json:"data"`
	Meta     *openapi.Meta `json:"meta,omitempty"`
	Warnings []string      `json:"warnings,omitempty"`
}

// encodeEnvelope writes data in the envelope; about is nil but for lists.
func (c *call) encodeEnvelope(data any, about *openapi.Meta) ([]byte, error) {
	return body.EncodeJSON(envelope{Status: true, Message: c.op.Message, Data: data, Meta: about, Warnings: c.warnings})
}

// writeAnswer sends data in the envelope; about is nil but for lists.
func (c *call) writeAnswer(data any, about *openapi.Meta) error {
	body, err := c.encodeEnvelope(data, about)
	if err != nil {
		return err
	}
	return sendBody(c.fiber, c.op.Status, body)
}

// answerList sends one page of a list; next is the cursor of the following one, "" after the last.
func answerList[T any](c *call, items []T, next string) error {
	about := &openapi.Meta{HasMore: next != ""}
	if next != "" {
		about.NextCursor = &next
	}
	return c.writeAnswer(items, about)
}

// showAll shows each item of a list.
func showAll[T, D any](items []T, show func(T) D) []D {
	shown := make([]D, 0, len(items))
	for _, item := range items {
		shown = append(shown, show(item))
	}
	return shown
}

// sendBody writes a JSON answer that no cache keeps: it may hold secrets.
func sendBody(c *fiber.Ctx, status int, body []byte) error {
	c.Set(fiber.HeaderContentType, fiber.MIMEApplicationJSON)
	c.Set(fiber.HeaderCacheControl, "no-store")
	return c.Status(status).Send(body)
}
