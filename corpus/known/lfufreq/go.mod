module lfufreq

go 1.26
