// Turns a title into a name for an address.
export function slugify(title) {
	return title.toLowerCase().replace(" ", "-");
}
