package payments

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"cointill/core/payment"
	"cointill/core/payment/timeline"
	"cointill/models"
	"cointill/views/words"
)

// readCodes are the values of the constants that a pattern finds in a file of core/payment.
func readCodes(t *testing.T, file, pattern string) (codes []string) {
	t.Helper()
	text, err := os.ReadFile("../../../core/payment/" + file)
	if err != nil {
		t.Fatal(err)
	}
	for _, found := range regexp.MustCompile(pattern).FindAllStringSubmatch(string(text), -1) {
		codes = append(codes, found[1])
	}
	if len(codes) < 5 {
		t.Fatalf("%s has the codes %v, want more", file, codes)
	}
	return codes
}

// ofNoPayment are the reasons of unmatched transfers without a row in any payment's timeline.
var ofNoPayment = map[string]bool{payment.MissingTag: true, payment.UnknownTag: true, payment.OtherAmount: true,
	payment.UnknownPayment: true}

// TestEveryStepIsTranslated checks that each kind of step, with its facts, is told in every language of
// the dashboard, and not by its stored remark: a new act or reason without words fails here.
func TestEveryStepIsTranslated(t *testing.T) {
	const seen = `"hash":"aa","index":0,"amount":"700","asset":"BTC"`
	steps := map[string]models.Step{"transfer": {Kind: payment.StepTransfer, Detail: "{" + seen + "}"}}
	for _, reason := range readCodes(t, "unmatched_reason.go", `= "(\w+)"`) {
		if !ofNoPayment[reason] {
			steps["transfer "+reason] = models.Step{Kind: payment.StepTransfer, Reason: reason,
				Detail: "{" + seen + `,"network":"ethereum-mainnet","via":"Escrow"}`}
		}
	}
	for _, act := range readCodes(t, "timeline/timeline.go", `Act = "(\w+)"`) {
		steps[act] = models.Step{Kind: payment.StepNote, Detail: `{"act":"` + act + `",` + seen + `,"note":"Merci"}`}
	}
	steps["sent another way"] = models.Step{Kind: payment.StepNote, Detail: `{"act":"sent",` + seen + `,"another_way":true}`}
	for _, reason := range payment.Reasons() {
		for name, detail := range map[string]string{"less": `{"paid":"9000","due":"10000","asset":"BTC"}`,
			"more": `{"paid":"11000","due":"10000","asset":"BTC"}`, "no facts": "{}"} {
			steps["state "+string(reason)+" "+name] = models.Step{Kind: payment.StepState, From: "initiated", To: "declined",
				Reason: string(reason), Detail: detail}
		}
	}
	steps["late and accepted"] = models.Step{Kind: payment.StepState, From: "processing", To: "successful",
		Reason: string(payment.Late), Detail: "{}"}
	steps["restored"] = models.Step{Kind: payment.StepState, From: "successful", To: "successful", Detail: "{}"}
	v := sample(payment.Successful, "", 10_000)
	for name, step := range steps {
		step.Remark = "As it is stored."
		said := map[string]string{}
		for _, lang := range words.DashboardLanguages() {
			ctx := words.WithLanguage(t.Context(), lang)
			text := stepText(ctx, v, step, timeline.ReadFacts(step))
			stored := strings.Contains(text, step.Remark)
			if lang == "en" && strings.HasSuffix(name, "no facts") {
				stored = false // the remark is English
			}
			if text == "" || stored || strings.Contains(text, "payment.") {
				t.Errorf("%s in %s is %q, want its sentence", name, lang, text)
			}
			if other := said[text]; other != "" {
				t.Errorf("%s is %q in %s and in %s", name, text, other, lang)
			}
			said[text] = lang
		}
	}
}

// TestStepsOfEarlierReleases checks that a step without facts shows its remark, and hides nothing that
// a person wrote in it.
func TestStepsOfEarlierReleases(t *testing.T) {
	ctx := words.WithLanguage(t.Context(), "fr")
	for _, step := range []models.Step{
		{Kind: payment.StepNote, Detail: `{"act":"closed"}`}, {Kind: payment.StepNote, Detail: `{"hash":"aa"}`},
		{Kind: payment.StepNote, Detail: `{"act":"refunded","amount":"7","asset":"BTC"}`},
		{Kind: payment.StepNote, Detail: `{"act":"sent"}`}, {Kind: payment.StepTransfer, Detail: "{}"},
		{Kind: payment.StepTransfer, Reason: payment.Unproved, Detail: `{"amount":"7","asset":"BTC"}`},
		{Kind: payment.StepTransfer, Reason: payment.NetworkOff, Detail: `{"amount":"7","asset":"BTC"}`},
		{Kind: payment.StepTransfer, Reason: "new", Detail: `{"amount":"7","asset":"BTC"}`},
		{Kind: "another", Detail: "no JSON"},
	} {
		step.Remark = "As it is stored. “By hand”"
		if got := listSteps(ctx, sample(payment.Successful, "", 10_000), []models.Step{step}, time.UTC)[0].Text; got != step.Remark {
			t.Errorf("%s %s %s is %q, want the remark", step.Kind, step.Reason, step.Detail, got)
		}
	}
}

// TestViaIsInTheReadersLanguage checks that a step says in French in which way money came, where the words are ours.
func TestViaIsInTheReadersLanguage(t *testing.T) {
	ctx := words.WithLanguage(t.Context(), "fr")
	for via, want := range map[string]string{"EscrowFinish": "(EscrowFinish)", "validator withdrawal": "(un retrait de validateur)"} {
		step := models.Step{Kind: payment.StepTransfer, Reason: payment.NotPayment,
			Detail: `{"amount":"7","asset":"ETH","via":"` + via + `"}`}
		if got := stepText(ctx, sample(payment.Successful, "", 10_000), step, timeline.ReadFacts(step)); !strings.Contains(got, want) {
			t.Errorf("%s is told as %q, want %s in it", via, got, want)
		}
	}
}
