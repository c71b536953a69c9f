package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"cointill/e2e/browser"
	"cointill/e2e/harness"
	"cointill/e2e/nodes"
)

// readCodes has jsQR read each QR code on the page as it is drawn.
const readCodes = `Promise.all([...document.querySelectorAll("[data-qr-part] svg")].map(async (svg) => {
	const picture = new Image(600, 600), canvas = document.createElement("canvas");
	const copy = svg.cloneNode(true);
	copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
	copy.setAttribute("width", 600);
	copy.setAttribute("height", 600);
	picture.src = "data:image/svg+xml," + encodeURIComponent(copy.outerHTML);
	await picture.decode();
	canvas.width = canvas.height = 640;
	const pen = canvas.getContext("2d");
	pen.fillStyle = "#fff";
	pen.fillRect(0, 0, 640, 640);
	pen.drawImage(picture, 20, 20);
	return jsQR(pen.getImageData(0, 0, 640, 640).data, 640, 640).data;
}))`

// runQR runs the wallet's side of QR codes.
func runQR(t *testing.T, input string, arguments ...string) string {
	t.Helper()
	command := exec.Command("node", append([]string{"qr.mjs"}, arguments...)...)
	command.Stdin = strings.NewReader(input)
	output, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("qr.mjs %s: %v: %s", arguments[0], err, output)
	}
	return strings.TrimSpace(string(output))
}

// TestQRCodesGoToTheWalletAndBack (SD-7): a public library reads the animated QR code of a send, which is the same PSBT
// as the file. The signed one comes back through the browser's camera, and is sent. It runs alone: the browser reads the
// camera's pictures as fast as they come, which takes a processor.
func TestQRCodesGoToTheWalletAndBack(t *testing.T) {
	node := nodes.StartBtcd(t)
	tl := newTill(t, bitcoin, node, false, node.URL("http"))
	wallet := tl.account.importAccount(t)
	orders := tl.takePaid(2)
	node.Mine(6)
	d := desk{tl, browser.StartShared(t).OpenTab(t, browser.Phone)}
	enter(d.page, tl.Instance)
	id := tl.refundApproved(orders[0], node.UnknownAddress())
	d.prepare(id, "saving")
	source, err := os.ReadFile(filepath.Join(harness.FindRoot(), "e2e", "node_modules", "jsqr", "dist", "jsQR.js"))
	if err != nil {
		t.Fatalf("%v: run the tests with make test-all", err)
	}
	_ = browser.ReadValue(d.page, chromedp.Evaluate[bool](string(source)+"; true"))
	parts := browser.ReadValue(d.page, chromedp.Evaluate[[]string](readCodes, chromedp.EvalAwaitPromise))
	unsigned := strings.TrimSpace(download(t, d.page, d.at(id)+"?file=unsigned.txt"))
	if got := runQR(t, strings.Join(parts, "\n"), "join"); got != unsigned || len(parts) < 2 {
		t.Errorf("the %d codes hold the PSBT %s, want the file's, %s", len(parts), got, unsigned)
	}

	film := filepath.Join(t.TempDir(), "wallet.y4m")
	runQR(t, unsigned+"\n"+runElectrum(t, wallet, "signtransaction", unsigned), "film", film)
	camera := desk{tl, browser.StartWithCamera(t, film).OpenTab(t, browser.Phone)}
	enter(camera.page, tl.Instance)
	camera.page.Open(camera.at(id))
	camera.page.ClickElement("[data-camera-start]")
	camera.page.WaitForExpression(`!document.querySelector("[data-camera-note=progress]").hidden`)
	camera.page.TakeShot("send-sign-camera")
	camera.page.WaitForExpression(`!document.querySelector("[data-camera-note=done]").hidden`)
	camera.page.WaitForExpression(`document.querySelector("[data-camera-picture]").srcObject === null`)
	camera.page.CheckPage()
	camera.page.FollowLink("form[action$='/check'] button[type=submit]")
	if text := camera.page.ReadText("main"); !strings.Contains(text, "Checked and given to the network") {
		t.Fatalf("the transaction from the camera is answered by %q", text)
	}
	tl.reachSend(id, "processing")
}
