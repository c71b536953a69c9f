package push

import (
	"crypto/ecdh"
	"encoding/base64"
	"testing"
)

// TestMessageOfTheExample (RFC 8291 section 5) encrypts the text of the RFC's example with its keys and salt.
func TestMessageOfTheExample(t *testing.T) {
	t.Parallel()
	const (
		salt    = "DGv6ra1nlYgDCS1FRnbzlw"
		private = "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"
		want    = "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27ml" +
			"mlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPT" +
			"pK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"
	)
	sub := Subscription{Auth: "BTBZMqHH6r4Tts7J_aSIgg",
		P256dh: "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"}
	raw, err := decodeKey(private)
	if err != nil {
		t.Fatal(err)
	}
	own, err := ecdh.P256().NewPrivateKey(raw)
	if err != nil {
		t.Fatal(err)
	}
	salted, err := decodeKey(salt)
	if err != nil {
		t.Fatal(err)
	}
	body, err := encryptMessage([]byte("When I grow up, I want to be a watermelon"), sub, own, salted)
	if got := base64.RawURLEncoding.EncodeToString(body); err != nil || got != want {
		t.Errorf("the message is %s (error %v), want %s", got, err, want)
	}
}
