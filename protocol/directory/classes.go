package directory

import "slices"

// classesMost bounds how many classes are told apart. An authority that certifies more has members of the last ones
// count as having none.
const classesMost = 256

// classes are the names of classes, so that a member's facts have a number in place of a text.
type classes struct{ names []string }

// number is that of a class; 0 is that of none.
func (c *classes) number(class string) uint16 {
	if class == "" {
		return 0
	}
	i := slices.Index(c.names, class)
	if i < 0 {
		if len(c.names) == classesMost {
			return 0
		}
		i, c.names = len(c.names), append(c.names, class)
	}
	return uint16(i + 1)
}

// name is the class with a number.
func (c *classes) name(number uint16) string {
	if number == 0 {
		return ""
	}
	return c.names[number-1]
}
