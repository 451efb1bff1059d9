// An order that reserves, charges and ships. If a step fails, the completed ones are undone in reverse order.
import { workflow } from "holdfast/workflow";
import { z } from "zod";

/** What the warehouse and the payment provider did, by the keys of the calls: a repeated key has no effect. */
export const ledger: Map<string, string> = new Map();

function once(key: string, entry: string): string {
	ledger.set(key, entry);
	return entry;
}

const safe = { retryPolicy: "idempotent" } as const;

export const order = workflow(
	{
		name: "order",
		input: z.object({ id: z.string(), item: z.string(), euros: z.number(), country: z.string() }),
	},
	async (flow, { id, item, euros, country }) => {
		const reserved = await flow.step(
			"reserve",
			({ idempotencyKey }) => once(idempotencyKey, `reserved ${item}`),
			{
				...safe,
				undo: (_, { idempotencyKey }) => once(idempotencyKey, `released ${item}`),
			},
		);
		const charged = await flow.step(
			"charge",
			({ idempotencyKey }) => once(idempotencyKey, `charged ${euros}`),
			{
				...safe,
				undo: (_, { idempotencyKey }) => once(idempotencyKey, `refunded ${euros}`),
			},
		);
		const shipped = await flow.step(
			"ship",
			({ idempotencyKey }) => {
				// `retryable: false` ends the step at once. Any other error is tried again, here up to three times.
				if (country !== "PT")
					throw Object.assign(new Error(`No carrier for ${country}.`), {
						code: "no_carrier",
						retryable: false,
					});
				return once(idempotencyKey, `shipped ${item}`);
			},
			{ ...safe, retries: 3 },
		);
		return { id, done: [reserved, charged, shipped] };
	},
);
