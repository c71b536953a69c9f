package sandbox

// ParseTx lets tests read a stored transaction.
var ParseTx = parseTx
