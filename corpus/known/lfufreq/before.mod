module lfufreq

go 1.26

require github.com/bluele/gcache v0.0.1
