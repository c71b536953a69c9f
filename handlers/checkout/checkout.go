// Package checkout answers the customer's requests: the payment page with its
// live status, the pages of payment links, and the pages of refunds whose customer
// names the address. Reading a page never changes anything, so that bots, link
// previews and HEAD requests open no payment: only a POST from our own page does.
package checkout

import (
	"context"
	"net/http"
	"net/url"

	"cointill/core/link"
	"cointill/core/money"
	"cointill/core/networks"
	"cointill/core/payment"
	"cointill/core/sandbox"
	"cointill/core/scope"
	"cointill/core/sse"
	"cointill/handlers/page"
	"cointill/models"
	view "cointill/views/checkout"
	"cointill/views/words"
)

// Payments is what the payment page needs of core/payment.
type Payments interface {
	ByToken(ctx context.Context, token string) (payment.View, error)
	Open(ctx context.Context, token, language, address string) (payment.View, error)
}

// Links is what the pages of payment links need of core/link.
type Links interface {
	FindPublic(ctx context.Context, code string) (link.Public, error)
	StartPayment(ctx context.Context, code string, f link.Form) (payment.Started, error)
	FindLink(ctx context.Context, sc scope.Scope, id int64) (models.Link, error)
	ListPayable(ctx context.Context, sc scope.Scope) ([]money.CoinInfo, error)
}

// Sandbox plays the customer's wallet in the test domain.
type Sandbox interface {
	Simulate(ctx context.Context, sc scope.Scope, reference, code string, on money.Chain) (sandbox.Simulated, error)
}

// Choices are the networks that customers choose among.
type Choices interface {
	Offered(ctx context.Context, v payment.View) ([]networks.Served, error)
	Choose(ctx context.Context, token, code string) (payment.View, error)
	ListUncredited(ctx context.Context, v payment.View) ([]models.Transfer, error)
}

// Claims note the transactions that customers say to have paid with.
type Claims interface {
	Note(ctx context.Context, token, hash string) error
}

// Logos are the pictures of businesses.
type Logos interface {
	ReadLogo(ctx context.Context, code, hash string) ([]byte, error)
}

// Hub tells a page that its payment changed.
type Hub interface {
	Subscribe(topic sse.Topic) (updates <-chan struct{}, leave func(), err error)
}

// Handlers are the customer's pages. Its fields are set once, before use.
type Handlers struct {
	Payments Payments
	Claims   Claims
	Choices  Choices
	Links    Links
	Refunds  Refunds
	Sandbox  Sandbox
	Hub      Hub
	Logos    Logos
	// Networks tells whether a coin can be paid now.
	Networks payment.Networks
}

// Routes declares the customer's routes.
func (h *Handlers) Routes(r page.Payers) {
	r.Get("/logo/:business/:name", h.serveLogo)
	r.Get("/pay/:token", h.showPayment)
	r.Get("/pay/:token/status", h.showStatus)
	r.Get("/pay/:token/events", h.streamEvents)
	r.Start("/pay/:token/open", h.openPayment)
	r.Post("/pay/:token/network", h.chooseNetwork)
	r.Post("/pay/:token/claim", h.claimPayment)
	r.Post("/pay/:token/simulate", h.playScenario)
	r.Get("/l/:code", page.ShowForm(h.showLink))
	r.Start("/l/:code", h.linkStart)
	r.Get("/refund/:token", hideAddress(h.showRefund))
	r.Post("/refund/:token", hideAddress(h.nameAddress))
	r.Get("/refund/confirm/:token", hideAddress(h.showConfirmation))
	r.Post("/refund/confirm/:token", hideAddress(h.confirmAddress))
}

// asker is what of a request decides how a payment is shown. It may outlive the request.
type asker struct {
	tongue
	Token string
}

func askerOf(c *page.Ctx) asker { return asker{chooseLanguage(c), c.Params("token")} }

// tongue is the language of an answer. Chosen says that it was chosen by hand:
// then every address in the answer carries it on.
type tongue struct {
	Lang   string
	Chosen bool
}

// addLanguage adds a language that was chosen to an address.
func (t tongue) addLanguage(address string) string {
	if !t.Chosen {
		return address
	}
	return address + "?lang=" + t.Lang
}

// loadPayment finds a payment by the token of its page, and collects what the page shows beside it.
func (h *Handlers) loadPayment(ctx context.Context, who asker) (v payment.View, a about, err error) {
	if v, err = h.Payments.ByToken(ctx, who.Token); err != nil {
		return v, a, err
	}
	a, err = h.collectAbout(ctx, v, who)
	return v, a, err
}

// collectAbout collects what a page shows beside the payment.
func (h *Handlers) collectAbout(ctx context.Context, v payment.View, who asker) (about, error) {
	a := about{asker: who}
	a.Problem = h.Networks.Problem(v.Payment.Network).String()
	var err error
	if a.Networks, err = h.Choices.Offered(ctx, v); err != nil {
		return a, err
	}
	if a.Uncredited, err = h.Choices.ListUncredited(ctx, v); err != nil {
		return a, err
	}
	if v.State() == payment.Pending && payment.TooSmall(v.Payment) {
		coins, err := h.Links.ListPayable(ctx, customerScope(v))
		if err != nil {
			return a, err
		}
		for _, coin := range coins {
			if coin.DustLimit == 0 {
				a.OtherCoins = append(a.OtherCoins, coin.Name)
			}
		}
	}
	if v.Payment.LinkID == nil {
		return a, nil
	}
	found, err := h.Links.FindLink(ctx, customerScope(v), *v.Payment.LinkID)
	a.Link = &found
	return a, err
}

// customerScope returns the scope of what a customer does with a payment: the token in
// the address is the right to it.
func customerScope(v payment.View) scope.Scope {
	return scope.Scope{BusinessID: v.Payment.BusinessID, Domain: scope.Domain(v.Payment.Domain), Actor: "customer",
		Role: scope.System}
}

// writeAnswer shows a payment after an act: its live part to a script, and to a
// plain form its whole page, at the page's own address when all went well.
func writeAnswer(c *page.Ctx, status int, v payment.View, a about, done string) error {
	switch {
	case isScripted(c):
		return c.RenderStatus(status, view.Live(pageProps(v, a)))
	case status == http.StatusOK:
		query := url.Values{}
		if a.Chosen {
			query.Set("lang", a.Lang)
		}
		if done != "" {
			query.Set(done, "1")
		}
		to := url.URL{Path: "/pay/" + a.Token, RawQuery: query.Encode()}
		return c.Redirect(to.String())
	}
	return c.RenderStatus(status, view.Page(pageProps(v, a)))
}

// isScripted reports a request that htmx made.
func isScripted(c *page.Ctx) bool { return c.Get("HX-Request") == "true" }

// chooseLanguage returns the chosen one, else the best that the browser asks for.
func chooseLanguage(c *page.Ctx) tongue {
	chosen := c.Query("lang")
	lang := words.ChooseLanguage(chosen, c.Get("Accept-Language"))
	return tongue{lang, lang == chosen}
}
