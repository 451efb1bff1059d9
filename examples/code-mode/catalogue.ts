// Fifty tools: five operations on each of ten kinds of records, as a company's API may offer.
import { type AnyTool, tool } from "holdfast";
import { z } from "zod";

const kinds = [
	"customer",
	"order",
	"invoice",
	"product",
	"shipment",
	"return",
	"ticket",
	"supplier",
	"warehouse",
	"offer",
];
const operations = ["list", "get", "count", "archive", "export"] as const;

interface Item {
	readonly id: string;
	readonly euros: number;
	readonly isOpen: boolean;
}

function items(kind: string): readonly Item[] {
	return Array.from({ length: 15 }, (_, at) => ({
		id: `${kind}-${at + 1}`,
		euros: (at + 1) * 10,
		isOpen: at % 3 === 0,
	}));
}

function run(operation: (typeof operations)[number], kind: string, id: string | undefined): unknown {
	const all = items(kind);
	switch (operation) {
		case "list":
			return all.map((item) => item.id);
		case "get":
			return all.find((item) => item.id === id) ?? `There is no ${kind} ${id}.`;
		case "count":
			return all.length;
		case "archive":
			return `archived ${id}`;
		case "export":
			return all.map((item) => Object.values(item).join(",")).join("\n");
		default:
			return operation satisfies never;
	}
}

function toolFor(operation: (typeof operations)[number], kind: string): AnyTool {
	const isAboutOne = operation === "get" || operation === "archive";
	const about = isAboutOne ? `one ${kind} by its id` : `all ${kind}s`;
	return tool({
		name: `${operation}_${kind}`,
		description: `${operation[0]?.toUpperCase()}${operation.slice(1)}: ${about}.`,
		parameters: isAboutOne ? z.object({ id: z.string() }) : z.object({}),
		// A person has to approve each change.
		...(operation === "archive" ? { needsApproval: true } : { retryPolicy: "pure" as const }),
		run: (input: { id?: string }) => run(operation, kind, input.id),
	}) as AnyTool;
}

export const catalogue: readonly AnyTool[] = kinds.flatMap((kind) =>
	operations.map((operation) => toolFor(operation, kind)),
);
