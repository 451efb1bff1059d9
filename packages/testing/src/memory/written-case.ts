// A case of the contract of memory and database clients.
import type { Clients, MemoryClientOptions } from "@holdfast/memory";

/** A case, run over one place. */
export interface WrittenCase {
	readonly title: string;
	/** `open` gives clients over the place, which the suite closes. */
	run(open: (options?: Omit<MemoryClientOptions, "encryption">) => Promise<Clients>): Promise<void>;
}

/** Keys that mean something to databases, to JavaScript or to their encodings, or differ in little. */
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
