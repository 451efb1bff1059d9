// A case of the contract of memory and database clients.
import type { Clients, MemoryClientOptions } from "@holdfast/memory";

/** A case and its test on one location. */
export interface WrittenCase {
	readonly title: string;
	/** `open` creates clients over the location; the suite closes them. */
	run(open: (options?: Omit<MemoryClientOptions, "encryption">) => Promise<Clients>): Promise<void>;
}

/** Keys with a special meaning in databases, JavaScript or their encodings, or with small differences. */
export const hostileNames: readonly string[] = [
	"",
	" ",
	"a",
	"A",
	"a:b",
	"a::b",
	":",
	"'",
	"''",
	'"',
	'"; DROP TABLE records; --',
	"' OR 1=1 --",
	"\\",
	"\\u0000",
	"\0",
	"a\0b",
	"a\nb",
	"%",
	"_",
	"*",
	"{x}",
	"$1",
	"?",
	"__proto__",
	"constructor",
	"toString",
	"rows:entry:a",
	"é",
	"e\u0301",
	"\ud800",
	"\ud801",
	"💡",
];
