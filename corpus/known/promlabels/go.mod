module promlabels

go 1.26
