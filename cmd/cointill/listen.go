package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"cointill/core/clock"
	"cointill/core/ident"
	"cointill/internal/app"
)

const (
	pollEvery = time.Second     // while the API answers
	pollSlow  = 5 * time.Second // the longest wait while it doesn't
	hookTime  = 15 * time.Second
	hookRead  = 4 << 10 // bytes of an answer that are read
	// mostWaiting bounds the events that the local server hasn't taken yet: with
	// more, none are read until it has.
	mostWaiting = 10_000
)

// retryIntervals returns how long after a failure an event is posted once more: shorter than
// webhooks wait, since a person does.
func retryIntervals() []time.Duration {
	return []time.Duration{2 * time.Second, 5 * time.Second, 10 * time.Second}
}

type listenCommand struct {
	apiFlags
	ForwardTo string   `required:"" env:"-" placeholder:"localhost:3000/hook" help:"Where events are posted to."`
	Events    []string `env:"-" placeholder:"TYPE" help:"Only events of these types, e.g. payment.successful,payment.declined."`
	Secret    string   `env:"COINTILL_WEBHOOK_SECRET" placeholder:"whsec_…" help:"Sign with this secret. Default: a new one in each run, printed at the start."`
}

// Run forwards the test domain's events to a local server until it is stopped.
// They are the bytes that webhooks get, signed as theirs are.
func (c listenCommand) Run(ctx context.Context, settings *app.Settings) error {
	api, err := c.connectAPI(settings)
	if err != nil {
		return err
	}
	l, err := c.newListener()
	if err != nil {
		return err
	}
	if l.events, err = startWatcher(ctx, api, l.clock); err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	fmt.Fprintf(l.out, "Test events of %s are forwarded to %s\nSigning secret: %s\nReady: cointill trigger "+
		"payment.successful, in another shell, makes one. Ctrl-C ends.\n",
		api.base, l.to, c.Secret)
	return l.forwardEvents(ctx)
}

// newListener checks the command's arguments.
func (c *listenCommand) newListener() (*listener, error) {
	to, err := webAddress(c.ForwardTo)
	if err != nil {
		return nil, fmt.Errorf("--forward-to %w", err)
	}
	for _, each := range c.Events {
		if err := knownType(each); err != nil {
			return nil, err
		}
	}
	if c.Secret == "" {
		c.Secret = "whsec_" + base64.StdEncoding.EncodeToString(ident.RandomBytes(32))
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(c.Secret, "whsec_"))
	if err != nil || !strings.HasPrefix(c.Secret, "whsec_") || len(key) < 24 || len(key) > 64 {
		return nil, errors.New("--secret must be whsec_ and 24 to 64 bytes in base64, as webhooks have")
	}
	signer, err := standardwebhooks.NewWebhook(c.Secret)
	if err != nil {
		return nil, errors.New("--secret can't be used to sign")
	}
	return &listener{
		to: to, types: c.Events, signer: signer, clock: clock.Real(), out: os.Stdout,
		http: &http.Client{Timeout: hookTime, CheckRedirect: noRedirect, Transport: &http.Transport{
			// no Proxy: local addresses are reached directly
			DisableCompression: true, MaxResponseHeaderBytes: 16 << 10,
		}},
	}, nil
}

// listener posts events to a local server, a failed one a few times more.
type listener struct {
	events  *watcher
	to      *url.URL
	types   []string // empty for all
	signer  *standardwebhooks.Webhook
	clock   clock.Clock
	http    *http.Client
	out     io.Writer
	waiting []*posting
	down    int    // looks that the API failed to answer, in a row
	advised string // the last advice about the local server's refusals
}

// posting is an event that the local server hasn't taken yet.
type posting struct {
	event event
	tries int
	due   time.Time
}

// forwardEvents reads events and posts them until the context ends.
func (l *listener) forwardEvents(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		}
		wait := pollEvery
		if len(l.waiting) < mostWaiting {
			var err error
			if wait, err = l.queueNew(ctx); err != nil {
				return err
			}
		}
		l.postDue(ctx)
		timer.Reset(wait)
	}
}

// queueNew queues new events and returns the time until the next look. Its errors are permanent: a
// revoked key, for example.
func (l *listener) queueNew(ctx context.Context) (time.Duration, error) {
	fresh, err := l.events.readNew(ctx)
	switch {
	case ctx.Err() != nil:
		return pollEvery, nil
	case err != nil && !mayPass(err):
		return 0, err
	case err != nil:
		if l.down++; l.down == 1 {
			l.printLine("%s doesn't answer (%s): asking again until it does; nothing is missed", l.events.api.base,
				describeSilence(err))
		}
		var refused *apiError
		wait := min(pollEvery<<min(l.down-1, 3), pollSlow)
		if errors.As(err, &refused) {
			wait = max(wait, refused.after)
		}
		return wait, nil
	}
	if l.down > 0 {
		l.down = 0
		l.printLine("%s answers again", l.events.api.base)
	}
	if l.events.skipped {
		l.events.skipped = false
		l.printLine("more than %d events came at once: the oldest of them are left out; GET /v1/events lists them",
			maxPages*100)
	}
	for _, e := range fresh {
		if len(l.types) > 0 && !slices.Contains(l.types, e.Type) {
			continue
		}
		l.waiting = append(l.waiting, &posting{event: e})
	}
	return pollEvery, nil
}

// postDue makes the attempts that are due, in the order of the events.
func (l *listener) postDue(ctx context.Context) {
	var left []*posting
	for _, p := range l.waiting {
		if ctx.Err() != nil || p.due.After(l.clock()) || !l.postOnce(ctx, p) {
			left = append(left, p)
		}
	}
	l.waiting = left
}

// postOnce posts an event once, prints the result, and reports whether it is the last attempt.
func (l *listener) postOnce(ctx context.Context, p *posting) (done bool) {
	began := l.clock()
	status, err := l.sendEvent(ctx, p, began)
	if ctx.Err() != nil {
		return false
	}
	p.tries++
	outcome := strconv.Itoa(status)
	if err != nil {
		outcome = describeSilence(err)
	}
	if done = err == nil && status >= 200 && status < 300; !done {
		if status >= 300 && status < 400 {
			outcome += ", a redirect: not followed"
		}
		waits := retryIntervals()
		if done = p.tries > len(waits) || status == http.StatusGone; done {
			outcome += ", given up"
		} else {
			p.due = l.clock().Add(waits[p.tries-1])
			outcome += ", again in " + waits[p.tries-1].String()
		}
	}
	about := p.event.readPayment()
	kind := strings.TrimSpace(p.event.Type + " " + about.Reason)
	l.printLine(
		"%-34s  %s  %s  %d ms",
		plainText(kind),
		plainText(cmp.Or(about.Reference, p.event.ID)),
		outcome,
		l.clock().
			Sub(began).Milliseconds(),
	)
	l.adviseOnce(status, err)
	return done
}

// adviseOnce says once what to do about a server that takes nothing.
func (l *listener) adviseOnce(status int, err error) {
	advice := ""
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		advice = "no server listens at " + l.to.Host + ": start yours, or give its address with --forward-to"
	case status == http.StatusBadRequest, status == http.StatusUnauthorized, status == http.StatusForbidden:
		advice = "does your server verify with the signing secret above, over the raw body? docs/webhooks.md tells more"
	case status == http.StatusNotFound, status == http.StatusMethodNotAllowed:
		advice = "is " + l.to.RequestURI() + " the path? Events are posted to the address in --forward-to as it stands"
	}
	if advice != "" && advice != l.advised {
		l.advised = advice
		l.printLine("%s", advice)
	}
}

// sendEvent makes one request, signed at this moment.
func (l *listener) sendEvent(ctx context.Context, p *posting, now time.Time) (status int, err error) {
	signature, err := l.signer.Sign(p.event.ID, now, p.event.body)
	if err != nil {
		return 0, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, l.to.String(), bytes.NewReader(p.event.body))
	if err != nil {
		return 0, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "Cointill/"+app.Version)
	request.Header.Set(standardwebhooks.HeaderWebhookID, p.event.ID)
	request.Header.Set(standardwebhooks.HeaderWebhookTimestamp, strconv.FormatInt(now.Unix(), 10))
	request.Header.Set(standardwebhooks.HeaderWebhookSignature, signature)
	answer, err := l.http.Do(request)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, hookRead)) // the status has come
	return answer.StatusCode, nil
}

// printLine prints a line with the time of day.
func (l *listener) printLine(format string, values ...any) {
	fmt.Fprintf(l.out, "%s  %s\n", l.clock().Local().Format(time.TimeOnly), fmt.Sprintf(format, values...))
}

// describeSilence returns a short word for why no answer came.
func describeSilence(err error) string {
	var about *url.Error
	var lookup *net.DNSError
	var refused *apiError
	switch {
	case errors.As(err, &refused):
		return strconv.Itoa(refused.status)
	case errors.As(err, &lookup):
		return "the host is not known"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused"
	case errors.As(err, &about) && about.Timeout():
		return "no answer in time"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET):
		return "connection closed"
	case errors.As(err, &about):
		return plainText(about.Err.Error())
	}
	return plainText(err.Error())
}
