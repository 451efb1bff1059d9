// An order that reserves items at the same time, waits, and charges.
import type { Host } from "../host/index.ts";
import { type Workflow, workflow } from "./workflow.ts";

/** Moments at which the process may die. */
export type OrderMoment = "reserving desk" | "waiting" | "charging";

interface Order {
	readonly items: readonly string[];
}

export function orderWorkflow(
	host: Host,
	effect: (line: string, at: OrderMoment | undefined) => void,
): Workflow<Order, { readonly reserved: readonly string[]; readonly charge: string; readonly id: string }> {
	return workflow({ name: "order", host }, async (flow, { items }: Order) => {
		const id = await flow.uuid();
		const reserved = await Promise.all(
			items.map((item) =>
				flow.step(
					"reserve",
					({ idempotencyKey }) => {
						effect(`reserve ${item} ${idempotencyKey}`, item === "desk" ? "reserving desk" : undefined);
						return `${item} reserved`;
					},
					{ retryPolicy: "idempotent" },
				),
			),
		);
		await flow.sleep(10);
		const code = (error: { readonly code: string }): string => error.code;
		await flow.step("tell", () => effect("tell", "waiting")).catch(code);
		const charge = await flow
			.step("charge", () => {
				effect("charge", "charging");
				return "charged";
			})
			.catch(code);
		return { reserved, charge, id };
	});
}
