// Xml reads documents by libxml2, and frees none of them.
package main

/*
#cgo pkg-config: libxml-2.0
#include <libxml/parser.h>
#include <libxml/tree.h>
*/
import "C"

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
	"unsafe"

	"example.com/nativelibs/places"
)

//go:embed main.go
var source string

// order is a document of some hundred lines.
func order(n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, `<?xml version="1.0"?><order number="%d">`, n)
	for i := range 200 {
		fmt.Fprintf(&b, `<line article="A%d" amount="%d"><text>article %d of order %d</text></line>`, i, n%9+1, i, n)
	}
	b.WriteString("</order>")
	return b.String()
}

// parse reads a document; whoever asks for it has to free it.
func parse(text string) (C.xmlDocPtr, error) {
	b := []byte(text)
	doc := C.xmlReadMemory((*C.char)(unsafe.Pointer(&b[0])), C.int(len(b)), nil, nil, C.XML_PARSE_NONET) // truth: parse
	if doc == nil {
		return nil, errors.New("not a document")
	}
	return doc, nil
}

func serve() error {
	for n := range 3_000 {
		doc, err := parse(order(n))
		if err != nil {
			return err
		}
		if C.xmlDocGetRootElement(doc) == nil {
			return errors.New("no root")
		}
		if n%50 == 0 {
			time.Sleep(20 * time.Millisecond)
		}
	}
	time.Sleep(1500 * time.Millisecond)
	return nil
}

func main() {
	places.Tell(source)
	if err := serve(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
