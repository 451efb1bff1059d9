// One order that arrives, and one that is undone.
import { ledger, order } from "./order.ts";

for (const country of ["PT", "XX"]) {
	const id = `order-${country}`;
	const run = await order.session(id).send({ id, item: "lamp", euros: 40, country });
	const { outcome, error } = await run.result();
	console.log(`${id}: ${outcome}${error === undefined ? "" : `, ${error.code}: ${error.message}`}`);
	for (const entry of ledger.values()) console.log(`  ${entry}`);
	ledger.clear();
}
await order.close();
