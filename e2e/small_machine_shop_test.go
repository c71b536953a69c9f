package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"cointill/e2e/harness"
)

const (
	// paymentEvery leaves some of the 60 pages that one address may open in a minute.
	paymentEvery = 1250 * time.Millisecond
	// verifyEvery is the pause between two verifications.
	verifyEvery = 25 * time.Millisecond
	// mostRepeats bounds how often a request is repeated because the server asked for it.
	mostRepeats = 10
	// requestLimit is what 99 of 100 requests should take at most.
	requestLimit = 300 * time.Millisecond
)

// shop takes payments by the API and the payment page, each request on a connection of its own.
type shop struct {
	i      *harness.Instance
	client *http.Client

	initiated int
	paid      []string // references of the payments that the server took the customer's money for
	before    int      // how many of them were paid before this attack
	repeated  int
	took      []time.Duration // from each request to its success, repeats included
}

func newShop(i *harness.Instance) *shop {
	return &shop{i: i, client: &http.Client{
		Timeout:       30 * time.Second,
		Transport:     &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// resetFigures begins the figures of another attack.
func (s *shop) resetFigures() { s.before, s.repeated, s.took = len(s.paid), 0, nil }

// figures are the shop's columns of the table.
func (s *shop) figures() string {
	if len(s.took) == 0 {
		return fmt.Sprintf("%d | 0 | %d | | | ", len(s.paid)-s.before, s.repeated)
	}
	slices.Sort(s.took)
	p50, p99 := s.took[(len(s.took)-1)/2], s.took[(len(s.took)-1)*99/100]
	return fmt.Sprintf("%d | %d | %d | %.1f | %.1f | %.2f", len(s.paid)-s.before, len(s.took), s.repeated,
		float64(p50)/1e6, float64(p99)/1e6, float64(p99)/float64(requestLimit))
}

// takePayments takes payments until the context ends, and verifies them one after the other
// meanwhile. An error is a request that didn't succeed.
func (s *shop) takePayments(ctx context.Context) error {
	next := time.NewTicker(paymentEvery)
	defer next.Stop()
	pause := time.NewTicker(verifyEvery)
	defer pause.Stop()
	if err := s.takePayment(); err != nil {
		return err
	}
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return nil
		case <-next.C:
			if err := s.takePayment(); err != nil {
				return err
			}
		case <-pause.C:
			running := s.paid[s.before:]
			if _, err := s.verify(running[n%len(running)]); err != nil {
				return err
			}
		}
	}
}

// takePayment makes a payment, opens its page as the customer, and pays it.
func (s *shop) takePayment() error {
	p, err := s.initiate()
	if err == nil {
		_, err = s.ask("GET", p.path, "", nil, 200)
	}
	if err == nil {
		_, err = s.ask("POST", p.path+"/open", "", nil, 303)
	}
	if err == nil {
		_, err = s.ask("POST", p.path+"/simulate", "application/x-www-form-urlencoded", []byte("scenario=exact"), 303)
	}
	if err == nil {
		s.paid = append(s.paid, p.Reference)
	}
	return err
}

// shopPayment is a payment with the path of its page.
type shopPayment struct {
	intent
	path string
}

// initiate makes a payment.
func (s *shop) initiate() (p shopPayment, err error) {
	s.initiated++
	request := harness.NewRequest([]string{"crypto_ripple", "crypto_dogecoin"}[s.initiated%2])
	request["business_reference"] = fmt.Sprint("small-", s.initiated)
	body, err := json.Marshal(request)
	if err != nil {
		return p, err
	}
	made, err := s.ask("POST", "/v1/payment/initiate", "application/json", body, 201)
	if err != nil {
		return p, err
	}
	err = decodeData(made, &p.intent)
	p.path = strings.TrimPrefix(p.URL, s.i.Base)
	return p, err
}

// verify reads a payment's record and reports whether it is successful.
func (s *shop) verify(reference string) (successful bool, err error) {
	body, err := s.ask("GET", "/v1/payment/verify/"+url.PathEscape(reference), "", nil, 200)
	if err != nil {
		return false, err
	}
	var r harness.Record
	if err := decodeData(body, &r); err != nil {
		return false, err
	}
	if !slices.Contains([]string{"initiated", "processing", "successful"}, r.Status) {
		return false, fmt.Errorf("payment %s is %s, want it to become successful", reference, r.Status)
	}
	return r.Status == "successful", nil
}

func decodeData(body []byte, into any) error {
	return json.Unmarshal(body, &struct{ Data any }{into})
}

// checkPayments waits until every payment that was paid is successful.
func (s *shop) checkPayments(t *testing.T) {
	for _, reference := range s.paid {
		harness.WaitFor(t, time.Minute, "payment "+reference+" to be successful", func() bool {
			successful, err := s.verify(reference)
			if err != nil {
				t.Fatal(err)
			}
			return successful
		})
	}
}

// ask sends a request and returns the body of the answer that it must have. It repeats the
// request when the server asks for that by 503 with Retry-After.
func (s *shop) ask(method, path, contentType string, body []byte, want int) ([]byte, error) {
	from := time.Now()
	for range mostRepeats {
		answer, err := s.askOnce(method, path, contentType, body)
		if err != nil {
			return nil, err
		}
		if answer.Code == want {
			s.took = append(s.took, time.Since(from))
			return answer.Body, nil
		}
		pause, err := strconv.Atoi(answer.Header.Get("Retry-After"))
		if answer.Code != http.StatusServiceUnavailable || err != nil {
			return nil, fmt.Errorf("%s %s: %d, want %d or 503 with Retry-After: %.300s",
				method, path, answer.Code, want, answer.Body)
		}
		s.repeated++
		<-time.After(time.Duration(pause) * time.Second)
	}
	return nil, fmt.Errorf("%s %s: 503 to each of %d requests", method, path, mostRepeats)
}

func (s *shop) askOnce(method, path, contentType string, body []byte) (harness.Answer, error) {
	request, err := http.NewRequest(method, s.i.Base+path, bytes.NewReader(body))
	if err != nil {
		return harness.Answer{}, err
	}
	request.Header.Set("Origin", s.i.Base)
	if contentType != "" {
		request.Header.Set("Content-Type", contentType)
	}
	if strings.HasPrefix(path, "/v1/") {
		request.Header.Set("Authorization", "Bearer "+s.i.Key)
	}
	answer, err := s.client.Do(request)
	if err != nil {
		return harness.Answer{}, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	return harness.Answer{Code: answer.StatusCode, Body: text, Header: answer.Header}, err
}
