package golive

import (
	"context"
	"net/http"

	"cointill/core/golive"
	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/scope"
	"cointill/handlers/page"
	"cointill/models"
	"cointill/views/dashboard"
	"cointill/views/ui"
	"cointill/views/words"
)

// facts are what the checklist is made of.
type facts struct {
	Progress golive.Progress
	Payable  []money.CoinInfo
	// Tests are the results of the nodes' test; nil without one.
	Tests []golive.NodeTest
	// Wallets are the wallets on real networks, by the network whose addresses they have.
	Wallets map[money.Chain]models.Wallet
	// Endpoints counts the webhooks that are on, Answered those whose last delivery succeeded.
	Endpoints, Answered int
	PayURL              string
}

// showChecklist shows how far the business has come.
func (h *Handlers) showChecklist(c *page.Ctx) error {
	return h.renderChecklist(c, http.StatusOK, nil, ui.Form{Values: map[string]string{}})
}

// testNodes asks the nodes now, and shows their answers.
func (h *Handlers) testNodes(c *page.Ctx) error {
	tests, err := h.Checklist.TestNodes(c.UserContext(), c.Scope)
	if err != nil {
		return err
	}
	return h.renderChecklist(c, http.StatusOK, tests, ui.Form{Values: map[string]string{}})
}

// startTrial starts a test payment of the smallest amount.
func (h *Handlers) startTrial(c *page.Ctx) error {
	typed := page.ReadForm(c, "method", "currency")
	err := page.RedirectOnce(h.Answers, c, func(ctx context.Context) (payment.Started, error) {
		return h.Checklist.StartTrial(ctx, c.Scope, money.Method(typed.Value("method")),
			money.Currency(typed.Value("currency")))
	}, func(payment.Started) string { return page.GoingLivePath + "#step-payment" })
	if err == nil {
		return nil
	}
	status, err := page.RefuseForm(c.UserContext(), &typed, err)
	if err != nil {
		return err
	}
	if sentences := typed.Errors["payment_method"]; len(sentences) > 0 {
		typed.Errors["method"] = sentences
	}
	return h.renderChecklist(c, status, nil, typed)
}

func (h *Handlers) renderChecklist(c *page.Ctx, status int, tests []golive.NodeTest, typed ui.Form) error {
	f, err := h.loadFacts(c)
	if err != nil {
		return err
	}
	f.Tests = tests
	shell := c.FillLayout(words.T(c.UserContext(), "golive.title"), "golive")
	shell.NextPath = page.GoingLivePath
	c.MakeLive(&shell, "")
	props := checklistProps(c.UserContext(), c.Scope, h.Networks, f)
	props.Page, props.Form = shell, typed
	return c.RenderStatus(status, dashboard.GoingLive(props))
}

// loadFacts reads what the checklist is made of, as far as the role may see it.
func (h *Handlers) loadFacts(c *page.Ctx) (f facts, err error) {
	ctx, sc := c.UserContext(), c.Scope
	if f.Progress, err = h.Checklist.ReadProgress(ctx, sc); err != nil {
		return f, err
	}
	if f.Payable, err = h.Links.ListPayable(ctx, sc); err != nil {
		return f, err
	}
	if p := f.Progress.Payment; p.ID != 0 && !payment.State(p.Status).Final() {
		// The language is the reader's, as the step quotes a button of that page.
		f.PayURL = h.Pages.PageURL(p) + "?lang=" + words.LanguageOf(ctx)
	}
	f.Wallets = map[money.Chain]models.Wallet{}
	for _, network := range f.Progress.Networks {
		if served, simulated := findHome(h.Networks, sc.Domain, network.Code); !served || simulated || sharesWallet(network) {
			continue
		}
		state, found, err := h.Wallets.Active(ctx, sc, network.Code)
		if err != nil {
			return f, err
		}
		if found {
			f.Wallets[network.Code] = state.Wallet
		}
	}
	if !sc.Allows(scope.SeeWebhooks) {
		return f, nil
	}
	return f, h.countEndpoints(c, &f)
}

// countEndpoints counts the webhooks that are on, and those whose server answered the last delivery.
func (h *Handlers) countEndpoints(c *page.Ctx, f *facts) error {
	endpoints, _, err := h.Webhooks.List(c.UserContext(), c.Scope, "", 100)
	if err != nil {
		return err
	}
	latest, err := h.Deliveries.LatestDeliveries(c.UserContext(), c.Scope)
	if err != nil {
		return err
	}
	for _, e := range endpoints {
		if !e.Active {
			continue
		}
		f.Endpoints++
		if last, any := latest[e.ID]; any && last.State == "delivered" {
			f.Answered++
		}
	}
	return nil
}
