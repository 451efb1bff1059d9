import { defineEffect } from "@holdfast/threads";
import { z } from "zod";

/** Notes that the goods are to come back. */
export default defineEffect(
	"Notes what is to come back.",
	z.object({ order: z.string() }),
	async (state, { order }) => {
		await state.setValue(`returning ${order}`, true);
	},
);
