package e2e

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"maps"
	"mime/multipart"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// machineAttacks are the attacks that take memory or open files, in the order of the table.
var machineAttacks = []machineAttack{
	{"wrong sign-ins", floodSignIns},
	{"half-sent requests", sendHalf},
	{"silent connections", holdConnections},
	{"open payment pages", holdPages},
	{"large logos", uploadLogos},
	{"long bodies, one byte short", sendAllButOneByte},
	{"exports", exportPayments},
	{"hostile nodes", floodFromNodes},
}

// fromProxy dials from the address of the trusted proxy.
var fromProxy = net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(proxyIP)}, Timeout: 5 * time.Second}

// The pauses before attackers try again. A few attackers send requests that take long to answer.
// Hundreds keep their connections; a shorter pause would make them a flood of new connections.
const (
	shortPause = 100 * time.Millisecond
	longPause  = time.Second
)

// attacker is a client whom the proxy gives an address of its own.
type attacker struct {
	*http.Client
	base, address string
}

func (m *smallMachine) newAttackers(count int) (all []*attacker) {
	for number := range count {
		jar, _ := cookiejar.New(nil) // never fails without options
		transport := &http.Transport{DialContext: fromProxy.DialContext, IdleConnTimeout: time.Second}
		address := fmt.Sprintf("198.51.%d.%d", number/250, number%250+1)
		all = append(all, &attacker{&http.Client{Jar: jar, Transport: transport}, m.Base, address})
	}
	return all
}

// ask sends a request and hands its answer to read. Status is 0 where there was none.
func (a *attacker) ask(ctx context.Context, method, path string, form url.Values, read func(io.Reader)) (status int) {
	request, err := http.NewRequestWithContext(ctx, method, a.base+path, strings.NewReader(form.Encode()))
	if err != nil {
		return 0
	}
	request.Header.Set("X-Forwarded-For", a.address)
	request.Header.Set("Origin", a.base)
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	answer, err := a.Do(request)
	if err != nil {
		return 0
	}
	defer answer.Body.Close()
	read(answer.Body)
	return answer.StatusCode
}

func discard(body io.Reader) { _, _ = io.Copy(io.Discard, body) } // answers are counted by their status

// statuses counts the answers that attackers get.
type statuses struct {
	mu sync.Mutex
	of map[int]int
}

// add counts an answer; what the attack's end has cut off is no answer.
func (s *statuses) add(ctx context.Context, status int) {
	if status == 0 && ctx.Err() != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.of == nil {
		s.of = map[int]int{}
	}
	s.of[status]++
}

// String lists how often each status came; 0 is an end without an answer.
func (s *statuses) String() string {
	var parts []string
	for _, status := range slices.Sorted(maps.Keys(s.of)) {
		name := fmt.Sprint(status)
		if status == 0 {
			name = "unanswered"
		}
		parts = append(parts, fmt.Sprintf("%d× %s", s.of[status], name))
	}
	return strings.Join(parts, ", ")
}

// inParallel runs an attack so many times at once, each again and again, after a pause, until the
// context ends. The first ones are spread over a pause.
func inParallel(ctx context.Context, count int, pause time.Duration, attack func(number int)) {
	var running sync.WaitGroup
	for number := range count {
		running.Go(func() {
			wait := pause * time.Duration(number) / time.Duration(count)
			for {
				select {
				case <-ctx.Done():
					return
				case <-time.After(wait):
				}
				attack(number)
				wait = pause
			}
		})
	}
	running.Wait()
}

// floodSignIns tries wrong passwords, 60 at once.
func floodSignIns(ctx context.Context, m *smallMachine) string {
	const atOnce = 60
	var answers statuses
	attackers := m.newAttackers(atOnce)
	inParallel(ctx, atOnce, shortPause, func(number int) {
		form := url.Values{"email": {fmt.Sprint(rand.Text(), "@shop.example")}, "password": {"not the password"}}
		attackers[number].ask(ctx, "GET", "/sign-in", nil, func(body io.Reader) {
			page, _ := io.ReadAll(body) // without a token the form is refused, which is counted
			if found := formToken.FindSubmatch(page); found != nil {
				form.Set("csrf", string(found[1]))
			}
		})
		answers.add(ctx, attackers[number].ask(ctx, "POST", "/sign-in", form, discard))
	})
	return fmt.Sprintf("%d at once: %s", atOnce, &answers)
}

// holdSlow holds so many connections, each by another kind of slow client, and opens each again
// when it was cut or turned away.
func (m *smallMachine) holdSlow(ctx context.Context, count int, kinds ...slow) {
	var open atomic.Int64
	inParallel(ctx, count, longPause, func(number int) {
		kind := kinds[number%len(kinds)]
		kind.from = fromProxy
		_, _ = kind.hold(ctx, strings.TrimPrefix(m.Base, "http://"), &open) // it is refused or cut, as it should be
	})
}

func sendHalf(ctx context.Context, m *smallMachine) string {
	m.holdSlow(ctx, 2000, slows...)
	return "2,000 clients that send a byte a second or nothing"
}

func holdConnections(ctx context.Context, m *smallMachine) string {
	m.holdSlow(ctx, 1500, slow{silent: true})
	return "1,500 clients"
}

// sendAllButOneByte sends bodies of the greatest length that is read, without their last byte.
func sendAllButOneByte(ctx context.Context, m *smallMachine) string {
	const length = 64 << 10
	head := fmt.Sprintf("POST /v1/payment/initiate HTTP/1.1\r\nHost: till.example\r\n"+
		"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n", length)
	m.holdSlow(ctx, 1000, slow{silent: true, begins: head + `{"a":"` + strings.Repeat("a", length-7)})
	return "1,000 clients with 64 KiB each"
}

// holdPages opens the streams of payment pages, some 20 of each page.
func holdPages(ctx context.Context, m *smallMachine) string {
	const count = 600
	var answers statuses
	attackers := m.newAttackers(count)
	inParallel(ctx, count, longPause, func(number int) {
		path := m.payments[number%len(m.payments)] + "/events"
		answers.add(ctx, attackers[number].ask(ctx, "GET", path, nil, discard))
	})
	return fmt.Sprintf("%d pages: %s", count, &answers)
}

// logoOf is an empty picture of so many pixels, in a small file.
func logoOf(width, height int) []byte {
	var file bytes.Buffer
	picture := image.NewPaletted(image.Rect(0, 0, width, height), color.Palette{color.White})
	_ = png.Encode(&file, picture) // a buffer takes all
	return file.Bytes()
}

// uploadLogos has a signed-in member send pictures of 8 megapixels, which are refused with this
// memory, and of 3 megapixels, which are redrawn.
func uploadLogos(ctx context.Context, m *smallMachine) string {
	const atOnce = 8
	files := [][]byte{logoOf(4096, 2048), logoOf(8000, 375)}
	var answers statuses
	inParallel(ctx, atOnce, shortPause, func(number int) {
		var body bytes.Buffer
		form := multipart.NewWriter(&body)
		part, err := form.CreateFormFile("logo", "logo.png")
		if err == nil {
			_, _ = part.Write(files[number%len(files)]) // a buffer takes all
			_ = form.WriteField("csrf", m.merchant.token)
			_ = form.Close()
		}
		request, err := http.NewRequestWithContext(ctx, "POST", m.Base+"/dashboard/settings/logo", &body)
		if err != nil {
			return
		}
		request.Header.Set("Content-Type", form.FormDataContentType())
		request.Header.Set("Origin", m.Base)
		answers.add(ctx, m.merchantStatus(request))
	})
	return fmt.Sprintf("%d at once: %s", atOnce, &answers)
}

// merchantStatus sends a request with the member's session, and reads the answer to its end.
func (m *smallMachine) merchantStatus(request *http.Request) (status int) {
	client := *m.merchant.client
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	answer, err := client.Do(request)
	if err != nil {
		return 0
	}
	defer answer.Body.Close()
	discard(answer.Body)
	return answer.StatusCode
}

// exportPayments makes files of all payments, six at once.
func exportPayments(ctx context.Context, m *smallMachine) string {
	const atOnce = 6
	var answers statuses
	inParallel(ctx, atOnce, shortPause, func(number int) {
		ending := []string{"xlsx", "csv"}[number%2]
		request, err := http.NewRequestWithContext(ctx, "GET", m.Base+"/dashboard/payments/export."+ending, nil)
		if err == nil {
			answers.add(ctx, m.merchantStatus(request))
		}
	})
	return fmt.Sprintf("%d at once of %d payments: %s", atOnce, seededPayments, &answers)
}

// floodFromNodes has the nodes of two networks give answers of 64 MiB and nested ones.
func floodFromNodes(ctx context.Context, m *smallMachine) string {
	m.flooding.flood(true)
	defer m.flooding.flood(false)
	before := m.flooding.answers()
	inParallel(ctx, 1, shortPause, func(int) { m.flooding.mine() })
	return fmt.Sprintf("%d answers", m.flooding.answers()-before)
}
