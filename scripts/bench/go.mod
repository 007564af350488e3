module stormtest/scripts/bench

go 1.26.0

replace stormtest => ../..

require (
	github.com/valyala/fasthttp v1.78.0
	golang.org/x/sys v0.50.0
	stormtest v0.0.0-00010101000000-000000000000
)

require (
	github.com/HdrHistogram/hdrhistogram-go v1.4.0 // indirect
	github.com/goccy/go-yaml v1.19.2 // indirect
	github.com/klauspost/compress v1.20.3 // indirect
	github.com/molecule-man/go-brrr v1.3.1 // indirect
	github.com/valyala/bytebufferpool v1.0.0 // indirect
)
