package webhook

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"cointill/core/scope"
	"cointill/models"
)

// result is what became of one request.
type result struct {
	status     int           // 0 when there was no answer
	answer     string        // its beginning
	problem    string        // a sentence; "" when it was a success
	retryAfter time.Duration // what the endpoint asked for; 0 when it didn't
}

// send makes one request: the event's bytes, signed at this moment.
func (s *Service) send(ctx context.Context, to models.Endpoint, event models.Event) result {
	now := s.Clock()
	signature, err := s.sign(to, event, now)
	if err != nil {
		return result{problem: "The webhook's secret can't be read. Rotate it."}
	}
	client := s.Clients[scope.Domain(to.Domain)]
	if client == nil {
		return result{problem: "Deliveries are switched off in this domain."}
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, to.URL, strings.NewReader(event.Body))
	if err != nil {
		return result{problem: "The URL can't be used."}
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "Cointill/"+s.Version)
	request.Header.Set(standardwebhooks.HeaderWebhookID, event.ID)
	request.Header.Set(standardwebhooks.HeaderWebhookTimestamp, strconv.FormatInt(now.Unix(), 10))
	request.Header.Set(standardwebhooks.HeaderWebhookSignature, signature)

	response, err := client.Do(request)
	if err != nil {
		return result{problem: explain(err)}
	}
	defer response.Body.Close()
	// What can't be read of the answer doesn't matter: the status has come.
	answer, _ := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	return result{
		status: response.StatusCode, answer: printable(answer), problem: judge(response.StatusCode),
		retryAfter: retryAfter(response.Header.Get("Retry-After"), now),
	}
}

// sign makes the webhook-signature header: one signature for each secret that is valid.
func (s *Service) sign(to models.Endpoint, event models.Event, now time.Time) (string, error) {
	sealed := [][]byte{to.Secret}
	if to.OldSecretUntil != nil && now.Before(*to.OldSecretUntil) && len(to.OldSecret) > 0 {
		sealed = append(sealed, to.OldSecret)
	}
	var signatures []string
	for _, box := range sealed {
		plain, err := s.Secrets.Open(place(to.ID), box)
		if err != nil {
			return "", err
		}
		signer, err := standardwebhooks.NewWebhook(string(plain))
		if err != nil {
			return "", err
		}
		signature, err := signer.Sign(event.ID, now, []byte(event.Body))
		if err != nil {
			return "", err
		}
		signatures = append(signatures, signature)
	}
	return strings.Join(signatures, " "), nil
}

// judge says what is wrong with a status; "" for success.
func judge(status int) string {
	switch {
	case status >= 200 && status < 300:
		return ""
	case status >= 300 && status < 400:
		return fmt.Sprintf("The endpoint answered %d, a redirect. Redirects are not followed: register the final URL.", status)
	case status == http.StatusGone:
		return "The endpoint answered 410 Gone: it wants no more events."
	}
	return strings.TrimSpace(fmt.Sprintf("The endpoint answered %d %s", status, http.StatusText(status))) + "."
}

// explain gives a sentence for a request without an answer. The error's own
// text would show addresses of this machine.
func explain(err error) string {
	var lookup *net.DNSError
	var certificate *tls.CertificateVerificationError
	var notTLS tls.RecordHeaderError
	switch {
	case errors.Is(err, ErrForbiddenAddress):
		return "The host stands for an address that deliveries may not go to (private, local or reserved)."
	case errors.As(err, &lookup) && lookup.IsNotFound:
		return "The host name is not known."
	case errors.As(err, &lookup):
		return "The host name could not be looked up."
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded), timedOut(err):
		return "No answer came within 15 seconds."
	case errors.Is(err, syscall.ECONNREFUSED):
		return "The connection was refused."
	case errors.As(err, &certificate):
		return "The TLS certificate is not valid for this host."
	case errors.As(err, &notTLS):
		return "The server does not speak TLS on this port."
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET):
		return "The connection was closed without an answer."
	}
	return "The request failed: no valid HTTP answer came."
}

func timedOut(err error) bool {
	var network net.Error
	return errors.As(err, &network) && network.Timeout()
}

// retryAfter reads the header, seconds or a date, bounded; 0 when there is none.
func retryAfter(text string, now time.Time) time.Duration {
	wait := time.Duration(0)
	if seconds, err := strconv.ParseInt(text, 10, 64); err == nil {
		wait = time.Duration(min(max(seconds, 0), int64(maxWait/time.Second))) * time.Second
	} else if at, err := http.ParseTime(text); err == nil {
		wait = at.Sub(now)
	}
	return min(max(wait, 0), maxWait)
}

// printable makes an answer fit for a text column and a page.
func printable(answer []byte) string {
	return strings.ReplaceAll(strings.ToValidUTF8(string(answer), "�"), "\x00", "�")
}
