import { defineThreadEndpoint } from "@holdfast/threads";

/** `GET /api/threads/{id}/returns?order=A-7` */
export default defineThreadEndpoint(async (req, state) => {
	const order = new URL(req.url).searchParams.get("order") ?? "";
	return Response.json({ returning: (await state.getValue(`returning ${order}`)) === true });
});
