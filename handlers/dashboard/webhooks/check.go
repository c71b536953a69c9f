package webhooks

import (
	"net/http"
	"strings"

	"cointill/core/webhook/diagnose"
	"cointill/handlers/dashboard/display"
	"cointill/handlers/page"
	"cointill/views/dashboard"
	"cointill/views/ui"
	"cointill/views/words"
)

// showSignatureForm asks for a delivery to look at.
func (h *Handlers) showSignatureForm(c *page.Ctx) error {
	typed := ui.Form{Values: map[string]string{"endpoint": page.CleanText(c.Query("endpoint"))}}
	return h.showSignature(c, http.StatusOK, typed, diagnose.Verdict{})
}

// checkSignature says why a pasted delivery doesn't verify. It stores nothing.
func (h *Handlers) checkSignature(c *page.Ctx) error {
	typed := page.ReadForm(c, "endpoint", "webhook_timestamp", "webhook_signature")
	pasted := diagnose.Pasted{
		ID: c.FormValue("webhook_id"), Timestamp: typed.Value("webhook_timestamp"),
		Signature: typed.Value("webhook_signature"),
		// Browsers send every line end of a text area as CRLF, whatever it was.
		Body: strings.ReplaceAll(c.FormValue("body"), "\r\n", "\n"),
	}
	typed.Values["webhook_id"], typed.Values["body"] = strings.ToValidUTF8(pasted.ID, "�"),
		strings.ToValidUTF8(pasted.Body, "�")
	verdict, err := h.Signatures.ExplainSignature(c.UserContext(), c.Scope, typed.Value("endpoint"), pasted)
	status := http.StatusOK
	if err != nil {
		if status, err = page.RefuseForm(c.UserContext(), &typed, err); err != nil {
			return err
		}
	}
	for name, value := range typed.Values {
		if strings.Contains(value, "whsec_") { // a secret in the wrong field doesn't come back
			typed.Values[name] = ""
		}
	}
	return h.showSignature(c, status, typed, verdict)
}

func (h *Handlers) showSignature(c *page.Ctx, status int, typed ui.Form, verdict diagnose.Verdict) error {
	endpoints, _, err := h.Webhooks.List(c.UserContext(), c.Scope, "", 100)
	if err != nil {
		return err
	}
	shell := c.FillLayout(words.T(c.UserContext(), "webhook.check"), "webhooks")
	shell.NextPath = checkPath
	return c.RenderStatus(status,
		dashboard.SignatureCheck(signatureProps(c.UserContext(), shell, typed, verdict, endpoints)))
}

const checkPath = display.WebhooksPath + "/check"
