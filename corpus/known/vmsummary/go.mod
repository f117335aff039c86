module vmsummary

go 1.26
