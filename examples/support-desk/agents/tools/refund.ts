import { defineTool } from "@holdfast/threads";
import { z } from "zod";
import { refundOnce } from "../../ledger.ts";

/** Refunds money after a person has approved it through the endpoint `approve`. */
export default defineTool({
	description: "Refunds an order. Needs the approval of a person.",
	args: z.object({ order: z.string() }),
	async execute(state, { order }) {
		if ((await state.getValue(`approved ${order}`)) !== true) {
			await state.setValue(`asked ${order}`, true);
			return { status: "error", error: `The refund of ${order} needs approval.` };
		}
		await refundOnce(await state.env("LEDGER"), order);
		await state.scheduleEffect("@desk/returns/remind", { order });
		return { status: "success", result: `Refunded ${order}.` };
	},
});
