module smithylru

go 1.26

require github.com/aws/smithy-go v1.25.0
