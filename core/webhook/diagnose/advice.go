package diagnose

import "net/http"

// Advice says in a sentence what to do about an attempt that failed, by its status, or by its code
// where there was no answer; "" for one that succeeded.
func Advice(status int, code Code) string {
	if status != 0 {
		return findAnswer(status).advice
	}
	if known, ok := problems[code]; ok {
		return known.advice
	}
	return "Open the URL from outside of your network, look whether it answers HTTP, and read your server's log of " +
		"that minute."
}

// newSecret is the advice on a secret that can't sign.
const newSecret = "Make a new secret on this page and give it to your server."

// problems are the sentence of each code and what to do about it.
var problems = map[Code]struct{ sentence, advice string }{
	HostForbidden: {"The host stands for an address that deliveries may not go to (private, local or reserved).",
		"Give the URL a host name that leads to a public address; for a server on your own machine use a tunnel."},
	HostUnknown: {"The host name is not known.",
		"Check the spelling of the host name, and that its DNS record exists and is public."},
	LookupFailed: {"The host name could not be looked up.",
		"The DNS servers of the host name don't answer: look whether they are up and the domain hasn't run out."},
	AnswerTimeout: {"No answer came within 15 seconds.",
		"Answer 200 at once and do the work afterwards, in a queue; if nothing reaches your server, look whether a " +
			"firewall drops the connection."},
	ConnectTimeout: {"No connection could be made within 5 seconds.",
		"Look whether the host is up, whether its DNS record is current, and whether a firewall drops connections " +
			"to this port."},
	TLSTimeout: {"TLS was not agreed on within 5 seconds.",
		"Something takes connections at this port and doesn't speak: look whether your server or the proxy in front " +
			"of it hangs."},
	ConnectionRefused: {"The connection was refused.",
		"Nothing listens at this host and port: start your server, and compare the port with the one in the URL."},
	CertificateInvalid: {"The TLS certificate is not valid for this host.",
		"Renew the certificate or have it issued for this host name, and serve the whole chain with its intermediate " +
			"certificates."},
	NoTLS: {"The server does not speak TLS on this port.",
		"The URL says https, but the port speaks plain HTTP: correct the port, or put TLS in front of it."},
	ConnectionClosed: {"The connection was closed without an answer.",
		"Your server or its proxy hangs up: look for a crash in its log, and for a limit on connections."},
	NoHTTP: {"The request failed: no valid HTTP answer came.",
		"Something that speaks no HTTP answers at this port: compare the port in the URL with your server's."},
	SecretUnreadable: {"The webhook's secret can't be read. Rotate it.", newSecret},
	SecretUnusable:   {"The webhook's secret can't be used. Rotate it.", newSecret},
	HeadersUnreadable: {"The webhook's headers can't be read. Enter them again.",
		"Edit the endpoint and enter the values of its headers again."},
	NotHTTPS: {"The URL is not https, which the live domain demands.",
		"Edit the endpoint and give it a URL that begins with https://."},
	URLUnusable: {"The URL can't be used.", "Edit the endpoint and give it a complete URL."},
	DeliveriesOff: {"Deliveries are switched off in this domain.",
		"The operator of this server has switched deliveries off: ask them to switch them on."},
	Stopped: {"Cointill was stopped during the request.", "There is nothing to do: it is sent again at once."},
}

// AdviceCode names the advice on an attempt that failed, for pages that give it in another language: the
// code where there was no answer, and answered_ with the status, or its kind, where there was one. It is
// "" where Advice is.
func AdviceCode(status int, code Code) string {
	if status != 0 {
		return findAnswer(status).code
	}
	if _, known := problems[code]; known {
		return string(code)
	}
	return "no_answer"
}

// answerAdvice is the advice on what an endpoint answered, with its code.
type answerAdvice struct{ code, advice string }

// findAnswer returns the advice on a status.
func findAnswer(status int) answerAdvice {
	switch {
	case status < 200:
		return answerAdvice{"answered_1xx",
			"Answer with a status from 200 to 299 once you have stored the event."}
	case status < 300:
		return answerAdvice{}
	case status < 400:
		return answerAdvice{"answered_3xx",
			"Register the URL that the redirect leads to: deliveries follow none. Often it is https instead of " +
				"http, or a slash at the end."}
	}
	switch status {
	case http.StatusUnauthorized:
		return answerAdvice{"answered_401",
			"Let the address take requests without signing in, or add the header with the key that it asks for; " +
				"the signature proves who sends."}
	case http.StatusForbidden:
		return answerAdvice{"answered_403",
			"Something refuses the request: leave this path out of CSRF protection, and let the firewall or bot " +
				"filter pass it."}
	case http.StatusNotFound:
		return answerAdvice{"answered_404",
			"Your server has nothing at this path: compare it with your routes, letter by letter, and the slash " +
				"at its end."}
	case http.StatusMethodNotAllowed:
		return answerAdvice{"answered_405",
			"Have this path take POST: it seems to know other methods only."}
	case http.StatusRequestTimeout:
		return answerAdvice{"answered_408",
			"Your server or its proxy stopped waiting: answer 200 at once and do the work afterwards, in a queue."}
	case http.StatusGone:
		return answerAdvice{"answered_410",
			"410 says that no more events are wanted, so the endpoint is switched off: mend the answer, then " +
				"switch it on again."}
	case http.StatusRequestEntityTooLarge:
		return answerAdvice{"answered_413",
			"Raise the limit on the size of bodies in your server or proxy: 1 MB is enough for every event."}
	case http.StatusUnsupportedMediaType:
		return answerAdvice{"answered_415",
			"Have the path take Content-Type: application/json."}
	case http.StatusTooManyRequests:
		return answerAdvice{"answered_429",
			"Raise your limit on requests for this path; with Retry-After your server says when to come again."}
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return answerAdvice{"answered_gateway",
			"The proxy is up and your application behind it is not, or is too slow: look whether it runs and " +
				"answers within 15 seconds."}
	}
	if status >= 500 {
		return answerAdvice{"answered_5xx",
			"Your server failed on this event: find the request in its log by the webhook-id."}
	}
	return answerAdvice{"answered_4xx",
		"Your server refuses the request: see below what it answered, and check the signature there if it says " +
			"it is wrong."}
}
