// Package dashboard holds the merchant's pages. Each page is a component with
// props of plain data; amounts and sentences come ready to be shown.
package dashboard
