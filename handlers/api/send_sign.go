package api

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"cointill/core/account/apikey"
	"cointill/core/money"
	"cointill/core/send"
	"cointill/core/send/signing"
	"cointill/handlers/api/body"
	"cointill/handlers/api/openapi"
)

// signingData is what a wallet needs to sign a send.
type signingData struct {
	Send     sendData          `json:"send"`
	Account  string            `json:"account"`
	Fee      string            `json:"fee"`
	FeeCoin  string            `json:"fee_currency" example:"ETH" doc:"The coin of the fee."`
	FeeRate  string            `json:"fee_rate"`
	ChainID  uint64            `json:"chain_id"`
	URI      string            `json:"uri"`
	Request  *body.Object      `json:"wallet_request"`
	Files    []signingFileData `json:"files" doc:"The unsigned transaction, in the forms that wallets take."`
	QRParts  []string          `json:"qr_parts"`
	Contract bool              `json:"contract"`
}

type signingFileData struct {
	Name     string `json:"name" example:"unsigned.txt" doc:"Its name on the page."`
	Type     string `json:"media_type" example:"text/plain" doc:"Its media type."`
	Encoding string `json:"encoding" enum:"text,base64" example:"text" doc:"How content is written."`
	Content  string `json:"content" example:"0x02ef0180843b9aca00" doc:"The file."`
}

// broadcastRequest is the body of POST /v1/sends/{id}/broadcast.
type broadcastRequest struct {
	_      struct{}  `additionalProperties:"true"`
	Signed body.Text `json:"signed" maxLength:"400000"`
}

// broadcastData is a send whose transaction was given to the network.
type broadcastData struct {
	Send sendData `json:"send" doc:"The send. It becomes processing when the network shows its transaction."`
	Hash string   `json:"hash" example:"0x9f2c41d6a0" doc:"The hash of the transaction."`
}

// hashRequest is the body of POST /v1/sends/{id}/transaction.
type hashRequest struct {
	_    struct{}  `additionalProperties:"true"`
	Hash body.Text `json:"hash" maxLength:"100"`
}

func (s *service) signingOperations() []*operation {
	const tag = "Sends"
	id := []*huma.Param{pathParam("id", "Id of the send (SND_…), or your own business_reference.",
		"SND_3K9V7QZ2M4X8N6B1C5D0F7G2HJ")}
	return []*operation{
		{Operation: openapi.Operation{Method: http.MethodGet, Path: "/v1/sends/{id}/signing", ID: "getSigning",
			Permission: apikey.WriteSends, Tag: tag, Summary: "Get what a wallet signs",
			Message: "Transaction prepared.",
			About: "The unsigned transaction of an approved send, in every form that wallets take. It is " +
				"prepared with the " +
				"network's node first where it wasn't yet, and stays the same until `prepare=again`. Nothing " +
				"here can " +
				"sign it. A send that isn't ready is refused with what to do.",
			Params: append(id, textParam("account", "The payout wallet that pays, where there are several.", ""),
				enumParam("speed", "The fee, on networks where outputs are spent.", []string{"usual", "fast",
					"saving"}),
				enumParam("prepare", "Makes the transaction again, with the fees of now.", []string{"again"})),
			Data: signingData{}, Refusals: []int{403, 404, 409}},
			run: runRead(passParam("id", "send", prepareSend), showSigning)},
		{Operation: openapi.Operation{Method: http.MethodPost, Path: "/v1/sends/{id}/broadcast", ID: "broadcastSend",
			Permission: apikey.WriteSends, Tag: tag, Summary: "Send a signed transaction", Message: "Transaction sent.",
			About: "Compares a signed transaction with the approved send, and has the network's node send it if " +
				"it makes " +
				"exactly that send. Otherwise the answer is signed_differs, with the approved and the signed value " +
				"of each field in `errors`, and nothing is sent.",
			Params: id, Request: broadcastRequest{}, Sample: json.RawMessage(`{"signed":"0x02f8730180843b9aca00"}`),
			Data: broadcastData{}, Refusals: []int{400, 403, 404, 409, 413, 415}},
			run: runEffect(passParam("id", "send", broadcastSend), showBroadcast)},
		{Operation: openapi.Operation{Method: http.MethodPost, Path: "/v1/sends/{id}/transaction",
			ID:         "attachTransaction",
			Permission: apikey.WriteSends, Tag: tag, Summary: "Name the transaction of a send",
			Message: "Transaction attached.",
			About: "For a wallet that has sent the transaction by itself: the network's nodes are asked for it, " +
				"and it is " +
				"attached if it pays the send by the rules by which every transaction is recognised. Otherwise the " +
				"answer says why not. Most transactions are recognised without this.",
			Params: id, Request: hashRequest{}, Sample: json.RawMessage(
				`{"hash":"0x4a5e1e4baab89f3a32518a88c31bc87f618f76673e2cc77ab2127b7afdeda33b"}`),
			Data: sendData{}, Refusals: []int{400, 403, 404, 409, 413, 415}},
			run: runEffect(passParam("id", "send", attachTransaction), showSend)},
	}
}

func prepareSend(c *call, id string) (signing.Prepared, error) {
	q := c.newQuery()
	choice := signing.Choice{Account: q.readText("account"),
		Speed: send.Speed(q.oneOf("speed", []string{"usual", "fast", "saving"})),
		Again: q.oneOf("prepare", []string{"again"}) != ""}
	if err := q.validationError(); err != nil {
		return signing.Prepared{}, err
	}
	return c.api.Signing.Prepare(c.ctx, c.scope, id, choice)
}

func showSigning(c *call, p signing.Prepared) (any, error) {
	u := p.Unsigned
	shown := signingData{Send: c.sendData(p.View), Account: p.Account, Fee: money.Coin(u.FeeAsset).Format(u.Fee),
		FeeCoin: u.FeeAsset, FeeRate: u.FeeRate, ChainID: u.ChainID, URI: u.URI, Files: []signingFileData{},
		QRParts: []string{}, Contract: u.Contract}
	if u.Request != "" {
		request := body.NewObject(u.Request)
		shown.Request = &request
	}
	for _, file := range u.Files {
		data := signingFileData{Name: file.Name, Type: file.Type, Encoding: "text", Content: string(file.Content)}
		if !utf8.Valid(file.Content) {
			data.Encoding, data.Content = "base64", base64.StdEncoding.EncodeToString(file.Content)
		}
		shown.Files = append(shown.Files, data)
	}
	for _, part := range u.Parts {
		shown.QRParts = append(shown.QRParts, strings.ToUpper(part))
	}
	return shown, nil
}

func broadcastSend(c *call, id string) (signing.Sent, error) {
	in, err := readValidBody[broadcastRequest](c)
	if err != nil {
		return signing.Sent{}, err
	}
	return c.api.Signing.Broadcast(c.ctx, c.scope, id, in.Signed.Value)
}

func showBroadcast(c *call, sent signing.Sent) (any, error) {
	return broadcastData{Send: c.sendData(sent.View), Hash: sent.Hash}, nil
}

func attachTransaction(c *call, id string) (send.View, error) {
	in, err := readValidBody[hashRequest](c)
	if err != nil {
		return send.View{}, err
	}
	return c.api.Signing.Attach(c.ctx, c.scope, id, in.Hash.Value)
}
