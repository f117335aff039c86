// Package howto tests the pages of docs/howto: each is followed as it is written. It has no
// code of its own.
package howto
