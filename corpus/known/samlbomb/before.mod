module samlbomb

go 1.26

require (
	github.com/russellhaering/gosaml2 v0.8.1
	github.com/russellhaering/goxmldsig v1.2.0
)

require (
	github.com/beevik/etree v1.1.0 // indirect
	github.com/jonboulle/clockwork v0.2.2 // indirect
	github.com/mattermost/xml-roundtrip-validator v0.1.0 // indirect
)
