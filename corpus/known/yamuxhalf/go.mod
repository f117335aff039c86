module yamuxhalf

go 1.26
