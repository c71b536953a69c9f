package sandbox

// ParseTx gives tests access to parseTx.
var ParseTx = parseTx
