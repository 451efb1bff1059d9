import { defineThreadEndpoint } from "@holdfast/threads";

/** A person approves a refund: `POST /api/threads/{id}/approve` with `{ "order": "A-7" }`. */
export default defineThreadEndpoint(async (req, state) => {
	const { order } = (await req.json()) as { order?: unknown };
	if (typeof order !== "string" || (await state.getValue(`asked ${order}`)) !== true)
		return Response.json({ error: "Nobody asked for that." }, { status: 404 });
	if ((await state.getValue(`approved ${order}`)) !== true) {
		await state.setValue(`approved ${order}`, true);
		await state.queueMessage({ role: "user", content: `The refund of ${order} is approved.` });
	}
	return Response.json({ approved: order });
});
