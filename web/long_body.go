package web

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"cointill/core/account/apikey"
	"cointill/core/fault"
	"cointill/core/send/payer"
	"cointill/core/send/request"
	"cointill/core/settings"
	"cointill/handlers/page"
)

// longBodyTime is how long a long body may take to arrive: a phone sends it slowly.
const longBodyTime = time.Minute

// logoPath is where the form with a logo goes.
const logoPath = "/dashboard/settings/logo"

// longBody is a kind of request whose body may be longer than all others.
type longBody struct {
	kind  string   // names its shares
	paths []string // as patterns of the package path
	limit int      // of the file, beside what else a request has
	// ofBusiness and perMinute are how many a business and all together send in a minute.
	ofBusiness, perMinute int64
	tooLong               fault.Message
}

// longBodies are all of them. Those of two minutes, which is how long they may be on their way, are less than
// 240 MB together.
var longBodies = []longBody{
	{kind: "logos", paths: []string{logoPath}, limit: settings.MaxLogo, ofBusiness: 10, perMinute: 100},
	{kind: "payout files", paths: []string{"/dashboard/sends/file"}, limit: request.MaxBytes, ofBusiness: 10,
		perMinute: 25, tooLong: request.TooLarge},
	{kind: "signed", paths: []string{"/dashboard/sends/*/sign/check", "/dashboard/sends/together/*/check",
		"/v1/sends/*/broadcast"}, limit: payer.MaxSigned, ofBusiness: 20, perMinute: 60,
		tooLong: fault.NewMessage("A signed transaction may have at most 400,000 bytes.")},
}

// bodyLimit is the length of the whole body.
func (l *longBody) bodyLimit() int { return l.limit + bodyLimit }

// findLongBody returns the kind of request that a path is of; nil for all others.
func findLongBody(uri string) *longBody {
	for i := range longBodies {
		for _, pattern := range longBodies[i].paths {
			if fits, _ := path.Match(pattern, uri); fits { // the patterns are right
				return &longBodies[i]
			}
		}
	}
	return nil
}

// allowLongBody allows some requests a longer body than all others, and a minute for it, when a member or a key
// sends them. Each business has its share, so that one can't use up the shares of others.
func (s *Server) allowLongBody(header *fasthttp.RequestHeader) (config fasthttp.RequestConfig) {
	length := header.ContentLength()
	if chunks := length == -1; !chunks && length <= bodyLimit {
		return config
	}
	long := findLongBody(string(header.RequestURI()))
	if long == nil || length > long.bodyLimit() || long.takeShare(s, header) != nil {
		return config
	}
	config.MaxRequestBodySize, config.ReadTimeout = long.bodyLimit(), longBodyTime
	return config
}

// errUnknownSender is returned about a request without a member's session, or where no API keys are known.
var errUnknownSender = errors.New("web: a long body is nobody's")

// takeShare counts a long body for the business that sends it. Faults: Unauthenticated and Forbidden for a key,
// Limited. errUnknownSender where no member or key is known.
func (l *longBody) takeShare(s *Server, header *fasthttp.RequestHeader) error {
	ctx, cancel := context.WithTimeout(context.Background(), handleTime)
	defer cancel()
	business, err := findSender(ctx, s, header)
	if err != nil {
		return err
	}
	if err := s.Limiter.Take(fmt.Sprintf("%s:%d", l.kind, business), l.ofBusiness).Err(); err != nil {
		return err
	}
	return s.Limiter.Take(l.kind, l.perMinute).Err()
}

// findSender returns the business of a request's key or session. Errors: as takeShare.
func findSender(ctx context.Context, s *Server, header *fasthttp.RequestHeader) (business int64, err error) {
	if isAPI(string(header.RequestURI())) {
		if s.Keys == nil {
			return 0, errUnknownSender
		}
		sc, key, err := s.Keys.Authenticate(ctx, string(header.Peek(fiber.HeaderAuthorization)))
		if err != nil {
			return 0, err
		}
		return sc.BusinessID, key.CheckPermission(apikey.WriteSends)
	}
	token := string(header.Cookie(s.store.name))
	if token == "" {
		return 0, errUnknownSender
	}
	session, err := s.Sessions.LoadSession(ctx, token)
	if err != nil {
		return 0, errUnknownSender
	}
	member, err := s.Account.Membership(ctx, session.UserID, 0)
	if err != nil {
		return 0, errUnknownSender
	}
	return member.Business.ID, nil
}

// explainLongBody returns why a long body was refused, for the answer 413 to it, and the page that its sender is
// led to instead of an answer; "" for none.
func (s *Server) explainLongBody(c *fiber.Ctx, answer page.Answer) (_ page.Answer, leadsTo string) {
	header := &c.Request().Header
	long, length := findLongBody(string(header.RequestURI())), header.ContentLength()
	switch {
	case long == nil:
		return answer, ""
	case long.kind == "logos" && length > long.bodyLimit(): // the form says what a logo may have, and when
		return answer, strings.TrimSuffix(logoPath, "/logo") + "?logo=too_large#logo"
	case long.kind == "logos":
		return answer, strings.TrimSuffix(logoPath, "/logo") + "?logo=again#logo"
	case length > long.bodyLimit() || length == -1: // of chunks the length isn't known
		answer.Sentence = long.tooLong
		return answer, ""
	}
	refused := long.takeShare(s, header)
	switch {
	case errors.Is(refused, errUnknownSender) && underV1(c):
		return answer, ""
	case errors.Is(refused, errUnknownSender):
		return answer, SignInPath
	case refused == nil: // the minute is over meanwhile: it is taken the next time
		refused = context.DeadlineExceeded
	}
	return page.ExplainError(refused), ""
}
