package wallet

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"cointill/core/collect"
	"cointill/handlers/page"
	"cointill/models"
	"cointill/views/words"
)

// signingSample signs one file with ethers. Its blank is the name of the file.
const signingSample = `    import { readFileSync } from "node:fs";
    import { HDNodeWallet, JsonRpcProvider, Mnemonic } from "ethers";
    const node = new JsonRpcProvider("https://…");
    const phrase = Mnemonic.fromPhrase(process.env.WORDS);
    for (const one of JSON.parse(readFileSync("%s", "utf8"))) {
      const wallet = HDNodeWallet.fromMnemonic(phrase, "m/44'/60'/0'/" + one.path);
      if (wallet.address !== one.from) throw new Error("another key: " + one.from);
      const sent = await node.broadcastTransaction(await wallet.signTransaction(one.transaction));
      console.log(one.from, one.amount, one.coin, sent.hash);
    }`

// writeReadme writes how the files of a plan are signed, and what to compare.
func writeReadme(ctx context.Context, p collect.Plan, b models.Business) string {
	var text strings.Builder
	say := func(parts ...string) { text.WriteString(strings.Join(parts, "\n") + "\n") }
	shown := planProps(ctx, p)
	say(words.T(ctx, "collect.readme_title", "Network", shown.Network), "",
		words.T(ctx, "collect.readme_made", "Business", b.Name, "When",
			p.At.In(page.LoadZone(b)).Format(time.RFC3339)), "",
		words.T(ctx, "collect.readme_destination"), "    "+shown.Destination,
		words.T(ctx, "collect.readme_compare"), "",
		words.T(ctx, "collect.readme_totals"),
		"    "+words.T(ctx, "collect.arrives")+": "+shown.Arrives+addBrackets(shown.Value),
		"    "+words.T(ctx, "collect.transactions")+": "+shown.Count,
		"    "+words.T(ctx, "collect.fees")+": "+shown.Fees)
	if shown.GasPayer != "" {
		say("    " + words.T(ctx, "collect.gas_payer") + ": " + shown.GasPayer)
	}
	say("")
	for _, sentence := range append(shown.Warnings, shown.Notes...) {
		say("* " + sentence)
	}
	say("", words.T(ctx, "collect.readme_steps"))
	for i, step := range shown.Steps {
		say(words.T(ctx, "collect.readme_step", "Number", fmt.Sprint(i+1), "Files",
			strings.Join(step.Files, ", "), "Count", step.Count, "Amount", step.Amount, "Fee", cmp.Or(step.Fee, "–")), "   "+step.Text)
	}
	say("", words.T(ctx, "collect.readme_sign"), words.T(ctx, "collect.readme_list"),
		words.T(ctx, "collect.readme_path"), words.T(ctx, "collect.readme_ethers"), "",
		fmt.Sprintf(signingSample, collect.TokenFile), "",
		words.T(ctx, "collect.readme_check"), words.T(ctx, "collect.readme_check_text"),
		words.T(ctx, "collect.readme_once"), words.T(ctx, "collect.readme_later"))
	if len(p.Left) > 0 {
		say("", words.T(ctx, "collect.readme_left"), shown.LeftText)
		for _, l := range p.Left {
			say("    " + describeLeftLine(ctx, p, l))
		}
	}
	return text.String()
}

// describeLeftLine is one amount that stays, as a line of text.
func describeLeftLine(ctx context.Context, p collect.Plan, l collect.LeftOut) string {
	row := leftRow(ctx, p, l)
	line := words.T(ctx, "collect.readme_left_line", "Address", row.Address, "Path", row.Path, "Amount",
		row.Amount+addBrackets(row.Value), "Why", row.Why)
	if row.Cost != "" {
		line = words.T(ctx, "collect.readme_left_cost", "Line", line, "Cost", row.Cost)
	}
	return line
}

func addBrackets(text string) string {
	if text == "" {
		return ""
	}
	return " (" + text + ")"
}
