package developers

import (
	"context"
	"strings"

	"cointill/views/dashboard"
	"cointill/views/words"
)

// snippets are programs that start a payment and verify it, with nothing but
// what their languages bring. Without a key they have a place for it.
func snippets(ctx context.Context, base, key, domain string) (list []dashboard.Snippet) {
	if key == "" {
		key = "sk_" + domain + "_…"
	}
	fill := strings.NewReplacer("{base}", strings.TrimRight(base, "/"), "{key}", key)
	for _, s := range programs {
		s.Text, s.Run = fill.Replace(s.Text), words.T(ctx, s.Run)
		list = append(list, s)
	}
	return list
}

// programs have the message that says how they are run for Run.
var programs = []dashboard.Snippet{
	{Name: "curl", Run: "calls.run_in_terminal", Text: `curl -sS {base}/v1/payment/initiate \
  -H 'Authorization: Bearer {key}' \
  -H 'Content-Type: application/json' \
  -d '{"currency":"NGN","amount":5000,"first_name":"Ada","last_name":"Obi","email":"ada@example.com","payment_method":"crypto_bitcoin"}'`},
	{Name: "Node", Run: "calls.run_mjs", Text: `const base = "{base}";
const key = "{key}";

async function call(method, path, body) {
  const answer = await fetch(base + path, {
    method,
    headers: { Authorization: "Bearer " + key, "Content-Type": "application/json" },
    body: body && JSON.stringify(body),
  });
  const result = await answer.json();
  if (!result.status) throw new Error(result.message);
  return result.data;
}

const payment = await call("POST", "/v1/payment/initiate", {
  currency: "NGN", amount: 5000, payment_method: "crypto_bitcoin",
  first_name: "Ada", last_name: "Obi", email: "ada@example.com",
});
console.log("Send your customer to", payment.payment_url);

const record = await call("GET", "/v1/payment/verify/" + payment.reference);
console.log(record.reference, "is", record.status);`},
	{Name: "Python", Run: "calls.run_py", Text: `import json
import urllib.request

BASE = "{base}"
KEY = "{key}"


def call(method, path, body=None):
    request = urllib.request.Request(
        BASE + path,
        method=method,
        data=json.dumps(body).encode() if body else None,
        headers={"Authorization": "Bearer " + KEY, "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=20) as answer:
        return json.load(answer)["data"]


payment = call("POST", "/v1/payment/initiate", {
    "currency": "NGN", "amount": 5000, "payment_method": "crypto_bitcoin",
    "first_name": "Ada", "last_name": "Obi", "email": "ada@example.com",
})
print("Send your customer to", payment["payment_url"])

record = call("GET", "/v1/payment/verify/" + payment["reference"])
print(record["reference"], "is", record["status"])`},
	{Name: "PHP", Run: "calls.run_php", Text: `<?php
$base = '{base}';
$key = '{key}';

function call(string $method, string $path, ?array $body = null): array
{
    global $base, $key;
    $context = stream_context_create(['http' => [
        'method' => $method,
        'header' => "Authorization: Bearer $key\r\nContent-Type: application/json",
        'content' => $body === null ? '' : json_encode($body),
        'ignore_errors' => true,
        'timeout' => 20,
    ]]);
    $result = json_decode(file_get_contents($base . $path, false, $context), true);
    if (!$result['status']) {
        throw new RuntimeException($result['message']);
    }
    return $result['data'];
}

$payment = call('POST', '/v1/payment/initiate', [
    'currency' => 'NGN', 'amount' => 5000, 'payment_method' => 'crypto_bitcoin',
    'first_name' => 'Ada', 'last_name' => 'Obi', 'email' => 'ada@example.com',
]);
echo "Send your customer to {$payment['payment_url']}\n";

$record = call('GET', '/v1/payment/verify/' . $payment['reference']);
echo "{$record['reference']} is {$record['status']}\n";`},
	{Name: "Go", Run: "calls.run_go", Text: `package main

import (
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"strings"
)

const (
	base = "{base}"
	key  = "{key}"
)

// call makes a request and reads the answer's data into a struct.
func call(method, path, body string, into any) error {
	request, err := http.NewRequest(method, base+path, strings.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+key)
	request.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	result := struct {
		Status  bool   ` + "`json:\"status\"`" + `
		Message string ` + "`json:\"message\"`" + `
		Data    any    ` + "`json:\"data\"`" + `
	}{Data: into}
	if err := json.NewDecoder(answer.Body).Decode(&result); err != nil {
		return err
	}
	if !result.Status {
		return fmt.Errorf("%s: %s", answer.Status, result.Message)
	}
	return nil
}

func main() {
	var payment struct {
		Reference  string ` + "`json:\"reference\"`" + `
		PaymentURL string ` + "`json:\"payment_url\"`" + `
		Status     string ` + "`json:\"status\"`" + `
	}
	err := call("POST", "/v1/payment/initiate", ` + "`" + `{"currency": "NGN", "amount": 5000, "payment_method": "crypto_bitcoin",
		"first_name": "Ada", "last_name": "Obi", "email": "ada@example.com"}` + "`" + `, &payment)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("Send your customer to", payment.PaymentURL)
	if err := call("GET", "/v1/payment/verify/"+payment.Reference, "", &payment); err != nil {
		log.Fatal(err)
	}
	fmt.Println(payment.Reference, "is", payment.Status)
}`},
}
