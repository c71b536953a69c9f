package sandbox

// Parse lets tests read a stored transaction.
var Parse = parse
